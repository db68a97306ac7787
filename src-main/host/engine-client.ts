/**
 * The host's side of the engine worker. Every request is answered: a worker that dies, at its start or later, answers
 * what it owed with `worker-died`, and the next request starts another one with the same store open.
 */
import { Worker } from "node:worker_threads";
import type { HostEvent } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { Result } from "#shared/result.ts";
import type { JobView, StoreView } from "#shared/views.ts";
import type { EngineRequestName, FromEngine, ToEngine } from "./engine-protocol.ts";
import { ownEntry } from "#engine/io/own-entry.ts";

/** After this the worker is ended whatever it does; longer than what it gives its own jobs to stop. */
const CLOSE_WAIT_MS = 6_000;
/** A worker that lived this long is replaced at once when it dies; others after a pause that doubles: no loop of crashes. */
const PROVEN_AFTER_MS = 10_000;
const PAUSE_MS = { first: 500, most: 60_000 } as const;
const OPENING: ReadonlySet<EngineRequestName> = new Set(["store.open", "store.create", "store.demo"]);

interface Waiting {
  readonly name: EngineRequestName;
  readonly settle: (result: Result<unknown>) => void;
}

export class EngineClient {
  readonly #workerFile: string;
  readonly #onEvent: (event: HostEvent) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #jobs = new Map<string, JobView>();
  #worker: Worker | null = null;
  #startedAt = 0;
  #lastId = 0;
  /** Path of the open store, to open it again in a new worker. */
  #storePath: string | null = null;
  #died = false;
  #pauseMs: number = PAUSE_MS.first;
  #restart: NodeJS.Timeout | null = null;
  #reopening: Promise<Result<unknown> | null> = Promise.resolve(null);
  #closing = false;

  constructor(onEvent: (event: HostEvent) => void, workerFile: string = ownEntry(import.meta.dirname, "engine-worker")) {
    this.#onEvent = onEvent;
    this.#workerFile = workerFile;
  }

  /** Never rejects. */
  async request(name: EngineRequestName, input: unknown): Promise<Result<unknown>> {
    if (this.#closing) return died("Coppice is ending");
    if (!this.#worker) this.#start();
    if (this.#died) this.#reopening = this.#reopen(name);
    // Requests that arrive meanwhile wait as well: the new worker must have the store before they reach it.
    const reopened = await this.#reopening;
    // Another store may be opened although the one that was open cannot be.
    return reopened && !reopened.ok && !OPENING.has(name) ? reopened : await this.#post(name, input);
  }

  get storePath(): string | null {
    return this.#storePath;
  }

  runningJobs(): JobView[] {
    return [...this.#jobs.values()].filter((job) => job.state === "running" || job.state === "cancelling");
  }

  /** Cancels running jobs, closes the store and ends the worker. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#restart) clearTimeout(this.#restart);
    const worker = this.#worker;
    if (!worker) return;
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.postMessage({ shutdown: true } satisfies ToEngine);
    const timer = setTimeout(() => void worker.terminate(), CLOSE_WAIT_MS);
    await exited;
    clearTimeout(timer);
  }

  /** Opens the store again in a new worker. When that fails, the next request tries it once more. */
  async #reopen(name: EngineRequestName): Promise<Result<unknown>> {
    this.#died = false;
    const keeps = this.#storePath !== null && !OPENING.has(name);
    const reopened = await (keeps ? this.#post("store.open", { spec: this.#storePath }) : this.#post("job.list", {}));
    if (reopened.ok) this.#onEvent({ type: "connection", state: "open" });
    else {
      this.#died = true;
      this.#askLater(this.#nextPause());
    }
    return reopened;
  }

  #post(name: EngineRequestName, input: unknown): Promise<Result<unknown>> {
    const worker = this.#worker;
    if (!worker) return Promise.resolve(died("The engine stopped"));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((settle) => {
      this.#waiting.set(id, { name, settle });
      worker.postMessage({ id, name, input } satisfies ToEngine);
    });
  }

  #start(): void {
    let problem: string | null = null;
    // A file that does not exist is reported by the "error" event like any other bad start.
    const worker = new Worker(this.#workerFile);
    this.#worker = worker;
    this.#startedAt = Date.now();
    worker.on("message", (message: FromEngine) => this.#receive(message));
    worker.on("error", (error) => {
      problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    worker.on("exit", (code) => this.#exited(worker, problem ?? `exit code ${code}`));
  }

  #receive(message: FromEngine): void {
    if ("event" in message) {
      if (message.event.type === "job") this.#remember(message.event.job);
      this.#onEvent(message.event);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.result.ok && waiting) {
      if (OPENING.has(waiting.name)) this.#storePath = (message.result.result as StoreView).path;
      if (waiting.name === "store.close") this.#storePath = null;
    }
    waiting?.settle(message.result);
  }

  #remember(job: JobView): void {
    if (job.state === "running" || job.state === "cancelling") this.#jobs.set(job.id, job);
    else this.#jobs.delete(job.id);
  }

  #exited(worker: Worker, cause: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { settle } of waiting) settle(died("The engine stopped before it answered", cause));
    for (const job of this.runningJobs()) this.#onEvent({ type: "job", job: { ...job, state: "failed", cancellable: false } });
    this.#jobs.clear();
    if (this.#closing) return;
    this.#died = true;
    this.#onEvent({ type: "connection", state: "lost" });
    const proven = Date.now() - this.#startedAt > PROVEN_AFTER_MS;
    if (proven) this.#pauseMs = PAUSE_MS.first;
    this.#askLater(proven ? 0 : this.#nextPause());
  }

  #nextPause(): number {
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, PAUSE_MS.most);
    return pauseMs;
  }

  /** The screens say that they are not connected: they are again as soon as that is possible, also when nobody asks anything. */
  #askLater(pauseMs: number): void {
    if (this.#restart || this.#closing) return;
    this.#restart = setTimeout(() => {
      this.#restart = null;
      void this.request("job.list", {});
    }, pauseMs);
    this.#restart.unref();
  }
}

function died(message: string, cause?: string): Result<never> {
  const error: ErrorView = {
    code: "worker-died",
    message,
    hint: "Try again: the engine is started anew. Activity shows whether the last act was done.",
    untouched: "Every operation is done as a whole or not at all, so the store is sound.",
    retryable: true,
    details: cause === undefined ? {} : { cause },
  };
  return { ok: false, error };
}
