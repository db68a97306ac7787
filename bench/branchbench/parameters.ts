/**
 * The five workloads of BranchBench and what defines them: how many workers branch how often, how wide and deep the tree
 * may grow, and how much is done on each branch. `full` is the published form; `quick` has its proportions and ends in
 * seconds.
 */
export const WORKLOADS = ["simulation", "data_cleaning", "software_dev", "mcts", "failure_repro"] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface Parameters {
  /** Workers, each a sequence of steps with its own random numbers. */
  readonly workers: number;
  readonly stepsPerWorker: number;
  /** Live children that the root, and any other node, may have. */
  readonly rootFanout: number;
  readonly innerFanout: number;
  /** Levels below the root. */
  readonly depth: number;
  /** Passes over all branches, for the whole run. */
  readonly crossPasses: number;
  /** Probability that a step's branch is destroyed when the step is done. */
  readonly prune: number;
  /** Most statements of a step that change the schema and the data; evaluation queries of a step. */
  readonly schemaStatements: number;
  readonly dataStatements: number;
  readonly queries: number;
}

const FULL: Readonly<Record<Workload, Parameters>> = {
  simulation: parameters([1000, 1, 1000, 0, 1], 1, 1, [0, 50, 1]),
  data_cleaning: parameters([10, 20, 10, 3, 3], 2, 0, [1, 1, 1]),
  software_dev: parameters([5, 20, 5, 3, 4], 1, 0.1, [1, 1, 2]),
  mcts: parameters([10, 100, 10, 10, 25], 0, 0.1, [0, 1, 1]),
  failure_repro: parameters([1, 10, 10, 0, 1], 0, 1, [5, 45, 1]),
};

const QUICK: Readonly<Record<Workload, Parameters>> = {
  simulation: parameters([60, 1, 60, 0, 1], 1, 1, [0, 50, 1]),
  data_cleaning: parameters([3, 6, 3, 2, 3], 1, 0, [1, 1, 1]),
  software_dev: parameters([2, 5, 3, 2, 3], 1, 0.1, [2, 1, 2]),
  mcts: parameters([3, 8, 5, 3, 5], 0, 0.1, [0, 1, 1]),
  failure_repro: FULL.failure_repro,
};

export function parametersOf(workload: Workload, form: "full" | "quick"): Parameters {
  return form === "full" ? FULL[workload] : QUICK[workload];
}

export function totalSteps({ workers, stepsPerWorker }: Parameters): number {
  return workers * stepsPerWorker;
}

/** Branches that are expected to be live at the end, the root left out: what a disk must hold where files cannot share blocks. */
export function branchesKept(found: Parameters): number {
  return Math.ceil(totalSteps(found) * (1 - found.prune));
}

function parameters(
  [workers, stepsPerWorker, rootFanout, innerFanout, depth]: readonly [number, number, number, number, number],
  crossPasses: number,
  prune: number,
  [schemaStatements, dataStatements, queries]: readonly [number, number, number],
): Parameters {
  return { workers, stepsPerWorker, rootFanout, innerFanout, depth, crossPasses, prune, schemaStatements, dataStatements, queries };
}
