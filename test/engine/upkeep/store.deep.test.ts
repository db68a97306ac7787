import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { createStore, EngineError, openStore, type Store } from "#engine/store.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { startScript } from "../../support/run-script.ts";
import { execute, makeNotes, makeShop, query, SHOP, temporaryFolder } from "../../support/stores.ts";

const count = (path: string): number => Number((query(path, "SELECT count(*) FROM notes")[0] as number[])[0]);

async function codeOf(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => "no error",
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );
}

test("STORE-1: made in a new or empty folder only, found by path or URL, refused when missing, newer or damaged", async () => {
  const { store, folder } = await makeShop();
  await store.close();
  expect(await codeOf(createStore(store.path))).toBe("store-exists");
  expect(await codeOf(createStore(folder))).toBe("file-exists");
  expect(await codeOf(openStore(join(folder, "nothing")))).toBe("store-not-found");
  expect(await codeOf(openStore("s3://bucket/prefix"))).toBe("bad-store-spec");
  expect(await codeOf(openStore("ftp://host/x"))).toBe("bad-store-spec");
  const byUrl = await openStore(pathToFileURL(store.path).href, { ownProcess: true });
  expect((await byUrl.databases({})).map((database) => database.name)).toEqual(["shop"]);
  await byUrl.close();

  const newer = join(folder, "newer");
  mkdirSync(newer);
  for (const name of readdirSync(store.path))
    if (statSync(join(store.path, name)).isFile()) copyFileSync(join(store.path, name), join(newer, name));
  const catalog = new Database(join(newer, "catalog.db"));
  catalog.exec("UPDATE meta SET format = 99");
  catalog.close();
  expect(await codeOf(openStore(newer))).toBe("store-newer");

  truncateSync(join(store.path, "catalog.db"), 5000);
  rmSync(join(store.path, "catalog.db-wal"), { force: true });
  expect(await codeOf(openStore(store.path))).toBe("store-corrupt");
  expect(statSync(join(store.path, "catalog.db")).size).toBe(5000);
});

test("STORE-2: on a disk that cannot be written a store is looked at and exported from", async () => {
  const { store, folder, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 3");
  await store.checkpoint({ ...SHOP, name: "three" });
  await store.close();
  // Root may write anywhere, so the disk says no itself.
  const readOnly = new FaultyDisk(nodeDisk);
  readOnly.fail({ on: "change", from: 1, code: "store-read-only" });
  const refusing = new Proxy(readOnly.disk, {
    get: (target, name: keyof typeof nodeDisk) =>
      name === "open"
        ? (path: string, flags: "r" | "r+" | "w+" | "wx+", mode?: number) =>
            flags === "r" || !path.startsWith(store.path) ? nodeDisk.open(path, flags, mode) : refuse(path)
        : readOnlyInside(store.path, target, name),
  });
  const looked = await openStore(store.path, { ownProcess: true }, { disk: refusing });
  try {
    expect((await looked.status({})).warnings.join()).toContain("cannot be written");
    expect((await looked.history(SHOP)).versions).toHaveLength(2);
    await looked.export({ ...SHOP, file: join(folder, "out.db") });
    expect(count(join(folder, "out.db"))).toBe(3);
    expect(await codeOf(looked.fork({ ...SHOP, newBranch: "x" }))).toBe("store-read-only");
  } finally {
    await looked.close();
  }
});

function refuse(path: string): never {
  throw new EngineError("store-read-only", `Cannot write ${path}: the disk is read-only`, { details: { path } });
}

/** Calls that name a path change things only outside the store. */
function readOnlyInside(store: string, target: typeof nodeDisk, name: keyof typeof nodeDisk): unknown {
  const changes: readonly string[] = ["rename", "link", "remove", "removeTree", "makeDirectory", "setMode", "clone", "syncDirectory"];
  if (!changes.includes(name)) return nodeDisk[name];
  return (path: string, ...rest: never[]) =>
    path.startsWith(store)
      ? (target[name] as (...input: unknown[]) => unknown)(path, ...rest)
      : (nodeDisk[name] as (...input: unknown[]) => unknown)(path, ...rest);
}

test("STORE-3: a full disk at any write leaves the whole operation, or nothing of it", async () => {
  const faulty = new FaultyDisk(nodeDisk);
  const { store, folder, main } = await makeShop({}, { disk: faulty.disk });
  const big = makeNotes(join(folder, "big.db"), 20_000);
  const verbs: readonly [string, (turn: number) => Promise<unknown>][] = [
    ["create", (turn) => store.create({ database: `big-${turn}`, from: big })],
    ["checkpoint", (turn) => store.checkpoint({ ...SHOP, name: `c-${turn}` })],
    ["rollback", () => store.rollback({ ...SHOP, to: "v1" })],
    ["checkout", (turn) => store.checkout({ database: "shop", branch: `b-${turn}` })],
  ];
  for (const [verb, act] of verbs) {
    for (let from = 1; from <= 40; from += 1) {
      faulty.fail(null);
      if (verb === "checkout") await store.fork({ ...SHOP, newBranch: `b-${from}` });
      else if (verb !== "create") {
        await store.checkout(SHOP);
        execute(main, `INSERT INTO notes (text) SELECT hex(randomblob(400)) FROM notes LIMIT 60`);
      }
      const rows = count(main);
      const before = store.lastOperation();
      faulty.fail({ on: "space", from, code: "disk-full" });
      const code = await codeOf(act(from));
      faulty.fail(null);
      expect(["no error", "disk-full"], `${verb}, write ${from}`).toContain(code);
      if (code === "disk-full")
        expect({ verb, from, operations: store.lastOperation() - before, rows: count(main) }).toEqual({ verb, from, operations: 0, rows });
      if (code === "no error" && (faulty.counts.get("space") ?? 0) < from) break;
    }
  }
  await store.checkout(SHOP);
  await store.gc({ dryRun: false });
  expect((await store.verify({})).problems).toEqual([]);
}, 120_000);

test("STORE-4: a full disk does not keep anybody from looking at a store and freeing space in it", async () => {
  const { store, folder } = await makeShop();
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 20_000) });
  await store.drop({ database: "big" });
  await store.close();
  const faulty = new FaultyDisk(nodeDisk);
  faulty.fail({ on: "write", from: 1, code: "disk-full" });
  const opened = await openStore(store.path, { ownProcess: true }, { disk: faulty.disk });
  try {
    expect((await opened.status({})).databases).toBe(1);
    expect((await opened.verify({})).problems).toEqual([]);
    expect((await opened.gc({ dryRun: false, purgeAllTrash: true })).bytesFreed).toBeGreaterThan(90_000);
    expect(readdirSync(join(store.path, "segments"))).toEqual([]);
  } finally {
    await opened.close();
  }
  expect(readdirSync(join(store.path, "tmp"))).toEqual([]);
});

test("STORE-5: opening a store at the same time in many places never meets another one's sweeping", async () => {
  const { store } = await makeShop();
  const script = `import { openStore } from ${JSON.stringify(join(import.meta.dirname, "../../../src-main/engine/store.ts"))};
    for (let round = 0; round < 40; round += 1) await (await openStore(${JSON.stringify(store.path)}, { ownProcess: true })).close();
    console.log("done");`;
  const scripts = Array.from({ length: 4 }, () => startScript(script));
  for (const each of scripts) onTestFinished(each.kill);
  for (const each of scripts) expect(await each.nextLine()).toBe("done");
  await store.close();
  expect(readdirSync(join(store.path, "tmp"))).toEqual([]);
}, 60_000);

test("GC-1: a purge frees what the dry run said, and names what can no longer be undone", async () => {
  const { store, folder } = await makeShop();
  const { operation } = await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 50_000) });
  await store.drop({ database: "big" });
  const files = () =>
    readdirSync(join(store.path, "segments")).reduce((sum, name) => sum + statSync(join(store.path, "segments", name)).size, 0);
  const before = files();
  const dry = await store.gc({ dryRun: true, purgeAllTrash: true });
  expect({ files: files(), trash: (await store.trash({})).length }).toEqual({ files: before, trash: 1 });
  const real = await store.gc({ dryRun: false, purgeAllTrash: true });
  expect(before - files()).toBe(dry.bytesFreed);
  expect({ versions: real.versionsRemoved, stranded: real.strandedOperations.includes(operation?.id ?? 0) }).toEqual({
    versions: 1,
    stranded: true,
  });
  expect(await codeOf(store.undo({ operation: operation?.id ?? 0 }))).toBe("undo-blocked");
  expect((await store.verify({})).problems).toEqual([]);
});

test("GC-2: files that no version names are removed, others are not", async () => {
  const { store, folder } = await makeShop();
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 50_000) });
  const names = readdirSync(join(store.path, "segments"));
  writeFileSync(join(store.path, "segments", `${"ab".repeat(16)}-0.seg`), "left by a crash");
  const report = await store.gc({ dryRun: false });
  expect({ removed: report.orphanFilesRemoved, names: readdirSync(join(store.path, "segments")) }).toEqual({ removed: 1, names });
});

async function storeWithFile(): Promise<{ store: Store; file: string }> {
  const { store, folder } = await makeShop();
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 20_000) });
  const [name = ""] = readdirSync(join(store.path, "segments"));
  return { store, file: join(store.path, "segments", name) };
}

test("VERIFY-1: any flipped bit of a stored segment is found and named, and so is a missing file", async () => {
  const { store, file } = await storeWithFile();
  const sound = readFileSync(file);
  await store.close();
  const problemsWith = async (): Promise<string[]> => {
    const again = await openStore(store.path, { ownProcess: true });
    try {
      return (await again.verify({})).problems.map((problem) => `${problem.object}: ${problem.problem}`);
    } finally {
      await again.close();
    }
  };
  expect(await problemsWith()).toEqual([]);
  const step = Math.ceil(sound.length / 60);
  for (let at = 0; at < sound.length; at += step) {
    const broken = Buffer.from(sound);
    broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, broken);
    const problems = await problemsWith();
    expect(problems.length, `byte ${at}`).toBeGreaterThan(0);
    expect(problems.join()).toContain("big v1");
  }
  rmSync(file);
  expect((await problemsWith()).join()).toContain("missing");
}, 60_000);

test("OUT-1: no side files, the journal mode of the import, never unsaved work", async () => {
  const { store, folder, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  const out = join(folder, "sub/dir/out.db");
  await store.export({ ...SHOP, file: out });
  expect(readdirSync(join(folder, "sub/dir"))).toEqual(["out.db"]);
  expect({ rows: count(out), mode: query(out, "PRAGMA journal_mode"), check: query(out, "PRAGMA integrity_check") }).toEqual({
    rows: 100,
    mode: [["delete"]],
    check: [["ok"]],
  });
  expect(await codeOf(store.export({ ...SHOP, file: out }))).toBe("file-exists");
  await store.export({ ...SHOP, file: out, overwrite: true });
  expect(await codeOf(store.export({ ...SHOP, file: join(store.path, "x.db") }))).toBe("bad-argument");
  const { path } = await store.openCheckpoint({ ...SHOP, at: "v1" });
  chmodSync(path, 0o644);
  execute(path, "DELETE FROM notes WHERE id > 1");
  expect((await store.openCheckpoint({ ...SHOP, at: "v1" })).path).toBe(path);
  const look = new Database(path, { readonly: true });
  expect(look.prepare("SELECT count(*) FROM notes").pluck().get()).toBe(100);
  look.close();
  expect((await store.openCheckpoint({ ...SHOP, at: "v1" })).path).toBe(path);
});

test("LIBRARY-1: the README's example runs as printed", async () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8");
  const example = /```ts\n(import \{[\s\S]*?)```/.exec(readme)?.[1];
  expect(example).toBeDefined();
  const folder = temporaryFolder();
  const library = import.meta.resolve("#engine/store.ts");
  execute(join(folder, "shop.db"), "CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('anna')");
  const script = join(folder, "example.mjs");
  writeFileSync(script, (example ?? "").replace('"coppice"', JSON.stringify(library)));
  const { spawnSync } = await import("node:child_process");
  const run = spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
  expect({ status: run.status, errors: run.stderr }).toEqual({ status: 0, errors: "" });
  expect(run.stdout).toContain("Promoted try-1 → main");
});
