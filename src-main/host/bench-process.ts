/** One benchmark in a process of its own, as its host sees it: what it has found so far is here, whatever becomes of it. */
import { fork, type ChildProcess } from "node:child_process";
import { applyUpdate } from "#shared/bench-live.ts";
import type { BenchRun, BenchUpdate } from "#shared/bench-views.ts";
import { EngineError, fromErrorView } from "#engine/io/errors.ts";
import { removeLeftovers } from "#bench/runner/sandbox.ts";
import type { BenchOrder, FromBench, ToBench } from "./bench-protocol.ts";

/** A step that does not look whether it should stop is ended with its process after this. */
const STOP_GRACE_MS = 10_000;
/** Of what the process wrote to stderr before it died. */
const LAST_WORDS_CHARS = 2_000;

export interface BenchListener {
  readonly onUpdate: (update: BenchUpdate) => void;
  /** After each step, and once more at the end: worth keeping. */
  readonly onKeep: (run: BenchRun, from: BenchProcess) => void;
}

export class BenchProcess {
  readonly #child: ChildProcess;
  readonly #listener: BenchListener;
  readonly #folder: string;
  readonly #graceMs: number;
  readonly #started: Promise<BenchRun>;
  /** Resolves with the run as it ended, also when its process died; never rejects. */
  readonly ended: Promise<BenchRun | null>;
  #run: BenchRun | null = null;
  #isWhole = false;
  #refused: EngineError | null = null;
  #lastWords = "";
  #grace: NodeJS.Timeout | null = null;

  constructor(file: string, order: BenchOrder, listener: BenchListener, graceMs = STOP_GRACE_MS) {
    this.#listener = listener;
    this.#graceMs = graceMs;
    this.#folder = order.folder;
    this.#child = fork(file, [], {
      // No flags of ours, no terminal of the host: what it prints is kept for the case that it dies.
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
      serialization: "advanced",
    });
    this.#child.stderr?.on("data", (text: Buffer) => {
      this.#lastWords = (this.#lastWords + text.toString("utf8")).slice(-LAST_WORDS_CHARS);
    });
    const started = Promise.withResolvers<BenchRun>();
    const ended = Promise.withResolvers<BenchRun | null>();
    this.#started = started.promise;
    this.ended = ended.promise;
    this.#child.on("message", (message: FromBench) => {
      this.#receive(message);
      if ("started" in message) started.resolve(message.started);
    });
    const finish = (cause: string) => {
      ended.resolve(this.#finish(cause));
      started.reject(this.#refused ?? died(cause, this.#lastWords));
    };
    this.#child.on("error", (error) => finish(error.message));
    // Not "exit": messages may still be in the channel then.
    this.#child.on("close", (code, signal) => finish(signal ? `ended by ${signal}` : `exit code ${code}`));
    this.#send({ start: order });
  }

  /** The run with its plan. Throws what the runner refuses with, or `worker-died`. */
  get started(): Promise<BenchRun> {
    return this.#started;
  }

  /** Null before it has started. */
  get run(): BenchRun | null {
    return this.#run;
  }

  /** Acknowledged at once; the run ends as `partial`. */
  stop(): void {
    if (this.#grace || this.#isWhole) return;
    this.#grace = setTimeout(() => this.#child.kill("SIGKILL"), this.#graceMs);
    this.#send({ stop: true });
    if (!this.#run || this.#run.state !== "running") return;
    this.#run = { ...this.#run, state: "stopping" };
    this.#listener.onUpdate({ run: this.#run.id, state: "stopping", progress: this.#run.progress, series: [] });
  }

  #send(message: ToBench): void {
    // It may have ended in this moment: then "close" tells.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromBench): void {
    if ("refused" in message) this.#refused = fromErrorView(message.refused);
    else if ("started" in message) this.#start(message.started);
    else if ("update" in message) this.#update(message.update);
    else if ("step" in message) this.#keep(message.step);
    else {
      this.#isWhole = true;
      this.#keep(message.ended);
    }
  }

  #start(run: BenchRun): void {
    this.#run = run;
    this.#listener.onUpdate({ run: run.id, state: run.state, progress: run.progress, series: [] });
  }

  #update(update: BenchUpdate): void {
    if (!this.#run) return;
    // How it ended is told by `onKeep` alone: whoever hears of an end can ask for the whole run.
    const told = isRunning(update.state) ? update : { ...update, state: this.#run.state };
    this.#run = applyUpdate(this.#run, told);
    this.#listener.onUpdate(told);
  }

  #keep(run: BenchRun): void {
    this.#run = run;
    this.#listener.onKeep(run, this);
  }

  /** What is there is kept: of a run that was to stop as partial, else as failed. */
  #finish(cause: string): BenchRun | null {
    if (this.#grace) clearTimeout(this.#grace);
    if (this.#isWhole || !this.#run) return this.#run;
    const stopped = this.#run.state === "stopping";
    this.#keep({
      ...this.#run,
      state: stopped ? "partial" : "failed",
      endedAt: Date.now(),
      failure: stopped ? null : `Its process ended before the run did: ${[cause, this.#lastWords.trim()].filter(Boolean).join("; ")}`,
    });
    // What a killed process could not remove.
    removeLeftovers(this.#folder);
    return this.#run;
  }
}

export function isRunning(state: BenchRun["state"]): boolean {
  return state === "running" || state === "stopping";
}

function died(cause: string, lastWords: string): EngineError {
  return new EngineError("worker-died", "The benchmark's process ended before it had started", {
    hint: "Try again.",
    untouched: "Nothing was measured.",
    retryable: true,
    details: { cause: [cause, lastWords.trim()].filter(Boolean).join("; ") },
  });
}
