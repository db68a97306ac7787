import { readFileSync, statSync, existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import type { QueryRunView } from "#shared/query-views.ts";
import type { Store } from "#engine/store.ts";
import { execute, makeShop, query, SHOP } from "../../support/stores.ts";

const run = (store: Store, sql: string, more: object = {}): Promise<QueryRunView> => store.runQuery({ ...SHOP, sql, ...more });
const rowsOf = (view: QueryRunView): unknown => view.statements.map(({ rows }) => rows);
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

test("SQL-1: a script runs statement by statement, as SQLite splits it", async () => {
  const { store } = await makeShop();
  const view = await run(
    store,
    "SELECT 1 AS one; -- a comment; with a semicolon\nSELECT ';' AS semi, \"text\" FROM notes WHERE id < 3;;  ",
  );
  expect(view.statements.map(({ columns, rows, error }) => ({ columns, rows, error }))).toEqual([
    { columns: ["one"], rows: [[1]], error: null },
    {
      columns: ["semi", "text"],
      rows: [
        [";", "note 1"],
        [";", "note 2"],
      ],
      error: null,
    },
  ]);
  expect(view).toMatchObject({ transaction: "read", before: null, isComplete: true, source: { label: "shop@main", kind: "file" } });
  const trigger =
    "CREATE TEMP TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; UPDATE notes SET text = 'a;b' WHERE id = new.id; END; INSERT INTO notes VALUES (500, 'x'); SELECT text FROM notes WHERE id = 500";
  const written = await run(store, trigger, { write: true });
  expect(rowsOf(written)).toEqual([[], [], [["a;b"]]]);
});

test("SQL-2: a statement that fails ends the script, and says where it fails", async () => {
  const { store } = await makeShop();
  const at = async (sql: string): Promise<unknown> => {
    const view = await run(store, sql);
    const failed = view.statements.at(-1);
    expect(view.isComplete).toBe(false);
    return failed?.error?.position;
  };
  expect(await at("SELECT 1; SELEC 2; SELECT 3")).toBe(10);
  expect(await at("SELECT 1 FROM notes WHERE WHERE")).toBe(26);
  expect(await at("SELECT id, nothing FROM notes")).toBe(11);
  expect(await at("SELECT 1;\n SELECT * FROM nowhere")).toBe(25);
  expect(await at("SELECT id FROM")).toBe(14);
  expect(await at("SELECT abs(-9223372036854775808)")).toBeNull();
  const view = await run(store, "SELECT 1; SELECT ?; SELECT 3");
  expect(view.statements).toHaveLength(2);
  expect(view.statements[1]?.error?.message).toMatch(/parameters/);
});

test("SQL-3: rows are bounded by number and by size, and the answer says so", async () => {
  const { store } = await makeShop();
  const few = await run(store, "SELECT id FROM notes; SELECT id FROM notes LIMIT 2", { limit: 3 });
  expect(few.statements.map(({ rows, truncated }) => [rows.length, truncated])).toEqual([
    [3, true],
    [2, false],
  ]);
  const large = await run(store, "SELECT zeroblob(60000) FROM notes", { limit: 5000 });
  expect(large.statements[0]).toMatchObject({ truncated: true });
  expect(JSON.stringify(large).length).toBeLessThan(5 * 1024 * 1024);
  const cut = await run(store, "SELECT zeroblob(1000000)");
  expect(cut.statements[0]?.rows[0]?.[0]).toMatchObject({ bytes: 1_000_000, blob: "00".repeat(65_536) });
  const many = await run(store, "SELECT 1;".repeat(1_500));
  expect([many.statements.length, many.unlisted]).toEqual([1_000, 500]);
});

test("SQL-4: SQL that writes needs leave, a state that can change, and force on a protected branch", async () => {
  const { store, main } = await makeShop();
  const sql = "DELETE FROM notes";
  expect(await failure(run(store, sql))).toMatchObject({ code: "read-only" });
  expect(await failure(run(store, sql, { write: true, at: "v1" }))).toMatchObject({ code: "read-only" });
  await store.protect({ ...SHOP, protected: true });
  expect(await failure(run(store, sql, { write: true }))).toMatchObject({ code: "protected" });
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[100]]);
  expect(await run(store, sql, { write: true, force: true })).toMatchObject({ changes: 100, transaction: "one" });
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[0]]);
});

test("SQL-5: before a script writes, unsaved work is kept as a version, and rolling back to it undoes the script", async () => {
  const { store, main } = await makeShop();
  const clean = await run(store, "UPDATE notes SET text = 'first' WHERE id = 1", { write: true });
  expect(clean).toMatchObject({ before: 1, changes: 1 });
  const second = await run(store, "INSERT INTO notes(text) VALUES ('more') RETURNING id; DELETE FROM notes WHERE id < 50", { write: true });
  expect(second).toMatchObject({ before: 2, changes: 50 });
  expect(second.statements[0]?.rows).toEqual([[101]]);
  expect(await store.branch(SHOP)).toMatchObject({ head: 1 });
  await store.rollback({ ...SHOP, to: "v2" });
  expect(query(main, "SELECT count(*), min(text) FROM notes WHERE id < 50")).toEqual([[49, "first"]]);
  await store.undo({});
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[52]]);
});

test("SQL-6: a script is one transaction, unless it has transactions of its own", async () => {
  const { store, main } = await makeShop();
  const failed = await run(store, "DELETE FROM notes; INSERT INTO notes VALUES (1, 'a'), (1, 'b'); SELECT 1", { write: true });
  expect(failed).toMatchObject({ transaction: "one", isComplete: false, changes: 0 });
  expect(failed.statements.map(({ error }) => error?.code ?? null)).toEqual([null, "SQLITE_CONSTRAINT_PRIMARYKEY"]);
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[100]]);
  const own = await run(store, "DELETE FROM notes WHERE id = 1; BEGIN; DELETE FROM notes WHERE id = 2", { write: true });
  expect(own).toMatchObject({ transaction: "own", isComplete: true });
  expect(own.notes).toHaveLength(1);
  expect(query(main, "SELECT min(id) FROM notes")).toEqual([[2]]);
  expect((await run(store, "VACUUM; PRAGMA user_version = 7", { write: true })).isComplete).toBe(true);
  expect(query(main, "PRAGMA user_version")).toEqual([[7]]);
});

test("SQL-18: a statement that changes another number of rows than was expected fails, and nothing takes effect", async () => {
  const { store, main } = await makeShop();
  const sql = "UPDATE notes SET text = 'new' WHERE id = 1; DELETE FROM notes WHERE id = 1000; DELETE FROM notes WHERE id = 2";
  const view = await run(store, sql, { write: true, expectChanges: [1, 1, 1] });
  expect(view).toMatchObject({ isComplete: false, changes: 0, transaction: "one" });
  expect(view.statements.map(({ error }) => error?.message ?? null)).toEqual([null, "It changed 0 rows, and 1 were expected"]);
  expect(query(main, "SELECT count(*) FROM notes WHERE text = 'new' OR id = 2")).toEqual([[1]]);
  expect(await run(store, sql, { write: true, expectChanges: [1, 0, 1] })).toMatchObject({ isComplete: true, changes: 2 });
  expect(await failure(run(store, sql, { write: true, expectChanges: [1] }))).toMatchObject({ code: "bad-argument" });
  // Rows that triggers change count for no statement, whether it returns rows or not.
  execute(main, "CREATE TABLE seen (id); CREATE TRIGGER t AFTER UPDATE ON notes BEGIN INSERT INTO seen VALUES (new.id); END");
  for (const returning of ["", " RETURNING id"])
    expect(await run(store, `UPDATE notes SET text = 'x' WHERE id = 5${returning}`, { write: true, expectChanges: [1] })).toMatchObject({
      isComplete: true,
      changes: 1,
    });
  expect(query(main, "SELECT count(*) FROM seen")).toEqual([[2]]);
  const own = run(store, "BEGIN; DELETE FROM notes", { write: true, expectChanges: [0, 98] });
  expect(await failure(own)).toMatchObject({ code: "bad-argument" });
});

test.each([
  "ATTACH '/tmp/other.db' AS o",
  "/* hidden */ attach database ':memory:' as o",
  "SELECT 1; DETACH o",
  "VACUUM INTO '/tmp/copy.db'",
  "vacuum main into 'copy.db'",
  "PRAGMA temp_store_directory = '/tmp'",
  "PRAGMA main.\"data_store_directory\" = '/tmp'",
])("SQL-7: %s reaches files outside the branch: refused before anything runs", async (sql) => {
  const { store } = await makeShop();
  expect(await failure(run(store, `DELETE FROM notes; ${sql}`, { write: true }))).toMatchObject({ code: "unsupported" });
  expect(await failure(store.queryAcross({ database: "shop", patterns: ["*"], sql }))).toMatchObject({
    code: expect.stringMatching(/unsupported|bad-argument/),
  });
  expect(rowsOf(await run(store, "SELECT count(*) FROM notes"))).toEqual([[[100]]]);
});

test("SQL-7: extensions are not loaded, and the schema cannot be edited by hand", async () => {
  const { store } = await makeShop();
  const loaded = await run(store, "SELECT load_extension('/tmp/x.so')");
  expect(loaded.statements[0]?.error?.message).toMatch(/not authorized/);
  const edited = await run(store, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x'", { write: true });
  expect(edited.statements.at(-1)?.error?.message).toMatch(/may not be modified/);
  const tricked = await run(store, "PRAGMA query_only = OFF; SELECT 1");
  expect(tricked.isComplete).toBe(true);
});

test("SQL-8: reading leaves a clean file clean, and nothing beside it", async () => {
  const { store, main } = await makeShop();
  const before = statSync(main, { bigint: true });
  await run(store, "SELECT count(*) FROM notes; PRAGMA journal_mode");
  await store.dataRows({ ...SHOP, table: "notes" });
  const after = statSync(main, { bigint: true });
  expect([after.mtimeNs, after.ctimeNs, after.ino]).toEqual([before.mtimeNs, before.ctimeNs, before.ino]);
  expect(readdirSync(dirname(main))).toEqual(["main.db"]);
  expect(store.unsavedBranches("shop")).toEqual([]);
});

test("SQL-9: a plan is told, and nothing runs", async () => {
  const { store } = await makeShop();
  const view = await run(store, "SELECT * FROM notes WHERE id = 7; DELETE FROM notes", { plan: true });
  expect(view.statements[0]?.columns).toEqual(["id", "parent", "notused", "detail"]);
  expect(view.statements[0]?.rows[0]?.[3]).toMatch(/SEARCH notes USING INTEGER PRIMARY KEY/);
  expect(view).toMatchObject({ before: null, isComplete: true });
  expect(rowsOf(await run(store, "SELECT count(*) FROM notes"))).toEqual([[[100]]]);
});

test("SQL-10: a query without end is stopped, other questions are answered meanwhile, and what it began to write is not there", async () => {
  const { store, main } = await makeShop();
  const abort = new AbortController();
  const endless = failure(store.runQuery({ ...SHOP, sql: ENDLESS }, { signal: abort.signal }));
  expect(rowsOf(await run(store, "SELECT count(*) FROM notes"))).toEqual([[[100]]]);
  abort.abort();
  expect(await endless).toMatchObject({ code: "cancelled" });
  const again = new AbortController();
  const writing = failure(store.runQuery({ ...SHOP, sql: `DELETE FROM notes; ${ENDLESS}`, write: true }, { signal: again.signal }));
  await new Promise((settle) => setTimeout(settle, 400));
  again.abort();
  expect(await writing).toMatchObject({ code: "cancelled", untouched: expect.stringContaining("v1") });
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[100]]);
});

test("SQL-11: a branch is read as its file is now, an earlier state and a branch without a file as a version", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 10");
  await store.fork({ ...SHOP, newBranch: "try" });
  expect(rowsOf(await run(store, "SELECT count(*) FROM notes"))).toEqual([[[10]]]);
  expect(await run(store, "SELECT count(*) FROM notes", { at: "v1" })).toMatchObject({
    source: { label: "shop@main@v1", kind: "version", version: 1, isWritable: false },
    statements: [{ rows: [[100]] }],
  });
  const fork = await store.runQuery({ database: "shop", branch: "try", sql: "SELECT count(*) FROM notes" });
  expect(fork).toMatchObject({ source: { kind: "version", isWritable: true }, statements: [{ rows: [[100]] }] });
  expect(existsSync(store.checkoutPath("shop", "try"))).toBe(false);
  const written = await store.runQuery({ database: "shop", branch: "try", sql: "DELETE FROM notes", write: true });
  expect(written).toMatchObject({ before: 1, source: { kind: "file" } });
  expect(readFileSync(store.checkoutPath("shop", "try")).length).toBeGreaterThan(0);
});
