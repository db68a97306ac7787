import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DatabasePages } from "#engine/diff/database-pages.ts";
import { compareDatabases } from "#engine/diff/database-diff.ts";
import type { PageSource } from "#engine/segments/page-source.ts";
import { execute, temporaryFolder, withClient } from "../../support/stores.ts";
import { compareFiles, differingPagesOf, filePages, referenceRows, rowsOf } from "./support.ts";

/** Two files: one as `build` makes it, and the same after `edit`. */
function twoFiles(build: string, edit: string): { folder: string; left: string; right: string } {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(left, build);
  copyFileSync(left, right);
  execute(right, edit);
  return { folder, left, right };
}

const NUMBERS = (count: number) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

const BIG = `CREATE TABLE big (id INTEGER PRIMARY KEY, value BLOB); ${NUMBERS(60)} INSERT INTO big SELECT i, zeroblob(9000) FROM n;
  CREATE TABLE keyed (k TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID; ${NUMBERS(60)} INSERT INTO keyed SELECT 'k' || i, zeroblob(9000) FROM n;`;
const OVERWRITE = `UPDATE big SET value = CAST(zeroblob(5000) || x'01' || zeroblob(3999) AS BLOB) WHERE id = 30;
  UPDATE keyed SET value = CAST(zeroblob(8000) || x'02' || zeroblob(999) AS BLOB) WHERE k = 'k40';`;

test.each([
  { what: "pages that name no owner", build: BIG },
  { what: "a pointer map", build: `PRAGMA auto_vacuum = 1; ${BIG}` },
  // The rows' pages are the first ones of the file, their large values came last.
  {
    what: "an owner far away",
    build: `CREATE TABLE big (id INTEGER PRIMARY KEY, value BLOB); CREATE TABLE keyed (k TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
      ${NUMBERS(60)} INSERT INTO big SELECT i, NULL FROM n; ${NUMBERS(60)} INSERT INTO keyed SELECT 'k' || i, NULL FROM n;
      CREATE TABLE filler (b); ${NUMBERS(900)} INSERT INTO filler SELECT zeroblob(3000) FROM n;
      UPDATE big SET value = zeroblob(9000) WHERE id = 30; UPDATE keyed SET value = zeroblob(9000) WHERE k = 'k40'`,
  },
])("DIFF-2: a large value overwritten in place is found, though its row's page is untouched: $what", async ({ build }) => {
  const { folder, left, right } = twoFiles(build, OVERWRITE);
  const diff = await compareFiles(left, right);
  expect(diff.comparison).toBe("shared");
  expect(diff.tables.map(({ view }) => view.name)).toEqual(["big", "keyed"]);
  const rows = rowsOf(diff, folder);
  expect(rows["big"]).toEqual(referenceRows(left, right, "big", ["id"]));
  expect(rows["keyed"]).toEqual(referenceRows(left, right, "keyed", ["k"]));
  expect(rows["big"]).toHaveLength(1);
  expect(rows["keyed"]).toHaveLength(1);
});

test("DIFF-3: rows of pages that left the tree without being written are found", async () => {
  const build = `CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT); ${NUMBERS(20_000)} INSERT INTO t SELECT i, 'note ' || i FROM n`;
  const { folder, left, right } = twoFiles(build, "DELETE FROM t WHERE id BETWEEN 5000 AND 9000");
  const diff = await compareFiles(left, right);
  expect(diff.changedPages).toBeLessThan(12);
  expect(rowsOf(diff, folder)["t"]).toHaveLength(4001);
});

test("DIFF-3: a dropped table's rows are deleted ones, an added one's inserted", async () => {
  const build = `CREATE TABLE gone (a); ${NUMBERS(2000)} INSERT INTO gone SELECT i FROM n; CREATE TABLE stays (a)`;
  const { folder, left, right } = twoFiles(
    build,
    `DROP TABLE gone; CREATE TABLE come (b); ${NUMBERS(700)} INSERT INTO come SELECT i FROM n`,
  );
  const rows = rowsOf(await compareFiles(left, right), folder);
  expect(rows["gone"]).toHaveLength(2000);
  expect(rows["come"]).toHaveLength(700);
  expect(Object.keys(rows).toSorted()).toEqual(["come", "gone"]);
});

test("DIFF-3: a tree that grows by a level, and one that shrinks to its root, are compared", async () => {
  const build = `CREATE TABLE grows (id INTEGER PRIMARY KEY, t TEXT); INSERT INTO grows VALUES (1, 'one');
    CREATE TABLE shrinks (id INTEGER PRIMARY KEY, t TEXT); ${NUMBERS(3000)} INSERT INTO shrinks SELECT i, 'x' || i FROM n`;
  const edit = `${NUMBERS(3000)} INSERT INTO grows SELECT i + 1, 'y' || i FROM n; DELETE FROM shrinks WHERE id <> 77`;
  const { folder, left, right } = twoFiles(build, edit);
  const rows = rowsOf(await compareFiles(left, right), folder);
  expect(rows["grows"]).toHaveLength(3000);
  expect(rows["shrinks"]).toHaveLength(2999);
});

test("DIFF-4: after VACUUM, which gives new rowids, rows without a key are still the same rows", async () => {
  const build = `CREATE TABLE t (a, b); ${NUMBERS(3000)} INSERT INTO t SELECT i % 50, 'note ' || (i % 700) FROM n; DELETE FROM t WHERE rowid % 3 = 0`;
  const { folder, left, right } = twoFiles(build, "VACUUM; UPDATE t SET b = 'changed' WHERE rowid = 5");
  const diff = await compareFiles(left, right);
  const rows = rowsOf(diff, folder)["t"] ?? [];
  expect(rows).toEqual(referenceRows(left, right, "t", []));
  expect(rows).toHaveLength(2);
  expect(diff.tables[0]?.view.matchedBy).toBe("whole row");
});

test("DIFF-5: rows are matched by primary key, else by UNIQUE, else as wholes with counts; NULL is no key", async () => {
  const build = `CREATE TABLE p (a TEXT PRIMARY KEY, v); CREATE TABLE u (a TEXT UNIQUE, v); CREATE TABLE w (a, v);
    CREATE TABLE c (a TEXT, b TEXT, v, UNIQUE (a, b)); CREATE UNIQUE INDEX partial ON w (a) WHERE v > 10;
    INSERT INTO p VALUES ('x', 1), (NULL, 2), (NULL, 2); INSERT INTO u VALUES ('x', 1), (NULL, 2); INSERT INTO w VALUES ('x', 1), ('x', 1), ('x', 1.0);
    INSERT INTO c VALUES ('a', 'b', 1), ('a', NULL, 2)`;
  const edit = `UPDATE p SET v = 10 WHERE a = 'x'; DELETE FROM p WHERE rowid = 3; UPDATE u SET v = 10; DELETE FROM w WHERE rowid = 1; UPDATE c SET v = v + 5`;
  const { folder, left, right } = twoFiles(build, edit);
  const diff = await compareFiles(left, right);
  expect(Object.fromEntries(diff.tables.map(({ view }) => [view.name, view.matchedBy]))).toEqual({
    c: "unique",
    p: "primary key",
    u: "unique",
    w: "whole row",
  });
  expect(rowsOf(diff, folder)).toEqual({
    c: ["delete t:a|null|i:2", "insert t:a|null|i:7", "update t:a|t:b|i:1 → t:a|t:b|i:6"],
    p: ["delete null|i:2", "update t:x|i:1 → t:x|i:10"],
    u: ["delete null|i:2", "insert null|i:10", "update t:x|i:1 → t:x|i:10"],
    w: ["delete t:x|i:1"],
  });
});

test("DIFF-5: a key is compared as its collation does, and a change of case alone is a change of the row", async () => {
  const build =
    "CREATE TABLE t (a TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE u (a TEXT COLLATE RTRIM UNIQUE NOT NULL, v); INSERT INTO t VALUES ('abc', 1); INSERT INTO u VALUES ('x', 1); CREATE TABLE n (a TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO n VALUES ('a', 1), ('a' || char(0) || 'x', 1), ('ab', 1); CREATE TABLE m (a TEXT COLLATE NOCASE NOT NULL UNIQUE, v); INSERT INTO m VALUES ('a' || char(0) || 'x', 1)";
  const { folder, left, right } = twoFiles(
    build,
    "UPDATE t SET a = 'ABC'; UPDATE u SET a = 'x  '; UPDATE n SET v = 2; UPDATE m SET v = 2, a = 'A' || char(0) || 'z'",
  );
  expect(rowsOf(await compareFiles(left, right), folder)).toEqual({
    m: ["update t:a\0x|i:1 → t:A\0z|i:2"],
    n: ["update t:a\0x|i:1 → t:a\0x|i:2", "update t:ab|i:1 → t:ab|i:2", "update t:a|i:1 → t:a|i:2"],
    t: ["update t:abc|i:1 → t:ABC|i:1"],
    u: ["update t:x|i:1 → t:x  |i:1"],
  });
});

test("DIFF-5: a table whose order only its program knows is compared by the bytes of its key", async () => {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  // SQLite here has no such collation: the table is made with another one of the same effect, and renamed in the schema.
  execute(
    left,
    `CREATE TABLE t (a TEXT COLLATE BINARY PRIMARY KEY, v) WITHOUT ROWID; ${NUMBERS(2000)} INSERT INTO t SELECT 'k' || i, i FROM n`,
  );
  copyFileSync(left, right);
  execute(right, "UPDATE t SET v = -1 WHERE a = 'k777'; DELETE FROM t WHERE a = 'k5'; INSERT INTO t VALUES ('new', 0)");
  for (const path of [left, right])
    withClient(path, (database) => {
      database.unsafeMode(true);
      database.pragma("writable_schema = ON");
      database.exec("UPDATE sqlite_schema SET sql = replace(sql, 'BINARY', 'GERMAN')");
    });
  expect(rowsOf(await compareFiles(left, right), folder)["t"]).toEqual([
    "delete t:k5|i:5",
    "insert t:new|i:0",
    "update t:k777|i:777 → t:k777|i:-1",
  ]);
});

test("DIFF-18: what is read follows what changed, not the size of the database", async () => {
  const build = `CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT); ${NUMBERS(150_000)} INSERT INTO t SELECT i, 'some note number ' || i FROM n;
    CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO keyed SELECT note, id FROM t WHERE id < 50000; CREATE INDEX t_note ON t (note)`;
  const { left, right } = twoFiles(
    build,
    "UPDATE t SET note = 'x' WHERE id IN (10, 75000, 149000); UPDATE keyed SET v = 0 WHERE k = 'some note number 4321'",
  );
  const [a, b] = [filePages(left), filePages(right)];
  let reads = 0;
  const counting = (source: PageSource): PageSource => ({
    pageSize: source.pageSize,
    pageCount: source.pageCount,
    readPages: (first, buffer) => {
      reads += buffer.length / source.pageSize;
      source.readPages(first, buffer);
    },
  });
  const diff = await compareDatabases(
    new DatabasePages("left", counting(a)),
    new DatabasePages("right", counting(b)),
    differingPagesOf(a, b),
    {},
  );
  expect(Object.values(rowsOf(diff, temporaryFolder())).flat()).toHaveLength(4);
  expect(a.pageCount).toBeGreaterThan(2500);
  expect(reads).toBeLessThan(120);
});

test("DIFF-19: states of different page size and encoding are compared in full, and only the rows and pragmas that differ are told", async () => {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  const content = `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, r REAL); CREATE TABLE w (a TEXT COLLATE NOCASE, b, PRIMARY KEY (a, b)) WITHOUT ROWID; CREATE TABLE k (a);
    ${NUMBERS(3000)} INSERT INTO t SELECT i, 'Zeile ' || i || ' äöü 💾', i / 4.0 FROM n; INSERT INTO w SELECT a, id FROM t; INSERT INTO k SELECT a FROM t`;
  execute(left, `PRAGMA page_size = 1024; PRAGMA encoding = 'UTF-8'; ${content}`);
  execute(
    right,
    `PRAGMA page_size = 8192; PRAGMA encoding = 'UTF-16le'; ${content}; UPDATE t SET a = 'anders' WHERE id = 7; DELETE FROM w WHERE b = 9; INSERT INTO k VALUES ('neu')`,
  );
  const diff = await compareFiles(left, right);
  expect([diff.comparison, diff.changedPages]).toEqual(["full", null]);
  expect(diff.schema.map(({ name, left: before, right: after }) => [name, before, after])).toEqual([
    ["encoding", "UTF-8", "UTF-16le"],
    ["page_size", "1024", "8192"],
  ]);
  expect(rowsOf(diff, folder)).toEqual({
    k: ["insert t:neu"],
    t: ["update i:7|t:Zeile 7 äöü 💾|r:1.75 → i:7|t:anders|r:1.75"],
    w: ["delete t:Zeile 9 äöü 💾|i:9"],
  });
});
