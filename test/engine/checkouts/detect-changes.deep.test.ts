import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { CheckoutView } from "#engine/checkouts/checkout-view.ts";
import { formatFingerprint, parseFingerprint } from "#engine/checkouts/fingerprint.ts";
import type { CheckoutFiles } from "#engine/checkouts/checkout-files.ts";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import type { Disk } from "#engine/io/disk.ts";
import { EngineError } from "#engine/io/errors.ts";
import {
  collect,
  differingPages,
  disk,
  knownAs,
  makeDatabase,
  makePlace,
  native,
  normalised,
  openClient,
  openFiles,
  readDatabase,
  type Place,
} from "./support.ts";

const NEVER = async (): Promise<Uint8Array> => {
  throw new Error("the hashes are not needed");
};

async function takeFingerprint(files: CheckoutFiles, place: Place): Promise<string> {
  const held = await files.hold(place.path, "write", 1000);
  const fingerprint = await held.fingerprint();
  await held.release();
  expect(fingerprint).not.toBeNull();
  return fingerprint ?? "";
}

async function findChanges(files: CheckoutFiles, place: Place, known: Parameters<typeof knownAs>[0], fingerprint: string | null) {
  const held = await files.hold(place.path, "write", 1000);
  try {
    const changes = await held.changes(knownAs(known, fingerprint));
    const pages = await collect(changes);
    expect(pages.size).toBe(changes.candidates);
    return { proof: changes.proof, pageCount: changes.pageCount, pageSize: changes.pageSize, pages };
  } finally {
    await held.release();
  }
}

/** Every differing page is among those found, with the content that a client reads. */
function expectComplete(
  found: Map<number, Uint8Array>,
  before: Parameters<typeof differingPages>[0],
  after: ReturnType<typeof normalised>,
): void {
  for (const page of differingPages(before, after)) expect([...found.keys()], `page ${page} is found`).toContain(page);
  for (const [page, bytes] of found)
    expect(Buffer.compare(bytes, after.pages.subarray((page - 1) * after.pageSize, page * after.pageSize)), `bytes of page ${page}`).toBe(
      0,
    );
}

describe.each(["wal", "delete"] as const)("a checkout in %s mode", (journal) => {
  it("CHECKOUT-1: is known to be unchanged by its fingerprint alone", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal });
    const files = openFiles(place);
    const fingerprint = await takeFingerprint(files, place);
    expect(files.check(place.path, fingerprint)).toBe("same");
    const held = await files.hold(place.path, "write", 1000);
    const changes = await held.changes({ fingerprint, pageSize: 4096, pageHashes: NEVER });
    expect(changes).toMatchObject({ proof: "fingerprint", candidates: 0, pageSize: 4096 });
    expect((await collect(changes)).size).toBe(0);
    await held.release();
    expect(files.check(place.path, fingerprint)).toBe("same");
  });

  it("CHECKOUT-2: shows a same-size update at once", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    const client = await openClient(place.path);
    const fingerprint = await takeFingerprint(files, place);
    await client.exec("UPDATE item SET tag = 'other' WHERE id = 250");
    expect(files.check(place.path, fingerprint)).toBe("unknown");
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.proof).toBe(journal === "wal" ? "wal" : "scan");
    expectComplete(found.pages, before, normalised(await client.serialize(), 4096));
    expect(found.pages.size).toBeLessThanOrEqual(2);
  });

  it("CHECKOUT-6: does not take what a client rolled back for a change", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal, rows: 3000 });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    const client = await openClient(place.path, "cache_size = 5", "cache_spill = 1");
    await client.exec("UPDATE item SET tag = 'x' WHERE id = 1");
    await client.exec("UPDATE item SET tag = 'first' WHERE id = 1");
    const fingerprint = await takeFingerprint(files, place);
    await client.exec("BEGIN; UPDATE item SET tag = 'gone'");
    await client.exec("ROLLBACK");
    const found = await findChanges(files, place, before, fingerprint);
    expectComplete(found.pages, before, normalised(await client.serialize(), 4096));
    expect(found.proof).toBe(journal === "wal" ? "fingerprint" : "scan");
    expect(found.pages.size).toBe(0);
    expect(files.check(place.path, fingerprint)).toBe(journal === "wal" ? "same" : "unknown");
  });

  it("CHECKOUT-5: page 1 is normalised, and the pages are a client's own", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal });
    const files = openFiles(place);
    const found = await findChanges(files, place, { pages: new Uint8Array(0), pageSize: 4096 }, null);
    const after = readDatabase(place.path);
    expect(found).toMatchObject({ proof: "scan", pageCount: after.pageCount });
    expect(found.pages.size).toBe(after.pageCount);
    expectComplete(found.pages, { pages: new Uint8Array(0), pageSize: 4096 }, after);
    expect(Array.from(found.pages.get(1)?.subarray(18, 20) ?? [])).toEqual([0, 0]);
  });
});

describe("a WAL", () => {
  it("CHECKOUT-3: names what changed since the fingerprint, and only that", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const files = openFiles(place);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'early' WHERE id < 500");
    const before = normalised(await client.serialize(), 4096);
    const fingerprint = await takeFingerprint(files, place);
    expect(files.check(place.path, fingerprint)).toBe("same");
    await client.exec("UPDATE item SET tag = 'late' WHERE id = 1700");
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.proof).toBe("wal");
    expect(found.pages.size).toBeLessThanOrEqual(3);
    expectComplete(found.pages, before, normalised(await client.serialize(), 4096));
  });

  it("CHECKOUT-3: that started over is still followed, its old frames are not", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const files = openFiles(place);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'early'");
    await client.all("PRAGMA wal_checkpoint(PASSIVE)");
    const before = normalised(await client.serialize(), 4096);
    const fingerprint = await takeFingerprint(files, place);
    // Everything is in the main file already, so the next write starts the WAL over: two frames, many left-overs behind.
    await client.exec("UPDATE item SET tag = 'late' WHERE id = 3");
    expect(files.check(place.path, fingerprint)).toBe("unknown");
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.proof).toBe("wal");
    expect(found.pages.size).toBeLessThanOrEqual(3);
    expectComplete(found.pages, before, normalised(await client.serialize(), 4096));
  });

  it("CHECKOUT-3: of a client that was killed counts, with its committed frames only", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 3000 });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    const fingerprint = await takeFingerprint(files, place);
    const client = await openClient(place.path, "cache_size = 5", "cache_spill = 1", "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'kept' WHERE id = 7");
    const after = normalised(await client.serialize(), 4096);
    await client.exec("BEGIN; UPDATE item SET tag = 'lost'");
    await client.kill();
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.proof).toBe("wal");
    expectComplete(found.pages, before, after);
    expect(found.pages.size).toBeLessThanOrEqual(3);
  });

  it("CHECKOUT-3: with a growing and a shrinking database gives every page there is", async () => {
    const place = makePlace();
    const database = new Database(place.path);
    database.exec("PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; CREATE TABLE item (id INTEGER PRIMARY KEY, text BLOB)");
    database.exec(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO item SELECT i, randomblob(9000) FROM n",
    );
    database.close();
    const files = openFiles(place);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    for (const sql of [
      "DELETE FROM item WHERE id > 20",
      "INSERT INTO item SELECT id + 100, randomblob(30000) FROM item",
      "DELETE FROM item WHERE id < 10",
    ]) {
      const before = normalised(await client.serialize(), 4096);
      const fingerprint = await takeFingerprint(files, place);
      await client.exec(sql);
      const after = normalised(await client.serialize(), 4096);
      const found = await findChanges(files, place, before, fingerprint);
      expect(found).toMatchObject({ proof: "wal", pageCount: after.pageCount });
      expectComplete(found.pages, before, after);
    }
  });
});

describe("rewritten main files", () => {
  const rewrites: [string, (place: Place, client: Awaited<ReturnType<typeof openClient>>) => Promise<unknown>][] = [
    [
      "sqliteCheckpoint after a write",
      async (_, client) => [
        await client.exec("UPDATE item SET tag = 'z' WHERE id = 9"),
        await client.all("PRAGMA wal_checkpoint(TRUNCATE)"),
      ],
    ],
    [
      "sqliteCheckpoint, then a smaller WAL",
      async (_, client) => [
        await client.exec("UPDATE item SET tag = 'z'"),
        await client.all("PRAGMA wal_checkpoint(RESTART)"),
        await client.exec("UPDATE item SET tag = 'y' WHERE id = 9"),
      ],
    ],
    [
      "journal mode flipped and a write",
      async (_, client) => [await client.exec("PRAGMA journal_mode = DELETE"), await client.exec("UPDATE item SET tag = 'q' WHERE id = 5")],
    ],
    [
      "journal mode flipped back and forth",
      async (_, client) => [
        await client.exec("PRAGMA journal_mode = PERSIST"),
        await client.exec("UPDATE item SET tag = 'q' WHERE id = 5"),
        await client.exec("PRAGMA journal_mode = WAL"),
      ],
    ],
    [
      "VACUUM and a sqliteCheckpoint",
      async (_, client) => [
        await client.exec("DELETE FROM item WHERE id % 3 = 0"),
        await client.exec("VACUUM"),
        await client.all("PRAGMA wal_checkpoint(TRUNCATE)"),
      ],
    ],
    [
      "journal mode MEMORY",
      async (_, client) => [await client.exec("PRAGMA journal_mode = MEMORY"), await client.exec("UPDATE item SET tag = 'q' WHERE id = 5")],
    ],
  ];
  it.each(rewrites)("CHECKOUT-4: %s: exactly the different pages are found", async (_name, rewrite) => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 1500 });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    const fingerprint = await takeFingerprint(files, place);
    const client = await openClient(place.path);
    await rewrite(place, client);
    expect(files.check(place.path, fingerprint)).toBe("unknown");
    const found = await findChanges(files, place, before, fingerprint);
    const after = normalised(await client.serialize(), 4096);
    expect(found.pageCount).toBe(after.pageCount);
    expect([...found.pages.keys()]).toEqual(differingPages(before, after));
    expectComplete(found.pages, before, after);
    expect(found.proof).toBe("scan");
  });

  it("CHECKOUT-4: a sqliteCheckpoint alone is no change, and is recorded again", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    const client = await openClient(place.path);
    await client.exec("UPDATE item SET tag = 'z' WHERE id = 9");
    const before = normalised(await client.serialize(), 4096);
    const fingerprint = await takeFingerprint(files, place);
    await client.close();
    expect(files.check(place.path, fingerprint)).toBe("unknown");
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.pages.size).toBe(0);
    expect(files.check(place.path, await takeFingerprint(files, place))).toBe("same");
  });

  it("CHECKOUT-4: another page size makes every page a different one", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    const fingerprint = await takeFingerprint(files, place);
    const database = new Database(place.path);
    database.exec("PRAGMA page_size = 1024; VACUUM");
    database.close();
    const found = await findChanges(files, place, before, fingerprint);
    const after = readDatabase(place.path);
    expect(found).toMatchObject({ proof: "scan", pageSize: 1024, pageCount: after.pageCount });
    expect(found.pages.size).toBe(after.pageCount);
  });

  it("CHECKOUT-4: a file put in its place, or copied over it, is compared page by page", async () => {
    const place = makePlace();
    makeDatabase(place.path, { tag: "aaaaa" });
    const files = openFiles(place);
    const before = readDatabase(place.path);
    for (const put of [(from: string) => copyFileSync(from, place.path), (from: string) => renameSync(from, place.path)]) {
      const fingerprint = await takeFingerprint(files, place);
      const other = `${place.path}.other`;
      disk.remove(other);
      makeDatabase(other, { tag: "bbbbb" });
      put(other);
      expect(files.check(place.path, fingerprint)).toBe("unknown");
      const found = await findChanges(files, place, before, fingerprint);
      expect([...found.pages.keys()]).toEqual(differingPages(before, readDatabase(place.path)));
      expect(found.pages.size).toBeGreaterThan(3);
    }
  });

  it("CHECKOUT-4: a WAL removed by hand under an unchanged main file is not trusted", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'z'");
    const before = normalised(await client.serialize(), 4096);
    const fingerprint = await takeFingerprint(files, place);
    await client.kill();
    disk.remove(`${place.path}-wal`);
    disk.remove(`${place.path}-shm`);
    expect(files.check(place.path, fingerprint)).toBe("unknown");
    const found = await findChanges(files, place, before, fingerprint);
    expect(found.proof).toBe("scan");
    expect(found.pages.size).toBeGreaterThan(3);
  });
});

describe("fingerprints", () => {
  it("CHECKOUT-7: of another boot, file or format prove nothing, nor does none at all", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    const fingerprint = await takeFingerprint(files, place);
    const parsed = parseFingerprint(fingerprint);
    expect(parsed && formatFingerprint(parsed)).toBe(fingerprint);
    if (!parsed) return;
    const others = [
      { ...parsed, boot: "another" },
      { ...parsed, inode: parsed.inode + 1n },
      { ...parsed, mtimeNs: parsed.mtimeNs + 1n },
      { ...parsed, ctimeNs: parsed.ctimeNs - 1n },
      { ...parsed, size: parsed.size + 4096 },
    ];
    for (const other of others) expect(files.check(place.path, formatFingerprint(other))).toBe("unknown");
    for (const text of ["", "1", "2" + fingerprint.slice(1), `${fingerprint}.x`, `${fingerprint}-1`, "~"])
      expect(files.check(place.path, text), text).toBe("unknown");
    expect(files.check(place.path, null)).toBe("unknown");
    expect(files.check(`${place.path}.none`, fingerprint)).toBe("missing");
  });

  it("CHECKOUT-7: there is none where timestamps come back coarse, or cannot be set", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    let isSet = false;
    const coarse: Disk = {
      ...disk,
      setModified: () => {
        isSet = true;
      },
      statFile: (file) => ({ ...disk.statFile(file), mtimeNs: disk.statFile(file).mtimeNs - (isSet ? 700_000_000n : 0n) }),
    };
    const foreign: Disk = {
      ...disk,
      setModified: () => {
        throw new EngineError("permission-denied", "not the owner");
      },
    };
    for (const wrapped of [coarse, foreign]) {
      const held = await new DirectCheckoutFiles({ disk: wrapped, native, temporary: place.temporary }).hold(place.path, "write", 1000);
      expect(await held.fingerprint()).toBeNull();
      await held.release();
    }
  });

  it("CHECKOUT-7: a journal beside the file makes it unknown, an emptied one does not", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const files = openFiles(place);
    const client = await openClient(place.path, "journal_mode = PERSIST");
    await client.exec("UPDATE item SET tag = 'p' WHERE id = 1");
    const fingerprint = await takeFingerprint(files, place);
    expect(disk.stat(`${place.path}-journal`)?.size).toBeGreaterThan(0);
    expect(files.check(place.path, fingerprint)).toBe("same");
    writeFileSync(`${place.path}-journal`, Buffer.from("d9d505f920a163d7", "hex"));
    expect(files.check(place.path, fingerprint)).toBe("unknown");
  });
});

describe("strange files", () => {
  it("CHECKOUT-8: an empty file has no pages", async () => {
    const place = makePlace();
    writeFileSync(place.path, "");
    const files = openFiles(place);
    const fingerprint = await takeFingerprint(files, place);
    expect(files.check(place.path, fingerprint)).toBe("same");
    const found = await findChanges(files, place, { pages: new Uint8Array(8192), pageSize: 4096 }, null);
    expect(found).toMatchObject({ pageCount: 0, pageSize: 4096 });
    expect(found.pages.size).toBe(0);
  });

  it.each([
    ["text", (path: string) => writeFileSync(path, "hello\n".repeat(3000))],
    ["zeros", (path: string) => writeFileSync(path, new Uint8Array(16_384))],
    ["cut", (path: string) => truncateSync(path, 8192)],
    ["cut inside the header", (path: string) => truncateSync(path, 60)],
  ])("CHECKOUT-8: %s: is refused, and left alone", async (_name, spoil) => {
    const place = makePlace();
    makeDatabase(place.path);
    spoil(place.path);
    const before = disk.readWhole(place.path);
    const files = openFiles(place);
    const look = async (): Promise<unknown> => {
      const held = await files.hold(place.path, "write", 100);
      try {
        return await held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
      } finally {
        await held.release();
      }
    };
    const error = await look().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: "checkout-corrupt", untouched: expect.stringContaining(place.path) });
    expect(Buffer.compare(disk.readWhole(place.path), before)).toBe(0);
    expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
  });

  it("CHECKOUT-5: a half page at the end is read as SQLite reads it", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    appendFileSync(place.path, "rest");
    const files = openFiles(place);
    const found = await findChanges(files, place, { pages: new Uint8Array(0), pageSize: 4096 }, null);
    const after = readDatabase(place.path);
    expect(found.pageCount).toBe(after.pageCount);
    expectComplete(found.pages, { pages: new Uint8Array(0), pageSize: 4096 }, after);
  });

  it("CHECKOUT-5: the page of SQLite's lock bytes is never among those found", async () => {
    const place = makePlace();
    makeDatabase(place.path, { pageSize: 65_536, journal: "delete" });
    // A file of 1 GiB and a little, all of it a hole behind the first pages.
    const pageCount = 2 ** 30 / 65_536 + 3;
    const file = disk.open(place.path, "r+");
    disk.write(file, Uint8Array.of(0, 0, 0x40, 3), 28);
    disk.truncate(file, pageCount * 65_536);
    disk.close(file);
    const held = await openFiles(place).hold(place.path, "write", 1000);
    const changes = await held.changes({ fingerprint: null, pageSize: 65_536, pageHashes: async () => new Uint8Array(0) });
    expect(changes).toMatchObject({ pageCount, candidates: pageCount - 1 });
    await held.release();
  });

  it("CHECKOUT-9: many changed pages come in batches of at most 4 MiB", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 200_000 });
    const file = disk.open(place.path, "r");
    const view = new CheckoutView(disk, place.path, file);
    const files = openFiles(place);
    const held = await files.hold(place.path, "write", 1000);
    const changes = await held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
    let pages = 0;
    let last = 0;
    for await (const batch of changes.batches) {
      expect(batch.bytes.length).toBeLessThanOrEqual(4 * 1024 * 1024);
      expect(batch.numbers[0]).toBe(last + 1);
      last = batch.numbers.at(-1) ?? 0;
      pages += batch.numbers.length;
    }
    expect(pages).toBe(view.pageCount);
    expect(pages * 4096).toBeGreaterThan(8 * 1024 * 1024);
    await held.release();
    view.close();
    disk.close(file);
  });
});
