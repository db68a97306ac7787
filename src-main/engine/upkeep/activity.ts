import { LIMITS } from "#shared/limits.ts";

/** Counts the verbs under way, so that background work can give way to them. */
export class Activity {
  #active = 0;
  #waiting: (() => void)[] = [];

  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#active += 1;
    try {
      return await act();
    } finally {
      this.#active -= 1;
      if (this.#active === 0) this.wake();
    }
  }

  /** Waits until no verb is under way, but not for ever: where verbs never end, background work still gets on. */
  async idle(): Promise<void> {
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => {
      // A program that has nothing else to do may end.
      const timer = setTimeout(resolve, LIMITS.mergeGiveWayMs).unref();
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Ends all waiting. */
  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
