import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "#shared/limits.ts";
import { EngineError } from "../io/errors.ts";
import type { ProcessLock } from "../io/process-lock.ts";

const POLL_MS = 5;

/**
 * Keeps gc from taking segment files for orphans between their publication and the commit that names them: writers of
 * all processes share `writers.lock`, gc holds it alone. The kernel gives a dead process's share back.
 */
export class WritersGate {
  readonly #open: () => ProcessLock;
  #opened: ProcessLock | null = null;
  #writers = 0;
  #isAlone = false;

  /** `open`: opens the lock; only called when somebody writes. */
  constructor(open: () => ProcessLock) {
    this.#open = open;
  }

  get #lock(): ProcessLock {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Throws `store-busy` when a gc does not end. */
  async whilePublishing<T>(act: () => Promise<T>): Promise<T> {
    await this.#acquire("shared");
    try {
      return await act();
    } finally {
      this.#writers -= 1;
      if (this.#writers === 0) this.#lock.release();
    }
  }

  /** Throws `store-busy` while segment files are being written. */
  async whileAlone<T>(act: () => Promise<T>): Promise<T> {
    await this.#acquire("exclusive");
    try {
      return await act();
    } finally {
      this.#isAlone = false;
      this.#lock.release();
    }
  }

  close(): void {
    this.#opened?.close();
  }

  /** Writers of this process share one lock; the count rises in the same turn as it is found or taken. */
  #tryJoin(): boolean {
    if (this.#isAlone || (this.#writers === 0 && !this.#lock.tryAcquire("shared"))) return false;
    this.#writers += 1;
    return true;
  }

  #tryAlone(): boolean {
    if (this.#isAlone || this.#writers > 0 || !this.#lock.tryAcquire("exclusive")) return false;
    this.#isAlone = true;
    return true;
  }

  async #acquire(mode: "shared" | "exclusive"): Promise<void> {
    const deadline = performance.now() + LIMITS.writersWaitMs;
    for (;;) {
      if (mode === "shared" ? this.#tryJoin() : this.#tryAlone()) return;
      if (performance.now() > deadline) {
        const who = mode === "shared" ? "garbage collection of another process" : "another writer";
        throw new EngineError("store-busy", `Waited ${LIMITS.writersWaitMs} ms for ${who} to end`, {
          retryable: true,
          untouched: "Nothing was changed.",
        });
      }
      await sleep(POLL_MS);
    }
  }
}
