import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DatabaseId } from "#shared/ids.ts";
import { Catalog } from "#engine/catalog/catalog.ts";
import { migrateCatalog, readIdentity, type KnownFormats } from "#engine/catalog/format-version.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import type { EngineError } from "#engine/io/errors.ts";
import { START, v } from "./drafts.ts";
import { dumpCatalog, emptyCatalog, failure, PORTS, reopen, shopCatalog, STORE_UID, temporaryFolder } from "./fixture.ts";

describe("open", () => {
  test("CATALOG-1: a catalog is created whole, never over something, and knows its identity", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "catalog.db");
    Catalog.create(path, PORTS, { uid: STORE_UID, at: START });
    const bytes = readFileSync(path);
    expect(readdirSync(folder).toSorted()).toEqual(["catalog.db", "catalog.lock"]);
    const error = await failure(() => Catalog.create(path, PORTS, { uid: Buffer.alloc(16), at: 0 }));
    expect(error).toMatchObject({ code: "store-exists", details: { path } });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(reopen(path).identity).toEqual({ uid: STORE_UID, formatVersion: 1, createdAt: START });
    // What a killed process left of a creation is in nobody's way.
    const second = join(temporaryFolder(), "catalog.db");
    writeFileSync(`${second}.new`, "unfinished");
    Catalog.create(second, PORTS, { uid: STORE_UID, at: START });
    expect(existsSync(`${second}.new`)).toBe(false);
    expect((await failure(() => Catalog.open(join(folder, "none.db"), PORTS))).code).toBe("store-not-found");
  });

  test("CATALOG-2: a catalog of a newer format is refused as a whole and not touched", async () => {
    const catalog = emptyCatalog();
    catalog.connection.execute("UPDATE meta SET format = 2");
    catalog.close();
    const before = readFileSync(catalog.path);
    const error = await failure(() => Catalog.open(catalog.path, PORTS));
    expect(error).toMatchObject({ code: "store-newer", untouched: "Nothing was changed.", details: { found: "format 2" } });
    expect(readFileSync(catalog.path).equals(before)).toBe(true);
  });

  test("CATALOG-3: what is no catalog is refused by name and left as it was", async () => {
    const { catalog, fork } = await shopCatalog();
    await fork("main", ...Array.from({ length: 2000 }, (_, index) => `branch-${index}`));
    catalog.connection.pragma("wal_checkpoint(TRUNCATE)");
    catalog.close();
    const good = readFileSync(catalog.path);
    const foreign = join(temporaryFolder(), "foreign.db");
    new Database(foreign).exec("CREATE TABLE t (x)").close();
    const inputs: Record<string, Buffer> = {
      empty: Buffer.alloc(0),
      "one byte": Buffer.from("S"),
      text: Buffer.from("not a database ".repeat(1000)),
      zeros: Buffer.alloc(8192),
      "another database": readFileSync(foreign),
      "half a header": good.subarray(0, 50),
      "one page": good.subarray(0, 4096),
      "half the file": good.subarray(0, good.length / 2),
      "a damaged schema": Buffer.concat([good.subarray(0, 100), Buffer.alloc(3000, 0xff), good.subarray(3100)]),
    };
    for (const [name, bytes] of Object.entries(inputs)) {
      const path = join(temporaryFolder(), "catalog.db");
      writeFileSync(path, bytes);
      const error = await failure(() => Catalog.open(path, PORTS));
      expect([error.code, error.message.includes(path)], name).toEqual(["store-corrupt", true]);
      expect(readFileSync(path).equals(bytes), name).toBe(true);
      expect((await failure(() => Catalog.create(path, PORTS, { uid: STORE_UID, at: START }))).code).toBe("store-exists");
    }
    const folder = join(temporaryFolder(), "catalog.db");
    mkdirSync(folder);
    expect((await failure(() => Catalog.open(folder, PORTS))).code).toBe("store-corrupt");
  });

  test("CATALOG-3: an emptied catalog does not cost its WAL", async () => {
    const { catalog, fork } = await shopCatalog();
    await fork("main", "a");
    catalog.close();
    truncateSync(catalog.path, 0);
    const wal = readFileSync(`${catalog.path}-wal`);
    expect((await failure(() => Catalog.open(catalog.path, PORTS))).code).toBe("store-corrupt");
    expect(readFileSync(`${catalog.path}-wal`).equals(wal)).toBe(true);
  });

  test("CATALOG-4: damage inside is named by the integrity check or by what reads it, never returned as data", async () => {
    const { catalog, shop, fork } = await shopCatalog();
    await fork("main", ...Array.from({ length: 2000 }, (_, index) => `branch-${index}`));
    catalog.connection.pragma("wal_checkpoint(TRUNCATE)");
    catalog.close();
    const bytes = readFileSync(catalog.path);
    for (let page = 5; page < bytes.length / 4096; page += 7) {
      const path = join(temporaryFolder(), "catalog.db");
      writeFileSync(path, Buffer.concat([bytes.subarray(0, page * 4096), Buffer.alloc(4096, 0xee), bytes.subarray((page + 1) * 4096)]));
      const problems = await findDamage(path, shop.id);
      expect(new Set(problems), `page ${page}`).toEqual(new Set([problems[0] === "store-corrupt" ? "store-corrupt" : "catalog.db"]));
    }
  });

  test("CATALOG-5: an older format is brought forward in one transaction and its file kept", async () => {
    const { catalog, fork } = await shopCatalog();
    await fork("main", "a");
    const before = dumpCatalog(catalog);
    const known: KnownFormats = {
      format: 3,
      migrations: [
        { from: 1, migrate: (to) => to.execute("ALTER TABLE meta ADD COLUMN second INTEGER DEFAULT 2") },
        { from: 2, migrate: (to) => to.execute("ALTER TABLE meta ADD COLUMN third INTEGER DEFAULT 3") },
      ],
    };
    const failing: KnownFormats = { format: 3, migrations: known.migrations.slice(0, 1) };
    expect((await failure(() => migrateCatalog(catalog.connection, PORTS.disk, failing))).code).toBe("unsupported");
    expect(dumpCatalog(catalog)).toBe(before);
    migrateCatalog(catalog.connection, PORTS.disk, known);
    expect(readIdentity(catalog.connection, catalog.path, known).formatVersion).toBe(3);
    expect(catalog.connection.get("SELECT second, third FROM meta")).toEqual({ second: 2, third: 3 });
    expect(dumpCatalog(reopen(`${catalog.path}.format-1`))).toBe(before);
    expect((await failure(() => Catalog.open(catalog.path, PORTS))).code).toBe("store-newer");
  });

  test("CATALOG-6: the WAL stays when the last process leaves, is reused, and every connection waits for the disk", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const main = branch("main");
    catalog.close();
    const wal = `${catalog.path}-wal`;
    const { size, ino } = statSync(wal);
    for (let round = 0; round < 3; round += 1) {
      const again = reopen(catalog.path);
      expect(again.connection.pragma("synchronous")).toBe(2);
      for (let index = 0; index < 150; index += 1) await again.commit(drafts.fork(main, [`r${round}-${index}`]));
      again.close();
      expect([statSync(wal).size, statSync(wal).ino]).toEqual([size, ino]);
    }
  });

  test("CATALOG-10: processes that commit once each leave a WAL behind that does not grow", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const main = branch("main");
    catalog.close();
    const { size } = statSync(`${catalog.path}-wal`);
    let longest = 0;
    for (let index = 0; index < 200; index += 1) {
      const one = reopen(catalog.path);
      longest = Math.max(longest, one.connection.walFrames());
      await one.commit(drafts.fork(main, [`b${index}`]));
      one.close();
    }
    expect(longest).toBeGreaterThan(200);
    expect(longest).toBeLessThan(256 + 20);
    expect(statSync(`${catalog.path}-wal`).size).toBe(size);
    const last = reopen(catalog.path);
    expect(last.lastOperation()).toBe(201);
    expect(last.connection.pragma("integrity_check")).toBe("ok");
  });

  test("CATALOG-10: a WAL that somebody reads is left as it is, and closing waits for nobody", async () => {
    const { catalog, drafts, branch } = await shopCatalog();
    const main = branch("main");
    const reader = reopen(catalog.path);
    reader.connection.run("BEGIN");
    const seen = reader.operations.lastId();
    for (let index = 0; index < 120; index += 1) await catalog.commit(drafts.fork(main, [`b${index}`]));
    catalog.close();
    expect(reader.operations.lastId()).toBe(seen);
    reader.connection.run("ROLLBACK");
    expect(reader.operations.lastId()).toBe(seen + 120);
    expect(reader.connection.walFrames()).toBeGreaterThan(256);
    reader.close();
    expect(reopen(catalog.path).connection.walFrames()).toBeLessThan(20);
  });

  test.each(["with", "without"])(
    "CATALOG-7: on a read-only disk a store %s side files opens for reading, and commits are refused",
    async (sides) => {
      const folder = temporaryFolder();
      const { catalog, drafts, shop, branch, fork } = await shopCatalog(emptyCatalog(folder));
      await fork("main", "a");
      const main = branch("main");
      const draft = drafts.fork(main, ["b"]);
      catalog.close();
      if (sides === "without") rmSync(`${catalog.path}-shm`);
      if (!readOnlyMount(folder)) return;
      const listing = readdirSync(folder);
      const reader = reopen(catalog.path);
      expect(reader.readOnly).toBe(true);
      expect(reader.branches.page(shop.id, 0, 10).map(({ name }) => name)).toEqual(["main", "a"]);
      expect(reader.lastOperation()).toBe(2);
      expect(checkIntegrity(reader)).toEqual([]);
      expect(await failure(() => reader.commit(draft))).toMatchObject({ code: "store-read-only", untouched: "Nothing was changed." });
      const setFact = (): void => reader.setFact(main.id, { base: v(1), content: v(1), fingerprint: null });
      expect((await failure(setFact)).code).toBe("store-read-only");
      reader.close();
      expect(readdirSync(folder)).toEqual(listing);
    },
  );

  test("CATALOG-8: without range locks the catalog works, only slower", async () => {
    const path = join(temporaryFolder(), "catalog.db");
    const ports = { ...PORTS, native: { ...PORTS.native, hasRangeLocks: false } };
    Catalog.create(path, ports, { uid: STORE_UID, at: START });
    const catalog = Catalog.open(path, ports);
    const { fork, shop } = await shopCatalog(catalog);
    await fork("main", "a");
    catalog.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    const again = Catalog.open(path, ports);
    onTestFinished(() => again.close());
    expect(again.branches.count(shop.id)).toBe(2);
  });

  test("CATALOG-9: a copy of the catalog and its WAL is a catalog with the same content", async () => {
    const { catalog, fork } = await shopCatalog();
    await fork("main", "a");
    const copy = join(temporaryFolder(), "catalog.db");
    for (const ending of ["", "-wal"]) copyFileSync(catalog.path + ending, copy + ending);
    expect(dumpCatalog(reopen(copy))).toBe(dumpCatalog(catalog));
  });
});

/** What the integrity check names, or the code of what opening and reading end with. */
async function findDamage(path: string, shop: DatabaseId): Promise<string[]> {
  try {
    const damaged = reopen(path);
    damaged.branches.page(shop, 0, 5000);
    return checkIntegrity(damaged).map(({ object }) => object);
  } catch (error) {
    return [(error as EngineError).code];
  }
}

/** Binds the folder onto itself, read-only, until the test ends; false, saying so, where this process may not. */
function readOnlyMount(folder: string): boolean {
  const bound = spawnSync("mount", ["--bind", folder, folder], { encoding: "utf8" });
  const remounted = bound.status === 0 ? spawnSync("mount", ["-o", "remount,bind,ro", folder], { encoding: "utf8" }) : bound;
  if (bound.status === 0) onTestFinished(() => void spawnSync("umount", ["-l", folder]));
  if (remounted.status === 0) return true;
  expect((process.env["COPPICE_REQUIRE"] ?? "").includes("filesystems"), `mounting read-only: ${remounted.stderr}`).toBe(false);
  console.warn(`skipped: cannot mount read-only: ${remounted.stderr}`);
  return false;
}
