import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { alignResults } from "#shared/query-compare.ts";
import type { AcrossResultView, AcrossTargetView } from "#shared/query-views.ts";
import type { Store } from "#engine/store.ts";
import { execute, makeShop, SHOP } from "../../support/stores.ts";

const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
type Input = Parameters<Store["queryAcross"]>[0];

async function askAll(
  store: Store,
  input: Omit<Input, "database">,
): Promise<{ targets: readonly AcrossTargetView[]; results: AcrossResultView[] }> {
  const { id, targets } = await store.queryAcross({ database: "shop", ...input });
  const results: AcrossResultView[] = [];
  for (let isComplete = false; !isComplete;) {
    const answer = await store.queryResults({ id });
    results.push(...answer.results);
    isComplete = answer.isComplete;
  }
  await store.closeQuery({ id });
  return { targets, results: results.toSorted((a, b) => a.target - b.target) };
}

/** main (100 notes, unsaved: 99), try-1 … try-6, of which some have other rows, a file, or unsaved work. */
async function makeFamily() {
  const made = await makeShop();
  const { store, main } = made;
  await store.fork({ ...SHOP, newBranch: "try", count: 6 });
  const change = async (branch: string, sql: string, name?: string): Promise<void> => {
    const { path } = await store.checkout({ database: "shop", branch });
    execute(path, sql);
    if (name !== undefined) await store.checkpoint({ database: "shop", branch, name });
  };
  await change("try-2", "DELETE FROM notes WHERE id <= 2", "less");
  await change("try-3", "ALTER TABLE notes ADD COLUMN extra DEFAULT 7", "wider");
  await change("try-4", "DELETE FROM notes WHERE id <= 4");
  await change("try-5", "DROP TABLE notes", "gone");
  execute(main, "DELETE FROM notes WHERE id = 1");
  return made;
}

test("ACROSS-1: a query is put to branches by pattern and to single states, each as it is now", async () => {
  const { store } = await makeFamily();
  const { targets, results } = await askAll(store, {
    patterns: ["main", "try-*", "*-2"],
    targets: [
      { branch: "try-2", at: "less" },
      { branch: "main", at: "v1" },
    ],
    sql: "SELECT count(*) AS n FROM notes;",
  });
  expect(targets.map(({ label }) => label)).toEqual([
    "shop@main",
    "shop@try-1",
    "shop@try-2",
    "shop@try-3",
    "shop@try-4",
    "shop@try-5",
    "shop@try-6",
    "shop@try-2@less",
    "shop@main@v1",
  ]);
  expect(results.map(({ rows, error, kind }) => [rows[0]?.[0] ?? error?.code, kind])).toEqual([
    [99, "file"],
    [100, "version"],
    [98, "version"],
    [100, "version"],
    [96, "file"],
    ["sql-failed", "version"],
    [100, "version"],
    [98, "version"],
    [100, "version"],
  ]);
});

test("ACROSS-2: results say which equal the first, and columns meet by name", async () => {
  const { store } = await makeFamily();
  const { results } = await askAll(store, { patterns: ["try-*"], sql: "SELECT * FROM notes LIMIT 3", limit: 2 });
  const { columns, results: aligned } = alignResults(results);
  expect(columns).toEqual(["id", "text", "extra"]);
  expect(aligned.map(({ isSame }) => isSame)).toEqual([true, false, false, false, null, true]);
  expect(aligned[2]?.positions).toEqual([0, 1, 2]);
  expect(aligned[0]?.positions).toEqual([0, 1, null]);
  expect(results[0]).toMatchObject({
    truncated: true,
    rows: [
      [1, "note 1"],
      [2, "note 2"],
    ],
  });
});

test("ACROSS-3: states of one version are asked once, no file is made of a branch, and nothing is left behind", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try", count: 40 });
  const before = await store.status({});
  const { results } = await askAll(store, { patterns: ["try-*"], sql: "SELECT random() AS r" });
  expect(results).toHaveLength(40);
  expect(new Set(results.map(({ rows }) => rows[0]?.[0] && JSON.stringify(rows[0][0]))).size).toBe(1);
  expect((await store.status({})).lastOperation).toBe(before.lastOperation);
  expect((await store.branch({ database: "shop", branch: "try-07" })).checkout.state).toBe("none");
});

test("ACROSS-4: writing, several statements, and names that fit nothing are refused; a file in conflict fails alone", async () => {
  const { store, main } = await makeShop();
  const ask = (input: Omit<Input, "database">): Promise<unknown> => failure(askAll(store, input));
  expect(await ask({ patterns: ["nothing-*"], sql: "SELECT 1" })).toMatchObject({ code: "branch-not-found" });
  expect(await ask({ patterns: ["*"], sql: "SELECT 1; SELECT 2" })).toMatchObject({ code: "bad-argument" });
  expect(await ask({ sql: "SELECT 1" })).toMatchObject({ code: "bad-argument" });
  expect(await ask({ patterns: ["*"], sql: "DELETE FROM notes" })).toMatchObject({ results: [{ error: { code: "sql-failed" } }] });
  await store.fork({ ...SHOP, newBranch: "other" });
  const { path } = await store.checkout({ database: "shop", branch: "other" });
  execute(path, "DELETE FROM notes");
  await store.checkpoint({ database: "shop", branch: "other", name: "empty" });
  await moveHeadAlone(store.path);
  const count = { patterns: ["*"], sql: "SELECT count(*) FROM notes" };
  expect(await askAll(store, count)).toMatchObject({ results: [{ rows: [[0]], kind: "version" }, { rows: [[0]] }] });
  execute(main, "UPDATE notes SET text = 'mine' WHERE id = 1");
  expect(await askAll(store, count)).toMatchObject({ results: [{ error: { code: "checkout-stale" } }, { rows: [[0]], error: null }] });
});

/** Promotes onto main in a process that is killed between the commit and the file. */
async function moveHeadAlone(spec: string): Promise<void> {
  const script = `
    import { openStore } from ${JSON.stringify(import.meta.resolve("#engine/store.ts"))};
    const store = await openStore(${JSON.stringify(spec)}, { actor: "other", ownProcess: true });
    await store.promote({ database: "shop", source: "other", onto: "main" });`;
  const env = { ...process.env, COPPICE_FAULT: "move:committed:kill" };
  expect(spawnSync(process.execPath, ["--input-type=module", "-e", script], { env }).signal).toBe("SIGKILL");
}

test("ACROSS-5: a question is stopped when it is closed, or an answer to it is cancelled", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try", count: 3 });
  const sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  const closed = await store.queryAcross({ database: "shop", patterns: ["*"], sql });
  expect(await store.queryResults({ id: closed.id })).toEqual({ results: [], isComplete: false });
  await store.closeQuery({ id: closed.id });
  expect(await failure(store.queryResults({ id: closed.id }))).toMatchObject({ code: "bad-argument" });
  const cancelled = await store.queryAcross({ database: "shop", patterns: ["*"], sql });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 50);
  expect(await failure(store.queryResults({ id: cancelled.id }, { signal: abort.signal }))).toMatchObject({ code: "cancelled" });
  expect(await askAll(store, { patterns: ["main"], sql: "SELECT 1" })).toMatchObject({ results: [{ rows: [[1]] }] });
});

test("ACROSS-6: versions of other page sizes and of nothing are asked like all others", async () => {
  const { store, main } = await makeShop();
  const change = async (sql: string, name: string): Promise<void> => {
    execute(main, sql);
    await store.checkpoint({ ...SHOP, name });
  };
  await change("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM; DELETE FROM notes WHERE id > 60", "small-pages");
  await change("CREATE TABLE big(b); INSERT INTO big SELECT zeroblob(3000) FROM notes", "large");
  await change("DROP TABLE big; DELETE FROM notes WHERE id > 50; VACUUM", "vacuumed");
  await store.create({ database: "empty" });
  const { results } = await askAll(store, {
    targets: ["v1", "large", "vacuumed", "small-pages", "v1"].map((at) => ({ branch: "main", at })),
    sql: "SELECT (SELECT count(*) FROM notes), page_size, encoding FROM pragma_page_size, pragma_encoding",
  });
  expect(results.map(({ rows }) => rows[0])).toEqual([
    [100, 4096, "UTF-8"],
    [60, 512, "UTF-8"],
    [50, 512, "UTF-8"],
    [60, 512, "UTF-8"],
  ]);
  const { id } = await store.queryAcross({ database: "empty", patterns: ["*"], sql: "SELECT count(*) FROM sqlite_schema" });
  const answers: AcrossResultView[] = [];
  while (answers.length === 0) answers.push(...(await store.queryResults({ id })).results);
  expect(answers[0]?.rows).toEqual([[0]]);
});
