import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { DataFilter, DataRowsView, DataValue } from "#shared/query-views.ts";
import { createStore, type Store } from "#engine/store.ts";
import { writeManyTables } from "../../support/hostile-builders.ts";
import { temporaryFolder, withClient } from "../../support/stores.ts";

const MAIN = { database: "d", branch: "main" } as const;
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

const storeOf = (sql: string): Promise<Store> => storeFrom((path) => withClient(path, (database) => database.exec(sql)));

async function storeFrom(write: (path: string) => unknown): Promise<Store> {
  const folder = temporaryFolder();
  const from = join(folder, "source.db");
  write(from);
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
  onTestFinished(() => store.close());
  await store.create({ database: "d", from });
  return store;
}

type Page = { readonly order?: { column: string; descending?: boolean }; readonly filters?: DataFilter[] };

/** All pages, forwards and then backwards from the last one, which must be the same rows. */
async function pageThrough(store: Store, table: string, more: Page = {}, limit = 3): Promise<DataRowsView["rows"]> {
  const pages: DataRowsView[] = [];
  for (let after: string | undefined; pages.length < 200;) {
    const page = await store.dataRows({ ...MAIN, table, ...more, limit, ...(after === undefined ? {} : { after }) });
    pages.push(page);
    if (page.next === null) break;
    after = page.next;
  }
  const forwards = pages.flatMap(({ rows }) => rows);
  const backwards: DataRowsView["rows"][number][] = [];
  for (let page = pages.at(-1); page && page.previous !== null;) {
    page = await store.dataRows({ ...MAIN, table, ...more, limit, before: page.previous });
    backwards.unshift(...page.rows);
  }
  expect([...backwards, ...(pages.at(-1)?.rows ?? [])]).toEqual(forwards);
  return forwards;
}

const first = (rows: DataRowsView["rows"]): DataValue[] => rows.map(({ values }) => values[0] ?? null);

test("DATA-1: pages of every kind of table hold all its rows in order, forwards and backwards", async () => {
  const store = await storeOf(
    `
    CREATE TABLE r(a); INSERT INTO r(rowid, a) VALUES (5, 'e'), (-3, 'a'), (9, 'z'), (7, NULL), (1, 'b'), (2, 'b'), (3, x'00'), (4, 1.5);
    CREATE TABLE hidden(rowid TEXT, _rowid_ TEXT); INSERT INTO hidden VALUES ('x', 'y'), ('x', 'y'), ('a', 'b'), ('c', 'd');
    CREATE TABLE all_hidden(rowid, _rowid_, oid); INSERT INTO all_hidden VALUES (1, 2, 3), (1, 2, 3), (4, 5, 6), (7, 8, 9);
    CREATE TABLE alias(Id INTEGER PRIMARY KEY, t); INSERT INTO alias SELECT value * 10, 'v' || value FROM generate_series(1, 8);
    CREATE TABLE no_alias(id INTEGER PRIMARY KEY DESC, t); INSERT INTO no_alias VALUES (3, 'c'), (1, 'a'), (2, 'b'), (9, 'i');
    CREATE TABLE w(a TEXT COLLATE NOCASE, b INTEGER, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
    INSERT INTO w VALUES ('x', 1, 1), ('Y', 2, NULL), ('a', 2, 3), ('B', 2, 4), ('z', 0, 5), ('m', 1, 6), ('n', 1, 7);
    CREATE VIEW v AS SELECT a, b FROM w ORDER BY a; CREATE VIEW broken AS SELECT * FROM nowhere;
    CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('one'), ('two'), ('three'), ('four');
    CREATE TABLE empty(a);
  `.replace(
      "FROM generate_series(1, 8)",
      "FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 8) SELECT value FROM n)",
    ),
  );
  expect(first(await pageThrough(store, "r"))).toEqual(["a", "b", "b", { blob: "00", bytes: 1 }, 1.5, "e", null, "z"]);
  expect(first(await pageThrough(store, "hidden"))).toEqual(["x", "x", "a", "c"]);
  expect(first(await pageThrough(store, "all_hidden"))).toEqual([1, 1, 4, 7]);
  expect(first(await pageThrough(store, "ALIAS"))).toEqual([10, 20, 30, 40, 50, 60, 70, 80]);
  expect((await pageThrough(store, "no_alias")).map(({ key }) => key)).toEqual([[1], [2], [3], [4]]);
  expect((await pageThrough(store, "w")).map(({ key }) => key)).toEqual([
    [2, "a"],
    [2, "B"],
    [2, "Y"],
    [1, "m"],
    [1, "n"],
    [1, "x"],
    [0, "z"],
  ]);
  expect(await pageThrough(store, "v")).toMatchObject([{ key: null, values: ["a", 2] }, {}, {}, {}, {}, {}, {}]);
  expect(first(await pageThrough(store, "f"))).toEqual(["one", "two", "three", "four"]);
  expect(await pageThrough(store, "empty")).toEqual([]);
  expect(await failure(store.dataRows({ ...MAIN, table: "broken" }))).toMatchObject({
    code: "sql-failed",
    message: expect.stringContaining("nowhere"),
  });
  expect(await failure(store.dataRows({ ...MAIN, table: "nothing" }))).toMatchObject({ code: "bad-argument" });
});

test("DATA-8: the page at the end of a table, and those before it, hold the last rows of its order", async () => {
  const store = await storeOf(`
    CREATE TABLE t(id INTEGER PRIMARY KEY, n); INSERT INTO t SELECT value, value % 3 FROM json_each('[1,2,3,4,5,6,7,8]') WHERE value > 0;
    CREATE VIEW v AS SELECT id FROM t ORDER BY id; CREATE TABLE e(a);
  `);
  for (const [table, order] of [
    ["t", {}],
    ["v", {}],
    ["t", { order: { column: "n", descending: true } }],
  ] as const) {
    const forwards = await pageThrough(store, table, order);
    const last = await store.dataRows({ ...MAIN, table, ...order, last: true, limit: 3 });
    expect(last).toMatchObject({ rows: forwards.slice(-3), next: null });
    const before = await store.dataRows({ ...MAIN, table, ...order, before: last.previous ?? "", limit: 3 });
    expect(before.rows).toEqual(forwards.slice(-6, -3));
    const start = await store.dataRows({ ...MAIN, table, ...order, before: before.previous ?? "", limit: 3 });
    expect(start).toMatchObject({ rows: forwards.slice(0, 2), previous: null });
  }
  expect(await store.dataRows({ ...MAIN, table: "t", last: true, limit: 20 })).toMatchObject({ previous: null, next: null });
  expect(await store.dataRows({ ...MAIN, table: "e", last: true })).toMatchObject({ rows: [], previous: null, next: null });
  expect(await failure(store.dataRows({ ...MAIN, table: "t", last: true, after: "[1]" }))).toMatchObject({ code: "bad-argument" });
});

test("DATA-2: rows come in the order of any column, values of every type and NULL among them", async () => {
  const store = await storeOf(`CREATE TABLE t(id INTEGER PRIMARY KEY, v);
    INSERT INTO t(v) VALUES (3), (NULL), ('b'), (x'01'), (1.5), (NULL), ('b'), (3), (NULL), (-9223372036854775808), (9223372036854775807), ('a');
    INSERT INTO t(v) VALUES (CAST(x'ff' AS TEXT)), (9e999), (-9e999), ('');`);
  for (const descending of [false, true]) {
    const view = await store.runQuery({ ...MAIN, sql: `SELECT id FROM t ORDER BY v ${descending ? "DESC" : ""}, id` });
    for (const limit of [1, 2, 5]) {
      const rows = await pageThrough(store, "t", { order: { column: "v", descending } }, limit);
      expect(first(rows)).toEqual(view.statements[0]?.rows.map(([id]) => id));
    }
  }
  expect(first(await pageThrough(store, "t", { order: { column: "id", descending: true } }))[0]).toBe(16);
});

test("DATA-3: filters and counts agree", async () => {
  const store = await storeOf(`CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, n INTEGER, b BLOB);
    INSERT INTO t VALUES (1, 'Anna', 5, x'00'), (2, 'bernd', NULL, x'01'), (3, 'ANNABEL', 9007199254740993, NULL), (4, '50%', 7, 'text');`);
  const ids = async (...filters: DataFilter[]): Promise<unknown> => {
    const rows = first(await pageThrough(store, "t", { filters }, 2));
    expect(await store.countRows({ ...MAIN, table: "t", filters })).toEqual({ count: rows.length });
    return rows;
  };
  expect(await ids({ column: "name", operator: "contains", value: "anna" })).toEqual([1, 3]);
  expect(await ids({ column: "name", operator: "starts with", value: "50%" })).toEqual([4]);
  expect(await ids({ column: "n", operator: "is", value: null })).toEqual([2]);
  expect(
    await ids({ column: "n", operator: ">", value: 5 }, { column: "n", operator: "<", value: { integer: "9007199254740994" } }),
  ).toEqual([3, 4]);
  expect(await ids({ column: "n", operator: "=", value: { integer: "9007199254740993" } })).toEqual([3]);
  expect(await ids({ column: "b", operator: "=", value: { blob: "01", bytes: 1 } })).toEqual([2]);
  expect(await failure(ids({ column: "nope", operator: "=", value: 1 }))).toMatchObject({ code: "bad-argument" });
  expect(await failure(ids({ column: "n", operator: "=", value: { integer: "9223372036854775808" } }))).toMatchObject({
    code: "bad-argument",
  });
});

const EXACT = `CREATE TABLE x(id INTEGER PRIMARY KEY, v); INSERT INTO x(v) VALUES
  (9223372036854775807), (-9223372036854775808), (9007199254740993), (1), (1.0), (-0.0), (9e999), (-9e999), (NULL),
  ('a' || char(0) || 'b'), (char(65533)), (x''), (x'00ff'), (''), ('Übersicht 💾'), (1e300), (5e-324)`;

test.each(["UTF-8", "UTF-16le", "UTF-16be"])(
  "DATA-4: values of a %s database arrive exactly, through tables and SQL alike",
  async (encoding) => {
    const invalid = encoding === "UTF-8" ? ["c328ff80", "eda080"] : encoding === "UTF-16le" ? ["00d8", "410000dc"] : ["d800", "0041dc00"];
    const store = await storeOf(
      `PRAGMA encoding = '${encoding}'; ${EXACT}${invalid.map((hex) => `, (CAST(x'${hex}' AS TEXT))`).join("")};`,
    );
    const expected: DataValue[] = [
      { integer: "9223372036854775807" },
      { integer: "-9223372036854775808" },
      { integer: "9007199254740993" },
      1,
      { real: "1.0" },
      { real: "-0.0" },
      { real: "Infinity" },
      { real: "-Infinity" },
      null,
      "a\0b",
      "\uFFFD",
      { blob: "", bytes: 0 },
      { blob: "00ff", bytes: 2 },
      "",
      "Übersicht 💾",
      { real: "1e+300" },
      5e-324,
    ];
    const table = (await store.dataRows({ ...MAIN, table: "x" })).rows.map(({ values }) => values[1]);
    const sql = (await store.runQuery({ ...MAIN, sql: "SELECT v, id, v FROM x ORDER BY id" })).statements[0]?.rows.map(([value]) => value);
    expect(table.slice(0, expected.length)).toEqual(expected);
    expect(sql).toEqual(table);
    expect(table.slice(expected.length)).toHaveLength(2);
    if (encoding === "UTF-8")
      expect(table.slice(expected.length)).toEqual(invalid.map((hex) => ({ invalidText: hex, bytes: hex.length / 2 })));
    for (const value of table.slice(expected.length)) expect(value).toHaveProperty("invalidText");
  },
);

test("DATA-4: a random value is computed once, also where its row is read a second way", async () => {
  const store = await storeOf("CREATE TABLE t(a TEXT); INSERT INTO t VALUES (CAST(x'ff' AS TEXT)), ('x'), ('y')");
  const view = await store.runQuery({
    ...MAIN,
    sql: "SELECT r, r = r2, a FROM (SELECT random() AS r, a FROM t), (SELECT 0 AS r2) ORDER BY a DESC; PRAGMA table_list",
  });
  expect(view.statements[0]?.rows.map(([, , a]) => a)).toEqual([{ invalidText: "ff", bytes: 1 }, "y", "x"]);
  expect(view.isComplete).toBe(true);
});

test("DATA-5: long values are cut, with their length, and had whole in slices", async () => {
  const store = await storeOf(`CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB, s TEXT);
    INSERT INTO t VALUES (1, zeroblob(3000000), replace(hex(zeroblob(50000)), '00', 'ä€')), (2, NULL, 'short'), (3, 5, CAST(zeroblob(70000) || x'ff' AS TEXT))`);
  const { rows, key } = await store.dataRows({ ...MAIN, table: "t" });
  expect(rows[0]?.values[1]).toMatchObject({ blob: "00".repeat(65_536), bytes: 3_000_000 });
  const text = rows[0]?.values[2];
  expect(text).toMatchObject({ bytes: 250_000, text: expect.stringMatching(/^(ä€)+ä?$/) });
  expect(key).toEqual({ kind: "rowid", columns: ["id"], isStable: true });
  const slices: string[] = [];
  for (let offset = 0; offset < 3_000_000; offset += 1_000_000) {
    const slice = await store.dataValue({ ...MAIN, table: "t", key: [1], column: "b", offset, limit: 1_000_000 });
    expect(slice).toMatchObject({ type: "blob", bytes: 3_000_000, value: null });
    slices.push(slice.slice);
  }
  expect(slices.join("")).toBe("00".repeat(3_000_000));
  expect(await store.dataValue({ ...MAIN, table: "t", key: [2], column: "b" })).toMatchObject({
    type: "null",
    value: null,
    bytes: 0,
    slice: "",
  });
  expect(await store.dataValue({ ...MAIN, table: "t", key: [3], column: "b" })).toMatchObject({ type: "integer", value: 5 });
  expect(await store.dataValue({ ...MAIN, table: "t", key: [2], column: "s" })).toMatchObject({
    type: "text",
    encoding: "UTF-8",
    slice: Buffer.from("short").toString("hex"),
  });
  expect(await failure(store.dataValue({ ...MAIN, table: "t", key: [9], column: "s" }))).toMatchObject({ code: "bad-argument" });
});

test("DATA-6: a schema tells tables, columns, keys, and why one cannot be read", async () => {
  const store = await storeOf(`
    CREATE TABLE t(id INTEGER PRIMARY KEY, "a b" TEXT NOT NULL DEFAULT 'x;y', g INT AS (id * 2) VIRTUAL, s INT AS (id + 1) STORED) STRICT;
    CREATE INDEX i ON t("a b"); CREATE TRIGGER trig AFTER INSERT ON t BEGIN SELECT 1; END;
    CREATE TABLE w(k TEXT PRIMARY KEY) WITHOUT ROWID; CREATE VIEW good AS SELECT id FROM t; CREATE VIEW broken AS SELECT * FROM nowhere;
    CREATE VIRTUAL TABLE f USING fts5(body);`);
  const schema = await store.dataSchema(MAIN);
  const table = (name: string) => schema.tables.find((each) => each.name === name);
  expect(schema).toMatchObject({ encoding: "UTF-8", pageSize: 4096, unlisted: 0, source: { label: "d@main" } });
  expect(table("t")).toMatchObject({ kind: "table", isStrict: true, key: { kind: "rowid", columns: ["id"], isStable: true } });
  expect(
    table("t")?.columns?.map(({ name, type, keyPosition, notNull, default: value, generated }) => [
      name,
      type,
      keyPosition,
      notNull,
      value,
      generated,
    ]),
  ).toEqual([
    ["id", "INTEGER", 1, false, null, "no"],
    ["a b", "TEXT", 0, true, "'x;y'", "no"],
    ["g", "INT", 0, false, null, "virtual"],
    ["s", "INT", 0, false, null, "stored"],
  ]);
  expect(table("w")).toMatchObject({ withoutRowid: true, key: { kind: "primary key", columns: ["k"] } });
  expect(table("good")).toMatchObject({ kind: "view", key: { kind: "none" } });
  expect(table("broken")).toMatchObject({ kind: "view", columns: null, problem: expect.stringContaining("nowhere") });
  expect(table("f")?.kind).toBe("virtual");
  expect(table("f_data")?.kind).toBe("shadow");
  expect(schema.objects).toMatchObject([
    { type: "index", name: "i", table: "t" },
    { type: "trigger", name: "trig", table: "t" },
  ]);
  const one = await store.dataSchema({ ...MAIN, table: "T" });
  expect(one.tables.map(({ name }) => name)).toEqual(["t"]);
});

test("DATA-6: of 18,000 tables all are listed, and what was left out of one is told when it is asked for", async () => {
  const store = await storeFrom((path) => writeManyTables(path, 18_000));
  const schema = await store.dataSchema(MAIN);
  expect([schema.tables.length, schema.unlisted]).toEqual([18_000, 0]);
  const last = schema.tables.at(-1);
  expect(last).toMatchObject({ sql: null, columns: null, key: null, problem: null });
  expect(schema.tables[0]?.columns).toHaveLength(2);
  const alone = await store.dataSchema({ ...MAIN, table: last?.name ?? "" });
  expect(alone.tables).toMatchObject([{ sql: expect.stringContaining("CREATE TABLE"), key: { columns: ["id"] } }]);
}, 120_000);
