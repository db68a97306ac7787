import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { newestFrames, readWal, walFrameOffset, writeWal, WAL_FRAME_HEADER_BYTES, type WalContent } from "#engine/format/wal.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wal-"));
  path = join(folder, "live.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs SQL in a client that is killed with its WAL in place. */
function runAndKill(sql: string, uncommitted = ""): void {
  const script = `
    const database = new (require(${JSON.stringify(createRequire(import.meta.url).resolve("better-sqlite3"))}))(${JSON.stringify(path)});
    database.exec(${JSON.stringify(sql)});
    ${uncommitted ? `database.exec(${JSON.stringify(uncommitted)});` : ""}
    process.kill(process.pid, "SIGKILL");`;
  const result = spawnSync(process.execPath, ["-e", script], { encoding: "utf8" });
  expect(result).toMatchObject({ signal: "SIGKILL", stderr: "" });
}

function readOrNull(file: string): WalContent | null {
  const descriptor = nodeDisk.open(file, "r");
  try {
    return readWal(nodeDisk, descriptor);
  } finally {
    nodeDisk.close(descriptor);
  }
}

function read(file: string): WalContent {
  const wal = readOrNull(file);
  if (!wal) throw new Error(`${file} holds nothing`);
  return wal;
}

/** The database as main file and WAL together give it. */
function overlay(wal: WalContent, pageSize: number): Buffer {
  const main = readFileSync(path);
  const log = readFileSync(`${path}-wal`);
  const all = Buffer.alloc(wal.pageCount * pageSize);
  main.copy(all);
  for (const [pageNumber, frame] of newestFrames(wal))
    log.copy(
      all,
      (pageNumber - 1) * pageSize,
      walFrameOffset(pageSize, frame) + WAL_FRAME_HEADER_BYTES,
      walFrameOffset(pageSize, frame + 1),
    );
  return all;
}

/** What SQLite itself makes of a copy of the files. */
function foldedBySqlite(): Buffer {
  const copy = join(folder, "copy.db");
  for (const ending of ["", "-wal"]) copyFileSync(path + ending, copy + ending);
  const database = new Sqlite(copy);
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  return readFileSync(copy);
}

test.each([512, 4096, 65_536])("WAL-1: the committed frames of a killed client's WAL are the database, page size %i", (pageSize) => {
  runAndKill(`PRAGMA page_size=${pageSize}; PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a, b);
    WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 3000) INSERT INTO t SELECT n, hex(randomblob(40)) FROM s;
    UPDATE t SET b = 'x' WHERE a % 3 = 0; DELETE FROM t WHERE a > 2500;`);
  const wal = read(`${path}-wal`);
  expect(wal.header.pageSize).toBe(pageSize);
  expect(wal.commits).toBe(4);
  expect(overlay(wal, pageSize).equals(foldedBySqlite())).toBe(true);
});

test("WAL-2: frames behind the last commit are counted and left out", () => {
  runAndKill(
    "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2);",
    `PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN;
    WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 5000) INSERT INTO t SELECT n, hex(randomblob(400)) FROM s;`,
  );
  const wal = read(`${path}-wal`);
  expect(wal.commits).toBe(2);
  expect(wal.uncommittedFrames).toBeGreaterThan(0);
  expect(overlay(wal, 4096).equals(foldedBySqlite())).toBe(true);
});

test("WAL-3: frames that a reset left behind are not taken", () => {
  runAndKill(`PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a, b);
    WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000) INSERT INTO t SELECT n, hex(randomblob(40)) FROM s;
    PRAGMA wal_checkpoint(RESTART); UPDATE t SET b = 'after' WHERE a = 7;`);
  const wal = read(`${path}-wal`);
  const size = readFileSync(`${path}-wal`).length;
  expect(size).toBeGreaterThan(walFrameOffset(4096, 20));
  expect(wal.framePages.length).toBeLessThan(5);
  expect(overlay(wal, 4096).equals(foldedBySqlite())).toBe(true);
});

test("WAL-4: a damaged or torn WAL ends before the damage, as for SQLite", () => {
  runAndKill(`PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a);
    INSERT INTO t VALUES(1); INSERT INTO t VALUES(2); INSERT INTO t VALUES(3);`);
  const whole = readFileSync(`${path}-wal`);
  const frames = read(`${path}-wal`).framePages.length;
  for (const at of [0, 9, 30, walFrameOffset(4096, 1) + 3, walFrameOffset(4096, 2) + 9, walFrameOffset(4096, 3) + 700, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    writeFileSync(`${path}-wal`, damaged);
    const wal = readOrNull(`${path}-wal`);
    expect(wal?.framePages.length ?? 0).toBeLessThan(frames);
    const found = wal && wal.pageCount > 0 ? overlay(wal, 4096) : readFileSync(path);
    expect(found.equals(foldedBySqlite())).toBe(true);
  }
  writeFileSync(`${path}-wal`, whole);
  truncateSync(`${path}-wal`, whole.length - 1);
  expect(read(`${path}-wal`).framePages.length).toBeLessThan(frames);
  for (const length of [0, 31]) {
    truncateSync(`${path}-wal`, length);
    expect(readOrNull(`${path}-wal`)).toBeNull();
  }
});

test("WAL-5: a WAL with checksums of the other byte order is read", () => {
  runAndKill("PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(a); INSERT INTO t VALUES(1);");
  const before = read(`${path}-wal`);
  const expected = foldedBySqlite();
  writeFileSync(`${path}-wal`, inOtherByteOrder(readFileSync(`${path}-wal`)));
  const wal = read(`${path}-wal`);
  expect(wal.header.bigEndian).toBe(true);
  expect(wal.framePages).toEqual(before.framePages);
  expect(foldedBySqlite().equals(expected)).toBe(true);
});

/** The same WAL as a big-endian machine writes it: computed here anew, from the format's description. */
function inOtherByteOrder(wal: Buffer): Buffer {
  let sum: [number, number] = [0, 0];
  const add = (bytes: Buffer): void => {
    for (let at = 0; at < bytes.length; at += 8) {
      const first = (sum[0] + bytes.readUInt32BE(at) + sum[1]) >>> 0;
      sum = [first, (sum[1] + bytes.readUInt32BE(at + 4) + first) >>> 0];
    }
  };
  const out = Buffer.from(wal);
  out.writeUInt32BE(0x377f0683, 0);
  add(out.subarray(0, 24));
  out.writeUInt32BE(sum[0], 24);
  out.writeUInt32BE(sum[1], 28);
  for (let at = 32; at + 24 + 4096 <= out.length; at += 24 + 4096) {
    add(out.subarray(at, at + 8));
    add(out.subarray(at + 24, at + 24 + 4096));
    out.writeUInt32BE(sum[0], at + 16);
    out.writeUInt32BE(sum[1], at + 20);
  }
  return out;
}

/** Runs SQL on the database with a client that closes it properly. */
function make(sql: string): Buffer {
  const database = new Sqlite(path);
  database.exec(sql);
  database.close();
  return readFileSync(path);
}

test.each([512, 4096, 65_536])("WAL-6: SQLite recovers exactly the pages of a WAL that we wrote, page size %i", async (pageSize) => {
  const before = make(`PRAGMA page_size=${pageSize}; PRAGMA journal_mode=wal; CREATE TABLE t(a, b);
    WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 3000) INSERT INTO t SELECT n, hex(randomblob(400)) FROM s;`);
  for (const change of [
    "UPDATE t SET b = a WHERE a % 2",
    "INSERT INTO t SELECT a, hex(randomblob(400)) FROM t",
    "DELETE FROM t WHERE a > 10; VACUUM",
  ]) {
    const wanted = make(change);
    writeFileSync(path, before);
    const count = wanted.length / pageSize;
    const numbers = Array.from({ length: count }, (_, index) => index + 1).filter(
      (n) => n === 1 || !wanted.subarray((n - 1) * pageSize, n * pageSize).equals(before.subarray((n - 1) * pageSize, n * pageSize)),
    );
    const batches = numbers.map((n) => ({ numbers: Uint32Array.of(n), bytes: wanted.subarray((n - 1) * pageSize, n * pageSize) }));
    const temporary = join(folder, "patch");
    const file = nodeDisk.open(temporary, "w+");
    const written = await writeWal(nodeDisk, file, { pageSize, pageCount: count, salt1: 0xfedcba98, salt2: 5 }, batches);
    nodeDisk.close(file);
    expect(written).toEqual({ frames: numbers.length, bytes: walFrameOffset(pageSize, numbers.length) });
    renameSync(temporary, `${path}-wal`);
    expect(read(`${path}-wal`)).toMatchObject({ commits: 1, pageCount: count, uncommittedFrames: 0 });
    const database = new Sqlite(path);
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    database.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(readFileSync(path).equals(wanted)).toBe(true);
    writeFileSync(path, before);
  }
});
