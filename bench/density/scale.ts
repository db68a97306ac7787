import type { BenchSize } from "#shared/bench-views.ts";

export interface Scale {
  /** Ascending: one store grows from one to the next. */
  readonly branches: readonly number[];
  readonly megabytes: number;
  readonly rounds: number;
  readonly checkoutRounds: number;
  readonly reads: number;
}

export const SCALES: Readonly<Record<BenchSize, Scale>> = {
  quick: { branches: [10, 100], megabytes: 1, rounds: 10, checkoutRounds: 2, reads: 100 },
  S: { branches: [10, 100, 1_000, 10_000], megabytes: 12, rounds: 50, checkoutRounds: 5, reads: 1_000 },
  M: { branches: [10, 100, 1_000, 10_000], megabytes: 12, rounds: 200, checkoutRounds: 20, reads: 1_000 },
  L: { branches: [10, 100, 1_000, 10_000, 100_000], megabytes: 12, rounds: 200, checkoutRounds: 20, reads: 1_000 },
};
