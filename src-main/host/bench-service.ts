/**
 * The `bench.*` requests: one run at a time in a process of its own, shown as a job, and the runs that were kept. With a
 * store open they are files in its folder `benchmarks`; without one they last as long as the program.
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { percentDone } from "#shared/bench-live.ts";
import type { BenchRun, BenchRunHead, BenchUpdate } from "#shared/bench-views.ts";
import type { HostEvent, RequestInput, RequestOutput } from "#shared/contract.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { BenchHistory, benchmarksFolder, headOf } from "#bench/runner/history.ts";
import type { Suite } from "#bench/suite.ts";
import { BenchProcess, isRunning } from "./bench-process.ts";
import type { JobRegistry, JobWork } from "./jobs.ts";
import { ownEntry } from "#engine/io/own-entry.ts";

/** Runs without a store that are kept in memory; the oldest go first. */
const UNSAVED_MAX = 20;
/** How often the job is told how far the run is. */
const LOOK_EVERY_MS = 250;

export interface BenchParts {
  readonly jobs: JobRegistry;
  readonly emit: (event: HostEvent) => void;
  /** Folder of the open store; null when none is. */
  readonly storePath: () => string | null;
  /** Left out: the program's own. */
  readonly childFile?: string;
  readonly loadSuites?: () => Promise<readonly Suite[]>;
}

export class BenchService {
  readonly #parts: BenchParts;
  /** Newest first. */
  #unsaved: BenchRun[] = [];
  #history: BenchHistory | null = null;
  #current: BenchProcess | null = null;
  /** The run as a job: settles when all is kept. */
  #working: Promise<unknown> = Promise.resolve();
  #isStarting = false;

  constructor(parts: BenchParts) {
    this.#parts = parts;
  }

  /** Suites are loaded when somebody wants to see them: they bring packages that nothing else needs. */
  async suites(): Promise<RequestOutput<"bench.suites">> {
    const [{ viewSuite }, { REFERENCES }] = await Promise.all([import("#bench/runner/order.ts"), import("#bench/references/published.ts")]);
    return { suites: (await this.#loadSuites()).map(viewSuite), references: REFERENCES, folder: this.#defaultFolder() };
  }

  /** Throws `store-busy` while another run goes on, `bad-argument`, and what the runner refuses with. */
  async start({ suite: id, size, options = {}, folder }: RequestInput<"bench.start">): Promise<BenchRunHead> {
    if (this.#isStarting || this.#current) throw busy("A benchmark is running already", "Wait for it, or stop it.");
    this.#isStarting = true;
    try {
      const suite = (await this.#loadSuites()).find((each) => each.id === id);
      if (!suite) throw new EngineError("bad-argument", `There is no suite "${id}"`, { untouched: "Nothing was measured." });
      const place = folder ?? this.#defaultFolder();
      if (folder === undefined) nodeDisk.makeDirectory(place);
      const history = this.#historyNow();
      const child = new BenchProcess(
        this.#parts.childFile ?? ownEntry(import.meta.dirname, "bench-child"),
        { suite: id, size, options, folder: place },
        { onUpdate: (update) => this.#emit(update), onKeep: (run, from) => this.#keep(run, history, from) },
      );
      this.#current = child;
      const gone = child.ended.then(() => this.#forget(child));
      const run = await child.started;
      this.#working = this.#runAsJob(suite, child, gone);
      // A very short one may have ended meanwhile.
      return headOf(child.run ?? run);
    } finally {
      this.#isStarting = false;
    }
  }

  /** Throws `file-not-found`. Does nothing to a run that has ended. */
  stop(id: string): null {
    if (this.#current?.run?.id === id) this.#current.stop();
    else this.run(id);
    return null;
  }

  /** Newest first, the running one included. */
  runs(): BenchRunHead[] {
    const current = this.#current?.run;
    // Of a run that its store could keep for some steps only, memory has the whole.
    const known = [...(current ? [current] : []), ...this.#unsaved].map(headOf);
    const kept = this.#historyNow()?.heads() ?? [];
    const heads = [...known, ...kept.filter(({ id }) => !known.some((each) => each.id === id))];
    return heads.toSorted((a, b) => b.startedAt - a.startedAt || b.id.localeCompare(a.id));
  }

  /** Throws `file-not-found`. */
  run(id: string): BenchRun {
    const current = this.#current?.run;
    const found = current?.id === id ? current : (this.#unsaved.find((run) => run.id === id) ?? this.#historyNow()?.read(id));
    if (found) return found;
    throw new EngineError("file-not-found", `There is no benchmark run "${id.slice(0, 80)}"`, {
      hint: "It may have been removed, or its file is damaged.",
      untouched: "Nothing was changed.",
    });
  }

  /** Throws `file-not-found`, and `store-busy` for the one that runs. */
  remove(id: string): null {
    if (this.#current?.run?.id === id) throw busy("This run has not ended", "Stop it first.");
    const inMemory = this.#unsaved.some((run) => run.id === id);
    this.#unsaved = this.#unsaved.filter((run) => run.id !== id);
    if (this.#historyNow()?.remove(id) || inMemory) return null;
    throw new EngineError("file-not-found", `There is no benchmark run "${id.slice(0, 80)}"`, { untouched: "Nothing was changed." });
  }

  /** Stops what runs and waits until it is kept: before the store is closed, and at the end of the program. */
  async close(): Promise<void> {
    this.#current?.stop();
    await this.#current?.ended;
    await this.#working;
  }

  /** Ends as the run does; Cancel stops the run, which keeps what it has. */
  async #runAsJob(suite: Suite, child: BenchProcess, gone: Promise<unknown>): Promise<void> {
    const about = { title: `Benchmark: ${suite.title}`, unit: "percent", endsWithStore: true } as const;
    const body = async ({ signal, show }: JobWork) => {
      signal.addEventListener("abort", () => child.stop());
      const look = setInterval(() => child.run && show(progressOf(child.run)), LOOK_EVERY_MS);
      try {
        const run = await child.ended;
        await gone;
        if (run?.state === "partial") throw new EngineError("cancelled", "The run was stopped");
        if (run?.state === "failed") throw new EngineError("worker-died", run.failure ?? "The run failed");
      } finally {
        clearInterval(look);
      }
    };
    // How it ended is in the run itself; nobody waits for this job.
    await this.#parts.jobs.run(about, body).catch(() => undefined);
  }

  #loadSuites(): Promise<readonly Suite[]> {
    return this.#parts.loadSuites?.() ?? import("#bench/suites.ts").then(({ loadSuites }) => loadSuites());
  }

  /** On the disk of the open store, where what its programs do is measured; else in the system's temporary folder. */
  #defaultFolder(): string {
    const store = this.#parts.storePath();
    return store === null || !existsSync(store) ? tmpdir() : benchmarksFolder(store);
  }

  /** Null without a store. */
  #historyNow(): BenchHistory | null {
    const store = this.#parts.storePath();
    const folder = store === null ? null : benchmarksFolder(store);
    if (folder !== (this.#history?.folder ?? null)) this.#history = folder === null ? null : new BenchHistory(folder);
    return this.#history;
  }

  /** A run that cannot be written stays in memory, and says why. */
  #keep(run: BenchRun, history: BenchHistory | null, child: BenchProcess): void {
    let kept = run;
    try {
      history?.write(run);
    } catch (error) {
      const problem = `It could not be kept in ${history?.folder}: ${toErrorView(error).message}`;
      kept = { ...run, failure: [run.failure, problem].filter((each) => each !== null).join(" ") };
    }
    if (!isRunning(run.state)) {
      if (history === null || kept !== run) this.#unsaved = [kept, ...this.#unsaved].slice(0, UNSAVED_MAX);
      // Forgotten first: whoever hears of the end asks for the run at once, and may start another.
      this.#forget(child);
    }
    this.#emit({ run: run.id, state: run.state, progress: run.progress, series: [] });
  }

  #forget(child: BenchProcess): void {
    if (this.#current === child) this.#current = null;
  }

  #emit(update: BenchUpdate): void {
    this.#parts.emit({ type: "bench", update });
  }
}

/** In percent of the whole run. */
function progressOf(run: BenchRun): { readonly phase: string; readonly done: number; readonly total: number } {
  return { phase: run.progress.phase, done: Math.floor(percentDone(run)), total: 100 };
}

function busy(message: string, hint: string): EngineError {
  return new EngineError("store-busy", message, { hint, untouched: "The run goes on.", retryable: true });
}
