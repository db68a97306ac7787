import type { BenchSize } from "#shared/bench-views.ts";

/** Of the pages, in percent. */
export const SHARES = [0.1, 1, 5, 10, 25, 50, 100] as const;

export interface Scale {
  readonly megabytes: number;
  readonly rounds: number;
}

export const SCALES: Readonly<Record<BenchSize, Scale>> = {
  quick: { megabytes: 4, rounds: 1 },
  S: { megabytes: 100, rounds: 3 },
  M: { megabytes: 100, rounds: 7 },
  L: { megabytes: 1_024, rounds: 3 },
};
