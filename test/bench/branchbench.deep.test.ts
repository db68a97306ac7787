import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { BenchRun } from "#shared/bench-views.ts";
import { withCallers } from "#bench/branchbench/calls.ts";
import { DATABASE, drive } from "#bench/branchbench/drive.ts";
import { generate, identify } from "#bench/branchbench/generate.ts";
import { parametersOf, totalSteps, WORKLOADS } from "#bench/branchbench/parameters.ts";
import { SCALES } from "#bench/branchbench/schema.ts";
import type { SqlAnswer, SqlRequest } from "#bench/branchbench/sql-protocol.ts";
import { makeOrder } from "#bench/runner/order.ts";
import { runSuite } from "#bench/runner/run.ts";
import type { Bench, Step } from "#bench/suite.ts";
import { loadSuite } from "#bench/suites.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

interface Asked {
  readonly options?: Readonly<Record<string, string>>;
  /** Stops the run at the first news for which this holds. */
  readonly stopAt?: (at: { readonly phase: string; readonly done: number }) => boolean;
}

async function runQuick(id: string, { options = {}, stopAt }: Asked = {}): Promise<BenchRun> {
  const suite = await loadSuite(id);
  if (!suite) throw new Error(`there is no suite ${id}`);
  const folder = makeTemporaryFolder();
  const controller = new AbortController();
  const order = makeOrder(suite, { size: "quick", options });
  // At the very word: an update comes when a quick run is long over.
  const stoppable = (step: Step): Step => ({
    ...step,
    run: (bench) => {
      const phase: Bench["phase"] = (name, done = 0, total) => {
        if (stopAt?.({ phase: name, done })) controller.abort();
        bench.phase(name, done, total);
      };
      return step.run({ ...bench, phase });
    },
  });
  const run = await runSuite({
    suite: { ...suite, plan: (planned) => suite.plan(planned).map(stoppable) },
    order,
    folder,
    signal: controller.signal,
  });
  expect(readdirSync(folder)).toEqual([]);
  return run;
}

function expectWhole({ series, state }: BenchRun): void {
  expect(series.filter(({ errors, timeouts }) => errors + timeouts > 0).map((each) => `${each.id}: ${each.error}`)).toEqual([]);
  expect(series.filter(({ samples, skipped }) => samples.length === 0 && skipped === null).map((each) => each.id)).toEqual([]);
  const short = series.filter(({ planned, samples, skipped }) => planned > 0 && skipped === null && samples.length !== planned);
  expect(short.map((each) => `${each.id}: ${each.samples.length} of ${each.planned}`)).toEqual([]);
  expect(state).toBe("done");
}

function factOf({ facts }: BenchRun, step: string, label: string): number | string | undefined {
  return facts.find((fact) => fact.step === step && fact.label === label)?.value;
}

/** Processes whose parent this one is and that run SQL. */
function sqlProcesses(): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const parent = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, "utf8"))?.[1];
      return Number(parent) === process.pid && readFileSync(`/proc/${name}/cmdline`, "utf8").includes("-sql.") ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

test("SUITE-1: branchbench, quick: every step of the five workloads is done, and all that is left is the run", async () => {
  const run = await runQuick("branchbench");
  expectWhole(run);
  for (const workload of WORKLOADS) {
    const parameters = parametersOf(workload, "quick");
    const steps = totalSteps(parameters);
    const counts = ["steps done", "steps failed", "steps left out"].map((label) => factOf(run, workload, label));
    expect(counts, workload).toEqual([steps, 0, 0]);
    expect(factOf(run, workload, "passes over branches")).toBe(parameters.crossPasses);
    expect(factOf(run, workload, "max depth")).toBeLessThanOrEqual(parameters.depth);
    expect(factOf(run, workload, "database, SHA-256")).toBe(factOf(run, "simulation", "database, SHA-256"));
    // A pass is over every live branch with the root.
    const kept = steps - (run.series.find(({ id }) => id === `${workload}-destroy`)?.samples.length ?? 0);
    if (parameters.crossPasses > 0) expect(factOf(run, workload, "branches of a pass")).toBe(kept + 1);
    expect(factOf(run, workload, "destroyed afterwards")).toBe(kept);
  }
  expect(sqlProcesses()).toEqual([]);
});

test("SUITE-13: branchbench by the harness's rule, with its own queries, two at once", async () => {
  const run = await runQuick("branchbench", { options: { rule: "harness", evaluation: "own", concurrency: "2" } });
  expect(run.state).toBe("done");
  expect(run.series.filter(({ errors }) => errors > 0).map((each) => `${each.id}: ${each.error}`)).toEqual([]);
  for (const workload of WORKLOADS) {
    const parameters = parametersOf(workload, "quick");
    const [done, failed, skipped] = ["steps done", "steps failed", "steps left out"].map((label) => Number(factOf(run, workload, label)));
    expect([failed, (done ?? 0) + (skipped ?? 0)], workload).toEqual([0, totalSteps(parameters)]);
    expect(factOf(run, workload, "passes over branches")).toBe(parameters.crossPasses);
    expect(factOf(run, workload, "fallbacks to the root")).toBe(0);
    expect(factOf(run, workload, "peak of live branches")).toBeLessThanOrEqual(totalSteps(parameters));
  }
});

test("SUITE-13: branchbench, stopped in the middle of its steps, keeps what it has and leaves no process", async () => {
  const run = await runQuick("branchbench", { options: { workload: "mcts" }, stopAt: ({ phase, done }) => phase === "Steps" && done > 0 });
  expect(run.state).toBe("partial");
  expect(run.series.filter(({ errors }) => errors > 0)).toEqual([]);
  const forks = run.series.find(({ id }) => id === "mcts-fork")?.samples.length ?? 0;
  expect(forks).toBeGreaterThan(0);
  expect(forks).toBeLessThan(totalSteps(parametersOf("mcts", "quick")));
  expect(sqlProcesses()).toEqual([]);
});

test("SUITE-13: branchbench, stopped while the limit is measured, keeps the run that was whole", async () => {
  const run = await runQuick("branchbench", {
    options: { workload: "mcts" },
    stopAt: ({ phase }) => phase.endsWith("plain copies"),
  });
  expect(run.state).toBe("partial");
  expect(run.series.filter(({ errors }) => errors > 0)).toEqual([]);
  expect(run.series.find(({ id }) => id === "mcts-wall")?.samples).toHaveLength(1);
  expect(sqlProcesses()).toEqual([]);
});

test("SUITE-13: a statement that fails makes a failed step, which is counted and is no sample of what it did not do", async () => {
  const folder = makeTemporaryFolder();
  const source = join(folder, "seed.db");
  await generate(source, { scale: SCALES.quick, seed: 1 }, () => Promise.resolve());
  const before = identify(source);
  const database = new Database(source);
  // The column that the second step of worker 0 wants to add is there.
  database.exec("ALTER TABLE customer ADD COLUMN tier_0_1 TEXT");
  database.close();
  const parameters = { ...parametersOf("software_dev", "full"), workers: 1, stepsPerWorker: 4, prune: 0, crossPasses: 0 };
  const entry = join(import.meta.dirname, "../../bench/branchbench/branchbench-sql.ts");
  const hello: SqlRequest = { act: "read", path: source, query: { sql: "SELECT 1", values: [] } };
  const signal = new AbortController().signal;
  const failures: unknown[] = [];
  const verbs: string[] = [];
  await withCallers<SqlRequest, SqlAnswer, void>({ entry, count: 1, hello, signal }, async (places) => {
    const common = {
      workload: "software_dev",
      rule: "peer",
      evaluation: "lines",
      scale: SCALES.quick,
      seed: 1,
      readsAgain: false,
    } as const;
    const result = await drive(
      { ...common, parameters, source, folder, places },
      {
        sample: (verb) => verbs.push(verb),
        failed: (error) => failures.push(error),
        progress: () => undefined,
        pause: () => Promise.resolve(),
      },
    );
    const { total } = await result.store.branches({ database: DATABASE });
    await result.store.close();
    expect([result.done, result.failed]).toEqual([3, 1]);
    expect(result.tree.liveNodes()).toHaveLength(4);
    expect(total).toBe(4);
  });
  expect(failures.map(String)).toEqual(["Error: duplicate column name: tier_0_1"]);
  expect(verbs.filter((verb) => verb === "fork")).toHaveLength(4);
  expect(verbs.filter((verb) => verb === "checkpoint")).toHaveLength(3);
  expect(identify(source).bytes).toBe(before.bytes);
});

test("SUITE-13: a run whose SQL process dies has failed, and says so", async () => {
  const folder = makeTemporaryFolder();
  const source = join(folder, "seed.db");
  await generate(source, { scale: SCALES.quick, seed: 1 }, () => Promise.resolve());
  const entry = join(import.meta.dirname, "../../bench/branchbench/branchbench-sql.ts");
  const hello: SqlRequest = { act: "read", path: source, query: { sql: "SELECT 1", values: [] } };
  const signal = new AbortController().signal;
  const failures: unknown[] = [];
  const run = withCallers<SqlRequest, SqlAnswer, unknown>({ entry, count: 2, hello, signal }, (places) => {
    const common = { workload: "mcts", rule: "peer", evaluation: "lines", scale: SCALES.quick, seed: 1, readsAgain: false } as const;
    return drive(
      { ...common, parameters: parametersOf("mcts", "quick"), source, folder, places },
      {
        sample: (verb) => {
          if (verb === "checkpoint") places[0]?.kill();
        },
        failed: (error) => failures.push(error),
        progress: () => undefined,
        pause: () => Promise.resolve(),
      },
    );
  });
  await expect(run).rejects.toThrow("A process of the benchmark was ended by SIGKILL");
  expect(failures).toEqual([]);
  expect(sqlProcesses()).toEqual([]);
});

test("SUITE-10: the small database has the size and the rows of the published one", async () => {
  const path = join(makeTemporaryFolder(), "seed.db");
  await generate(path, { scale: SCALES.S, seed: 1 }, () => Promise.resolve());
  const { bytes } = identify(path);
  expect(Math.abs(bytes / (17 * 1024 ** 2) - 1)).toBeLessThan(0.02);
  const database = new Database(path, { readonly: true });
  const count = (sql: string) => Number(database.prepare<[], number>(`SELECT count(*) FROM ${sql}`).pluck().get());
  expect(["warehouse", "item", "district", "customer", "stock", "orders"].map((table) => count(table))).toEqual([
    10, 1_000, 100, 10_000, 10_000, 10_000,
  ]);
  expect(Math.abs(count("order_line") / 100_000 - 1)).toBeLessThan(0.02);
  expect(Math.abs(count("customer WHERE c_balance IS NULL") / 200 - 1)).toBeLessThan(0.25);
  expect(Math.abs(count("customer WHERE c_balance < 0") / 100 - 1)).toBeLessThan(0.4);
  database.close();
});

test("SUITE-1: micro, quick: every series it planned has its samples", async () => {
  expectWhole(await runQuick("micro"));
  expect(sqlProcesses()).toEqual([]);
});

test("SUITE-12: micro on a bushy tree whose branches all have a version of their own", async () => {
  const run = await runQuick("micro", { options: { part: "latency", shape: "bushy", changes: "row" } });
  expectWhole(run);
  expect(run.tables[0]?.title).toContain("bushy");
});

test("SUITE-12: micro, stopped while processes work, keeps what it has and leaves none of them", async () => {
  const run = await runQuick("micro", { options: { part: "throughput" }, stopAt: ({ phase }) => phase.endsWith("at once") });
  expect(run.state).toBe("partial");
  expect(run.series.filter(({ errors }) => errors > 0)).toEqual([]);
  expect(sqlProcesses()).toEqual([]);
});
