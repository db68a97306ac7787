/** Short forms for lists of published figures. */
import type { BenchReference, BenchUnit } from "#shared/bench-views.ts";

/** Where a group of figures comes from. */
export type Origin = Pick<BenchReference, "source" | "date" | "hardware"> & {
  /** First words of every label: "offshoot 0.2.12". */
  readonly system: string;
};

interface Details {
  readonly unit?: BenchUnit;
  readonly statistic?: BenchReference["statistic"];
  readonly note?: string;
}

/** Last part of the id, label, value; milliseconds and a median where nothing else is said. */
export type Figure = readonly [id: string, label: string, value: number, details?: Details];

export function references(prefix: string, origin: Origin, figures: readonly Figure[], common: Details = {}): readonly BenchReference[] {
  const { system, ...from } = origin;
  return figures.map(([id, label, value, details]) => ({
    id: `${prefix}/${id}`,
    value,
    unit: details?.unit ?? common.unit ?? "ms",
    statistic: details?.statistic ?? common.statistic ?? "median",
    label: `${system}: ${label}`,
    ...from,
    note: details?.note ?? common.note ?? null,
  }));
}

/** Two figures for something that was published as "from … to …". */
export function range(id: string, label: string, [least, most]: readonly [number, number], details: Details = {}): readonly Figure[] {
  return [
    [`${id}-min`, `${label}, least`, least, { ...details, statistic: "min" }],
    [`${id}-max`, `${label}, most`, most, { ...details, statistic: "max" }],
  ];
}

export const WORKLOADS = ["simulation", "data_cleaning", "software_dev", "mcts", "failure_repro"] as const;

/** One column of a BranchBench table, in the order of `WORKLOADS`; null was not published. */
export function perWorkload(column: string, label: string, values: readonly (number | null)[], details: Details = {}): readonly Figure[] {
  return WORKLOADS.flatMap((workload, index): readonly Figure[] => {
    const value = values[index] ?? null;
    return value === null ? [] : [[`${workload}/${column}`, `${workload}, ${label}`, value, details]];
  });
}

export const SECOND = 1_000;
export const MIB = 1024 ** 2;
export const GIB = 1024 ** 3;
