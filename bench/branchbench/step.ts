/** One workload of the suite: its database, the run, what throwing it away gives back, an uncontended run, and the limit. */
import { ownEntry } from "#engine/io/own-entry.ts";
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { BenchSize } from "#shared/bench-views.ts";
import { assert } from "#shared/assert.ts";
import type { Bench, Order } from "../suite.ts";
import { withCallers } from "./calls.ts";
import { drive, type Listener, type RunOrder, type RunResult, type Verb } from "./drive.ts";
import { measureFloor } from "./floor.ts";
import { parametersOf, totalSteps, type Parameters, type Workload } from "./parameters.ts";
import { reclaim } from "./reclaim.ts";
import { SCALES } from "./schema.ts";
import { prepareSeed } from "./seed.ts";
import type { SqlAnswer, SqlRequest } from "./sql-protocol.ts";

/** Steps of the uncontended run: enough for a line of descendants down to the deepest level of any workload. */
const CONTROL_STEPS_MAX = 30;

/** Verbs that get a row for each depth. */
export const CELLS = ["fork", "checkout", "checkpoint", "read"] as const;
export type CellVerb = (typeof CELLS)[number];
/** Verbs of the uncontended run; `reread` is the same query once more. */
export const CONTROLS = [...CELLS, "reread"] as const;

export function formOf(size: BenchSize): "full" | "quick" {
  return size === "quick" ? "quick" : "full";
}

export async function runWorkload(bench: Bench, workload: Workload): Promise<void> {
  const parameters = parametersOf(workload, formOf(bench.order.size));
  const source = await prepareSeed(bench);
  const request: SqlRequest = { act: "read", path: source, query: { sql: "SELECT 1", values: [] } };
  const processes = {
    entry: ownEntry(import.meta.dirname, "branchbench-sql"),
    count: Math.min(Number(bench.order.options["concurrency"]), parameters.workers),
    hello: request,
    signal: bench.signal,
  };
  await withCallers<SqlRequest, SqlAnswer, void>(processes, async (places) => {
    const order = runOrder(bench, { workload, parameters, source, places, readsAgain: false });
    const passReads = await runContended(bench, order);
    await runAlone(bench, order);
    const tell = (steps: number): void => bench.phase("The same SQL on plain copies", steps, totalSteps(parameters));
    tell(0);
    const floor = await measureFloor(order, { passReads, sourceBytes: statSync(source).size }, async (steps) => {
      tell(steps);
      await bench.pause();
    });
    bench.record(`${workload}-floor`, floor);
  });
}

function runOrder(bench: Bench, own: Pick<RunOrder, "workload" | "parameters" | "source" | "places" | "readsAgain">): RunOrder {
  const { options, seed, size } = bench.order;
  return {
    ...own,
    rule: options["rule"] === "harness" ? "harness" : "peer",
    evaluation: options["evaluation"] === "own" ? "own" : "lines",
    scale: SCALES[size],
    seed,
    folder: bench.folder,
  };
}

/** Returns how many branches its passes have read. */
async function runContended(bench: Bench, order: RunOrder): Promise<number> {
  const { workload, parameters, places } = order;
  const samples: { readonly verb: Verb; readonly depth: number; readonly ms: number }[] = [];
  const total = totalSteps(parameters);
  bench.phase("Steps", 0, total);
  const listener: Listener = {
    sample: (verb, depth, ms) => {
      bench.record(`${workload}-${verb}`, ms);
      samples.push({ verb, depth, ms });
    },
    failed: (error) => bench.fail(`${workload}-work`, error),
    progress: (steps) => bench.phase("Steps", steps, total),
    pause: () => bench.pause(),
  };
  const result = await drive(order, listener);
  try {
    bench.record(`${workload}-wall`, result.wallMs);
    bench.record(`${workload}-overhead`, result.overhead);
    bench.record(`${workload}-peak`, result.peak.logical);
    bench.record(`${workload}-peak-disk`, result.peak.disk);
    for (const pass of result.passes) bench.record(`${workload}-pass`, pass.ms);
    for (const { verb, depth, ms } of samples) {
      if (!isCell(verb)) continue;
      if (depth === 1) bench.record(`${workload}-${verb}-d1`, ms);
      if (depth === result.tree.maxDepth && parameters.depth > 1) bench.record(`${workload}-${verb}-deepest`, ms);
    }
    if (parameters.prune > 0 && !samples.some(({ verb }) => verb === "destroy"))
      bench.skip(`${workload}-destroy`, "No step of this run pruned its branch");
    await tellFacts(bench, parameters, result);
    bench.phase("Destroy every branch, then gc");
    const back = await reclaim(result, places.length, () => bench.pause());
    bench.record(`${workload}-reclaim`, back.destroyMs + back.gcMs);
    bench.fact("destroyed afterwards", back.branches);
    bench.fact("given back by gc", back.bytes, "bytes");
  } finally {
    await result.store.close();
    rmSync(result.store.path, { recursive: true, force: true });
  }
  return result.passes.reduce((sum, { branches }) => sum + branches, 0);
}

async function tellFacts(bench: Bench, parameters: Parameters, result: RunResult): Promise<void> {
  const { tree, passes, stepsAtDepth, store } = result;
  const usage = await store.usage({});
  bench.fact("steps done", result.done);
  bench.fact("steps failed", result.failed);
  bench.fact("steps left out", tree.skipped);
  bench.fact("steps planned", totalSteps(parameters));
  bench.fact("max depth", tree.maxDepth);
  bench.fact("steps at depth 1", stepsAtDepth[0] ?? 0);
  bench.fact("steps at the deepest level", stepsAtDepth[tree.maxDepth - 1] ?? 0);
  bench.fact("steps by depth", Array.from(stepsAtDepth, (steps) => steps ?? 0).join(" · "));
  bench.fact("fallbacks to the root", tree.fallbacks);
  bench.fact("peak of live branches", tree.peakLive);
  bench.fact("passes over branches", passes.length);
  bench.fact("branches of a pass", passes[0]?.branches ?? 0);
  if (passes.length > 0) bench.fact("sum over branches", passes[0]?.total ?? 0);
  bench.fact("branch management, summed", result.managementMs, "ms");
  bench.fact("store at the end", result.end.logical, "bytes");
  bench.fact("store at the end, on the disk", result.end.disk, "bytes");
  const partBytes = (...names: string[]): number =>
    usage.parts.reduce((sum, { name, storedBytes }) => sum + (names.includes(name) ? storedBytes : 0), 0);
  bench.fact("stored versions at the end", partBytes("unique", "shared", "history", "trash", "garbage"), "bytes");
  bench.fact("catalog at the end, without versions", partBytes("catalog"), "bytes");
  bench.fact("checkouts came about", [...result.checkouts].map(([way, count]) => `${way}: ${count}`).join(", "));
}

/** The same steps by one worker, one at a time: what each verb takes when nothing else runs. */
async function runAlone(bench: Bench, order: RunOrder): Promise<void> {
  const { workload, parameters, places } = order;
  const [place] = places;
  assert(place, "there is a place");
  const steps = Math.min(CONTROL_STEPS_MAX, totalSteps(parameters));
  const folder = join(order.folder, "alone");
  mkdirSync(folder);
  bench.phase("One worker alone", 0, steps);
  const alone = { ...parameters, workers: 1, stepsPerWorker: steps, crossPasses: 0 };
  const { store } = await drive(
    { ...order, folder, parameters: alone, places: [place], readsAgain: true },
    {
      sample: (verb, _, ms) => {
        if (isControl(verb)) bench.record(`${workload}-alone-${verb}`, ms);
      },
      failed: (error) => bench.fail(`${workload}-alone-read`, error),
      progress: (done) => bench.phase("One worker alone", done, steps),
      pause: () => bench.pause(),
    },
  );
  await store.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Steps that `runAlone` takes. */
export function controlSteps(order: Order, workload: Workload): number {
  return Math.min(CONTROL_STEPS_MAX, totalSteps(parametersOf(workload, formOf(order.size))));
}

function isCell(verb: Verb): verb is CellVerb {
  return CELLS.some((cell) => cell === verb);
}

function isControl(verb: Verb): verb is (typeof CONTROLS)[number] {
  return CONTROLS.some((control) => control === verb);
}
