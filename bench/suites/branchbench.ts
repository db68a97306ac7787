/**
 * BranchBench: five ways in which agents branch a database (arXiv 2604.17180), against a store of ours. Workloads,
 * statements and rules are written here from their description; method and caveats: docs/BENCHMARKS.md.
 */
import type { BenchSize, BenchTable } from "#shared/bench-views.ts";
import { formatBytes } from "#shared/units.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import type { Order, SeriesPlan, Step, Suite } from "../suite.ts";
import { branchesKept, parametersOf, totalSteps, WORKLOADS, type Workload } from "../branchbench/parameters.ts";
import { CELLS, CONTROLS, controlSteps, formOf, runWorkload, type CellVerb } from "../branchbench/step.ts";
import { seedBytes } from "../branchbench/seed.ts";
import { tablesOf } from "../branchbench/tables.ts";

const TITLES: Readonly<Record<Workload, string>> = {
  simulation: "Simulation, a flat star of short-lived branches",
  data_cleaning: "Data cleaning, wide and shallow",
  software_dev: "Software development, bushy",
  mcts: "Tree search, deep and narrow",
  failure_repro: "Failure reproduction, one worker",
};

/** Room for the seed and the limit's copies. What branches need is looked at workload by workload (`missing`). */
const DISK_BYTES: Readonly<Record<BenchSize, number>> = { quick: 0.3, S: 2, M: 4, L: 9 } as const;
const GIB = 1024 ** 3;

export const suite: Suite = {
  id: "branchbench",
  title: "BranchBench",
  about: "Five workloads of agents that branch a database, 2,310 steps in all, against the same SQL on plain copies",
  sizes: [
    { id: "quick", label: "0.8 MiB, 122 steps", seconds: 20, diskBytes: DISK_BYTES.quick * GIB },
    { id: "S", label: "17 MiB, 2,310 steps: as published", seconds: 240, diskBytes: DISK_BYTES.S * GIB },
    { id: "M", label: "123 MiB, 2,310 steps", seconds: 1_800, diskBytes: DISK_BYTES.M * GIB },
    { id: "L", label: "509 MiB, 2,310 steps", seconds: 7_200, diskBytes: DISK_BYTES.L * GIB },
  ],
  options: [
    {
      id: "workload",
      title: "Workloads",
      values: [{ id: "all", title: "All five" }, ...WORKLOADS.map((id) => ({ id, title: TITLES[id] }))],
    },
    {
      id: "rule",
      title: "Which branch a step forks",
      values: [
        { id: "peer", title: "The worker's current one, else a random one, else the root" },
        { id: "harness", title: "A random one, as BranchBench's own harness" },
      ],
    },
    {
      id: "evaluation",
      title: "Queries of a step",
      values: [
        { id: "lines", title: "Amounts by warehouse: the query of the published latencies" },
        { id: "own", title: "The workload's own" },
      ],
    },
    {
      id: "concurrency",
      title: "Steps at once",
      values: ["8", "1", "2"].map((id) => ({ id, title: id })),
    },
  ],
  plan: (order) => workloadsOf(order).map((workload) => planWorkload(order, workload)),
  tables: (order): readonly BenchTable[] => tablesOf(order, workloadsOf(order)),
};

function workloadsOf({ options }: Order): readonly Workload[] {
  const wanted = options["workload"] ?? "all";
  return wanted === "all" ? WORKLOADS : WORKLOADS.filter((workload) => workload === wanted);
}

function planWorkload(order: Order, workload: Workload): Step {
  return {
    id: workload,
    title: TITLES[workload],
    series: [...planTotals(order, workload), ...planVerbs(order, workload), ...planAlone(order, workload)],
    missing: ({ folder, filesystem }) => {
      if (filesystem.reflink) return null;
      const parameters = parametersOf(workload, formOf(order.size));
      const bytes = (branchesKept(parameters) + Number(order.options["concurrency"])) * seedBytes(order.size) * 1.1;
      const free = nodeDisk.freeBytes(folder);
      if (bytes <= free) return null;
      return `Files of branches need ${formatBytes(bytes)} on ${filesystem.type}, which cannot share blocks; ${formatBytes(free)} are free`;
    },
    run: (bench) => runWorkload(bench, workload),
  };
}

function planTotals(order: Order, workload: Workload): SeriesPlan[] {
  const { crossPasses } = parametersOf(workload, formOf(order.size));
  const one = (id: string, title: string, unit: SeriesPlan["unit"], more: Partial<SeriesPlan> = {}): SeriesPlan => ({
    id: `${workload}-${id}`,
    group: TITLES[workload],
    title,
    unit,
    planned: 1,
    ...more,
  });
  return [
    one("wall", "wall clock", "ms", {
      limit: `${workload}-floor`,
      goal: { of: "ratio", most: 1.3 },
      references: published(order, workload, "wall", "linux"),
    }),
    one("floor", "the same SQL on plain copies", "ms"),
    one("overhead", "branch management, of the workers' time", "ratio", {
      goal: { of: "median", most: 0.2 },
      references: published(order, workload, "branch-overhead", "linux"),
    }),
    one("peak", "store at its largest", "bytes", { references: published(order, workload, "store-peak", "linux") }),
    one("peak-disk", "store at its largest, on the disk", "bytes"),
    one("reclaim", "destroy every branch, then gc", "ms"),
    ...(crossPasses > 0 ? [one("pass", "one pass over all branches", "ms", { planned: crossPasses })] : []),
  ];
}

function planVerbs(order: Order, workload: Workload): SeriesPlan[] {
  const parameters = parametersOf(workload, formOf(order.size));
  const steps = totalSteps(parameters);
  const verb = (id: string, title: string, planned: number, references: readonly string[] = []): SeriesPlan => ({
    id: `${workload}-${id}`,
    group: TITLES[workload],
    title,
    unit: "ms",
    planned,
    references,
  });
  const cells = CELLS.flatMap((cell) => [
    verb(`${cell}-d1`, `${NAMES[cell]}, depth 1`, 0, published(order, workload, `${cell}-p50-d1`)),
    ...(parameters.depth > 1
      ? [verb(`${cell}-deepest`, `${NAMES[cell]}, deepest level`, 0, published(order, workload, `${cell}-p50-deepest`))]
      : []),
  ]);
  return [
    verb("fork", NAMES.fork, steps),
    verb("checkout", NAMES.checkout, steps),
    verb("work", "statements of a step", steps),
    verb("checkpoint", NAMES.checkpoint, steps),
    verb("read", NAMES.read, steps * parameters.queries),
    ...(parameters.prune > 0 ? [verb("destroy", "destroy", parameters.prune === 1 ? steps : 0)] : []),
    ...cells,
  ];
}

function planAlone(order: Order, workload: Workload): SeriesPlan[] {
  const { queries } = parametersOf(workload, formOf(order.size));
  const steps = controlSteps(order, workload);
  return CONTROLS.map((control) => ({
    id: `${workload}-alone-${control}`,
    group: `${TITLES[workload]}, one worker alone`,
    title: control === "reread" ? "the same query again" : NAMES[control],
    unit: "ms",
    planned: control === "read" || control === "reread" ? steps * queries : steps,
  }));
}

const NAMES: Readonly<Record<CellVerb, string>> = { fork: "fork", checkout: "checkout", checkpoint: "checkpoint", read: "query" };

/** Ids of published figures that this run may stand beside: those of the small database, and of the same query. */
function published(order: Order, workload: Workload, column: string, also?: "linux"): string[] {
  const isComparable = order.size === "S" && !(column.startsWith("read") && order.options["evaluation"] === "own");
  if (!isComparable || !isPublished(workload, column)) return [];
  return [`offshoot-0.2.12/branchbench/${workload}/${column}`, ...(also ? [`offshoot-0.2.9-linux/branchbench/${workload}/${column}`] : [])];
}

function isPublished(workload: Workload, column: string): boolean {
  if (["wall", "branch-overhead", "store-peak", "read-p50-d1"].includes(column)) return true;
  if (column === "read-p50-deepest") return ["data_cleaning", "software_dev", "mcts"].includes(workload);
  if (column === "checkout-p50-d1") return ["software_dev", "mcts", "failure_repro"].includes(workload);
  return workload === "mcts";
}
