/** Hosted and server systems: the BranchBench harness's runs and microbenchmarks, and what Sandbase published. */
import type { BenchReference } from "#shared/bench-views.ts";
import { SECOND, range, references, type Figure, type WORKLOADS } from "./build-references.ts";
import { PAPER, SANDBASE, hosted, micro } from "./origins.ts";

type Workload = (typeof WORKLOADS)[number];
const ONCE = { statistic: "single run" } as const;
const COUNT = { unit: "count", statistic: "single run" } as const;
const BYTES = { unit: "bytes", statistic: "single run" } as const;
const RATIO = { unit: "ratio", statistic: "single run" } as const;

/** Medians in milliseconds of create, connect, read, update, DDL; then seconds and steps of the whole run. */
type Run = readonly [
  workload: Workload,
  create: number,
  connect: number,
  read: number,
  update: number,
  ddl: number | null,
  seconds: number,
  steps: number,
];

const DOLT: readonly Run[] = [
  ["data_cleaning", 14.2, 0.6, 642, 8_022, 145_451, 3_088, 200],
  ["failure_repro", 6.9, 0.7, 5_850, 3.4, 4.2, 461, 10],
  ["mcts", 13.1, 0.5, 446_380, 7.8, null, 7_582, 170],
  ["software_dev", 9.8, 0.6, 536, 88_955, 3.9, 1_807, 100],
];
const NEON: readonly Run[] = [
  ["data_cleaning", 1_268, 2_667, 82, 709, 32.7, 1_092, 20],
  ["failure_repro", 160, 413, 861, 10.1, 8.2, 24.6, 10],
  ["mcts", 1_474, 2_654, 910, 46.4, null, 5_895, 23],
  ["simulation", 907, 1_871, 1_786, 14.5, null, 789, 172],
  ["software_dev", 180, 861, 191, 10_259, 23.2, 957, 25],
];
const STEP_NOTES: Readonly<Record<string, string>> = {
  "neon/mcts": "of 1,000; 33 by the write-up, 23 in the raw file (33 are branch creations there)",
  "neon/simulation": "of 1,000, by bytes; 437 workers reported",
  "neon/data_cleaning": "of 200",
  "neon/software_dev": "of 100",
  "dolt/mcts": "of 1,000; stopped at the limit of two hours",
};

function runs(system: "dolt" | "neon", name: string, list: readonly Run[]): readonly BenchReference[] {
  const figures = list.flatMap(([workload, create, connect, read, update, ddl, seconds, steps]): readonly Figure[] => {
    const note = STEP_NOTES[`${system}/${workload}`];
    return [
      [`${workload}/create`, `${workload}, creating a branch`, create],
      [`${workload}/connect`, `${workload}, connecting`, connect],
      [`${workload}/read`, `${workload}, read`, read],
      [`${workload}/update`, `${workload}, update`, update],
      ...(ddl === null ? [] : [[`${workload}/ddl`, `${workload}, schema change`, ddl] as const]),
      [`${workload}/wall`, `${workload}, wall clock`, seconds * SECOND, ONCE],
      [`${workload}/steps`, `${workload}, steps finished`, steps, note === undefined ? COUNT : { ...COUNT, note }],
    ];
  });
  return references(`${system}/branchbench`, hosted(name), figures);
}

const DOLT_MORE: readonly Figure[] = [
  ["failure_repro/ddl-max", "failure_repro, schema change", 70 * SECOND, { statistic: "max" }],
  ["mcts/timed-out-at", "mcts, when it was stopped", 7_581.85 * SECOND, ONCE],
  [
    "simulation/wall-mini",
    "simulation, wall clock, small form at scale 1",
    1_234 * SECOND,
    { ...ONCE, note: "60 of 60 steps; no full run published" },
  ],
  ["simulation/steps-mini", "simulation, steps finished, small form at scale 1", 60, COUNT],
  ["disk-before", "disk used before a run, scale 5", 19.8e9, BYTES],
];
const NEON_MORE: readonly Figure[] = [
  ["software_dev/store-growth", "software_dev, growth of storage", 4_266_237_528, BYTES],
  ["data_cleaning/store-growth", "data_cleaning, growth of storage", 4_948_656, BYTES],
  ["mcts/store-growth", "mcts, growth of storage", 4_260_560, BYTES],
  ["simulation/store-growth", "simulation, growth of storage", 0, BYTES],
  ["failure_repro/store-growth", "failure_repro, growth of storage", 0, BYTES],
  ["live-branches-max", "live branches at most", 20, COUNT],
  ["root-bytes", "size of the root, scale 5", 522e6, BYTES],
];
const PAPER_FIGURES: readonly Figure[] = [
  ["read-slowdown-min", "slower reads on deep branches, fast-branch systems", 5, { unit: "ratio", statistic: "min" }],
  ["read-slowdown-max", "slower reads on deep branches, fast-branch systems", 4_000, { unit: "ratio", statistic: "max" }],
  ["branch-slowdown-min", "slower branches, fast-data systems", 25, { unit: "ratio", statistic: "min" }],
  ["branch-slowdown-max", "slower branches, fast-data systems", 1_500, { unit: "ratio", statistic: "max" }],
];

const SPINE = { note: "one thread, spine, three rounds" };
const FAN = { note: "as many at once as there are branches" };
const RATE = { unit: "per-second" } as const;

const MICRO: readonly BenchReference[] = [
  ...references("micro/dolt", micro("Dolt"), [
    ["create-1", "create a branch, 1 branch", 9.6, SPINE],
    ["create-1024", "create a branch, 1,024 branches", 9.7, SPINE],
    ...range("connect", "connect", [0.4, 0.5], SPINE),
    ["concurrent-create-1024", "create a branch, 1,024 at once", 10_798, FAN],
    ["throughput-read-1", "point reads, 1 thread, 1 branch", 136, RATE],
    ["throughput-read-128", "point reads, 128 threads, 128 branches", 387, RATE],
    ["throughput-range-read-1", "range reads, 1 thread, 1 branch", 8.2, RATE],
    ["throughput-range-read-128", "range reads, 128 threads, 128 branches", 10.8, RATE],
    ["throughput-update-1", "updates, 1 thread, 1 branch", 131, RATE],
    ["throughput-update-128", "updates, 128 threads, 128 branches", 413, RATE],
    ["throughput-read-one-branch-1", "point reads, 1 thread, one branch", 70, RATE],
    ["throughput-read-one-branch-1024", "point reads, 1,024 threads, one branch", 198, RATE],
  ]),
  ...references("micro/file-copy", micro("file copy"), [
    ["create-1", "create a branch, 1 branch", 35.3, SPINE],
    ["create-1024", "create a branch, 1,024 branches", 39.6, SPINE],
    ["connect", "connect", 5.8, SPINE],
    ["concurrent-create-1024", "create a branch, 1,024 at once", 19_642, FAN],
  ]),
  ...references("micro/transaction", micro("nested transaction"), [
    ["create-1", "create a branch, 1 branch", 2.8, SPINE],
    ["create-1024", "create a branch, 1,024 branches", 3.1, SPINE],
    ["connect", "connect", 0, { note: "published as about 0" }],
    ["concurrent-create-1024", "create a branch, 1,024 at once", 3.3, FAN],
  ]),
  ...references("micro/neon", micro("Neon"), [
    ["create-1", "create a branch, 1 branch", 142, SPINE],
    ["create-16", "create a branch, 16 branches", 160, SPINE],
    ...range("connect", "connect", [780, 890], SPINE),
    ["concurrent-create-16", "create a branch, 16 at once", 2_103, FAN],
    ["concurrent-connect-16", "connect, 16 at once", 4_778, FAN],
    ["throughput-read-1", "point reads, 1 thread, 1 branch", 31, RATE],
    ["throughput-read-16", "point reads, 16 threads, 16 branches", 176, RATE],
    ["throughput-range-read-1", "range reads, 1 thread, 1 branch", 5.1, RATE],
    ["throughput-range-read-16", "range reads, 16 threads, 16 branches", 86.7, RATE],
    ["throughput-update-1", "updates, 1 thread, 1 branch", 54, RATE],
    ["throughput-update-16", "updates, 16 threads, 16 branches", 161, RATE],
    ["throughput-read-one-branch-1", "point reads, 1 thread, one branch", 24, RATE],
    ["throughput-read-one-branch-128", "point reads, 128 threads, one branch", 124, { ...RATE, note: "the peak" }],
    ["throughput-read-one-branch-1024", "point reads, 1,024 threads, one branch", 58, RATE],
  ]),
  ...references("micro/xata", micro("Xata"), [
    ["create-1", "create a branch, 1 branch", 42_500, SPINE],
    ["create-8", "create a branch, 8 branches", 46_500, SPINE],
    ["connect", "connect", 118, SPINE],
  ]),
  ...references("micro/tiger", micro("Tiger"), [
    ["create-1", "create a branch, 1 branch", 51_400, SPINE],
    ["create-4", "create a branch, 4 branches", 100_500, SPINE],
    ["connect", "connect", 524, SPINE],
  ]),
];

const SANDBASE_FIGURES: readonly Figure[] = [
  ["clone", "copy-on-write clone of a Postgres volume", 3 * SECOND, { ...ONCE, note: "about, for any size" }],
  ["create-eks", "whole branch, EKS", 42 * SECOND, { note: "about" }],
  ["create-local", "whole branch, local volume", 17.8 * SECOND],
  ["idle-bytes", "an idle branch, 1.5 GB database", 0.76e6, BYTES],
  ["idle-bytes-10-minutes", "an idle branch after ten minutes", 1e6, { ...BYTES, note: "published as “less than 1 MB”" }],
  ["read-bytes", "bytes that reads add", 0, BYTES],
  ["missing-checkpoint", "redo after a missing checkpoint", 3.7 * SECOND, ONCE],
  ...range("lz4-dataset", "lz4 on a ZFS dataset", [7.3, 7.6], { unit: "ratio" }),
  ...range("lz4-zvol", "lz4 on a zvol", [3.2, 3.3], { unit: "ratio" }),
  ["agent-branches-2023-10", "share of branches made by agents, October 2023", 0.001, RATIO],
  ["agent-branches-2025-10", "share of branches made by agents, October 2025", 0.97, RATIO],
  ["half-life", "half of all branches live less than", 10 * SECOND, { note: "published as “half live less than 10 s”" }],
];

export const HOSTED: readonly BenchReference[] = [
  ...references("branchbench-paper", PAPER, PAPER_FIGURES),
  ...runs("dolt", "Dolt", DOLT),
  ...references("dolt/branchbench", hosted("Dolt"), DOLT_MORE),
  ...runs("neon", "Neon", NEON),
  ...references("neon/branchbench", hosted("Neon"), NEON_MORE),
  ...MICRO,
  ...references("sandbase", SANDBASE, SANDBASE_FIGURES),
  ...references("pg18-reflink", { ...SANDBASE, system: "Postgres 18, template clone" }, [
    ["template-6gb", "CREATE DATABASE … TEMPLATE with reflinks, 6 GB", 212, ONCE],
    ["template-copy-6gb", "CREATE DATABASE … TEMPLATE by copying, 6 GB", 67 * SECOND, ONCE],
  ]),
];
