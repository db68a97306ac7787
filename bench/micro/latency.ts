/** One caller at a time, among a number of branches: the library and the client's connections in one program. */
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createStore, type Store } from "#engine/store.ts";
import { prepareSeed } from "../branchbench/seed.ts";
import { time, type Bench } from "../suite.ts";
import { DATABASE, firstMiddleLast, makeBranches, type Shape } from "./branches.ts";
import { OPERATIONS, Orders, RANGE_OPERATIONS, SCHEMA_OPERATIONS, type Operation } from "./operations.ts";

export interface Counts {
  /** Forks, and as many deletions, at each of the three places. */
  readonly create: number;
  /** Openings of a file that is there. */
  readonly connect: number;
  /** Files made from nothing. */
  readonly connectNew: number;
  readonly point: number;
  readonly rangeUpdate: number;
  readonly schema: number;
  /** Rows of a range. */
  readonly rangeRows: number;
}

export function countOf(operation: Operation, counts: Counts): number {
  if (SCHEMA_OPERATIONS.some((each) => each === operation)) return counts.schema;
  if (operation === "range-update") return counts.rangeUpdate;
  return counts.point;
}

/** As one row of the table of latencies: what is asked of `n` branches. */
export async function runLatency(bench: Bench, n: number, counts: Counts): Promise<void> {
  const source = await prepareSeed(bench);
  const store = await createStore(join(bench.folder, "store"), { actor: "bench" });
  try {
    await store.create({ database: DATABASE, from: source });
    const names = await growBranches(bench, store, n);
    await timeBranches(bench, store, names, counts);
    await timeConnections(bench, store, names, counts);
    await timeOperations(bench, store, { names, source, counts });
  } finally {
    await store.close();
    rmSync(store.path, { recursive: true, force: true });
  }
}

/** With `changes=row`, every branch also has a version of its own: one row updated, and a checkpoint. */
async function growBranches(bench: Bench, store: Store, count: number): Promise<string[]> {
  const { options, seed } = bench.order;
  bench.phase("Make branches", 1, count);
  const change = async (branch: string): Promise<void> => {
    const { path } = await store.checkout({ database: DATABASE, branch });
    const client = new Orders(path, { seed, stream: 0, rangeRows: 1 });
    client.time("update");
    client.close();
    await store.checkpoint({ database: DATABASE, branch });
  };
  return makeBranches(
    store,
    { count, shape: shapeOf(options["shape"]), seed },
    {
      change: options["changes"] === "row" ? change : null,
      pause: async (made) => {
        bench.phase("Make branches", made, count);
        await bench.pause();
      },
    },
  );
}

export function shapeOf(option: string | undefined): Shape {
  return option === "fan-out" || option === "bushy" ? option : "spine";
}

/** Forks of the first, the middle and the last branch, and what it takes to destroy them again. */
async function timeBranches(bench: Bench, store: Store, names: readonly string[], { create }: Counts): Promise<void> {
  const n = names.length;
  bench.phase("Create and delete");
  for (let round = 0; round < create; round += 1)
    for (const { place, branch } of firstMiddleLast(names)) {
      const newBranch = `${place}-${round}`;
      bench.record(`n${n}-create-${place}`, await time(() => store.fork({ database: DATABASE, branch, newBranch })));
      bench.record(`n${n}-delete-${place}`, await time(() => store.destroy({ database: DATABASE, branch: newBranch })));
      await bench.pause();
    }
}

/** Checkout, open, one query, close: of forks that have no file yet, and of the three branches once they have one. */
async function timeConnections(bench: Bench, store: Store, names: readonly string[], counts: Counts): Promise<void> {
  const n = names.length;
  bench.phase("Connect");
  const connect = async (branch: string): Promise<void> => {
    const { path } = await store.checkout({ database: DATABASE, branch });
    const client = new Database(path);
    client.prepare("SELECT 1 FROM orders LIMIT 1").get();
    client.close();
  };
  for (let round = 0; round < counts.connectNew; round += 1) {
    const { branch } = firstMiddleLast(names)[round % 3] ?? { branch: names[0] ?? "" };
    const newBranch = `new-${round}`;
    await store.fork({ database: DATABASE, branch, newBranch });
    bench.record(`n${n}-connect-new`, await time(() => connect(newBranch)));
    await store.destroy({ database: DATABASE, branch: newBranch });
    await bench.pause();
  }
  for (const { branch } of firstMiddleLast(names)) await connect(branch);
  for (let round = 0; round < counts.connect; round += 1)
    for (const { place, branch } of firstMiddleLast(names)) {
      bench.record(`n${n}-connect-${place}`, await time(() => connect(branch)));
      await bench.pause();
    }
}

/** Each operation on the last branch's file and on a plain copy of the same database, in turns. */
async function timeOperations(
  bench: Bench,
  store: Store,
  { names, source, counts }: { readonly names: readonly string[]; readonly source: string; readonly counts: Counts },
): Promise<void> {
  const n = names.length;
  const { path } = await store.checkout({ database: DATABASE, branch: names.at(-1) ?? "" });
  const copy = join(bench.folder, "plain.db");
  copyFileSync(source, copy);
  const options = { seed: bench.order.seed, stream: n, rangeRows: counts.rangeRows };
  const subject = new Orders(path, options);
  const plain = new Orders(copy, options);
  try {
    // The first of a pair meets colder caches of the processor: they take turns at that, too.
    const paired = (operation: Operation, round: number): void => {
      const act = [
        () => bench.record(`n${n}-plain-${operation}`, plain.time(operation)),
        () => bench.record(`n${n}-${operation}`, subject.time(operation)),
      ];
      for (const each of round % 2 === 0 ? act : act.toReversed()) each();
    };
    for (const operation of OPERATIONS) {
      if (SCHEMA_OPERATIONS.some((each) => each === operation)) continue;
      bench.phase(operation, 0, countOf(operation, counts));
      for (let round = 0; round < countOf(operation, counts); round += 1) {
        paired(operation, round);
        if (round % 20 === 0 || RANGE_OPERATIONS.some((each) => each === operation)) await bench.pause();
      }
    }
    bench.phase("Schema", 0, counts.schema);
    for (let round = 0; round < counts.schema; round += 1) {
      for (const operation of SCHEMA_OPERATIONS) paired(operation, round);
      await bench.pause();
    }
  } finally {
    subject.close();
    plain.close();
  }
}
