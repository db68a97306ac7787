/**
 * What a suite declares and what a step of it may do. Suites say what is measured; `runner/` runs them for the terminal,
 * the screen and `npm run bench` alike.
 */
import type { BenchOptionView, BenchSeries, BenchSize, BenchSuiteId, BenchTable, BenchUnit } from "#shared/bench-views.ts";

export interface Suite {
  readonly id: BenchSuiteId;
  readonly title: string;
  readonly about: string;
  readonly sizes: readonly { readonly id: BenchSize; readonly label: string; readonly seconds: number; readonly diskBytes: number }[];
  readonly options: readonly BenchOptionView[];
  /** Steps of a run in order, each with the series it will record. */
  plan(order: Order): readonly Step[];
  tables(order: Order): readonly BenchTable[];
}

/** What was asked for. */
export interface Order {
  readonly size: BenchSize;
  readonly options: Readonly<Record<string, string>>;
  readonly seed: number;
}

export interface Step {
  readonly id: string;
  readonly title: string;
  readonly series: readonly SeriesPlan[];
  /** Why the step cannot run here, or null: "no reflinks on ext4", "offshoot is not on PATH". */
  missing?(bench: Bench): string | null | Promise<string | null>;
  run(bench: Bench): Promise<void>;
}

export type SeriesPlan = Pick<BenchSeries, "id" | "group" | "title" | "unit" | "planned"> &
  Partial<Pick<BenchSeries, "better" | "limit" | "goal" | "references">>;

/** A step's hands. Every call is safe after the run was stopped; long loops look at `signal`. */
export interface Bench {
  readonly order: Order;
  /** The step's private folder on the disk that is measured: empty at the start, removed afterwards. */
  readonly folder: string;
  /** Folder of the whole run, for what several steps use. */
  readonly shared: string;
  readonly signal: AbortSignal;
  readonly filesystem: { readonly type: string; readonly reflink: boolean };
  phase(name: string, done?: number, total?: number): void;
  record(series: string, value: number): void;
  /** Counts what went wrong; never dropped, never a sample. */
  fail(series: string, error: unknown, kind?: "error" | "timeout"): void;
  skip(series: string, reason: string): void;
  fact(label: string, value: number | string, unit?: BenchUnit | "text"): void;
  /** Path of a database of about so many bytes, deterministic by the order's seed; made on first use, shared, never written to. */
  database(megabytes: number): Promise<string>;
  /** Throws `cancelled` when the run was stopped, and lets events out: call it between samples. */
  pause(): Promise<void>;
}

/** Milliseconds that `act` takes. */
export async function time(act: () => unknown): Promise<number> {
  const start = process.hrtime.bigint();
  await act();
  return Number(process.hrtime.bigint() - start) / 1e6;
}
