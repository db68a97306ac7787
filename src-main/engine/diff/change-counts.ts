/**
 * How many rows changed between versions, counted while somebody asks. An answer comes soon with what is known by then;
 * the rest is counted on in the background, one pair at a time and in slices that give way to verbs, until it is known or
 * nobody has asked for a while. What was counted is kept (`change-cache.ts`).
 */
import type { RequestInput } from "#shared/contract.ts";
import type { ChangeCountsView } from "#shared/diff-views.ts";
import type { VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Parts } from "../branches/parts.ts";
import { findDatabase } from "../branches/resolve.ts";
import type { DatabaseRecord, VersionRecord } from "../catalog/records.ts";
import { EngineError, toErrorView } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { ChangeCache, type CountedChanges } from "./change-cache.ts";
import { countChanges, NO_CHANGES } from "./change-totals.ts";
import { compareSides } from "./open-diff.ts";
import { openVersion } from "./sides.ts";

/** An answer comes after this long at most. */
const ANSWER_AFTER_MS = 150;
/** JSON characters of all counts of one answer. */
const ANSWER_CHARS_MAX = LIMITS.messageBytesMax / 4;

type Outcome = { readonly state: "known" | "failed"; readonly counted: CountedChanges };
type Pair = RequestInput<"version.changes">["pairs"][number];

/** One pair that is being counted, or waits for it. */
interface Task {
  readonly key: Uint8Array;
  readonly database: DatabaseRecord;
  readonly from: VersionRecord;
  readonly to: VersionRecord;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
  readonly end: () => void;
  /** Null until it has ended, and when it was given up because nobody asked any more. */
  outcome: Outcome | null;
  /** Milliseconds of `performance.now()`. */
  askedAt: number;
  /** Number of the request that asked last. */
  askedBy: number;
  /** Requests that wait for it. */
  waiting: number;
}

/** A pair of a request: what it turned out to be, and what of it is known. */
interface Asked {
  readonly from: number | null;
  readonly to: number;
  readonly found: Outcome | Task;
}

export class ChangeCounts {
  readonly #parts: Parts;
  readonly #idle: () => Promise<void>;
  readonly #cache: ChangeCache;
  readonly #tasks = new Map<string, Task>();
  /** Of tasks that ended while nobody waited, until they are asked for. Others may be counted on another try. */
  readonly #failed = new Map<string, Outcome>();
  /** Versions that were looked up, as long as no operation can have purged them: asking again is to cost next to nothing. */
  readonly #versions = new Map<string, VersionRecord>();
  #versionsAt = 0;
  #running: Promise<void> | null = null;
  #requests = 0;
  #isClosed = false;

  /** `idle`: waits, not for ever, until no verb is under way and none has just ended. */
  constructor(parts: Parts, idle: () => Promise<void>) {
    this.#parts = parts;
    this.#idle = idle;
    this.#cache = new ChangeCache(parts.disk, parts.paths.changeCounts, !parts.catalog.readOnly);
  }

  /**
   * In the order of the pairs. What is "pending" is counted on for `changeLeaseMs`, and longer as it is asked for again.
   * Errors: `database-not-found`, `cancelled`. What is wrong with one pair is its own `problem`.
   */
  async answer(input: RequestInput<"version.changes">, work: Work): Promise<ChangeCountsView[]> {
    const answerAt = performance.now() + ANSWER_AFTER_MS;
    const database = findDatabase(this.#parts, input.database);
    this.#requests += 1;
    this.#forgetVersions();
    const asked = input.pairs.map((pair) => this.#ask(database, pair));
    const tasks = asked.flatMap(({ found }) => ("key" in found ? [found] : []));
    this.#running ??= tasks.length > 0 ? this.#run() : null;
    try {
      for (const task of tasks) task.waiting += 1;
      await waitFor(tasks, answerAt - performance.now(), work.signal);
    } finally {
      for (const task of tasks) task.waiting -= 1;
    }
    for (const task of tasks) task.askedAt = performance.now();
    return viewsOf(asked);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const task of this.#tasks.values()) task.abort.abort();
    await this.#running;
    this.#cache.close();
  }

  #ask(database: DatabaseRecord, pair: Pair): Asked {
    const to = this.#version(database, pair.to);
    const number = pair.from ?? to?.parent ?? null;
    const about = { from: number, to: pair.to };
    if (!to) return { ...about, found: gone(database, pair.to) };
    if (number === null) return { ...about, found: { state: "known", counted: NO_CHANGES } };
    const from = this.#version(database, number);
    if (!from) return { ...about, found: gone(database, number) };
    if (isSameState(from, to)) return { ...about, found: { state: "known", counted: NO_CHANGES } };
    const key = Buffer.concat([from.checksum, to.checksum]);
    const name = key.toString("hex");
    const counted = this.#tasks.has(name) ? null : this.#cache.get(key);
    if (counted) return { ...about, found: { state: "known", counted } };
    const failed = this.#failed.get(name);
    this.#failed.delete(name);
    if (failed) return { ...about, found: failed };
    const task = this.#tasks.get(name) ?? newTask(key, database, from, to);
    this.#tasks.set(name, task);
    task.askedAt = performance.now();
    task.askedBy = this.#requests;
    return { ...about, found: task };
  }

  #version(database: DatabaseRecord, number: number): VersionRecord | null {
    const { catalog } = this.#parts;
    // A greater number would be a key of the next database's.
    if (number > database.lastVersion) return null;
    const key = `${database.id}:${number}`;
    const known = this.#versions.get(key);
    if (known) return known;
    const version = catalog.versions.byNumber(database.id, number as VersionNumber);
    if (version) this.#versions.set(key, version);
    return version;
  }

  #forgetVersions(): void {
    const last = this.#parts.catalog.lastOperation();
    if (last === this.#versionsAt && this.#versions.size < LIMITS.versionsRemembered) return;
    this.#versions.clear();
    this.#versionsAt = last;
  }

  async #run(): Promise<void> {
    for (let task = this.#next(); task; task = this.#next()) {
      task.outcome = await this.#count(task);
      this.#tasks.delete(nameOf(task));
      if (task.outcome?.state === "known") this.#cache.put(task.key, task.outcome.counted);
      if (task.outcome?.state === "failed" && task.waiting === 0) this.#keepFailure(nameOf(task), task.outcome);
      task.end();
    }
    this.#running = null;
  }

  /** What the newest request wants, and of that what changed least: a large one keeps no small one waiting. */
  #next(): Task | null {
    const wanted: Task[] = [];
    for (const [name, task] of this.#tasks) {
      if (this.#isWanted(task)) wanted.push(task);
      else {
        this.#tasks.delete(name);
        task.end();
      }
    }
    return wanted.toSorted((a, b) => b.askedBy - a.askedBy || a.to.changedPages - b.to.changedPages)[0] ?? null;
  }

  #isWanted(task: Task): boolean {
    return !this.#isClosed && performance.now() - task.askedAt < LIMITS.changeLeaseMs;
  }

  async #count(task: Task): Promise<Outcome | null> {
    let sliceStart = performance.now();
    const work: Work = {
      signal: task.abort.signal,
      giveWay: async () => {
        if (!this.#isWanted(task)) return task.abort.abort();
        if (performance.now() - sliceStart < LIMITS.changeSliceMs) return;
        await this.#idle();
        sliceStart = performance.now();
      },
    };
    try {
      return { state: "known", counted: await this.#compare(task, work) };
    } catch (error) {
      const { code, message } = toErrorView(error);
      return code === "cancelled" ? null : { state: "failed", counted: { ...NO_CHANGES, problem: message } };
    }
  }

  async #compare({ database, from, to }: Task, work: Work): Promise<CountedChanges> {
    const open = (version: VersionRecord) => () =>
      openVersion(this.#parts, { database }, version.number, `${database.name} v${version.number}`);
    const diff = await compareSides(this.#parts, "", { left: open(from), right: open(to) }, work);
    try {
      return await countChanges(diff, work);
    } finally {
      diff.close();
    }
  }

  #keepFailure(name: string, outcome: Outcome): void {
    this.#failed.set(name, outcome);
    if (this.#failed.size <= LIMITS.changePairsMax) return;
    const [oldest] = this.#failed.keys();
    if (oldest !== undefined) this.#failed.delete(oldest);
  }
}

function newTask(key: Uint8Array, database: DatabaseRecord, from: VersionRecord, to: VersionRecord): Task {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  return { key, database, from, to, abort: new AbortController(), ended, end, outcome: null, askedAt: 0, askedBy: 0, waiting: 0 };
}

function nameOf({ key }: Task): string {
  return Buffer.from(key).toString("hex");
}

function isSameState(a: VersionRecord, b: VersionRecord): boolean {
  const isSame = a.pageSize === b.pageSize && a.pageCount === b.pageCount && Buffer.compare(a.checksum, b.checksum) === 0;
  return a.number === b.number || isSame;
}

function gone(database: DatabaseRecord, number: number): Outcome {
  return { state: "failed", counted: { ...NO_CHANGES, problem: `Database "${database.name}" has no version v${number}` } };
}

/** Returns when all have ended, after `ms`, or when the caller cancels: that throws `cancelled`. */
async function waitFor(tasks: readonly Task[], ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (tasks.length > 0) {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    const timer = setTimeout(stop, Math.max(0, ms));
    signal?.addEventListener("abort", () => stop(), { once: true });
    await Promise.race([Promise.all(tasks.map(({ ended }) => ended)), stopped]);
    clearTimeout(timer);
  }
  if (signal?.aborted) throw new EngineError("cancelled", "Cancelled", { untouched: "Nothing was changed." });
}

/** An answer that would grow too large leaves the rest pending: asked again, it is a cache's work. */
function viewsOf(asked: readonly Asked[]): ChangeCountsView[] {
  let chars = 0;
  return asked.map(({ from, to, found }) => {
    const outcome = "key" in found ? found.outcome : found;
    if (outcome) chars += JSON.stringify(outcome.counted).length;
    if (!outcome || chars > ANSWER_CHARS_MAX) return { from, to, state: "pending", ...NO_CHANGES };
    return { from, to, state: outcome.state, ...outcome.counted };
  });
}
