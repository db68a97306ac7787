/**
 * Many callers at once. Branches are forked and checked out by that many callers of one engine; operations run in
 * processes, up to `PROCESSES_MAX` of them, each on files of its own share of the branches.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ownEntry } from "#engine/io/own-entry.ts";
import { createStore, type Store } from "#engine/store.ts";
import { allDone } from "../branchbench/all-done.ts";
import { withCallers, type Caller } from "../branchbench/calls.ts";
import { prepareSeed } from "../branchbench/seed.ts";
import { time, type Bench } from "../suite.ts";
import { DATABASE, makeBranches, ROOT } from "./branches.ts";
import type { MicroAnswer, MicroRequest } from "./micro-sql.ts";
import type { Operation } from "./operations.ts";

/** A process takes about 60 MB. */
export const PROCESSES_MAX = 16;
/** Files that are made: one a branch, up to this many. */
export const FILES_MAX = 64;

type Process = Caller<MicroRequest, MicroAnswer>;

export interface AtOnce {
  readonly threads: number;
  readonly createRounds: number;
  readonly perThread: number;
  readonly rangeRows: number;
}

export const AT_ONCE_OPERATIONS = ["read", "insert", "update", "range-read", "range-update"] as const satisfies readonly Operation[];
export const THROUGHPUT_OPERATIONS = ["read", "update", "range-read"] as const satisfies readonly Operation[];

/** Latencies while `threads` callers want the same at once, each of a branch of its own. */
export async function runAtOnce(bench: Bench, { threads, createRounds, perThread, rangeRows }: AtOnce): Promise<void> {
  await withStore(bench, async (store) => {
    bench.phase("Create at once");
    for (let round = 0; round < createRounds; round += 1) {
      await allDone(
        Array.from({ length: threads }, async (_, thread) => {
          const newBranch = `t${thread}-${round}`;
          bench.record(`t${threads}-create`, await time(() => store.fork({ database: DATABASE, branch: ROOT, newBranch })));
        }),
      );
      await bench.pause();
    }
    bench.phase("Connect at once");
    const branches = Array.from({ length: Math.min(threads, FILES_MAX) }, (_, thread) => `t${thread}-0`);
    const paths = await allDone(
      branches.map(async (branch) => {
        let path = "";
        bench.record(`t${threads}-connect`, await time(async () => ({ path } = await store.checkout({ database: DATABASE, branch }))));
        return path;
      }),
    );
    await withProcesses(bench, Math.min(threads, PROCESSES_MAX), async (processes) => {
      for (const operation of AT_ONCE_OPERATIONS) {
        bench.phase(`${operation} at once`);
        const { each } = await operate(bench, processes, { paths, operation, count: perThread, rangeRows });
        for (const ms of each) bench.record(`t${threads}-${operation}`, ms);
        await bench.pause();
      }
    });
  });
}

export interface ThroughputPoint {
  readonly id: string;
  readonly branches: number;
  readonly threads: number;
}

/** Operations in a second, by so many processes on so many branches. */
export async function runThroughput(
  bench: Bench,
  points: readonly ThroughputPoint[],
  {
    pointCount,
    rangeCount,
    rangeRows,
    rounds,
  }: { readonly pointCount: number; readonly rangeCount: number; readonly rangeRows: number; readonly rounds: number },
): Promise<void> {
  await withStore(bench, async (store) => {
    const count = Math.max(...points.map(({ branches }) => branches));
    const names = await makeBranches(
      store,
      { count, shape: "fan-out", seed: bench.order.seed },
      { change: null, pause: () => bench.pause() },
    );
    const paths: string[] = [];
    for (const branch of names) paths.push((await store.checkout({ database: DATABASE, branch })).path);
    await withProcesses(bench, Math.max(...points.map(({ threads }) => threads)), async (processes) => {
      for (const { id, branches, threads } of points)
        for (const operation of THROUGHPUT_OPERATIONS)
          for (let round = 0; round < rounds; round += 1) {
            bench.phase(`${operation}, ${branches} branches, ${threads} at once`, round, rounds);
            const perThread = Math.ceil((operation === "range-read" ? rangeCount : pointCount) / threads);
            const used = processes.slice(0, threads);
            const { each, ms } = await operate(bench, used, { paths: paths.slice(0, branches), operation, count: perThread, rangeRows });
            bench.record(`${id}-${operation}`, (each.length / ms) * 1_000);
            await bench.pause();
          }
    });
  });
}

/** Each process gets its share of the files; where there are more processes than files, several share one. */
async function operate(
  bench: Bench,
  processes: readonly Process[],
  order: Pick<Extract<MicroRequest, { act: "operate" }>, "paths" | "operation" | "count" | "rangeRows">,
): Promise<{ readonly each: readonly number[]; readonly ms: number }> {
  const found = await allDone(
    processes.map((process, index) => {
      const own = order.paths.filter((_, file) => file % processes.length === index);
      const paths = own.length > 0 ? own : [order.paths[index % order.paths.length] ?? ""];
      return process.call({ ...order, act: "operate", paths, seed: bench.order.seed, stream: index * FILES_MAX });
    }),
  );
  return { each: found.flatMap(({ each }) => each), ms: Math.max(...found.map(({ ms }) => ms)) };
}

async function withProcesses(bench: Bench, count: number, act: (processes: readonly Process[]) => Promise<void>): Promise<void> {
  const entry = ownEntry(import.meta.dirname, "micro-sql");
  await withCallers<MicroRequest, MicroAnswer, void>({ entry, count, hello: { act: "hello" }, signal: bench.signal }, act);
}

/** No SQLite connection of this process is on a checkout: the engine may touch them itself. */
async function withStore(bench: Bench, act: (store: Store) => Promise<void>): Promise<void> {
  const source = await prepareSeed(bench);
  const store = await createStore(join(bench.folder, "store"), { actor: "bench", ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: source });
    await store.checkout({ database: DATABASE, branch: ROOT });
    await act(store);
  } finally {
    await store.close();
    rmSync(store.path, { recursive: true, force: true });
  }
}
