/** The suites there are, in the order in which they are offered. Loaded when asked for: one suite's packages are no burden to the others. */
import type { BenchSuiteId } from "#shared/bench-views.ts";
import type { Suite } from "./suite.ts";

const LOADERS: { readonly [K in BenchSuiteId]?: () => Promise<{ readonly suite: Suite }> } = {
  goals: () => import("./suites/goals.ts"),
  cow: () => import("./suites/cow.ts"),
  isolation: () => import("./suites/isolation.ts"),
  branchbench: () => import("./suites/branchbench.ts"),
  micro: () => import("./suites/micro.ts"),
  density: () => import("./suites/density.ts"),
  "write-amplification": () => import("./suites/write-amplification.ts"),
};

export const SUITE_IDS: readonly BenchSuiteId[] = Object.keys(LOADERS) as BenchSuiteId[];

/** Null when there is no such suite. */
export async function loadSuite(id: string): Promise<Suite | null> {
  const load = Object.hasOwn(LOADERS, id) ? LOADERS[id as BenchSuiteId] : undefined;
  return load ? (await load()).suite : null;
}

export async function loadSuites(): Promise<Suite[]> {
  const found = await Promise.all(SUITE_IDS.map((id) => loadSuite(id)));
  return found.filter((suite) => suite !== null);
}
