/**
 * offshoot on a Linux machine of two cores, built from source and run for this comparison: random rows, medians of at
 * least ten. ids without a suffix are of ext4, those with `-xfs` of XFS with reflinks.
 */
import type { BenchReference } from "#shared/bench-views.ts";
import { GIB, SECOND, WORKLOADS, range, references, type Figure } from "./build-references.ts";
import { OFFSHOOT_LINUX, OFFSHOOT_LINUX_XFS } from "./origins.ts";

const ONCE = { statistic: "single run" } as const;
const BYTES = { unit: "bytes", statistic: "median" } as const;

/** id, label, ext4, XFS; null was not measured. */
type Pair = readonly [id: string, label: string, ext4: number | null, xfs: number | null];

const PAIRS: readonly Pair[] = [
  ["cli/start-100mb", "command, start-up", 6.3, 6.1],
  ["cli/fork-checkpoint-100mb", "command, fork at a checkpoint, 100 MB", 10.5, 11.8],
  ["cli/fork-head-100mb", "command, fork at a quiet head, 100 MB", 106, 109],
  ["cli/fork-head-written-100mb", "command, fork at the head after a write, 100 MB", 109, 109],
  ["cli/checkout-fresh-100mb", "command, fresh checkout, 100 MB", 855, 842],
  ["cli/checkout-unchanged-100mb", "command, unchanged checkout, 100 MB", 112, 117],
  ["cli/checkpoint-1-row-100mb", "command, checkpoint of one row, 100 MB", 2_681, 2_744],
  ["cli/rollback-100mb", "command, rollback, 100 MB", 956, 903],
  ["cli/promote-100mb", "command, promote, 100 MB", 1_034, 968],
  ["cli/destroy-100mb", "command, destroy of a branch without a file, 100 MB", 11, 14],
  ["cli/status-1000", "command, status of 1,000 branches", 163, 144],
  ["cli/fork-among-1000", "command, fork among 1,000 branches", 29, 27],
  ["cow/fork-checkpoint-12mb", "fork at a checkpoint, 12 MB", 3.1, 2.4],
  ["cow/fork-checkpoint-100mb", "fork at a checkpoint, 100 MB", 1.8, 2.7],
  ["cow/fork-checkpoint-1gb", "fork at a checkpoint, 1 GB", 2.1, 2.6],
  ["cow/fork-head-12mb", "fork at the head, 12 MB", 16, 15],
  ["cow/fork-head-100mb", "fork at the head, 100 MB", 88, 90],
  ["cow/fork-head-1gb", "fork at the head, 1 GB", 863, 864],
  ["isolation/fork-open-close-10mb", "fork + open + close by socket, 10 MB", 127, 135],
  ["isolation/fork-open-close-100mb", "fork + open + close by socket, 100 MB", 1_230, 1_276],
];

const PAIRS_OF_BYTES: readonly Pair[] = [
  ["cow/added-bytes-100mb", "bytes added per fork, 100 MB", 380, 380],
  ["cow/divergence-8-per-transaction-100mb", "bytes per one-row transaction, k = 8, 100 MB", 1_031, 1_031],
  ["cow/divergence-20-per-transaction-100mb", "bytes per one-row transaction, k = 20, 100 MB", 5_113_331, 5_113_331],
];

function column(pairs: readonly Pair[], which: "ext4" | "xfs"): readonly Figure[] {
  return pairs.flatMap(([id, label, ext4, xfs]): readonly Figure[] => {
    const value = which === "ext4" ? ext4 : xfs;
    return value === null ? [] : [[which === "ext4" ? id : `${id}-xfs`, label, value]];
  });
}

function branchbench(name: string, label: string, values: readonly (number | null)[], scale: number): readonly Figure[] {
  return WORKLOADS.flatMap((workload, index): readonly Figure[] => {
    const value = values[index] ?? null;
    return value === null ? [] : [[`branchbench/${workload}/${name}`, `${workload}, ${label}`, value * scale]];
  });
}

const LIMITS: readonly Figure[] = [
  ...range("limits/append", "append 300 B + fdatasync", [0.21, 0.3]),
  ...range("limits/create", "create + fsync + rename + fsync of the folder", [0.68, 0.95]),
  ...range("limits/cp-100mb", "cp, 100 MB", [43, 52]),
  ...range("limits/cp-fsync-100mb", "cp with fsync, 100 MB", [87, 103]),
];
const LIMITS_XFS: readonly Figure[] = [
  ...range("limits/append-xfs", "append 300 B + fdatasync", [0.65, 1.29]),
  ...range("limits/create-xfs", "create + fsync + rename + fsync of the folder", [1.43, 3]),
  ["limits/cp-100mb-xfs", "cp, 100 MB", 25],
  ["limits/cp-fsync-100mb-xfs", "cp with fsync, 100 MB", 72],
];

const MANY: readonly Figure[] = [
  ...range("cli/forks-200-in-a-loop", "command, 200 forks in a loop", [2.5 * SECOND, 4.1 * SECOND]),
  ...range("cli/forks-8x25", "command, eight loops of 25 forks at once", [1.6 * SECOND, 2.6 * SECOND]),
];
const MANY_XFS: readonly Figure[] = [
  ...range("cli/forks-200-in-a-loop-xfs", "command, 200 forks in a loop", [3.2 * SECOND, 3.8 * SECOND]),
  ...range("cli/forks-8x25-xfs", "command, eight loops of 25 forks at once", [2 * SECOND, 2.5 * SECOND]),
];

const BRANCHBENCH: readonly Figure[] = [
  ...branchbench("wall", "wall clock", [248, 95, 38, 256, 4], SECOND),
  ["branchbench/all/wall", "five workloads", 641 * SECOND, { note: "all 2,310 steps" }],
];
const BRANCHBENCH_XFS = branchbench("wall-xfs", "wall clock", [null, 114, 47, null, 4.8], SECOND);

export const OFFSHOOT_ON_LINUX: readonly BenchReference[] = [
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX, [...LIMITS, ...column(PAIRS, "ext4"), ...MANY]),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX, column(PAIRS_OF_BYTES, "ext4"), BYTES),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX, [["cow/added-objects-100mb", "objects added per fork, 100 MB", 2]], {
    unit: "count",
  }),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX, BRANCHBENCH, ONCE),
  ...references(
    "offshoot-0.2.9-linux",
    OFFSHOOT_LINUX,
    branchbench("branch-overhead", "share of worker time in branch management", [91, 39, 57, 79, 80], 0.01),
    { unit: "ratio", statistic: "single run" },
  ),
  ...references(
    "offshoot-0.2.9-linux",
    OFFSHOOT_LINUX,
    branchbench("store-peak", "store at its largest", [12.7, 9.3, 4.4, 27.7, 0.18], GIB),
    {
      unit: "bytes",
      statistic: "single run",
    },
  ),
  ...references(
    "offshoot-0.2.9-linux",
    { ...OFFSHOOT_LINUX, system: "sqlite3 .backup, Linux" },
    [
      ["isolation/backup-10mb", "10 MB", 46],
      ["isolation/backup-100mb", "100 MB", 290],
    ],
    { note: "measured beside offshoot" },
  ),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX_XFS, [...LIMITS_XFS, ...column(PAIRS, "xfs"), ...MANY_XFS]),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX_XFS, column(PAIRS_OF_BYTES, "xfs"), BYTES),
  ...references("offshoot-0.2.9-linux", OFFSHOOT_LINUX_XFS, BRANCHBENCH_XFS, { ...ONCE, note: "partial runs" }),
  ...references(
    "offshoot-0.2.9-linux",
    OFFSHOOT_LINUX_XFS,
    branchbench("branch-overhead-xfs", "share of worker time in branch management", [90, 34, 44, 74, 83], 0.01),
    { unit: "ratio", statistic: "single run", note: "partial runs" },
  ),
];
