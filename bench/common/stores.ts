/** Stores that steps work on. */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createStore, openStore, type Store } from "#engine/store.ts";
import type { Bench } from "../suite.ts";

export const ACTOR = { actor: "bench" } as const;
export const MAIN = { database: "shop", branch: "main" } as const;
const FORKS_AT_ONCE = 1_000;

/** A new store in the step's folder with a database `shop` of so many megabytes, the first version named `start`. */
export async function makeStore(bench: Bench, name: string, megabytes: number): Promise<Store> {
  const source = await bench.database(megabytes);
  bench.phase(`Import ${megabytes} MiB`);
  return importInto(join(bench.folder, name), source);
}

/**
 * The run's store of this size, made by the first step that asks and left behind for others: for what would take long to
 * make again. To be closed by the step.
 */
export async function useSharedStore(bench: Bench, megabytes: number): Promise<Store> {
  const path = join(bench.shared, `store-${megabytes}`);
  if (existsSync(join(path, "complete"))) return openStore(join(path, "store"), ACTOR);
  rmSync(path, { recursive: true, force: true });
  const source = await bench.database(megabytes);
  bench.phase(`Import ${megabytes} MiB`);
  const store = await importInto(join(path, "store"), source);
  // An import that failed leaves none behind, so that the next step makes its own.
  writeFileSync(join(path, "complete"), "");
  return store;
}

async function importInto(path: string, source: string): Promise<Store> {
  const store = await createStore(path, ACTOR);
  try {
    await store.create({ database: MAIN.database, from: source });
    await store.checkpoint({ ...MAIN, name: "start" });
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Forks of main until the store has this many branches. */
export async function fillUp(bench: Bench, store: Store, branches: number): Promise<void> {
  for (;;) {
    const found = (await store.status({})).branches;
    if (found >= branches) return;
    bench.phase(`Fork until there are ${branches} branches`, found, branches);
    await bench.pause();
    await store.fork({ ...MAIN, newBranch: nextName("fill"), count: Math.min(branches - found, FORKS_AT_ONCE) });
  }
}

let names = 0;
/** Unique in this process. */
export function nextName(prefix = "attempt"): string {
  names += 1;
  return `${prefix}-${names}`;
}

/** Bytes that a catalog's rows take, its WAL counted as folded in. */
export function catalogBytes(store: Store): number {
  const database = new Database(join(store.path, "catalog.db"), { readonly: true });
  try {
    const pages = Number(database.pragma("page_count", { simple: true })) - Number(database.pragma("freelist_count", { simple: true }));
    return pages * Number(database.pragma("page_size", { simple: true }));
  } finally {
    database.close();
  }
}

export function segmentFiles(store: Store): number {
  return readdirSync(join(store.path, "segments")).length;
}

/** Bytes of all that is stored: the catalog's rows, and segment files. Files of branches and caches are none of it. */
export function storedBytes(store: Store): number {
  const folder = join(store.path, "segments");
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, catalogBytes(store));
}

/** One statement, or several, by a stock client that opens and closes. */
export function runSql(path: string, sql: string): void {
  const database = new Database(path);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** Changes about so many pages of a source database, far from each other: text that grows by a character. */
export function touchPages(path: string, pages: number): void {
  runSql(path, `UPDATE big SET state = state || '!' WHERE id % max(1, (SELECT max(id) FROM big) / ${pages}) = 0`);
}

/** Forgets every file that could be a shortcut to a checkout: the next one is made from segments. */
export function removeShortcuts(store: Store): void {
  for (const name of ["checkouts", "cache", "readonly"]) rmSync(join(store.path, name), { recursive: true, force: true });
}

/** Destroys a branch for good, with its file. */
export async function eraseBranch(store: Store, branch: string): Promise<void> {
  await store.destroy({ database: MAIN.database, branch });
  await store.gc({ dryRun: false, purgeAllTrash: true });
}
