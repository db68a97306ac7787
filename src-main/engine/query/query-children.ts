/** The processes that run SQL: started when they are needed, a few at most, reused, killed to stop what they run. */
import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { LIMITS } from "#shared/limits.ts";
import { EngineError, fromErrorView } from "../io/errors.ts";
import { ownEntry } from "../io/own-entry.ts";
import type { Work } from "../segments/page-source.ts";
import type { QueryJobName, QueryJobs, QueryMessage, QueryReply, ScriptEvent } from "./query-protocol.ts";

/** May take its time: the process waits. */
export type OnEvent = (event: ScriptEvent) => void | Promise<void>;

/** Processes that one question to many states may use. */
export const PARALLEL_QUERIES = availableParallelism();

export class QueryChildren {
  readonly #idle: QueryChild[] = [];
  readonly #busy = new Set<QueryChild>();
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  /**
   * Runs one job. Cancelling kills its process: `cancelled`. Errors: those of the job, `worker-died` when the process
   * ends by itself.
   */
  async run<K extends QueryJobName>(
    job: K,
    input: QueryJobs[K]["input"],
    work: Work = {},
    onEvent?: OnEvent,
  ): Promise<QueryJobs[K]["output"]> {
    const child = await this.#take(work);
    try {
      return (await child.run({ job, input } as QueryMessage, work, onEvent)) as QueryJobs[K]["output"];
    } finally {
      this.#giveBack(child);
    }
  }

  get pids(): readonly number[] {
    return [...this.#idle, ...this.#busy].map(({ pid }) => pid);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#idle, ...this.#busy].map((child) => child.kill()));
    for (const next of this.#waiting.splice(0)) next();
  }

  async #take(work: Work): Promise<QueryChild> {
    while (this.#busy.size >= PARALLEL_QUERIES + LIMITS.queryChildrenExtra && !work.signal?.aborted) await this.#turn(work);
    if (work.signal?.aborted) {
      // It may have been this one's turn.
      this.#waiting[0]?.();
      throw cancelled();
    }
    if (this.#isClosed) throw new EngineError("cancelled", "The store is closed");
    let child = this.#idle.pop();
    while (child && !child.isAlive) child = this.#idle.pop();
    child ??= new QueryChild();
    child.stopIdling();
    this.#busy.add(child);
    return child;
  }

  /** Resolves when a process is free, or the work is cancelled. */
  #turn({ signal }: Work): Promise<void> {
    return new Promise((settle) => {
      const next = (): void => {
        signal?.removeEventListener("abort", next);
        const place = this.#waiting.indexOf(next);
        if (place >= 0) this.#waiting.splice(place, 1);
        settle();
      };
      this.#waiting.push(next);
      signal?.addEventListener("abort", next);
    });
  }

  #giveBack(child: QueryChild): void {
    this.#busy.delete(child);
    if (child.isAlive && !this.#isClosed) {
      this.#idle.push(child);
      child.idle(() => {
        const place = this.#idle.indexOf(child);
        if (place >= 0) this.#idle.splice(place, 1);
      });
    }
    this.#waiting[0]?.();
  }
}

/** One process, and the job that it does. It keeps this process alive only while it does one. */
class QueryChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #current: {
    readonly settle: (output: unknown) => void;
    readonly fail: (error: unknown) => void;
    readonly onEvent: OnEvent | undefined;
  } | null = null;
  #replies: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  isAlive = true;

  constructor() {
    this.#child = fork(ownEntry(import.meta.dirname, "query-child"), [String(process.pid)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
      // Inside Electron the executable is the app itself.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
    });
    // One after the other, however long a reader takes.
    this.#child.on("message", (reply: QueryReply) => (this.#replies = this.#replies.then(() => this.#receive(reply))));
    this.#ended = new Promise((settle) => {
      const end = (how: string): void => {
        this.isAlive = false;
        this.#current?.fail(childDied(how));
        this.#current = null;
        settle();
      };
      this.#child.once("exit", (code, signal) => end(signal ? `was ended by ${signal}` : `ended with code ${code}`));
      this.#child.once("error", (error) => end(`could not be started: ${error.message}`));
    });
    this.#child.unref();
    this.#child.channel?.unref();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  run(message: QueryMessage, { signal }: Work, onEvent: OnEvent | undefined): Promise<unknown> {
    return new Promise((settle, fail) => {
      const cancel = (): void => {
        // Answered once the process is gone: its locks are gone with it.
        void this.kill().then(() => done(() => fail(cancelled())));
      };
      const done = (act: () => void): void => {
        signal?.removeEventListener("abort", cancel);
        this.#current = null;
        this.#child.channel?.unref();
        act();
      };
      this.#current = {
        settle: (output) => done(() => settle(output)),
        fail: (error) => done(() => fail(signal?.aborted ? cancelled() : error)),
        onEvent,
      };
      signal?.addEventListener("abort", cancel);
      this.#child.channel?.ref();
      this.#send(message);
    });
  }

  async kill(): Promise<void> {
    if (!this.isAlive) return;
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  idle(onEnd: () => void): void {
    this.#timer = setTimeout(() => {
      onEnd();
      if (this.isAlive) this.#child.disconnect();
    }, LIMITS.queryChildIdleMs);
    this.#timer.unref();
  }

  stopIdling(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #receive(reply: QueryReply): Promise<void> {
    const current = this.#current;
    if (!current) return;
    if (!("event" in reply)) {
      if (reply.ok) current.settle(reply.output);
      else current.fail(fromErrorView(reply.error));
      return;
    }
    try {
      await current.onEvent?.(reply.event);
      if (reply.asks && this.#current === current) this.#send({ more: true });
    } catch (error) {
      // Whoever reads has had enough. The job fails of that, not of the end of its process.
      this.#current = null;
      await this.kill();
      current.fail(error);
    }
  }

  #send(message: QueryMessage): void {
    this.#child.send(message, (error) => {
      if (error) this.#current?.fail(childDied(`cannot be reached: ${error.message}`));
    });
  }
}

function cancelled(): EngineError {
  return new EngineError("cancelled", "Cancelled", { untouched: "What was not committed is not there." });
}

function childDied(how: string): EngineError {
  return new EngineError("worker-died", `The process that ran the SQL ${how}`, {
    hint: "It may have needed more memory than there is. Try again: it is started anew.",
    untouched: "What was not committed is not there.",
    retryable: true,
  });
}
