import { closeSync, copyFileSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DiffSideInput, DiffView, RowChangeView, TableCounts } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store.ts";
import { runAndStay } from "../../support/foreign-clients.ts";
import { execute, makeNotes, makeShop, query, SHOP, temporaryFolder, withClient } from "../../support/stores.ts";

const HEAD: DiffSideInput = { kind: "state", ...SHOP };
const UNSAVED: DiffSideInput = { kind: "unsaved", ...SHOP };
const at = (state: string): DiffSideInput => ({ kind: "state", ...SHOP, at: state });

async function countsOf(store: Store, id: string): Promise<TableCounts[]> {
  const counts = new Map<string, TableCounts>();
  for (;;) {
    const { tables, isComplete } = await store.diffSummary({ id });
    for (const table of tables) counts.set(table.name, table);
    if (isComplete) return [...counts.values()];
  }
}

async function rowsOf(store: Store, id: string, table: string, limit: number = LIMITS.pageRowsMax): Promise<RowChangeView[]> {
  const rows: RowChangeView[] = [];
  let after: string | undefined;
  do {
    const page = await store.diffRows({ id, table, after, limit });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    rows.push(...page.rows);
    after = page.next ?? undefined;
  } while (after !== undefined);
  return rows;
}

/** "+1 -0 ~2" of table notes. */
async function summaryOf(store: Store, left: DiffSideInput, right: DiffSideInput): Promise<string> {
  const { id } = await store.openDiff({ left, right });
  const counts = await countsOf(store, id);
  await store.closeDiff({ id });
  const notes = counts.find(({ name }) => name === "notes");
  return notes ? `+${notes.inserted} -${notes.deleted} ~${notes.updated}` : "same";
}

test("DIFF-14: a branch's head, a checkpoint, a version, a moment, unsaved work and files can each be compared", async () => {
  const { store, folder, main } = await makeShop();
  execute(main, "UPDATE notes SET text = 'changed' WHERE id < 4");
  await store.checkpoint({ ...SHOP, name: "three" });
  const between = new Date(Date.now()).toISOString();
  await new Promise((later) => setTimeout(later, 20));
  execute(main, "INSERT INTO notes (text) VALUES ('new'), ('new')");
  await store.checkpoint(SHOP);
  execute(main, "DELETE FROM notes WHERE id = 50");
  const file = join(folder, "notes.db");
  expect(await summaryOf(store, at("v1"), at("three"))).toBe("+0 -0 ~3");
  expect(await summaryOf(store, at("three"), HEAD)).toBe("+2 -0 ~0");
  expect(await summaryOf(store, HEAD, at("v1"))).toBe("+0 -2 ~3");
  expect(await summaryOf(store, at(between), HEAD)).toBe("+2 -0 ~0");
  expect(await summaryOf(store, HEAD, UNSAVED)).toBe("+0 -1 ~0");
  expect(await summaryOf(store, UNSAVED, at("v1"))).toBe("+1 -2 ~3");
  expect(await summaryOf(store, { kind: "file", path: file }, at("v1"))).toBe("same");
  expect(await summaryOf(store, { kind: "file", path: file }, UNSAVED)).toBe("+2 -1 ~3");
  const copy = join(folder, "copy.db");
  copyFileSync(file, copy);
  execute(copy, "UPDATE notes SET text = 'x' WHERE id = 9");
  expect(await summaryOf(store, { kind: "file", path: file }, { kind: "file", path: copy })).toBe("+0 -0 ~1");
});

test("DIFF-14: states of two branches, and of two databases, are compared; pages they share are not read", async () => {
  const { store, folder } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "UPDATE notes SET text = 'tried' WHERE id = 5");
  await store.checkpoint({ database: "shop", branch: "try" });
  const other: DiffSideInput = { kind: "state", database: "shop", branch: "try" };
  const view = await store.openDiff({ left: HEAD, right: other });
  expect(view).toMatchObject({ comparison: "shared", left: { label: "shop@main", version: 1 }, right: { label: "shop@try", version: 2 } });
  expect(await summaryOf(store, HEAD, other)).toBe("+0 -0 ~1");
  await store.create({ database: "second", from: makeNotes(join(folder, "second.db"), 120) });
  expect(await summaryOf(store, other, { kind: "state", database: "second", branch: "main" })).toBe("+20 -0 ~1");
});

test("DIFF-14: a file, its side files and the checkout are as they were; nothing is left in the store", async () => {
  const { store, folder, main } = await makeShop();
  const file = join(folder, "outside.db");
  makeNotes(file, 10);
  execute(main, "DELETE FROM notes WHERE id = 1");
  const before = [readFileSync(file), readFileSync(main), query(main, "SELECT count(*) FROM notes")];
  const operations = store.lastOperation();
  const { id } = await store.openDiff({ left: { kind: "file", path: file }, right: UNSAVED });
  await countsOf(store, id);
  await store.closeDiff({ id });
  expect([readFileSync(file), readFileSync(main), query(main, "SELECT count(*) FROM notes")]).toEqual(before);
  expect(readdirSync(folder).filter((name) => name.startsWith("outside"))).toEqual(["outside.db"]);
  expect(store.lastOperation()).toBe(operations);
  const temporary = join(store.path, "tmp");
  expect(readdirSync(temporary).flatMap((name) => (name.endsWith(".lock") ? [] : readdirSync(join(temporary, name))))).toEqual([]);
});

test("DIFF-14: unsaved work while another program writes is refused as busy", { timeout: 60_000 }, async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id = 1");
  const client = await runAndStay(
    main,
    "const database = new Database(path); database.exec('BEGIN IMMEDIATE; DELETE FROM notes WHERE id = 2')",
  );
  await expect(store.openDiff({ left: HEAD, right: UNSAVED })).rejects.toMatchObject({
    code: "checkout-busy",
    untouched: expect.any(String),
  });
  await client.stop();
  expect(await summaryOf(store, HEAD, UNSAVED)).toBe("+0 -1 ~0");
});

test("DIFF-19: unsaved work that gave the file another page size is compared in full", async () => {
  const { store, main } = await makeShop();
  execute(
    main,
    "PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL; UPDATE notes SET text = 'x' WHERE id = 3",
  );
  expect(await store.openDiff({ left: HEAD, right: UNSAVED })).toMatchObject({
    comparison: "full",
    changedPages: null,
    right: { pageSize: 8192 },
  });
  expect(await summaryOf(store, HEAD, UNSAVED)).toBe("+0 -0 ~1");
});

test("DIFF-9: a damaged table is said to be so, and the others are counted", async () => {
  const { store, folder } = await makeShop();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(
    left,
    "CREATE TABLE bad (id INTEGER PRIMARY KEY, v); CREATE TABLE good (id INTEGER PRIMARY KEY, v); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO bad SELECT i, 'v' || i FROM n; INSERT INTO good SELECT id, v FROM bad",
  );
  const leaf = withClient(left, (database) =>
    Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'bad'").pluck().get()),
  );
  copyFileSync(left, right);
  execute(right, "UPDATE good SET v = 'x' WHERE id = 5; UPDATE bad SET v = 'x' WHERE id = 2999");
  const file = openSync(right, "r+");
  // The root says that it has more cells than fit.
  writeSync(file, Buffer.from([0xff, 0xff]), 0, 2, (leaf - 1) * 4096 + 3);
  closeSync(file);
  const { id, tables } = await store.openDiff({ left: { kind: "file", path: left }, right: { kind: "file", path: right } });
  expect(tables.map(({ name }) => name)).toEqual(["bad", "good"]);
  expect(await countsOf(store, id)).toMatchObject([
    { name: "bad", notComparable: expect.stringContaining("cells") },
    { name: "good", updated: 1, notComparable: null },
  ]);
  await expect(store.diffRows({ id, table: "bad" })).rejects.toMatchObject({ code: "database-corrupt" });
});

test("DIFF-14: what is not there is not found, what cannot be a name or a state is refused", async () => {
  const { store, folder } = await makeShop();
  const open = (left: DiffSideInput, right: DiffSideInput = HEAD) => store.openDiff({ left, right });
  await expect(open({ kind: "state", database: "none", branch: "main" })).rejects.toMatchObject({ code: "database-not-found" });
  await expect(open({ kind: "state", database: "shop", branch: "none" })).rejects.toMatchObject({ code: "branch-not-found" });
  await expect(open({ kind: "state", database: "Shop", branch: "main" })).rejects.toMatchObject({ code: "bad-name" });
  await expect(open(at("not a state"))).rejects.toMatchObject({ code: "bad-target" });
  await expect(open({ kind: "nothing" } as unknown as DiffSideInput)).rejects.toMatchObject({ code: "bad-argument" });
  await expect(open(at("v9"))).rejects.toMatchObject({ code: "version-not-found" });
  await expect(open({ kind: "file", path: join(folder, "none.db") })).rejects.toMatchObject({ code: "file-not-found" });
  await expect(open({ kind: "file", path: folder })).rejects.toMatchObject({ code: "not-sqlite" });
});

test("DIFF-11: values are exact: 64-bit integers, reals, NULL, text that is none, NUL, blobs", async () => {
  const folder = temporaryFolder();
  const { store } = await makeShop();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(left, "CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
  copyFileSync(left, right);
  execute(
    right,
    `INSERT INTO t VALUES (1, 9223372036854775807), (2, 42), (3, 1.5), (4, 2.0), (5, 9e999), (6, NULL), (7, 'a' || char(0) || 'b'),
     (8, CAST(x'ff41' AS TEXT)), (9, x'00ff'), (10, ''), (11, x''), (-9007199254740993, 'far'), (12, -9007199254740993)`,
  );
  const { id } = await store.openDiff({ left: { kind: "file", path: left }, right: { kind: "file", path: right } });
  const rows = await rowsOf(store, id, "t");
  expect(rows.map((row) => row.new)).toEqual([
    [{ integer: "-9007199254740993" }, "far"],
    [1, { integer: "9223372036854775807" }],
    [2, 42],
    [3, 1.5],
    [4, { real: "2.0" }],
    [5, { real: "Infinity" }],
    [6, null],
    [7, "a\0b"],
    [8, { invalidText: "ff41", bytes: 2 }],
    [9, { blob: "00ff", bytes: 2 }],
    [10, ""],
    [11, { blob: "", bytes: 0 }],
    [12, { integer: "-9007199254740993" }],
  ]);
  expect(structuredClone(rows)).toEqual(JSON.parse(JSON.stringify(rows)));
});

test("DIFF-11: long values are shown by their beginning and their length, whole characters only", async () => {
  const { store, main } = await makeShop();
  withClient(main, (database) => {
    database.prepare("UPDATE notes SET text = ? WHERE id = 1").run("ä".repeat(LIMITS.diffValueBytesMax));
    database.prepare("UPDATE notes SET text = ? WHERE id = 2").run(Buffer.alloc(LIMITS.diffValueBytesMax * 2, 7));
  });
  const { id } = await store.openDiff({ left: HEAD, right: UNSAVED });
  const [text, blob] = (await rowsOf(store, id, "notes")).map((row) => row.new?.[1]);
  expect(text).toEqual({ text: "ä".repeat(LIMITS.diffValueBytesMax / 2), bytes: LIMITS.diffValueBytesMax * 2 });
  expect(blob).toEqual({ blob: "07".repeat(LIMITS.diffValueBytesMax), bytes: LIMITS.diffValueBytesMax * 2 });
});

test("DIFF-15: rows come in pages, each where the last one ended, in any order of asking", async () => {
  const { store, main } = await makeShop();
  execute(main, "UPDATE notes SET text = 'x' WHERE id % 2 = 0; DELETE FROM notes WHERE id > 90; INSERT INTO notes VALUES (500, 'new')");
  const { id } = await store.openDiff({ left: HEAD, right: UNSAVED });
  const all = await rowsOf(store, id, "notes");
  expect(all).toHaveLength(45 + 10 + 1);
  expect(await rowsOf(store, id, "notes", 7)).toEqual(all);
  const third = await store.diffRows({ id, table: "notes", after: "14", limit: 7 });
  const first = await store.diffRows({ id, table: "notes", limit: 7 });
  expect([first.rows, third.rows]).toEqual([all.slice(0, 7), all.slice(14, 21)]);
  expect(await store.diffRows({ id, table: "notes", after: "999", limit: 7 })).toMatchObject({ rows: [], next: null });
  await expect(store.diffRows({ id, table: "notes", after: "x" })).rejects.toMatchObject({ code: "bad-argument" });
});

test("DIFF-15: rows are filtered by kind, and by the columns that count", async () => {
  const { store, folder } = await makeShop();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(left, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)");
  copyFileSync(left, right);
  execute(
    right,
    "UPDATE t SET a = 9 WHERE id = 1; UPDATE t SET b = 9 WHERE id = 2; DELETE FROM t WHERE id = 3; INSERT INTO t VALUES (4, 4, 4)",
  );
  const { id } = await store.openDiff({ left: { kind: "file", path: left }, right: { kind: "file", path: right } });
  const keys = async (filter: object) =>
    (await store.diffRows({ id, table: "t", ...filter })).rows.map(({ kind, old, new: now }) => `${kind} ${(now ?? old)?.[0]}`);
  expect(await keys({})).toEqual(["update 1", "update 2", "delete 3", "insert 4"]);
  expect(await keys({ kinds: ["delete"] })).toEqual(["delete 3"]);
  expect(await keys({ kinds: ["insert", "update"], columns: ["b"] })).toEqual(["update 2", "insert 4"]);
  await expect(keys({ columns: ["none"] })).rejects.toMatchObject({ code: "bad-argument", details: { name: "none" } });
  await expect(store.diffRows({ id, table: "tt" })).rejects.toMatchObject({ code: "bad-argument", details: { choices: ["t"] } });
});

test("DIFF-15: the summary counts table by table, until it is complete", async () => {
  const { store, main } = await makeShop();
  execute(main, "CREATE TABLE b (x); INSERT INTO b VALUES (1), (2); DELETE FROM notes WHERE id = 1");
  const { id } = await store.openDiff({ left: HEAD, right: UNSAVED });
  const expected = [
    { name: "b", inserted: 2, deleted: 0, updated: 0, isComplete: true, notComparable: null },
    { name: "notes", inserted: 0, deleted: 1, updated: 0, isComplete: true, notComparable: null },
  ];
  expect(await countsOf(store, id)).toEqual(expected);
});

test("DIFF-16: an open comparison keeps showing what it was opened on", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id = 1");
  const { id } = await store.openDiff({ left: HEAD, right: UNSAVED });
  execute(main, "DELETE FROM notes WHERE id < 50; VACUUM");
  await store.checkpoint(SHOP);
  expect(await rowsOf(store, id, "notes")).toHaveLength(1);
});

test("DIFF-16: too many open comparisons push out the one used least lately; closing what is not open does nothing", async () => {
  const { store } = await makeShop();
  const views: DiffView[] = [];
  for (let count = 0; count < LIMITS.diffsOpenMax; count += 1) views.push(await store.openDiff({ left: HEAD, right: HEAD }));
  await store.diffSummary({ id: views[0]?.id ?? "" });
  await store.openDiff({ left: HEAD, right: HEAD });
  await expect(store.diffSummary({ id: views[0]?.id ?? "" })).resolves.toMatchObject({ isComplete: true });
  await expect(store.diffSummary({ id: views[1]?.id ?? "" })).rejects.toMatchObject({ code: "bad-argument" });
  await expect(store.closeDiff({ id: "never" })).resolves.toBeNull();
});

test("DIFF-17: a comparison that is cancelled stops at once, leaves nothing behind, and can be made again", async () => {
  const { store, folder } = await makeShop();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(
    left,
    "CREATE TABLE t (a, b); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT INTO t SELECT i, hex(randomblob(20)) FROM n",
  );
  copyFileSync(left, right);
  execute(right, "UPDATE t SET b = b || 'x'");
  const sides = { left: { kind: "file", path: left }, right: { kind: "file", path: right } } as const;
  const { id } = await store.openDiff(sides);
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 10);
  await expect(store.diffRows({ id, table: "t" }, { signal: abort.signal })).rejects.toMatchObject({ code: "cancelled" });
  await expect(store.openDiff(sides, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "cancelled" });
  expect(await countsOf(store, id)).toMatchObject([{ name: "t", inserted: 12_000, deleted: 12_000 }]);
  const diff = await store.diff(sides);
  const changes = diff.changes(diff.tables[0]!);
  await changes.next();
  diff.close();
  await expect(
    changes.next().then(async () => {
      for await (const _ of changes) continue;
    }),
  ).rejects.toBeInstanceOf(EngineError);
});

test("DIFF-13: a comparison is written to a file as SQL, CSV, JSON or Markdown; a file that is there only when allowed", async () => {
  const { store, folder, main } = await makeShop();
  execute(
    main,
    `UPDATE notes SET text = 'a "quoted", text' WHERE id = 1; DELETE FROM notes WHERE id = 2; INSERT INTO notes VALUES (200, 'line
break | pipe'), (201, NULL); CREATE TABLE other (x); INSERT INTO other VALUES (1)`,
  );
  const { id } = await store.openDiff({ left: HEAD, right: UNSAVED });
  const write = async (format: "sql" | "csv" | "json" | "markdown", more: object = {}) => {
    const file = join(folder, `out.${format}`);
    const { path, bytes } = await store.exportDiff({ id, format, file, ...more });
    expect(statSync(path).size).toBe(bytes);
    return readFileSync(path, "utf8");
  };
  expect(await write("csv", { tables: ["notes"] })).toBe(
    'change,old.id,new.id,old.text,new.text\r\nupdate,1,1,note 1,"a ""quoted"", text"\r\ndelete,2,,note 2,\r\ninsert,,200,,"line\nbreak | pipe"\r\ninsert,,201,,\r\n',
  );
  expect(await write("markdown", { tables: ["notes"] })).toContain(
    '| ~ | 1 | note 1 → a "quoted", text |\n| − | 2 | note 2 |\n| + | 200 | line break \\| pipe |',
  );
  const changeset = JSON.parse(await write("json")) as { tables: { name: string; rows: RowChangeView[] }[]; schema: unknown[] };
  expect(changeset.tables.map(({ name, rows }) => [name, rows.length])).toEqual([
    ["notes", 4],
    ["other", 1],
  ]);
  expect(changeset.schema).toHaveLength(1);
  expect(await write("sql")).toMatch(/^-- Turns shop@main into shop@main with unsaved work\n[\s\S]*COMMIT;\n$/);
  await expect(write("sql")).rejects.toMatchObject({ code: "file-exists" });
  await expect(write("sql", { overwrite: true, kinds: ["delete"] })).rejects.toMatchObject({ code: "bad-argument" });
  await expect(write("csv", { overwrite: true })).rejects.toMatchObject({ code: "bad-argument", details: { choices: ["notes", "other"] } });
  expect(existsSync(join(folder, "out.sql"))).toBe(true);
});
