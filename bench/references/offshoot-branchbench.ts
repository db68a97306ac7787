/** BranchBench as offshoot published it: v0.2.12, and the version before it. */
import type { BenchReference } from "#shared/bench-views.ts";
import { GIB, MIB, SECOND, perWorkload, range, references, type Figure } from "./build-references.ts";
import { OFFSHOOT, OFFSHOOT_BEFORE } from "./origins.ts";

const BYTES = { unit: "bytes", statistic: "single run" } as const;
const COUNT = { unit: "count", statistic: "single run" } as const;
const RATIO = { unit: "ratio", statistic: "single run" } as const;
const ONCE = { statistic: "single run" } as const;
const LOGICAL = { ...BYTES, note: "sum of logical file sizes" } as const;
const AT_LEAST = { ...LOGICAL, note: "at least: sum of logical file sizes, sampled" } as const;

const WHOLE: readonly Figure[] = [
  ["all/wall", "five workloads", 104.5 * SECOND, ONCE],
  ["all/command", "the whole command", 109 * SECOND, ONCE],
  ["all/steps", "steps finished of 2,310", 2_310, COUNT],
  ["all/retries", "compare-and-swap retries", 0, COUNT],
];

const SHAPE: readonly Figure[] = [
  ...perWorkload("branch-time", "time in branch management, summed over workers", [220_300, 31_300, 13_000, 219_100, 776], ONCE),
  ...perWorkload("branch-time-of-wall", "branch management, times the wall clock", [4.8, 3.2, 2.4, 5.2, 0.5], RATIO),
  ...perWorkload("effective-concurrency", "workers at once", [8, 8, 5, 8, 1], COUNT),
  ...perWorkload("max-depth", "deepest level", [1, 3, 4, 25, 1], COUNT),
  ...perWorkload("steps-d1", "steps at depth 1", [1_000, 17, 5, 10, 10], COUNT),
  ...perWorkload("steps-deepest", "steps at the deepest level", [null, 133, 51, 80, null], COUNT),
  ...perWorkload("cross-passes", "passes over all branches", [1, 2, 1, null, null], COUNT),
  ...perWorkload("cross-branches", "branches that a pass read", [1, 201, 84, null, null], COUNT),
  ...perWorkload("cross-time", "passes over all branches, together", [31, 2_400, 745, null, null], ONCE),
  ...perWorkload("fallbacks", "forks of the root for want of a place", [null, 7, null, null, null], COUNT),
];

const LATENCY: readonly Figure[] = [
  ...perWorkload("read-p50-d1", "read, depth 1", [56.4, 50.3, 15.6, 68.4, 5.1]),
  ...perWorkload("read-p50-deepest", "read, deepest level", [null, 66.9, 13.3, 103, null]),
  ...perWorkload("checkout-p50-d1", "checkout, depth 1", [null, null, 225.3, 405.1, 8.1]),
  ["mcts/fork-p50-d1", "mcts, fork, depth 1", 61],
  ["mcts/checkpoint-p50-d1", "mcts, checkpoint, depth 1", 79.2],
  ["mcts/fork-p50-deepest", "mcts, fork, depth 25", 32.6],
  ["mcts/checkout-p50-deepest", "mcts, checkout, depth 25", 78.5],
  ["mcts/checkpoint-p50-deepest", "mcts, checkpoint, depth 25", 67.3],
  ...range("checkout-d1-8-way", "checkout at depth 1, eight workers", [40.1, 405.1], {
    note: "range over the workloads; simulation, data_cleaning and failure_repro fell 7 to 8 times against the version before",
  }),
];

const MCTS_DETAIL: readonly Figure[] = [
  ["mcts/wall-list-walks", "mcts, while every list walked the tree", 197.2 * SECOND, ONCE],
  ["mcts/wall-list-walks-list-early", "mcts, one list early, while lists walked the tree", 23.8, ONCE],
  ["mcts/wall-list-walks-list-late", "mcts, one list late (about 890 checkouts), while lists walked the tree", 132, ONCE],
  ["mcts/wall-list-walks-resolve", "mcts, resolving a chain, while lists walked the tree", 1_099.5, ONCE],
  ["mcts/wall-list-walks-fork-d25", "mcts, fork at depth 25, while lists walked the tree", 703.8],
  ["mcts/wall-list-walks-checkout-d25", "mcts, checkout at depth 25, while lists walked the tree", 734.7],
  ["mcts/wall-list-walks-checkpoint-d25", "mcts, checkpoint at depth 25, while lists walked the tree", 730.6],
  ["mcts/list", "mcts, one list", 0.06, ONCE],
  ...range("mcts/clone", "mcts, one clone", [0.22, 0.47]),
  ...range("mcts/clone-fsync", "mcts, fsync after a clone", [3.9, 4.65]),
  ...range("mcts/fork-quiesce", "mcts, quiesce and check of the parent per fork", [4.6, 10.8]),
  ["mcts/wall-rerun-2", "mcts, second run", 42.4 * SECOND, ONCE],
  ["mcts/wall-rerun-3", "mcts, third run", 42.8 * SECOND, ONCE],
  ["mcts/store-kept", "mcts, kept store", 43.2 * GIB, LOGICAL],
  ["mcts/store-kept-objects", "mcts, kept store, objects", 0.64 * GIB, LOGICAL],
  ["mcts/store-kept-checkouts", "mcts, kept store, checkouts", 14.55 * GIB, LOGICAL],
  ["mcts/store-kept-shadows", "mcts, kept store, shadows of checkouts", 14.55 * GIB, LOGICAL],
  ["mcts/store-kept-clones", "mcts, kept store, cached clones by chain", 13.44 * GIB, LOGICAL],
  ["mcts/store-physical", "mcts, kept store, what the disk lost (df)", 1.81 * GIB, BYTES],
  ...range("read-cold-clone", "first read of a fresh clone", [50.6, 54.9]),
  ...range("read-cold-copy", "first read of a written copy", [6.3, 6.4]),
  ...range("read-second", "second read", [6.2, 6.3]),
  ["read-alone-d1", "first read one at a time, depth 1", 37.1, { note: "n = 8" }],
  ["read-alone-d25", "first read one at a time, depth 25", 39.7, { note: "n = 8" }],
];

const BEFORE: readonly Figure[] = [
  ...perWorkload("wall", "wall clock", [72_200, 17_800, 7_600, 63_300, 1_900], ONCE),
  ...range("branch-overhead", "share of worker time in branch management", [0.71, 0.96], {
    unit: "ratio",
    note: "range over the workloads",
  }),
  ...perWorkload("read-p50-d1", "read, depth 1", [11.5, 7, 12.9, 8.2, 5]),
  ...perWorkload("checkout-p50-d1", "checkout, depth 1", [null, null, 158, 348.6, null]),
  ["mcts/fork-p50-deepest", "mcts, fork, depth 25", 84.1],
  ["mcts/checkout-p50-deepest", "mcts, checkout, depth 25", 290.1],
  ["mcts/checkpoint-p50-deepest", "mcts, checkpoint, depth 25", 103.1],
  ...perWorkload("store-peak", "store at its largest", [12 * GIB, null, null, 26.5 * GIB, 167 * MIB], LOGICAL),
];

export const OFFSHOOT_BRANCHBENCH: readonly BenchReference[] = [
  ...references("offshoot-0.2.12/branchbench", OFFSHOOT, [
    ...WHOLE,
    ...perWorkload("wall", "wall clock", [45_700, 9_800, 5_400, 41_900, 1_600], ONCE),
    ...perWorkload("branch-overhead", "share of worker time in branch management", [0.6, 0.4, 0.48, 0.65, 0.47], RATIO),
    ...SHAPE,
    ...LATENCY,
    ...perWorkload("store-peak", "store at its largest", [650 * MIB, null, null, 43 * GIB, 82 * MIB], LOGICAL),
    ...perWorkload("store-peak", "store at its largest", [null, 8.3 * GIB, 3.8 * GIB, null, null], AT_LEAST),
    ...perWorkload("store-end", "store at the end", [429 * MIB, 8.3 * GIB, 3.8 * GIB, 43 * GIB, 82 * MIB], LOGICAL),
    ...MCTS_DETAIL,
  ]),
  ...references("offshoot-before-0.2.12/branchbench", OFFSHOOT_BEFORE, BEFORE),
];
