/** Messages between a host and the process in which a benchmark runs. Both ways over the channel of `fork`, in order. */
import type { BenchRun, BenchSize, BenchUpdate } from "#shared/bench-views.ts";
import type { ErrorView } from "#shared/error-codes.ts";

export interface BenchOrder {
  readonly suite: string;
  readonly size: BenchSize;
  readonly options: Readonly<Record<string, string>>;
  readonly folder: string;
}

export type ToBench = { readonly start: BenchOrder } | { readonly stop: true };

export type FromBench =
  /** The plan, with nothing measured: sent once, unless `refused` is. */
  | { readonly started: BenchRun }
  | { readonly refused: ErrorView }
  | { readonly update: BenchUpdate }
  /** After each step: the whole run so far. */
  | { readonly step: BenchRun }
  | { readonly ended: BenchRun };
