import type { HostEvent } from "#shared/contract.ts";
import type { Store } from "#engine/store-api.ts";

const OPERATIONS_EVERY_MS = 250;
const FILES_EVERY_MS = 1_000;

/**
 * Tells the screens what others did to the store: the operation log is polled four times a second (one read of a
 * counter), the files of checkouts once a second (stat only). A store that cannot be read is reported as a lost
 * connection, once, until it can be read again.
 */
export class ChangeWatch {
  readonly #store: Store;
  readonly #emit: (event: HostEvent) => void;
  #lastOperation: number;
  /** Unsaved branches by database, as last reported. */
  #unsaved = new Map<string, ReadonlySet<string>>();
  #databases: readonly string[] | null = null;
  #nextFilesAt = 0;
  #lost = false;
  #stopped = false;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;

  constructor(store: Store, emit: (event: HostEvent) => void) {
    this.#store = store;
    this.#emit = emit;
    this.#lastOperation = store.lastOperation();
    this.#schedule();
  }

  /** Looks now instead of at the next tick: called after every verb of our own. */
  look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#looking;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.look().then(() => this.#schedule()), OPERATIONS_EVERY_MS);
  }

  async #lookOnce(): Promise<void> {
    if (this.#stopped) return;
    try {
      const lastOperation = this.#store.lastOperation();
      if (lastOperation !== this.#lastOperation) {
        this.#lastOperation = lastOperation;
        this.#databases = null;
        this.#emit({ type: "store-changed", lastOperation });
      }
      if (Date.now() >= this.#nextFilesAt) {
        await this.#lookAtFiles();
        this.#nextFilesAt = Date.now() + FILES_EVERY_MS;
      }
      if (this.#lost) this.#emit({ type: "connection", state: "open" });
      this.#lost = false;
    } catch {
      if (!this.#lost) this.#emit({ type: "connection", state: "lost" });
      this.#lost = true;
    }
  }

  async #lookAtFiles(): Promise<void> {
    this.#databases ??= (await this.#store.databases({})).map((database) => database.name);
    const now = new Map<string, ReadonlySet<string>>();
    for (const database of this.#databases) now.set(database, new Set(this.#store.unsavedBranches(database)));
    for (const [database, branches] of now) {
      const before = this.#unsaved.get(database) ?? new Set<string>();
      const changed = [...branches].filter((branch) => !before.has(branch)).concat([...before].filter((branch) => !branches.has(branch)));
      if (changed.length > 0) this.#emit({ type: "checkouts-changed", database, branches: changed });
    }
    this.#unsaved = now;
  }
}
