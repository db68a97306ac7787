/**
 * What a benchmark is to its viewers: suites to choose from, runs with their series of raw samples, published figures to
 * stand beside them. Samples are raw and in order; every figure shown anywhere is computed from them by
 * `bench-statistics.ts`, so that screen, terminal and files cannot disagree.
 */
import type { UnixMs } from "./ids.ts";

export const BENCH_SUITES = ["goals", "cow", "isolation", "branchbench", "micro", "density", "write-amplification"] as const;
export type BenchSuiteId = (typeof BENCH_SUITES)[number];
/** Quick ends in seconds and proves that everything works; its figures are no claim. */
export const BENCH_SIZES = ["quick", "S", "M", "L"] as const;
export type BenchSize = (typeof BENCH_SIZES)[number];
/** Of one sample. `ms` milliseconds, `bytes` bytes, `per-second` operations in a second, `ratio` and `count` plain numbers. */
export type BenchUnit = "ms" | "bytes" | "per-second" | "ratio" | "count";

export interface BenchSuiteView {
  readonly id: BenchSuiteId;
  readonly title: string;
  /** One sentence: what is measured against what. */
  readonly about: string;
  readonly sizes: readonly { readonly id: BenchSize; readonly label: string; readonly seconds: number; readonly diskBytes: number }[];
  /** Steps of a run, in order. */
  readonly steps: readonly { readonly id: string; readonly title: string }[];
  readonly options: readonly BenchOptionView[];
}

/** A choice that changes what is measured: which parent rule, how many at once. The first value is the default. */
export interface BenchOptionView {
  readonly id: string;
  readonly title: string;
  readonly values: readonly { readonly id: string; readonly title: string }[];
}

export interface MachineCard {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly filesystem: string;
  readonly reflink: boolean;
  readonly node: string;
  readonly sqlite: string;
  readonly program: string;
  readonly addon: "loaded" | "missing";
  /** Median of 300 bytes appended and fdatasync on the sandbox's disk, taken at the start of the run. */
  readonly appendMs: number;
  /** Processes that wanted a processor in the minute before the run. */
  readonly load: number;
}

export interface BenchSeries {
  /** Unique in the run and the same in every run of the suite: what runs are compared by. */
  readonly id: string;
  readonly step: string;
  /** Heading under which tables list it: "Fork", "depth 1". */
  readonly group: string;
  readonly title: string;
  readonly unit: BenchUnit;
  readonly better: "lower" | "higher";
  /** Samples that a whole run takes; 0 when that is not known before. */
  readonly planned: number;
  /** In the order in which they were taken. */
  readonly samples: readonly number[];
  readonly errors: number;
  readonly timeouts: number;
  /** First error, in words. */
  readonly error: string | null;
  /** Why nothing was measured: a missing program, a filesystem without reflinks. */
  readonly skipped: string | null;
  /** Series that shows the limit of disk or memory for this one, taken in the same run. */
  readonly limit: string | null;
  /** What the median should be at most (or least): of itself, or of its ratio to the limit. */
  readonly goal: { readonly of: "median" | "ratio"; readonly most?: number; readonly least?: number } | null;
  /** Ids of published figures to show beside it. */
  readonly references: readonly string[];
}

/** Something found that is no series: how deep the tree was, how many passes were made. */
export interface BenchFact {
  readonly step: string;
  readonly label: string;
  readonly value: number | string;
  readonly unit: BenchUnit | "text";
}

/** A table as published pages have it. Cells name series, so that they cannot differ from them. */
export interface BenchTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly BenchCell[] }[];
  readonly note: string | null;
}
export type BenchStatistic = "median" | "p95" | "p99" | "min" | "max" | "mean" | "n" | "sum";
export type BenchCell =
  | { readonly series: string; readonly statistic: BenchStatistic }
  /** The medians of two series: subject / limit. */
  | { readonly ratioOf: string; readonly to: string }
  | { readonly fact: string; readonly step: string }
  | { readonly reference: string }
  | { readonly text: string };

export type BenchState = "running" | "stopping" | "done" | "partial" | "failed";

export interface BenchRunHead {
  /** Sortable text of time and suite; the name of its file. */
  readonly id: string;
  readonly suite: BenchSuiteId;
  readonly title: string;
  readonly size: BenchSize;
  readonly state: BenchState;
  readonly startedAt: UnixMs;
  readonly endedAt: UnixMs | null;
  /** Names of machine, filesystem and program: runs with other marks are no fair comparison. */
  readonly mark: string;
}

export interface BenchRun extends BenchRunHead {
  readonly options: Readonly<Record<string, string>>;
  readonly seed: number;
  readonly machine: MachineCard;
  /** The command that takes it again. */
  readonly command: string;
  readonly series: readonly BenchSeries[];
  readonly facts: readonly BenchFact[];
  readonly tables: readonly BenchTable[];
  readonly failure: string | null;
  readonly progress: BenchProgress;
}

export interface BenchProgress {
  readonly step: string;
  readonly stepIndex: number;
  readonly stepCount: number;
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
}

/** What came since the last event of the run: new samples only. At most ten a second. */
export interface BenchUpdate {
  readonly run: string;
  readonly state: BenchState;
  readonly progress: BenchProgress;
  readonly series: readonly (Pick<BenchSeries, "id" | "errors" | "timeouts" | "error" | "skipped"> & {
    /** Place of the first of `samples` in the series. */
    readonly from: number;
    readonly samples: readonly number[];
  })[];
}

/** A figure somebody else published: never measured here, never mixed with what was. */
export interface BenchReference {
  readonly id: string;
  readonly value: number;
  readonly unit: BenchUnit;
  readonly statistic: BenchStatistic | "single run";
  readonly label: string;
  readonly source: string;
  /** ISO day of the publication; null when it is not known. */
  readonly date: string | null;
  readonly hardware: string;
  readonly note: string | null;
}
