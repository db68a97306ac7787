/**
 * Work that a user may wait for: shown with its progress, and stopped on request. A job that ends before it was worth
 * showing leaves no trace.
 */
import { randomUUID } from "node:crypto";
import type { JobView } from "#shared/views.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";

/** A job is announced when it has run this long. */
const ANNOUNCE_AFTER_MS = 200;
/** At most ten events a second for one job. */
const EVENT_EVERY_MS = 100;
/** Ended jobs stay listed this long, and at most so many of them. */
const KEEP_ENDED_MS = 60_000;
const KEEP_ENDED_MAX = 50;

export interface JobWork {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
  /** A new phase counts from 0. */
  readonly phase: (name: string) => void;
  /** Both at once, where progress goes on through the phases. */
  readonly show: (state: { readonly phase: string; readonly done: number; readonly total: number }) => void;
}

export interface JobAbout {
  readonly title: string;
  readonly unit: JobView["unit"];
  /** Given by the client; of no other job. */
  readonly id?: string;
  /** It does not keep the store open: it is stopped when that is closed. */
  readonly endsWithStore?: boolean;
}

interface Job {
  view: JobView;
  readonly endsWithStore: boolean;
  readonly abort: AbortController;
  announced: boolean;
  sentAt: number;
  timer: NodeJS.Timeout | null;
  endedAt: number | null;
}

export class JobRegistry {
  readonly #jobs = new Map<string, Job>();
  readonly #emit: (job: JobView) => void;

  constructor(emit: (job: JobView) => void) {
    this.#emit = emit;
  }

  /** Runs `body` as a job and settles as it does. */
  async run<T>(about: JobAbout, body: (work: JobWork) => Promise<T>): Promise<T> {
    const job = this.#start(about);
    const work: JobWork = {
      signal: job.abort.signal,
      progress: (done, total) => this.#update(job, { done, total }),
      phase: (phase) => this.#update(job, { phase, done: 0, total: null }),
      show: (state) => this.#update(job, state),
    };
    try {
      const result = await body(work);
      this.#end(job, "done");
      return result;
    } catch (error) {
      this.#end(job, toErrorView(error).code === "cancelled" ? "cancelled" : "failed");
      throw error;
    }
  }

  /** Running jobs worth showing and those that ended lately, oldest first. */
  list(): JobView[] {
    this.#forgetOld();
    return [...this.#jobs.values()]
      .filter((job) => job.announced || Date.now() - job.view.startedAt >= ANNOUNCE_AFTER_MS)
      .map((job) => job.view);
  }

  get running(): number {
    return [...this.#jobs.values()].filter((job) => job.endedAt === null).length;
  }

  /** Running jobs that work in the store: it cannot be closed before they have ended. */
  get holdingStore(): number {
    return [...this.#jobs.values()].filter((job) => job.endedAt === null && !job.endsWithStore).length;
  }

  /** Acknowledged at once; the job ends when its work next looks. Does nothing to a job that has ended. */
  cancel(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) throw new EngineError("bad-argument", `Cancel: there is no job "${id.slice(0, 80)}"`);
    if (job.view.state !== "running") return;
    job.view = { ...job.view, state: "cancelling" };
    this.#send(job);
    job.abort.abort();
  }

  cancelAll(): void {
    for (const id of this.#jobs.keys()) this.cancel(id);
  }

  #start(about: JobAbout): Job {
    const id = about.id ?? randomUUID();
    if (this.#jobs.has(id)) throw new EngineError("bad-argument", `There is a job "${id.slice(0, 80)}" already`);
    const view: JobView = {
      id,
      title: about.title,
      phase: "",
      done: 0,
      total: null,
      unit: about.unit,
      startedAt: Date.now(),
      state: "running",
      cancellable: true,
    };
    const job: Job = {
      view,
      endsWithStore: about.endsWithStore ?? false,
      abort: new AbortController(),
      announced: false,
      sentAt: 0,
      timer: null,
      endedAt: null,
    };
    job.timer = setTimeout(() => this.#send(job), ANNOUNCE_AFTER_MS);
    this.#jobs.set(id, job);
    return job;
  }

  #update(job: Job, change: Partial<JobView>): void {
    if (job.endedAt !== null) return;
    job.view = { ...job.view, ...change };
    const now = Date.now();
    // Checked here as well as by the timer: work that does not yield still reports.
    const due = job.announced ? job.sentAt + EVENT_EVERY_MS : job.view.startedAt + ANNOUNCE_AFTER_MS;
    if (now >= due) this.#send(job);
    else job.timer ??= setTimeout(() => this.#send(job), due - now);
  }

  #send(job: Job): void {
    if (job.timer) clearTimeout(job.timer);
    job.timer = null;
    job.announced = true;
    job.sentAt = Date.now();
    this.#emit(job.view);
  }

  #end(job: Job, state: "done" | "cancelled" | "failed"): void {
    if (job.timer) clearTimeout(job.timer);
    job.endedAt = Date.now();
    job.view = { ...job.view, state, cancellable: false };
    if (job.announced) this.#send(job);
    else this.#jobs.delete(job.view.id);
    this.#forgetOld();
  }

  #forgetOld(): void {
    const ended = [...this.#jobs.values()].filter((job) => job.endedAt !== null);
    ended.forEach((job, index) => {
      const tooOld = Date.now() - (job.endedAt ?? 0) > KEEP_ENDED_MS;
      if (tooOld || ended.length - index > KEEP_ENDED_MAX) this.#jobs.delete(job.view.id);
    });
  }
}
