/** Sizes of databases in MiB, and how often each row is taken. */
import type { BenchSize } from "#shared/bench-views.ts";

export interface Scale {
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Of a server that starts. */
  readonly startRounds: number;
}

export const SCALES: Readonly<Record<BenchSize, Scale>> = {
  quick: { sizes: [10], rounds: 2, startRounds: 1 },
  S: { sizes: [10, 100], rounds: 20, startRounds: 5 },
  M: { sizes: [10, 100], rounds: 100, startRounds: 15 },
  L: { sizes: [10, 100, 1_024], rounds: 100, startRounds: 25 },
};

const PUBLISHED: readonly number[] = [10, 100];

/** Ids of what was published for a row, in the order of the columns. */
export function published(row: string, megabytes: number, linux = true): readonly string[] {
  if (!PUBLISHED.includes(megabytes)) return [];
  const ids = [`offshoot-0.2.12/isolation/${row}-${megabytes}mb`];
  return linux ? [...ids, `offshoot-0.2.9-linux/isolation/${row}-${megabytes}mb`] : ids;
}
