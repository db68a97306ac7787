/** One run of the program: opens the store for a verb, shows its progress, lets signals cancel it, prints what came of it. */
import type { VerbResult } from "#shared/views.ts";
import { formatCount } from "./table.ts";
import { requireStoreSpec } from "./locate-store.ts";
import { exitCodeOf, type Terminal } from "./terminal.ts";
import type { Store } from "#engine/store-api.ts";

export interface GlobalOptions {
  readonly store?: string;
  readonly actor?: string;
}

export interface LongWork {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
  readonly phase: (name: string) => void;
}

type Verb<T> = (store: Store, work: LongWork) => Promise<T>;
const CANCELLING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export class Cli {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  exitCode = 0;
  /** The signal that cancelled the work, when one did. */
  interruptedBy: NodeJS.Signals | null = null;

  constructor(terminal: Terminal, options: GlobalOptions) {
    this.terminal = terminal;
    this.options = options;
  }

  /** A verb that changes something: says in a sentence what was done, then `details`. */
  async act<T extends VerbResult>(verb: Verb<T>, details: (result: T) => readonly string[] = () => []): Promise<void> {
    const result = await this.withStore(verb);
    for (const warning of result.warnings) this.terminal.warn(warning);
    const sentence = result.operation?.summary ?? "Nothing changed: it is so already";
    this.terminal.result(result, this.terminal.looks.quiet ? "" : [sentence, ...details(result)].join("\n"));
  }

  /** A question: prints the answer, or on stderr what an empty one means. */
  async ask<T>(verb: Verb<T>, show: (result: T, terminal: Terminal) => string, ifEmpty = ""): Promise<void> {
    const result = await this.withStore(verb);
    const text = show(result, this.terminal);
    this.terminal.result(result, text);
    if (text === "" && ifEmpty !== "") this.terminal.note(ifEmpty);
  }

  /** Opens the store, runs `verb` in it and closes it. */
  async withStore<T>(verb: Verb<T>): Promise<T> {
    const spec = requireStoreSpec(this.options.store);
    const { openStore } = await import("#engine/store.ts");
    // This process opens no SQLite connection on checkouts, so it may read their files itself.
    const store = await openStore(spec, { actor: this.options.actor, ownProcess: true });
    try {
      return await this.cancellable((work) => verb(store, work));
    } finally {
      await store.close();
    }
  }

  /** The first signal asks the work to stop and leaves nothing half done; the second ends at once. */
  async cancellable<T>(work: (work: LongWork) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const cancel = (signal: NodeJS.Signals) => {
      if (abort.signal.aborted) process.exit(exitCodeOf(signal));
      this.interruptedBy = signal;
      abort.abort();
      this.terminal.note("Cancelling …");
    };
    for (const signal of CANCELLING_SIGNALS) process.on(signal, cancel);
    let phase = "Working";
    try {
      return await work({
        signal: abort.signal,
        phase: (name) => (phase = name),
        progress: (done, total) =>
          this.terminal.progress(total > 0 ? `${phase}: ${Math.floor((100 * done) / total)} % of ${formatCount(total)}` : phase),
      });
    } finally {
      for (const signal of CANCELLING_SIGNALS) process.off(signal, cancel);
    }
  }
}
