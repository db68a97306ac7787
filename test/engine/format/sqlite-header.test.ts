import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockPageNumber, normalisePage1, parseSqliteHeader, stampPage1, type SqliteHeader } from "#engine/format/sqlite-header.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "header-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function makeDatabase(sql: string): Uint8Array {
  const path = join(folder, "made.db");
  rmSync(path, { force: true });
  const database = new Sqlite(path);
  database.exec(sql);
  database.close();
  return readFileSync(path);
}

function parse(bytes: Uint8Array): SqliteHeader {
  const header = parseSqliteHeader(bytes);
  if (typeof header === "string") throw new Error(header);
  return header;
}

describe.each([512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536])("page size %i", (pageSize) => {
  test("HEADER-1: the header of a real database is read whole", () => {
    const bytes = makeDatabase(`PRAGMA page_size=${pageSize}; PRAGMA encoding='UTF-16be'; PRAGMA auto_vacuum=incremental;
      PRAGMA application_id=-559038737; PRAGMA user_version=-7; CREATE TABLE t(a); INSERT INTO t VALUES('x');`);
    expect(parse(bytes)).toMatchObject({
      pageSize,
      journal: "rollback",
      reservedBytes: 0,
      pageCount: bytes.length / pageSize,
      encoding: "UTF-16be",
      autoVacuum: "incremental",
      applicationId: -559038737,
      userVersion: -7,
    });
  });
});

test("HEADER-1: journal mode, auto_vacuum and encoding of other databases", () => {
  expect(parse(makeDatabase("PRAGMA journal_mode=wal; CREATE TABLE t(a);"))).toMatchObject({
    journal: "wal",
    autoVacuum: "none",
    encoding: "UTF-8",
  });
  expect(parse(makeDatabase("PRAGMA auto_vacuum=full; PRAGMA encoding='UTF-16le'; CREATE TABLE t(a);"))).toMatchObject({
    autoVacuum: "full",
    encoding: "UTF-16le",
  });
});

test("HEADER-2: bytes that SQLite would not take are refused with the reason", () => {
  const good = makeDatabase("CREATE TABLE t(a);");
  const changed = (at: number, ...bytes: number[]): Uint8Array => {
    const copy = Uint8Array.from(good);
    copy.set(bytes, at);
    return copy;
  };
  expect(parseSqliteHeader(good.subarray(0, 99))).toContain("99 bytes");
  expect(parseSqliteHeader(changed(3, 0))).toContain("SQLite format 3");
  expect(parseSqliteHeader(changed(16, 0, 100))).toContain("page size");
  expect(parseSqliteHeader(changed(16, 0x10, 1))).toContain("page size");
  expect(parseSqliteHeader(changed(18, 3, 3))).toContain("3/3");
  expect(parseSqliteHeader(changed(16, 2, 0, 1, 1, 40))).toContain("reserved");
  expect(parseSqliteHeader(changed(21, 63))).toContain("fractions");
  expect(parseSqliteHeader(changed(56, 0, 0, 0, 4))).toContain("encoding");
});

test("HEADER-3: a page count that the change counter does not vouch for is not believed", () => {
  const bytes = makeDatabase("CREATE TABLE t(a);");
  bytes[27] = (bytes[27] ?? 0) + 1;
  expect(parse(bytes).pageCount).toBe(0);
});

test("HEADER-4: a normalised page, stamped, is a database again, and normalising takes the stamp away", () => {
  const bytes = makeDatabase("PRAGMA page_size=1024; CREATE TABLE t(a); INSERT INTO t VALUES(42);");
  const page1 = bytes.subarray(0, 1024);
  normalisePage1(page1);
  const normalised = Uint8Array.from(page1);
  for (const journal of ["wal", "rollback"] as const) {
    stampPage1(page1, { journal, changeCounter: 0xfedc_ba98 });
    expect(parse(bytes)).toMatchObject({ journal, changeCounter: 0xfedc_ba98, pageCount: 2 });
    const path = join(folder, `${journal}.db`);
    writeFileSync(path, bytes);
    const database = new Sqlite(path, { readonly: journal === "rollback" });
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.prepare("SELECT a FROM t").pluck().get()).toBe(42);
    database.close();
    normalisePage1(page1);
    expect(Buffer.compare(page1, normalised)).toBe(0);
  }
});

test("HEADER-5: the lock page holds the byte at 1 GiB", () => {
  expect(lockPageNumber(4096)).toBe(262_145);
  expect(lockPageNumber(65_536)).toBe(16_385);
  expect(lockPageNumber(512)).toBe(2_097_153);
});
