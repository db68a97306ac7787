/** Sizes of databases in MiB, and how much each size of the suite does. */
import type { BenchSize } from "#shared/bench-views.ts";

export interface Scale {
  readonly sizes: readonly number[];
  readonly forkRounds: number;
  /** Forks in a row that bytes are counted over, and how often. */
  readonly added: readonly { readonly forks: number; readonly times: number }[];
  readonly transactions: readonly number[];
  readonly counted: number;
  /** Database of the rows about one size. */
  readonly middle: number;
  readonly checkoutRounds: number;
  readonly moveRounds: number;
  readonly memoryMegabytes: number;
}

const S: Scale = {
  sizes: [12, 100, 1_024],
  forkRounds: 50,
  added: [
    { forks: 1, times: 100 },
    { forks: 10, times: 20 },
    { forks: 100, times: 5 },
    { forks: 1_000, times: 1 },
  ],
  transactions: [8, 20, 1_000],
  counted: 1_000,
  middle: 100,
  checkoutRounds: 10,
  moveRounds: 20,
  memoryMegabytes: 400,
};

export const SCALES: Readonly<Record<BenchSize, Scale>> = {
  quick: {
    sizes: [1, 2],
    forkRounds: 10,
    added: [
      { forks: 1, times: 10 },
      { forks: 10, times: 3 },
    ],
    transactions: [8, 20],
    counted: 20,
    middle: 2,
    checkoutRounds: 2,
    moveRounds: 2,
    memoryMegabytes: 4,
  },
  S,
  M: { ...S, forkRounds: 300, checkoutRounds: 30, moveRounds: 50 },
  L: { ...S, sizes: [12, 100, 1_024, 10_240], forkRounds: 300, checkoutRounds: 30, moveRounds: 50, memoryMegabytes: 4_096 },
};

/** Sizes for which others published figures. */
const PUBLISHED = new Set(["12mb", "100mb", "1gb"]);

export function published(
  row: string,
  size: string,
  systems: readonly string[] = ["offshoot-0.2.12", "offshoot-0.2.9-linux"],
): readonly string[] {
  return PUBLISHED.has(size) ? systems.map((system) => `${system}/cow/${row}-${size}`) : [];
}
