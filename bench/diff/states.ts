/** The states that are compared: stores made once, and their states as files for programs that compare files. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createStore } from "#engine/store.ts";
import { makeSourceDatabase } from "../runner/source-database.ts";

export const DATABASE = "measured";

/** One database of which each branch differs from `main` in so many rows of its table. No checkout is left beside it. */
export async function makeScatteredStore(folder: string, source: string, changedRows: readonly number[]): Promise<string> {
  const path = join(folder, "store");
  if (existsSync(path)) return path;
  const store = await createStore(path, { ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: source });
    for (const rows of changedRows) {
      const branch = branchOf(rows);
      await store.fork({ database: DATABASE, branch: "main", newBranch: branch });
      const { path: file } = await store.checkout({ database: DATABASE, branch });
      withDatabase(file, (database) => changeScattered(database, rows));
      await store.checkpoint({ database: DATABASE, branch });
      await store.export({ database: DATABASE, branch, file: join(folder, `${branch}.db`), overwrite: true });
    }
  } finally {
    await store.close();
  }
  return path;
}

export function branchOf(rows: number): string {
  return `changed-${rows}`;
}

/** Rows spread evenly over the table, one column changed in each. */
function changeScattered(database: Database.Database, rows: number): void {
  const last = Number(database.prepare("SELECT max(id) FROM big").pluck().get());
  const update = database.prepare("UPDATE big SET customer = customer + 1 WHERE id = ?");
  database.transaction(() => {
    for (let row = 0; row < rows; row += 1) update.run(1 + Math.floor((row * last) / rows));
  })();
}

/** Two databases that have nothing in common but their schema. */
export async function makeUnrelatedStore(folder: string, megabytes: number): Promise<{ store: string; files: readonly [string, string] }> {
  const files = [join(folder, "one.db"), join(folder, "two.db")] as const;
  const path = join(folder, "unrelated");
  if (existsSync(path)) return { store: path, files };
  const store = await createStore(path, { ownProcess: true });
  try {
    for (const [index, file] of files.entries()) {
      await makeSourceDatabase(file, { megabytes, seed: index + 1 }, async () => {});
      await store.create({ database: ["one", "two"][index] ?? "", from: file });
    }
  } finally {
    await store.close();
  }
  return { store: path, files };
}

/** A database with many small rows, and a branch on which every one of them is changed. */
export async function makeManyRowsStore(folder: string, rows: number): Promise<string> {
  const path = join(folder, "many");
  if (existsSync(path)) return path;
  const source = join(folder, "many.db");
  withDatabase(source, (database) => {
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE big (id INTEGER PRIMARY KEY, a INTEGER, b TEXT)");
    database
      .prepare(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO big SELECT i, i * 7 % 1000003, 'row ' || i FROM n",
      )
      .run(rows);
  });
  const store = await createStore(path, { ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: source });
    await store.fork({ database: DATABASE, branch: "main", newBranch: "changed" });
    await store.checkout({ database: DATABASE, branch: "main" });
    const { path: file } = await store.checkout({ database: DATABASE, branch: "changed" });
    withDatabase(file, (database) => database.exec("UPDATE big SET a = a + 1"));
    await store.checkpoint({ database: DATABASE, branch: "changed" });
  } finally {
    await store.close();
  }
  return path;
}

function withDatabase(path: string, act: (database: Database.Database) => void): void {
  const database = new Database(path);
  try {
    act(database);
  } finally {
    database.close();
  }
}
