/**
 * One run of a workload against a fresh store: workers take turns at a fixed number of places, each place a process that
 * runs SQL. Branches are managed by one engine in this process. A step is: fork → checkout → statements by a stock client
 * → checkpoint → queries → with some probability destroy.
 *
 * Why the engine is here and not in each of the SQL processes: measured on two processors, eight processes that each opened
 * the store took about 40 % more processor time for the same steps (each keeps caches and a connection to the catalog of its
 * own, and commits no longer share a transaction). Why SQL runs in processes and not in threads of this one: a process that
 * has SQLite connections on checkouts may not touch them itself (docs/ARCHITECTURE.md, "The POSIX lock trap"); this one has
 * none, so it does without a keeper (`ownProcess`), which took a fifth more.
 */
import { join } from "node:path";
import { Random } from "#shared/bench-random.ts";
import { createStore, type Store } from "#engine/store.ts";
import { allDone } from "./all-done.ts";
import type { Parameters, Workload } from "./parameters.ts";
import type { Scale } from "./schema.ts";
import { comparisonOf, TOTAL_OF_LINES, type Evaluation, type Statement, type StepIdentity } from "./statements.ts";
import { SizeWatch, type StoreSize } from "./sizes.ts";
import type { SqlProcess } from "./sql-protocol.ts";
import { Tree, type Node, type ParentRule } from "./tree.ts";
import { PassTurns } from "./pass-turns.ts";

export const DATABASE = "orders";
const ROOT = "main";
const SAMPLE_EVERY_MS = 1_000;

export type Verb = "fork" | "checkout" | "work" | "checkpoint" | "read" | "reread" | "destroy";
/** Verbs whose time is branch management; the others are the user's own SQL. */
const MANAGEMENT: readonly Verb[] = ["fork", "checkout", "checkpoint", "destroy"];

export interface RunOrder {
  readonly workload: Workload;
  readonly parameters: Parameters;
  readonly rule: ParentRule;
  readonly evaluation: Evaluation;
  readonly scale: Scale;
  readonly seed: number;
  /** The database that the root starts with. Never written to. */
  readonly source: string;
  /** An empty folder on the disk that is measured. */
  readonly folder: string;
  /** One process a place: how many steps run at once. */
  readonly places: readonly SqlProcess[];
  /** Run each query twice: the second time is a read of a warm file. */
  readonly readsAgain: boolean;
}

export interface Listener {
  sample(verb: Verb, depth: number, ms: number): void;
  /** A step broke off; nothing of it counts as done. */
  failed(error: unknown): void;
  progress(steps: number): void;
  /** Throws when the run is to end. */
  pause(): Promise<void>;
}

export interface RunResult {
  readonly wallMs: number;
  readonly done: number;
  readonly failed: number;
  readonly managementMs: number;
  /** Of worker time: management / (wall × steps that could run at once). */
  readonly overhead: number;
  readonly passes: readonly Pass[];
  readonly tree: Tree;
  /** Steps done at each depth, from 1. */
  readonly stepsAtDepth: readonly number[];
  readonly peak: StoreSize;
  readonly end: StoreSize;
  /** How checkouts came to hold their version, in the engine's words, and how often. */
  readonly checkouts: ReadonlyMap<string, number>;
  readonly store: Store;
}

export interface Pass {
  readonly branches: number;
  readonly ms: number;
  readonly total: number;
}

interface Worker {
  readonly index: number;
  readonly random: Random;
  step: number;
}

/** The caller closes `result.store`. Throws what `pause` throws, and what making the store throws. */
export async function drive(order: RunOrder, listener: Listener): Promise<RunResult> {
  const store = await createStore(join(order.folder, "store"), { actor: "bench", ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: order.source });
    await store.checkout({ database: DATABASE, branch: ROOT });
    return await new Run(order, listener, store).work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

class Run {
  readonly #order: RunOrder;
  readonly #listener: Listener;
  readonly #store: Store;
  readonly #tree: Tree;
  readonly #turns: PassTurns<Worker>;
  readonly #passes: Pass[] = [];
  readonly #stepsAtDepth: number[] = [];
  readonly #checkouts = new Map<string, number>();
  #managementMs = 0;
  #done = 0;
  #failed = 0;

  constructor(order: RunOrder, listener: Listener, store: Store) {
    const { parameters, seed, rule } = order;
    this.#order = order;
    this.#listener = listener;
    this.#store = store;
    this.#tree = new Tree(ROOT, parameters, rule);
    const workers = Array.from({ length: parameters.workers }, (_, index) => ({ index, random: new Random(seed, index), step: 0 }));
    // Only the harness's rule makes passes between steps.
    this.#turns = new PassTurns(workers, parameters.stepsPerWorker, rule === "harness" ? parameters.crossPasses : 0);
  }

  async work(): Promise<RunResult> {
    const { parameters, rule, places } = this.#order;
    const watch = new SizeWatch(this.#store.path, SAMPLE_EVERY_MS);
    try {
      const start = performance.now();
      await allDone(places.map((place) => this.#workAt(place)));
      if (rule === "peer")
        for (let pass = 0; pass < parameters.crossPasses; pass += 1) await this.#passOver(this.#tree.liveNodes(), TOTAL_OF_LINES, places);
      const wallMs = performance.now() - start;
      const end = watch.look();
      return {
        wallMs,
        done: this.#done,
        failed: this.#failed,
        managementMs: this.#managementMs,
        overhead: this.#managementMs / (wallMs * Math.min(places.length, parameters.workers)),
        passes: this.#passes,
        tree: this.#tree,
        stepsAtDepth: this.#stepsAtDepth,
        peak: watch.peak,
        end,
        checkouts: this.#checkouts,
        store: this.#store,
      };
    } finally {
      watch.end();
    }
  }

  /** Steps of whichever worker is next, until none is left. */
  async #workAt(place: SqlProcess): Promise<void> {
    for (;;) {
      await this.#listener.pause();
      const worker = await this.#turns.next();
      if (worker === null) return;
      await this.#step(worker, place);
      worker.step += 1;
      if (this.#turns.finish(worker, worker.step)) await this.#harnessPass(place);
      this.#listener.progress(this.#done + this.#failed + this.#tree.skipped);
    }
  }

  async #step(worker: Worker, place: SqlProcess): Promise<void> {
    const node = this.#tree.grow(worker.index, `w${worker.index}-s${worker.step}`, worker.random);
    if (node === null) return;
    let isThere = false;
    try {
      await this.#timed("fork", node, () => this.#store.fork({ ...on(node.parent ?? this.#tree.root), newBranch: node.branch }));
      isThere = true;
      await this.#useBranch(worker, place, node);
      const isPruned = worker.random.unit() < this.#order.parameters.prune;
      if (isPruned) await this.#timed("destroy", node, () => this.#store.destroy(on(node)));
      if (isPruned) this.#tree.prune(worker.index, node);
      else this.#tree.keep(worker.index, node);
      this.#done += 1;
      this.#stepsAtDepth[node.depth - 1] = (this.#stepsAtDepth[node.depth - 1] ?? 0) + 1;
    } catch (error) {
      // A stopped run has killed its SQL processes: that is no failure of the step.
      await this.#listener.pause();
      // Every other step at this place would fail as well: then it is the run that has.
      if (!place.isAlive) throw error;
      this.#failed += 1;
      this.#listener.failed(error);
      this.#tree.prune(worker.index, node);
      if (isThere) await this.#store.destroy(on(node)).catch((also: unknown) => this.#listener.failed(also));
    }
  }

  async #useBranch(worker: Worker, place: SqlProcess, node: Node): Promise<void> {
    const { workload, parameters, evaluation, seed, scale, readsAgain } = this.#order;
    const step: StepIdentity = { workload, worker: worker.index, step: worker.step, seed, scale };
    const { path, checkout } = await this.#timed("checkout", node, () => this.#store.checkout(on(node)));
    const way = checkout.replace(/\d+ pages?/, "some pages");
    this.#checkouts.set(way, (this.#checkouts.get(way) ?? 0) + 1);
    await this.#timed("work", node, () => place.call({ act: "work", path, step, parameters }));
    await this.#timed("checkpoint", node, () => this.#store.checkpoint(on(node)));
    const found = await place.call({ act: "evaluate", path, step, parameters, evaluation, again: readsAgain });
    for (const ms of found.each) this.#listener.sample("read", node.depth, ms);
    for (const ms of found.again) this.#listener.sample("reread", node.depth, ms);
  }

  async #timed<T>(verb: Verb, node: Node, act: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      const answer = await act();
      this.#listener.sample(verb, node.depth, performance.now() - start);
      return answer;
    } finally {
      if (MANAGEMENT.includes(verb)) this.#managementMs += performance.now() - start;
    }
  }

  /** Over leaves only, in the place of the worker who brought it about. */
  async #harnessPass(place: SqlProcess): Promise<void> {
    const comparison = comparisonOf(this.#order.workload);
    if (comparison) await this.#passOver(this.#tree.liveLeaves(), comparison, [place]);
    this.#turns.endPass();
  }

  /** One query on each branch's file, opened read-only; the driver adds up what comes back. */
  async #passOver(nodes: readonly Node[], query: Statement, places: readonly SqlProcess[]): Promise<void> {
    const start = performance.now();
    const left = [...nodes];
    let total = 0;
    const readAt = async (place: SqlProcess): Promise<void> => {
      for (let node = left.shift(); node; node = left.shift()) {
        await this.#listener.pause();
        const { path } = await this.#store.checkout(on(node));
        total += (await place.call({ act: "read", path, query })).value;
      }
    };
    await allDone(places.map((place) => readAt(place)));
    this.#passes.push({ branches: nodes.length, ms: performance.now() - start, total });
  }
}

function on(node: Pick<Node, "branch">): { readonly database: string; readonly branch: string } {
  return { database: DATABASE, branch: node.branch };
}
