import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DatabaseDiff } from "#engine/diff/database-diff.ts";
import { execute, temporaryFolder, withClient } from "../../support/stores.ts";
import { compareFiles, rowsOf } from "./support.ts";

async function compareEdited(build: string, edit: string): Promise<{ diff: DatabaseDiff; rows: Record<string, string[]> }> {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(left, build);
  copyFileSync(left, right);
  execute(right, edit);
  const diff = await compareFiles(left, right);
  return { diff, rows: rowsOf(diff, folder) };
}

const changesOf = ({ schema }: DatabaseDiff) => schema.map(({ type, name, change }) => `${change} ${type} ${name}`);

test("DIFF-6: tables, indexes, views, triggers and pragmas that were added, dropped or changed are told with their SQL", async () => {
  const { diff } = await compareEdited(
    `CREATE TABLE t (a); CREATE TABLE gone (a); CREATE INDEX i ON t (a); CREATE INDEX j ON t (a); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT 1;
     CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END`,
    `DROP TABLE gone; DROP INDEX i; CREATE INDEX i ON t (a DESC); DROP INDEX j; DROP VIEW v; CREATE VIEW v AS SELECT a, 1 FROM t; DROP TRIGGER x;
     CREATE TABLE come (b PRIMARY KEY); CREATE TRIGGER y AFTER DELETE ON t BEGIN SELECT 2; END; PRAGMA user_version = 7; PRAGMA application_id = 99`,
  );
  expect(changesOf(diff)).toEqual([
    "added table come",
    "dropped table gone",
    "changed index i",
    "dropped index j",
    "changed view v",
    "dropped trigger x",
    "added trigger y",
    "changed pragma application_id",
    "changed pragma user_version",
  ]);
  expect(diff.schema.find(({ name }) => name === "i")).toMatchObject({
    table: "t",
    left: "CREATE INDEX i ON t (a)",
    right: "CREATE INDEX i ON t (a DESC)",
  });
  expect(diff.schema.find(({ name }) => name === "user_version")).toMatchObject({ left: "0", right: "7" });
});

test("DIFF-7: an added column counts as its default on the left, also where rows were not rewritten", async () => {
  const { diff, rows } = await compareEdited(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'z')",
    "ALTER TABLE t ADD COLUMN b REAL DEFAULT 5; ALTER TABLE t ADD COLUMN c TEXT DEFAULT 'd'; UPDATE t SET c = 'other' WHERE id = 2; UPDATE t SET b = 5.0 WHERE id = 3",
  );
  expect(changesOf(diff)).toEqual(["changed table t"]);
  expect(rows["t"]).toEqual(["update i:2|t:y|r:5|t:d → i:2|t:y|r:5|t:other"]);
  expect(diff.tables[0]?.view.columns.map(({ name, side }) => [name, side])).toEqual([
    ["id", "both"],
    ["a", "both"],
    ["b", "right"],
    ["c", "right"],
  ]);
});

test("DIFF-7: a dropped column is not compared, a renamed one is compared under its new name", async () => {
  const { diff, rows } = await compareEdited(
    "CREATE TABLE d (id INTEGER PRIMARY KEY, a, b); INSERT INTO d VALUES (1, 2, 3), (2, 3, 4); CREATE TABLE r (id INTEGER PRIMARY KEY, old TEXT); INSERT INTO r VALUES (1, 'x'), (2, 'y')",
    "ALTER TABLE d DROP COLUMN a; UPDATE d SET b = 9 WHERE id = 2; ALTER TABLE r RENAME COLUMN old TO new; UPDATE r SET new = 'z' WHERE id = 2",
  );
  expect(rows).toEqual({ d: ["update i:2|i:4|i:3 → i:2|i:9|null"], r: ["update i:2|t:y → i:2|t:z"] });
  const [d, r] = diff.tables.map(({ view }) => view.columns);
  expect(d?.find(({ name }) => name === "a")?.side).toBe("left");
  expect(r?.find(({ name }) => name === "new")?.formerName).toBe("old");
});

test("DIFF-7: a renamed table is the same table", async () => {
  const { diff, rows } = await compareEdited(
    "CREATE TABLE before (id INTEGER PRIMARY KEY, a); INSERT INTO before VALUES (1, 'x'), (2, 'y')",
    "ALTER TABLE before RENAME TO after; UPDATE after SET a = 'z' WHERE id = 1",
  );
  expect(diff.schema).toMatchObject([{ type: "table", name: "after", change: "renamed", formerName: "before" }]);
  expect(rows).toEqual({ after: ["update i:1|t:x → i:1|t:z"] });
});

test("DIFF-7: a table made anew with another key or column order is compared by what both have", async () => {
  const { rows } = await compareEdited(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b); INSERT INTO t VALUES (1, 'x', 10), (2, 'y', 20), (3, 'z', 30)",
    "CREATE TABLE n (b, a TEXT, id INTEGER, PRIMARY KEY (id)) WITHOUT ROWID; INSERT INTO n SELECT b, a, id FROM t WHERE id < 3; UPDATE n SET b = 11 WHERE id = 1; DROP TABLE t; ALTER TABLE n RENAME TO t",
  );
  expect(rows["t"]).toEqual(["delete i:30|t:z|i:3", "update i:10|t:x|i:1 → i:11|t:x|i:1"]);
});

test("DIFF-8: shadow tables of full-text and R-tree tables stand under their owner", async () => {
  const { diff, rows } = await compareEdited(
    `CREATE VIRTUAL TABLE f USING fts5(title); CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); CREATE TABLE f_other (a);
     INSERT INTO f VALUES ('one'), ('two'); INSERT INTO r VALUES (1, 0, 1)`,
    "INSERT INTO f VALUES ('three'); INSERT INTO r VALUES (2, 3, 4)",
  );
  const owners = Object.fromEntries(diff.tables.map(({ view }) => [view.name, view.owner]));
  expect(owners).toMatchObject({ f_content: "f", f_data: "f", f_docsize: "f", r_node: "r", r_rowid: "r" });
  expect(owners).not.toHaveProperty("f");
  expect(owners).not.toHaveProperty("f_other");
  expect(rows["f_content"]).toEqual(["insert i:3|t:three"]);
  expect(diff.notes).toEqual(["Virtual tables are compared by their shadow tables: f, r"]);
});

test("DIFF-9: a table whose definition cannot be read here is said not to be comparable, and the others are compared", async () => {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(
    left,
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE odd (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1); INSERT INTO odd VALUES (1, 1)",
  );
  withClient(left, (database) => {
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    database.exec("UPDATE sqlite_schema SET sql = 'CREATE TABLE odd (id INTEGER PRIMARY KEY, a) FROM THE FUTURE' WHERE name = 'odd'");
  });
  copyFileSync(left, right);
  withClient(right, (database) => {
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    database.exec("UPDATE sqlite_schema SET sql = replace(sql, 'FROM', 'OF') WHERE name = 'odd'");
  });
  // SQLite refuses to change such a file, so the row is changed before.
  const changed = join(folder, "changed.db");
  execute(
    changed,
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE odd (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2); INSERT INTO odd VALUES (1, 1)",
  );
  const diff = await compareFiles(right, changed, "full");
  expect(rowsOf({ ...diff, tables: diff.tables.filter(({ pair }) => pair) }, folder)).toEqual({ t: ["update i:1|i:1 → i:1|i:2"] });
  expect(diff.tables.find(({ view }) => view.name === "odd")?.view.notComparable).toMatch(/cannot read its definition/);
  expect(diff.notes).toEqual([expect.stringMatching(/^odd is not comparable/)]);
});
