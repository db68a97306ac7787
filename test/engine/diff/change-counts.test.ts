import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import { ChangeCache } from "#engine/diff/change-cache.ts";
import { Diff } from "#engine/diff/open-diff.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import type { Store } from "#engine/store.ts";
import { execute, makeShop, query, SHOP, withClient } from "../../support/stores.ts";
import { cacheFile, countsOf, countsOfOne, open, textOf } from "./change-support.ts";

/** Three versions on main: a row of each kind, another table, and the state of v1 again. */
async function makeVersions(): Promise<{ readonly store: Store; readonly main: string }> {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id = 4; UPDATE notes SET text = 'x' WHERE id IN (5, 6); INSERT INTO notes (text) VALUES ('a')");
  await store.checkpoint(SHOP);
  execute(
    main,
    `CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT); CREATE INDEX by_name ON tags (name);
     INSERT INTO tags (name) SELECT 'tag' || id FROM notes WHERE id <= 40; DELETE FROM notes WHERE id = 9`,
  );
  await store.checkpoint(SHOP);
  return { store, main };
}

test("CHANGES-1: rows, tables and schema are counted between any two versions, and since the parent when only one is named", async () => {
  const { store } = await makeVersions();
  const answer = await countsOf(store, [
    { from: null, to: 3 },
    { from: null, to: 2 },
    { from: 3, to: 1 },
    { from: null, to: 1 },
    { from: 2, to: 2 },
  ]);
  expect(answer.map(textOf)).toEqual([
    "known 2→3 +39 −1 ~0 §2: tags +39 −0 ~0, notes +0 −1 ~0",
    "known 1→2 +1 −1 ~2 §0: notes +1 −1 ~2",
    "known 3→1 +2 −40 ~2 §2: tags +0 −39 ~0, notes +2 −1 ~2",
    "known null→1 +0 −0 ~0 §0:",
    "known 2→2 +0 −0 ~0 §0:",
  ]);
});

test("CHANGES-1: the counts are those of a plain comparison of the files", async () => {
  const { store, main, folder } = await makeShop();
  const before = join(folder, "before.db");
  for (const [index, sql] of [
    "DELETE FROM notes WHERE id % 7 = 0; UPDATE notes SET text = text || '!' WHERE id % 5 = 0",
    "INSERT INTO notes (text) SELECT 'more' FROM notes; UPDATE notes SET id = id + 1000 WHERE id < 4; UPDATE notes SET text = text",
    "CREATE TABLE w (a TEXT, b INT, c, PRIMARY KEY (b DESC, a)) WITHOUT ROWID; INSERT INTO w SELECT text, id, NULL FROM notes",
    "UPDATE w SET c = 1 WHERE b % 3 = 0; DELETE FROM w WHERE b % 11 = 0; VACUUM",
  ].entries()) {
    const { path } = await store.openCheckpoint({ ...SHOP, at: `v${index + 1}` });
    rmSync(before, { force: true });
    withClient(path, (database) => database.prepare("VACUUM INTO ?").run(before));
    execute(main, sql);
    await store.checkpoint(SHOP);
    const found = await countsOfOne(store, null, index + 2);
    const reference = plainCounts(before, main);
    expect({ inserted: found?.inserted, deleted: found?.deleted, updated: found?.updated }).toEqual(reference);
  }
});

/** Both files read whole, row by row. */
function plainCounts(left: string, right: string): { inserted: number; deleted: number; updated: number } {
  const counts = { inserted: 0, deleted: 0, updated: 0 };
  for (const [table, key] of [
    ["notes", (row: readonly unknown[]) => String(row[0])],
    ["w", (row: readonly unknown[]) => `${String(row[1])}|${String(row[0])}`],
  ] as const) {
    const rows = (file: string) =>
      query(file, `SELECT name FROM sqlite_schema WHERE name = '${table}'`).length === 0
        ? new Map<string, string>()
        : new Map((query(file, `SELECT * FROM ${table}`) as unknown[][]).map((row) => [key(row), JSON.stringify(row)]));
    const [before, after] = [rows(left), rows(right)];
    for (const [id, row] of after) {
      if (!before.has(id)) counts.inserted += 1;
      else if (before.get(id) !== row) counts.updated += 1;
    }
    for (const id of before.keys()) if (!after.has(id)) counts.deleted += 1;
  }
  return counts;
}

test("CHANGES-2: shadow tables count for their virtual table; of many tables the most changed are named", async () => {
  const { store, main } = await makeShop();
  execute(main, "CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words SELECT text FROM notes");
  await store.checkpoint(SHOP);
  execute(main, "INSERT INTO words VALUES ('another one')");
  await store.checkpoint(SHOP);
  const one = await countsOfOne(store, 2, 3);
  expect(one?.tables.map(({ name }) => name)).toEqual(["words"]);
  const names = Array.from({ length: 20 }, (_, index) => `t${String(index).padStart(2, "0")}`);
  execute(main, names.map((name) => `CREATE TABLE ${name} (a)`).join(";"));
  await store.checkpoint(SHOP);
  execute(main, names.map((name, index) => `INSERT INTO ${name} SELECT id FROM notes LIMIT ${index + 1}`).join(";"));
  await store.checkpoint(SHOP);
  const many = await countsOfOne(store, 4, 5);
  expect(many).toMatchObject({ inserted: 210, moreTables: 20 - LIMITS.changeTablesMax, schemaChanges: 0 });
  expect(many?.tables.map(({ name }) => name)).toEqual(names.toReversed().slice(0, LIMITS.changeTablesMax));
});

test("CHANGES-3: a version that is not there, and one that cannot be read, say so and do not hold up the others", async () => {
  const { store, main } = await makeVersions();
  withClient(main, (database) => {
    database.unsafeMode();
    database.exec("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 900 WHERE name = 'tags'");
  });
  await store.checkpoint(SHOP);
  const answer = await countsOf(store, [
    { from: null, to: 77 },
    { from: 99, to: 2 },
    { from: 0, to: 2 ** 40 + 1 },
    { from: 3, to: 4 },
    { from: 1, to: 2 },
  ]);
  expect(answer.map(({ state }) => state)).toEqual(["failed", "failed", "failed", expect.any(String), "known"]);
  expect(answer.slice(0, 3).map(({ problem }) => problem)).toEqual([
    'Database "shop" has no version v77',
    'Database "shop" has no version v99',
    `Database "shop" has no version v${2 ** 40 + 1}`,
  ]);
  expect(answer[3]?.problem).toMatch(/tags/);
  await expect(store.changes({ database: "nope", pairs: [] })).rejects.toMatchObject({ code: "database-not-found" });
});

test("CHANGES-3: a purged version is gone for the counts too, although they were kept", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes WHERE id < 3");
  await store.checkpoint({ database: "shop", branch: "try" });
  expect(textOf((await countsOfOne(store, 1, 2))!)).toBe("known 1→2 +0 −2 ~0 §0: notes +0 −2 ~0");
  await store.destroy({ database: "shop", branch: "try" });
  await store.gc({ dryRun: false, purgeAllTrash: true });
  expect(await countsOfOne(store, 1, 2)).toMatchObject({ state: "failed", problem: 'Database "shop" has no version v2' });
});

test("CHANGES-4: two requests for one pair share one counting", async () => {
  const { store } = await makeVersions();
  const pairs = [{ from: 1, to: 3 }];
  const comparisons = vi.spyOn(Diff.prototype, "summary");
  const answers = await Promise.all([countsOf(store, pairs), countsOf(store, pairs), countsOf(store, [{ from: 3, to: 1 }])]);
  expect(answers[0]).toEqual(answers[1]);
  expect(comparisons).toHaveBeenCalledTimes(2);
  await countsOf(store, pairs);
  expect(comparisons).toHaveBeenCalledTimes(2);
  comparisons.mockRestore();
});

test("CHANGES-5: a store that is opened again takes from the cache what was counted", async () => {
  const { store } = await makeVersions();
  const known = await countsOfOne(store, 1, 2);
  await store.close();
  expect(known).toMatchObject({ state: "known", updated: 2 });
  const key = withClient(cacheFile(store), (database) => database.prepare("SELECT key FROM counts").pluck().get() as Uint8Array);
  const cache = new ChangeCache(nodeDisk, dirname(cacheFile(store)), true);
  // What no comparison would find can only have been found there.
  cache.put(key, { tables: [], moreTables: 3, inserted: 5, deleted: 6, updated: 7, schemaChanges: 8, problem: null });
  cache.close();
  const reopened = await open(store.path);
  expect(await countsOfOne(reopened, null, 2)).toMatchObject({ from: 1, to: 2, moreTables: 3, inserted: 5, deleted: 6, updated: 7 });
});

test("CHANGES-6: a damaged cache costs nothing but the counting", async () => {
  const { store } = await makeVersions();
  const known = await countsOfOne(store, 1, 2);
  await store.close();
  writeFileSync(cacheFile(store), Buffer.alloc(20_000, 7));
  const reopened = await open(store.path);
  expect(await countsOfOne(reopened, 1, 2)).toEqual(known);
  await reopened.close();
  rmSync(join(store.path, "cache"), { recursive: true });
  writeFileSync(join(store.path, "cache"), "a file where the folder should be");
  const last = await open(store.path);
  expect(await countsOfOne(last, 1, 2)).toEqual(known);
  await last.close();
  rmSync(join(store.path, "cache"));
  mkdirSync(join(store.path, "cache"));
});
