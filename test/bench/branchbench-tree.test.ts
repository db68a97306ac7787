import { expect, test } from "vitest";
import { Random } from "#shared/bench-random.ts";
import { parametersOf, totalSteps, WORKLOADS, type Parameters } from "#bench/branchbench/parameters.ts";
import { PassTurns } from "#bench/branchbench/pass-turns.ts";
import { Tree, type Node, type ParentRule } from "#bench/branchbench/tree.ts";

const SMALL: Parameters = { ...parametersOf("mcts", "quick"), rootFanout: 2, innerFanout: 1, depth: 2 };

function treeOf(rule: ParentRule, parameters: Partial<Parameters> = {}): Tree {
  return new Tree("main", { ...SMALL, ...parameters }, rule);
}

function grow(tree: Tree, worker: number, name: string): Node {
  const node = tree.grow(worker, name, new Random(1, worker));
  if (!node) throw new Error(`no parent for ${name}`);
  return node;
}

/** A whole run of one worker after the other, without a database. */
function simulate(parameters: Parameters, rule: ParentRule, seed: number): { readonly tree: Tree; readonly nodes: readonly Node[] } {
  const tree = new Tree("main", parameters, rule);
  const nodes: Node[] = [];
  const randoms = Array.from({ length: parameters.workers }, (_, worker) => new Random(seed, worker));
  for (let step = 0; step < parameters.stepsPerWorker; step += 1)
    for (const [worker, random] of randoms.entries()) {
      const node = tree.grow(worker, `w${worker}-s${step}`, random);
      if (!node) continue;
      nodes.push(node);
      if (random.unit() < parameters.prune) tree.prune(worker, node);
      else tree.keep(worker, node);
    }
  return { tree, nodes };
}

test("SUITE-8: a worker goes on from its own branch, and a node is nobody's parent before its step is done", () => {
  const tree = treeOf("peer", { rootFanout: 1 });
  const first = grow(tree, 0, "a");
  expect(first.parent).toBe(tree.root);
  // The root is full and "a" still runs: there is only the root to fall back to.
  expect(grow(tree, 1, "b").parent).toBe(tree.root);
  expect(tree.fallbacks).toBe(1);
  tree.keep(0, first);
  expect(grow(tree, 0, "c").parent).toBe(first);
});

test("SUITE-8: after a prune the parent is the current node, and the place of the pruned child is free again", () => {
  const tree = treeOf("peer", { rootFanout: 1 });
  const first = grow(tree, 0, "a");
  tree.keep(0, first);
  const second = grow(tree, 0, "b");
  expect([second.parent, first.liveChildren]).toEqual([first, 1]);
  tree.prune(0, second);
  expect(first.liveChildren).toBe(0);
  expect(grow(tree, 0, "c").parent).toBe(first);
  expect(tree.liveNodes().map(({ branch }) => branch)).toEqual(["main", "a"]);
});

test("SUITE-8: a worker whose branch may have no child takes a random one that may", () => {
  const tree = treeOf("peer", { rootFanout: 2, depth: 1 });
  const first = grow(tree, 0, "a");
  tree.keep(0, first);
  // "a" lies on the deepest level; the root has a place left.
  expect(grow(tree, 0, "b").parent).toBe(tree.root);
  expect(tree.fallbacks).toBe(0);
});

test("SUITE-8: the harness's rule forks nodes of the deepest level, too, and leaves a step out when there is no place", () => {
  const tree = treeOf("harness", { rootFanout: 1, innerFanout: 1, depth: 1 });
  const first = grow(tree, 0, "a");
  expect(tree.grow(1, "b", new Random(1))).toBe(null);
  expect(tree.skipped).toBe(1);
  tree.keep(0, first);
  const second = grow(tree, 0, "c");
  expect(second.depth).toBe(2);
  tree.keep(0, second);
  expect(tree.grow(0, "d", new Random(1))).toBe(null);
  expect(tree.fallbacks).toBe(0);
});

test.each(WORKLOADS)("SUITE-8: %s: no node has more live children than it may, none lies deeper, and no step is lost", (workload) => {
  const parameters = parametersOf(workload, "full");
  for (const seed of [1, 2, 3]) {
    const { tree, nodes } = simulate(parameters, "peer", seed);
    expect(nodes).toHaveLength(totalSteps(parameters));
    expect(Math.max(...nodes.map(({ depth }) => depth))).toBeLessThanOrEqual(parameters.depth);
    for (const node of nodes) expect(node.liveChildren).toBeLessThanOrEqual(parameters.innerFanout);
    expect(tree.root.liveChildren).toBeLessThanOrEqual(parameters.rootFanout + tree.fallbacks);
    expect(tree.live).toBe(nodes.filter(({ state }) => state !== "pruned").length);
    expect(simulate(parameters, "peer", seed).nodes.map(({ parent }) => parent?.branch)).toEqual(nodes.map(({ parent }) => parent?.branch));
  }
});

test("SUITE-8: the five workloads are 2,310 steps, and tree search goes 25 levels deep", () => {
  expect(WORKLOADS.map((workload) => totalSteps(parametersOf(workload, "full")))).toEqual([1_000, 200, 100, 1_000, 10]);
  expect(simulate(parametersOf("mcts", "full"), "peer", 1).tree.maxDepth).toBe(25);
});

test("SUITE-9: turns go round, and a pass waits until every worker has come as far", async () => {
  const workers = [{ name: "a" }, { name: "b" }, { name: "c" }] as const;
  const turns = new PassTurns<(typeof workers)[number]>(workers, 4, 2);
  const log: string[] = [];
  const steps = new Map<object, number>();
  for (let worker = await turns.next(); worker; worker = await turns.next()) {
    const done = (steps.get(worker) ?? 0) + 1;
    steps.set(worker, done);
    log.push(`${worker.name}${done}`);
    if (!turns.finish(worker, done)) continue;
    log.push("pass");
    turns.endPass();
  }
  // A pass after steps 2 and 4; "a" claims the first and stands still until the others have done two.
  expect(log).toEqual(["a1", "b1", "c1", "a2", "b2", "c2", "pass", "b3", "c3", "a3", "b4", "c4", "a4", "pass"]);
});

test("SUITE-9: without passes nobody stands still", async () => {
  const workers = [{ name: "a" }, { name: "b" }];
  const turns = new PassTurns(workers, 2, 0);
  const order: string[] = [];
  const steps = new Map<object, number>();
  for (let worker = await turns.next(); worker; worker = await turns.next()) {
    order.push(worker.name);
    steps.set(worker, (steps.get(worker) ?? 0) + 1);
    expect(turns.finish(worker, steps.get(worker) ?? 0)).toBe(false);
  }
  expect(order).toEqual(["a", "b", "a", "b"]);
});
