import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "#shared/limits.ts";

/** Counts the verbs under way, so that background work can give way to them. */
export class Activity {
  #active = 0;
  /** When the last verb ended, by the monotonic clock. */
  #endedAt = -Infinity;
  readonly #end = new AbortController();

  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      return await act();
    } finally {
      this.#active -= 1;
      this.#endedAt = performance.now();
    }
  }

  /**
   * Waits until no verb is under way and none has just ended, whose caller is likely to send the next. Not for ever: where
   * verbs never end, background work still gets on.
   */
  async idle(): Promise<void> {
    const { signal } = this.#end;
    const deadline = performance.now() + LIMITS.giveWayMs;
    while (!signal.aborted) {
      const now = performance.now();
      const wait = Math.min(this.#active > 0 ? LIMITS.quietMs : this.#endedAt + LIMITS.quietMs - now, deadline - now);
      if (wait <= 0) return;
      // A program that has nothing else to do may end.
      await sleep(wait, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  /** The store is being closed: nothing waits any more. */
  end(): void {
    this.#end.abort();
  }
}
