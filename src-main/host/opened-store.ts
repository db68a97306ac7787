import type { HostEvent } from "#shared/contract.ts";
import type { StoreView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store-api.ts";
import { ChangeWatch } from "./change-watch.ts";
import type { JobRegistry } from "./jobs.ts";

/** The one store that a host has open, with the watch on it. */
export class OpenedStore {
  readonly #jobs: JobRegistry;
  readonly #emit: (event: HostEvent) => void;
  #store: Store | null = null;
  #watch: ChangeWatch | null = null;
  /** Ends what must not outlive the store, before it is closed. */
  beforeClose: () => Promise<void> = () => Promise.resolve();
  /** Opening and closing take turns. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(jobs: JobRegistry, emit: (event: HostEvent) => void) {
    this.#jobs = jobs;
    this.#emit = emit;
  }

  get store(): Store | null {
    return this.#store;
  }

  /** Throws `store-not-found` when no store is open. */
  require(request: string): Store {
    if (this.#store) return this.#store;
    throw new EngineError("store-not-found", `${request}: no store is open`, { hint: "Open or create one first." });
  }

  /** Opens another store; the one before is closed only when that worked. */
  replace(open: () => Promise<Store>): Promise<StoreView> {
    return this.#inTurn(async () => {
      this.#refuseWhileJobsRun("Open another store");
      const next = await open();
      let status: StoreView;
      try {
        status = await next.status({});
      } catch (error) {
        await next.close();
        throw error;
      }
      await this.#shut();
      this.#store = next;
      this.#watch = new ChangeWatch(next, this.#emit);
      return status;
    });
  }

  /** Reports at once what a verb of our own did. */
  look(): void {
    void this.#watch?.look();
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      this.#refuseWhileJobsRun("Close the store");
      await this.#shut();
    });
  }

  async #shut(): Promise<void> {
    if (this.#store) await this.beforeClose();
    await this.#watch?.stop();
    this.#watch = null;
    const store = this.#store;
    this.#store = null;
    await store?.close();
  }

  #refuseWhileJobsRun(act: string): void {
    const running = this.#jobs.holdingStore;
    if (running === 0) return;
    throw new EngineError("store-busy", `${act}: ${running === 1 ? "a job is" : `${running} jobs are`} still running in this one`, {
      hint: "Wait for the job, or cancel it.",
      untouched: "The store stays open and the work goes on.",
      retryable: true,
    });
  }

  #inTurn<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(body);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
