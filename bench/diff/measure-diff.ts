/**
 * What comparisons cost, each in a process of its own so that its memory is its own, beside what others take for the same
 * two states as files: a plain comparison in SQL over ATTACH, and `sqldiff --primarykey` where it is installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";
import type { Diff } from "#engine/diff/open-diff.ts";
import { openStore, type Store } from "#engine/store.ts";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { time } from "../suite.ts";

export interface DiffOrder {
  readonly store: string;
  readonly left: DiffSideInput;
  readonly right: DiffSideInput;
  readonly rounds: number;
  /** Cancelled after so many milliseconds, each round. */
  readonly cancelAfterMs?: number;
}

export interface Measured {
  /** Milliseconds of each round: the first one begins with nothing of the states in memory. */
  readonly ms: readonly number[];
  readonly rows: number;
  readonly changedPages: number | null;
  /** Milliseconds from cancelling to the answer, of each round that was cancelled. */
  readonly cancelMs: readonly number[];
}

/** Opens both sides and reads every row that differs, values included. */
export async function measureDiff({ store: path, left, right, rounds, cancelAfterMs }: DiffOrder): Promise<Measured> {
  const store = await openStore(path, { ownProcess: true });
  const ms: number[] = [];
  const cancelMs: number[] = [];
  const found = { rows: 0, changedPages: null as number | null };
  try {
    for (let round = 0; round < rounds; round += 1) {
      const abort = new AbortController();
      let cancelledAt = 0;
      const timer =
        cancelAfterMs === undefined
          ? null
          : setTimeout(() => {
              cancelledAt = performance.now();
              abort.abort();
            }, cancelAfterMs);
      ms.push(await time(() => readDifferences(store, { left, right }, found, abort.signal)));
      if (timer) clearTimeout(timer);
      if (cancelledAt > 0) cancelMs.push(performance.now() - cancelledAt);
    }
  } finally {
    await store.close();
  }
  return { ms, ...found, cancelMs };
}

async function readDifferences(
  store: Store,
  sides: Pick<DiffOrder, "left" | "right">,
  found: { rows: number; changedPages: number | null },
  signal: AbortSignal,
): Promise<void> {
  found.rows = 0;
  let diff: Diff | null = null;
  try {
    diff = await store.diff(sides, { signal });
    found.changedPages = diff.view.changedPages;
    for (const table of diff.tables) for await (const _ of diff.changes(table, {}, { signal })) found.rows += 1;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    diff?.close();
  }
}

export interface FilesOrder {
  readonly left: string;
  readonly right: string;
  readonly rounds: number;
}

/** Finds the same rows in SQL: joined by key, every column compared; a connection of its own each round. */
export async function measureAttach({ left, right, rounds }: FilesOrder): Promise<Measured> {
  const ms: number[] = [];
  let rows = 0;
  for (let round = 0; round < rounds; round += 1) {
    ms.push(
      await time(() => {
        const database = new Database(right, { readonly: true });
        try {
          database.prepare("ATTACH ? AS other").run(left);
          rows = 0;
          for (const _ of database.prepare(comparisonSql(database)).raw().iterate()) rows += 1;
        } finally {
          database.close();
        }
      }),
    );
  }
  return { ms, rows, changedPages: null, cancelMs: [] };
}

/** Of all tables with an INTEGER PRIMARY KEY named `id`: rows of both sides with their values, as a comparison gives them. */
function comparisonSql(database: Database.Database): string {
  const tables = database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
  return tables
    .map((table) => {
      const columns = database.prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE pk = 0").pluck().all(table);
      const differs = columns.map((column) => `a.${column} IS NOT b.${column}`).join(" OR ");
      const values = (side: string) => columns.map((column) => `${side}.${column}`).join(" || '|' || ");
      return `SELECT b.id, ${values("a")}, ${values("b")} FROM main.${table} b JOIN other.${table} a ON a.id = b.id WHERE ${differs}
        UNION ALL SELECT id, NULL, ${values("b")} FROM main.${table} b WHERE NOT EXISTS (SELECT 1 FROM other.${table} a WHERE a.id = b.id)
        UNION ALL SELECT id, ${values("a")}, NULL FROM other.${table} a WHERE NOT EXISTS (SELECT 1 FROM main.${table} b WHERE b.id = a.id)`;
    })
    .join(" UNION ALL ");
}

/** Runs `sqldiff --primarykey`, its output thrown away. Null where it is not installed. */
export async function measureSqldiff({ left, right, rounds }: FilesOrder): Promise<(Measured & { readonly peakBytes: number }) | null> {
  if (spawnSync("sqldiff", ["--help"]).error) return null;
  const ms: number[] = [];
  let peakBytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    ms.push(
      await time(async () => {
        const child = spawn("sqldiff", ["--primarykey", left, right], { stdio: "ignore" });
        const timer = setInterval(() => (peakBytes = Math.max(peakBytes, peakOf(child.pid ?? 0))), 100);
        await once(child, "exit");
        clearInterval(timer);
      }),
    );
  }
  return { ms, rows: 0, changedPages: null, cancelMs: [], peakBytes };
}

/** The kernel's high-water mark of another process; 0 when it is gone. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

export interface FirstRowsOrder {
  readonly store: string;
  readonly database: string;
  readonly table: string;
  readonly rounds: number;
}

/** The first page of rows of a table, as a screen asks for it. The file is there; what answers is started anew for the first one. */
export async function measureFirstRows({ store: path, database, table, rounds }: FirstRowsOrder): Promise<Measured> {
  const store = await openStore(path, { ownProcess: true });
  const ms: number[] = [];
  let rows = 0;
  try {
    for (let round = 0; round < rounds; round += 1)
      ms.push(await time(async () => (rows = (await store.dataRows({ database, branch: "main", table, limit: 100 })).rows.length)));
  } finally {
    await store.close();
  }
  return { ms, rows, changedPages: null, cancelMs: [] };
}
