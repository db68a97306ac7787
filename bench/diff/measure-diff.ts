/**
 * What a comparison costs when a given number of rows differ, beside what others take for the same two files: a plain
 * comparison in SQL over ATTACH, and `sqldiff --primarykey` where it is installed.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createStore, openStore, type Store } from "#engine/store.ts";
import { time } from "../suite.ts";

export interface DiffFigures {
  /** Milliseconds: open both sides and read every row that differs, values included. */
  readonly first: number;
  readonly warm: readonly number[];
  readonly rows: number;
  readonly changedPages: number;
  /** Bytes of resident memory at the end, over those at the start. */
  readonly memoryBytes: number;
}

const DATABASE = "measured";
export const ROWS_TABLE = "big";

/** A store with a database made of `source`, and a branch for each number of rows in which they differ. */
export async function makeDiffStore(folder: string, source: string, changedRows: readonly number[]): Promise<string> {
  const path = join(folder, "store");
  const store = await createStore(path, { ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: source });
    for (const rows of changedRows) {
      const branch = branchOf(rows);
      await store.fork({ database: DATABASE, branch: "main", newBranch: branch });
      const { path: file } = await store.checkout({ database: DATABASE, branch });
      changeRows(file, rows);
      await store.checkpoint({ database: DATABASE, branch });
    }
  } finally {
    await store.close();
  }
  return path;
}

function branchOf(rows: number): string {
  return `changed-${rows}`;
}

/** Rows spread evenly over the table, one column changed in each. */
function changeRows(file: string, rows: number): void {
  const database = new Database(file);
  try {
    const last = Number(database.prepare(`SELECT max(id) FROM ${ROWS_TABLE}`).pluck().get());
    const update = database.prepare(`UPDATE ${ROWS_TABLE} SET customer = customer + 1 WHERE id = ?`);
    database.transaction(() => {
      for (let row = 0; row < rows; row += 1) update.run(1 + Math.floor((row * last) / rows));
    })();
  } finally {
    database.close();
  }
}

/** The first comparison after the store was opened, and `rounds` more. */
export async function measureDiff(storePath: string, rows: number, rounds: number): Promise<DiffFigures> {
  const store = await openStore(storePath, { ownProcess: true });
  try {
    const before = process.memoryUsage.rss();
    let found = { rows: 0, changedPages: 0 };
    const round = () => time(async () => (found = await readDifferences(store, rows)));
    const first = await round();
    const warm: number[] = [];
    for (let count = 0; count < rounds; count += 1) warm.push(await round());
    return { first, warm, ...found, memoryBytes: process.memoryUsage.rss() - before };
  } finally {
    await store.close();
  }
}

async function readDifferences(store: Store, rows: number): Promise<{ rows: number; changedPages: number }> {
  const diff = await store.diff({
    left: { kind: "state", database: DATABASE, branch: "main" },
    right: { kind: "state", database: DATABASE, branch: branchOf(rows) },
  });
  try {
    let count = 0;
    for (const table of diff.tables) for await (const _ of diff.changes(table)) count += 1;
    return { rows: count, changedPages: diff.view.changedPages ?? 0 };
  } finally {
    diff.close();
  }
}

/** Both states as files, for programs that compare files. */
export async function exportStates(storePath: string, rows: number, folder: string): Promise<{ left: string; right: string }> {
  const store = await openStore(storePath, { ownProcess: true });
  const [left, right] = [join(folder, "left.db"), join(folder, `right-${rows}.db`)];
  try {
    await store.export({ database: DATABASE, branch: "main", file: left, overwrite: true });
    await store.export({ database: DATABASE, branch: branchOf(rows), file: right, overwrite: true });
  } finally {
    await store.close();
  }
  return { left, right };
}

/** Milliseconds of a comparison in SQL that finds the same rows: joined by key, every column compared. */
export function measureAttach(left: string, right: string): Promise<number> {
  const database = new Database(right, { readonly: true });
  const columns = ["customer", "state", "note", "token"];
  const differs = columns.map((column) => `a.${column} IS NOT b.${column}`).join(" OR ");
  return time(() => {
    database.prepare("ATTACH ? AS other").run(left);
    const sql = `SELECT b.id FROM main.${ROWS_TABLE} b JOIN other.${ROWS_TABLE} a ON a.id = b.id WHERE ${differs}
      UNION ALL SELECT id FROM main.${ROWS_TABLE} b WHERE NOT EXISTS (SELECT 1 FROM other.${ROWS_TABLE} a WHERE a.id = b.id)
      UNION ALL SELECT id FROM other.${ROWS_TABLE} a WHERE NOT EXISTS (SELECT 1 FROM main.${ROWS_TABLE} b WHERE b.id = a.id)`;
    database.prepare(sql).pluck().all();
    database.close();
  });
}

/** Milliseconds of `sqldiff --primarykey`; null where it is not installed. */
export async function measureSqldiff(left: string, right: string): Promise<number | null> {
  if (spawnSync("sqldiff", ["--help"]).error) return null;
  return time(() => spawnSync("sqldiff", ["--primarykey", left, right], { stdio: "ignore" }));
}
