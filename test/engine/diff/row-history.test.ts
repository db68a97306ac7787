import { join } from "node:path";
import { expect, test } from "vitest";
import type { RowHistoryView } from "#shared/diff-views.ts";
import { createStore, type Store } from "#engine/store.ts";
import { makeRandom } from "../../support/random-pages.ts";
import { execute, makeShop, query, SHOP, temporaryFolder, withClient } from "../../support/stores.ts";

const linesOf = ({ versions }: RowHistoryView) =>
  versions.map(({ version, change }) => `v${version} ${change.kind} ${JSON.stringify(change.old)} ${JSON.stringify(change.new)}`);

test("ROWLOG-1: the versions in which a row changed, the newest first, with old and new values", async () => {
  const { store, main } = await makeShop();
  const save = async (sql: string, name?: string) => {
    execute(main, sql);
    await store.checkpoint({ ...SHOP, name });
  };
  await save("UPDATE notes SET text = 'a' WHERE id = 7");
  await save("UPDATE notes SET text = 'other' WHERE id = 8");
  await save("DELETE FROM notes WHERE id = 7", "gone");
  await save("INSERT INTO notes VALUES (900, 'x')");
  await save("INSERT INTO notes VALUES (7, 'back')");
  const history = await store.rowHistory({ ...SHOP, table: "notes", key: ["7"] });
  expect(linesOf(history)).toEqual([
    'v6 insert null [7,"back"]',
    'v4 delete [7,"a"] null',
    'v2 update [7,"note 7"] [7,"a"]',
    'v1 insert null [7,"note 7"]',
  ]);
  expect(history).toMatchObject({
    table: "notes",
    isComplete: true,
    columns: [
      { name: "id", isKey: true },
      { name: "text", isKey: false },
    ],
  });
  expect(history.versions[1]?.checkpoints).toEqual(["gone"]);
  expect(linesOf(await store.rowHistory({ ...SHOP, at: "gone", table: "notes", key: ["7"] }))).toHaveLength(3);
  const limited = await store.rowHistory({ ...SHOP, table: "notes", key: ["7"], limit: 2 });
  expect([linesOf(limited).length, limited.isComplete]).toEqual([2, false]);
  const near = await store.rowHistory({ ...SHOP, table: "notes", key: ["7"], versions: 3 });
  expect([linesOf(near), near.isComplete]).toEqual([['v6 insert null [7,"back"]'], false]);
  expect(linesOf(await store.rowHistory({ ...SHOP, table: "notes", key: ["12345"] }))).toEqual([]);
});

test("ROWLOG-2: rows are found by composite keys, in tables WITHOUT ROWID, by UNIQUE, and with values in overflow pages", async () => {
  const { store, main } = await makeShop();
  const save = async (sql: string) => {
    execute(main, sql);
    await store.checkpoint(SHOP);
  };
  const long = "hex(zeroblob(6000))";
  await save(`CREATE TABLE w (a TEXT COLLATE NOCASE, b REAL, v, PRIMARY KEY (b DESC, a)) WITHOUT ROWID; CREATE TABLE u (id, k TEXT UNIQUE, v); CREATE TABLE c (a INTEGER, b TEXT, v, PRIMARY KEY (a, b)); CREATE TABLE none (a);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO w SELECT 'Key' || i, i / 2.0, ${long} FROM n; INSERT INTO u SELECT b, a, ${long} FROM w; INSERT INTO c SELECT b * 2, a, ${long} FROM w`);
  await save("UPDATE w SET v = 1 WHERE b = 100; UPDATE u SET v = 1 WHERE k = 'Key200'; UPDATE c SET v = 1 WHERE a = 200");
  // The same size again: the row's own page stays as it is.
  await save(
    "UPDATE w SET v = substr(v, 1, 11999) || '1' WHERE b = 5; UPDATE u SET v = substr(v, 1, 11999) || '1' WHERE k = 'Key10'; UPDATE c SET v = substr(v, 1, 11999) || '1' WHERE a = 10",
  );
  await save("UPDATE w SET v = 2 WHERE b > 200; UPDATE u SET v = 2 WHERE id > 200; UPDATE c SET v = 2 WHERE a > 400");
  const versionsOf = async (table: string, ...key: string[]) =>
    (await store.rowHistory({ ...SHOP, table, key })).versions.map(({ version, change }) => `v${version} ${change.kind}`);
  for (const [table, changed, overwritten] of [
    ["w", ["100.0", "key200"], ["5", "KEY10"]],
    ["u", ["Key200"], ["Key10"]],
    ["c", ["200", "Key200"], ["10", "Key10"]],
  ] as const) {
    expect(await versionsOf(table, ...changed), table).toEqual(["v3 update", "v2 insert"]);
    expect(await versionsOf(table, ...overwritten), table).toEqual(["v4 update", "v2 insert"]);
  }
});

test("ROWLOG-3: a table without a key, a wrong number of values and a table that is not there are refused", async () => {
  const { store, main } = await makeShop();
  execute(main, "CREATE TABLE none (a); CREATE TABLE two (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID");
  await store.checkpoint(SHOP);
  const history = (table: string, ...key: string[]) => store.rowHistory({ ...SHOP, table, key });
  await expect(history("none", "1")).rejects.toMatchObject({ code: "unsupported" });
  await expect(history("two", "1")).rejects.toMatchObject({ code: "bad-argument", message: expect.stringContaining("(a, b)") });
  await expect(history("missing", "1")).rejects.toMatchObject({ code: "bad-argument", details: { name: "missing" } });
});

test("ROWLOG-4: across changes of the table's definition, VACUUM and other page sizes the row is the same row", async () => {
  const { store, main } = await makeShop();
  const save = async (sql: string) => {
    execute(main, sql);
    await store.checkpoint(SHOP);
  };
  await save("ALTER TABLE notes ADD COLUMN mark DEFAULT 0");
  await save("UPDATE notes SET mark = 1 WHERE id = 5");
  await save("CREATE TABLE front (a); VACUUM");
  await save("PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL");
  await save(
    "CREATE TABLE n (mark, id INTEGER PRIMARY KEY, text TEXT); INSERT INTO n SELECT mark, id, text FROM notes; DROP TABLE notes; ALTER TABLE n RENAME TO notes",
  );
  const history = await store.rowHistory({ ...SHOP, table: "notes", key: ["5"] });
  expect(history.versions.map(({ version, change }) => [version, change.kind])).toEqual([
    [3, "update"],
    [1, "insert"],
  ]);
});

test("ROWLOG-5: random work: the history of each row is what the versions themselves say", { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const random = makeRandom(5);
  const store: Store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
  const source = join(folder, "source.db");
  execute(
    source,
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v); CREATE TABLE filler (x); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT i, 'v' || i FROM n",
  );
  await store.create({ database: "d", from: source });
  const on = { database: "d", branch: "main" };
  const { path } = await store.checkout(on);
  const watched = [3, 700, 1999];
  const states: unknown[][] = [query(source, `SELECT id, v FROM t WHERE id IN (${watched})`)];
  for (let version = 0; version < 40; version += 1) {
    withClient(path, (database) => {
      for (let count = random(5); count > 0; count -= 1) {
        const id = random(3) === 0 ? (watched[random(3)] ?? 3) : 1 + random(2000);
        database.exec(
          [
            `UPDATE t SET v = 'w${random(50)}' WHERE id = ${id}`,
            `DELETE FROM t WHERE id = ${id}`,
            `INSERT OR REPLACE INTO t VALUES (${id}, 'x${random(9)}')`,
            `DELETE FROM t WHERE id BETWEEN ${id} AND ${id + 90}`,
            `INSERT INTO filler VALUES (zeroblob(${random(20_000)}))`,
          ][random(5)] ?? "",
        );
      }
    });
    await store.checkpoint(on);
    states.push(query(path, `SELECT id, v FROM t WHERE id IN (${watched})`));
  }
  for (const id of watched) {
    const values = states.map((rows) => (rows as unknown[][]).find(([each]) => each === id)?.[1] ?? null);
    const expected = values.flatMap((value, index) => (value === (values[index - 1] ?? null) ? [] : [value])).toReversed();
    const { versions, isComplete } = await store.rowHistory({ ...on, table: "t", key: [String(id)] });
    expect(versions.map(({ change }) => change.new?.[1] ?? null)).toEqual(expected);
    expect(isComplete).toBe(true);
  }
  await store.close();
});
