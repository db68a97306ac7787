/**
 * `node bench/usage/figures.ts FOLDER [BRANCHES [FILES]]`: prints what usage of a store with so many branches takes there.
 * FILES of them have a file, and a checkpoint of their own.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { LIMITS } from "#shared/limits.ts";
import { createStore, openStore, type Store } from "#engine/store.ts";
import { MAIN, runSql } from "../common/stores.ts";
import { makeSourceDatabase } from "../runner/source-database.ts";

const ROUNDS = 9;
const FORKS_AT_ONCE = 1_000;
const MEGABYTES = 1;

const root = resolve(process.argv[2] ?? ".");
const branches = Number(process.argv[3] ?? 10_000);
const files = Number(process.argv[4] ?? 0);

async function makeStore(folder: string): Promise<string> {
  const source = join(folder, "source.db");
  await makeSourceDatabase(source, { megabytes: MEGABYTES, seed: 1 }, async () => {});
  const store = await createStore(join(folder, "store"), { actor: "bench", ownProcess: true });
  try {
    await store.create({ database: MAIN.database, from: source });
    for (let made = 1; made < branches; made += FORKS_AT_ONCE)
      await store.fork({ ...MAIN, newBranch: `f${made}`, count: Math.min(FORKS_AT_ONCE, branches - made) });
    const some = await firstBranches(store);
    for (const name of some) {
      const { path } = await store.checkout({ database: MAIN.database, branch: name });
      runSql(path, `UPDATE big SET state = '${name}' WHERE id = 1`);
      await store.checkpoint({ database: MAIN.database, branch: name });
    }
    return store.path;
  } finally {
    await store.close();
  }
}

async function firstBranches(store: Store): Promise<string[]> {
  const names: string[] = [];
  for (let after = 0; names.length < files;) {
    const { branches: page } = await store.branches({
      database: MAIN.database,
      after,
      limit: Math.min(LIMITS.pageRowsMax, files - names.length),
    });
    for (const { name } of page) names.push(name);
    const last = page.at(-1);
    if (!last) break;
    after = last.id;
  }
  return names;
}

async function measure(name: string, act: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    await act();
    times.push(performance.now() - start);
  }
  const [first = 0] = times;
  const sorted = times.toSorted((a, b) => a - b);
  console.log(`${name}: first ${first.toFixed(0)} ms, median ${(sorted[Math.floor(ROUNDS / 2)] ?? 0).toFixed(0)} ms`);
}

async function measureAll(store: Store): Promise<void> {
  console.log(`${branches} branches, ${files} with a file`);
  await measure("usage of the store", () => store.usage({}));
  const view = await store.usage({});
  console.log(
    view.parts.map(({ name, count, storedBytes, physicalBytes }) => `  ${name} ${count}: ${storedBytes} ${physicalBytes}`).join("\n"),
  );
  await measure("usage of main", () => store.branchUsage(MAIN));
  const half = view.rows.slice(0, Math.ceil(view.rows.length / 2)).map(({ database, branch }) => ({ database, branch }));
  await measure(`what ${half.length} of them would free`, () => store.freed({ branches: half }));
}

mkdirSync(root, { recursive: true });
const folder = mkdtempSync(join(root, "usage-"));
try {
  const store = await openStore(await makeStore(folder), { actor: "bench", ownProcess: true });
  try {
    await measureAll(store);
  } finally {
    await store.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
