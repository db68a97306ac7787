/** How much each size of the suite does. Sizes of databases in MiB. */
import type { BenchSize } from "#shared/bench-views.ts";

export interface ForkCase {
  readonly megabytes: number;
  readonly branches: number;
  readonly at: "head" | "checkpoint";
}

export interface Scale {
  readonly forkCases: readonly ForkCase[];
  readonly forkRounds: number;
  readonly inFlightForks: number;
  readonly growthForks: number;
  /** One-row transactions in a row, each with a checkpoint; and means that are taken of each. */
  readonly transactions: readonly number[];
  readonly transactionMeans: number;
  readonly middle: number;
  readonly large: number;
  readonly switchRounds: number;
  readonly checkpointRounds: number;
  readonly checkoutRounds: number;
  readonly listBranches: number;
  readonly programRounds: number;
  readonly memoryMegabytes: number;
}

function forkCases(small: number, branches: readonly number[], others: readonly number[]): readonly ForkCase[] {
  const most = Math.max(...branches);
  return [
    ...branches.map((count) => ({ megabytes: small, branches: count, at: "head" as const })),
    { megabytes: small, branches: most, at: "checkpoint" },
    ...others.map((megabytes) => ({ megabytes, branches: 10, at: "head" as const })),
  ];
}

const S: Scale = {
  forkCases: forkCases(12, [10, 1_000, 10_000], [100, 1_024]),
  forkRounds: 100,
  inFlightForks: 5_000,
  growthForks: 1_000,
  transactions: [8, 20, 1_000],
  transactionMeans: 1,
  middle: 100,
  large: 1_024,
  switchRounds: 20,
  checkpointRounds: 5,
  checkoutRounds: 7,
  listBranches: 10_000,
  programRounds: 15,
  memoryMegabytes: 400,
};

const M: Scale = {
  ...S,
  forkRounds: 300,
  inFlightForks: 10_000,
  transactionMeans: 3,
  switchRounds: 40,
  checkpointRounds: 10,
  checkoutRounds: 15,
  programRounds: 25,
};

export const SCALES: Readonly<Record<BenchSize, Scale>> = {
  quick: {
    forkCases: forkCases(1, [10, 50], [2]),
    forkRounds: 10,
    inFlightForks: 640,
    growthForks: 50,
    transactions: [8, 20],
    transactionMeans: 1,
    middle: 2,
    large: 4,
    switchRounds: 2,
    checkpointRounds: 2,
    checkoutRounds: 2,
    listBranches: 200,
    programRounds: 2,
    memoryMegabytes: 4,
  },
  S,
  M,
  L: {
    ...M,
    forkCases: [...forkCases(12, [10, 1_000, 10_000, 100_000], [100, 1_024]), { megabytes: 10_240, branches: 10, at: "head" }],
    listBranches: 100_000,
    memoryMegabytes: 4_096,
  },
};
