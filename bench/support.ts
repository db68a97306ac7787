/** What the suites share: timing in turns, figures with their goals, and databases made once a run. */
import { closeSync, existsSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

export interface Suite {
  readonly name: string;
  /** One line: what is measured against what. */
  readonly about: string;
  run(bench: Bench): Promise<void>;
}

export interface Summary {
  readonly n: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
}

export interface Goal {
  readonly most?: number;
  readonly least?: number;
}

/** Samples of one ratio are also looked at in windows of this many: the best one met the least foreign load. */
const WINDOW = 50;
const PAGE_BYTES = 4096;

/** One run: its folder, and the figures found so far. */
export class Bench {
  readonly folder: string;
  /** Lines of figures that missed their goal. */
  readonly missed: string[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  say(text: string): void {
    console.log(text);
  }

  samples(label: string, values: readonly number[], unit = "ms"): Summary {
    const found = summarise(values);
    const figures = `n ${found.n}  min ${round(found.min)}  median ${round(found.median)}  p95 ${round(found.p95)} ${unit}`;
    console.log(`  ${label.padEnd(58)} ${figures}`);
    return found;
  }

  figure(label: string, value: number, unit: string, goal: Goal = {}): void {
    const isMet = value <= (goal.most ?? Infinity) && value >= (goal.least ?? -Infinity);
    const wanted = goal.most !== undefined ? `goal ≤ ${goal.most}` : goal.least !== undefined ? `goal ≥ ${goal.least}` : "";
    const line = `${label.padEnd(58)} ${round(value)} ${unit}  ${wanted}${wanted === "" ? "" : isMet ? ": met" : ": MISSED"}`;
    console.log(`  ${line.trimEnd()}`);
    if (!isMet) this.missed.push(line);
  }

  /** Medians of both, and their ratio: over all rounds and in the best window. Returns the subject's median. */
  ratio(label: string, { limit, subject }: Turns, goal: Goal = {}): number {
    this.samples(`${label}: limit`, limit);
    const { median } = this.samples(`${label}: subject`, subject);
    const windows: number[] = [];
    for (let start = 0; start + WINDOW <= subject.length; start += WINDOW) {
      windows.push(summarise(subject.slice(start, start + WINDOW)).median / summarise(limit.slice(start, start + WINDOW)).median);
    }
    const best = windows.length > 1 ? ` (best window of ${WINDOW}: ${round(Math.min(...windows))})` : "";
    this.figure(`${label}: subject / limit${best}`, median / summarise(limit).median, "×", goal);
    return median;
  }

  /**
   * A database of about `megabytes` that is like what people have: rows of text and numbers that compress, some blobs
   * that do not, an index. Made on first use.
   */
  database(megabytes: number): string {
    const path = this.path(`source-${megabytes}.db`);
    if (existsSync(path)) return path;
    const start = performance.now();
    const database = new Database(path);
    database.pragma(`page_size = ${PAGE_BYTES}`);
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.exec(
      "CREATE TABLE big (id INTEGER PRIMARY KEY, customer INTEGER, state TEXT, note TEXT, token BLOB); CREATE TABLE small (id INTEGER PRIMARY KEY, note TEXT)",
    );
    const fill = database.prepare(
      `INSERT INTO big (customer, state, note, token)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       SELECT abs(random()) % 50000, CASE abs(random()) % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'shipped' END,
         printf('order %d of customer %d, delivered to street %d in town %d; %s', i, random() % 50000, random() % 900, random() % 70, hex(randomblob(90))),
         randomblob(100) FROM n`,
    );
    const pages = database.prepare<[], number>("PRAGMA page_count").pluck();
    while ((pages.get() ?? 0) * PAGE_BYTES < megabytes * 1024 * 1024 * 0.97) fill.run(megabytes < 100 ? 1_000 : 20_000);
    database.exec("CREATE INDEX big_state ON big (state) WHERE customer < 1000");
    database.exec(
      "INSERT INTO small (note) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT printf('note %d', i) FROM n",
    );
    database.close();
    console.log(`  (made a database of ${megabytes} MB in ${((performance.now() - start) / 1000).toFixed(0)} s)`);
    return path;
  }
}

export interface Turns {
  readonly limit: number[];
  readonly subject: number[];
}

interface InTurns {
  readonly rounds: number;
  /** Before each subject, not counted. */
  readonly prepare?: (round: number) => unknown;
  readonly limit: () => unknown;
  readonly subject: (round: number) => unknown;
}

/** Limit, subject, limit, subject …: so that both meet the same disk and the same neighbours. Milliseconds. */
export async function takeTurns({ rounds, prepare, limit, subject }: InTurns): Promise<Turns> {
  const turns: Turns = { limit: [], subject: [] };
  for (let turn = 0; turn < rounds; turn += 1) {
    turns.limit.push(await time(limit));
    await prepare?.(turn);
    turns.subject.push(await time(() => subject(turn)));
  }
  return turns;
}

/** Milliseconds that `act` takes. */
export async function time(act: () => unknown): Promise<number> {
  const start = process.hrtime.bigint();
  await act();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { n: sorted.length, min: at(0), median: at(0.5), p95: at(0.95) };
}

export function round(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3);
}

/**
 * The least that durability costs here: 300 bytes appended to a growing file, and fdatasync. With `reservedBytes` the
 * file has its blocks already and the append stays within them.
 */
export class AppendLog {
  readonly #file: number;
  readonly #line = Buffer.alloc(300, "x");
  readonly #reservedBytes: number;
  #position = 0;

  constructor(path: string, reservedBytes = 0) {
    this.#file = openSync(path, "w");
    this.#reservedBytes = reservedBytes;
    if (reservedBytes > 0) {
      writeSync(this.#file, Buffer.alloc(reservedBytes), 0, reservedBytes, 0);
      fdatasyncSync(this.#file);
    }
  }

  append = (): void => {
    if (this.#reservedBytes > 0 && this.#position + this.#line.length > this.#reservedBytes) this.#position = 0;
    writeSync(this.#file, this.#line, 0, this.#line.length, this.#position);
    this.#position += this.#line.length;
    fdatasyncSync(this.#file);
  };

  close(): void {
    closeSync(this.#file);
  }
}

/** Bytes that a catalog's rows take, its WAL counted as folded in. */
export function catalogBytes(store: string): number {
  const database = new Database(join(store, "catalog.db"), { readonly: true });
  try {
    const pages = Number(database.pragma("page_count", { simple: true })) - Number(database.pragma("freelist_count", { simple: true }));
    return pages * Number(database.pragma("page_size", { simple: true }));
  } finally {
    database.close();
  }
}

/** One statement by a stock client that opens and closes. */
export function runSql(path: string, sql: string): void {
  const database = new Database(path);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
