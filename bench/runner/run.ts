/**
 * Runs one suite: its sandbox, its steps one after the other, what they record. The same for the terminal, the screen and
 * `npm run bench`. A step that fails is recorded and the others go on; a run that is stopped keeps what it has.
 */
import { mkdirSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { assert } from "#shared/assert.ts";
import type { BenchRun, BenchState, BenchUpdate, MachineCard } from "#shared/bench-views.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import type { Bench, Order, Step, Suite } from "../suite.ts";
import { commandOf } from "./order.ts";
import { markOf, readMachine } from "./machine.ts";
import { Recorder } from "./recorder.ts";
import { makeSandbox, type Sandbox } from "./sandbox.ts";
import { makeSourceDatabase } from "./source-database.ts";

export interface RunInput {
  readonly suite: Suite;
  readonly order: Order;
  /** On the disk to measure; the sandbox is made in it. */
  readonly folder: string;
  /** Aborted: the run ends at the next chance and keeps what it has, as `partial`. */
  readonly signal: AbortSignal;
  /** Once, before the first step: the run with its plan and nothing measured. */
  readonly onStart?: (run: BenchRun) => void;
  /** At most ten a second. */
  readonly onUpdate?: (update: BenchUpdate) => void;
  /** After each step: the run so far. */
  readonly onStep?: (run: BenchRun) => void;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,79}$/i;

/**
 * The finished run. Throws only before anything was measured: `disk-full`, `file-not-found`, `permission-denied`,
 * `store-read-only` (the sandbox cannot be made), `bad-argument` (the order does not fit the suite).
 */
export async function runSuite(input: RunInput): Promise<BenchRun> {
  const size = input.suite.sizes.find(({ id }) => id === input.order.size);
  if (!size) throw new EngineError("bad-argument", `The suite ${input.suite.id} has no size ${input.order.size}`);
  const steps = input.suite.plan(input.order);
  for (const { id } of steps) assert(NAME.test(id), `"${id}" names a step and its folder`);
  const sandbox = makeSandbox(input.folder, size.diskBytes);
  try {
    const run = new SuiteRun(input, steps, sandbox, await readMachine(sandbox.path));
    return await run.work();
  } finally {
    sandbox.remove();
  }
}

class SuiteRun {
  readonly #input: RunInput;
  readonly #steps: readonly Step[];
  readonly #sandbox: Sandbox;
  readonly #machine: MachineCard;
  readonly #recorder: Recorder;
  readonly #startedAt = Date.now();
  readonly #id: string;
  /** Databases of several steps, by size in MiB. */
  readonly #databases = new Map<number, Promise<string>>();

  constructor(input: RunInput, steps: readonly Step[], sandbox: Sandbox, machine: MachineCard) {
    this.#input = input;
    this.#steps = steps;
    this.#sandbox = sandbox;
    this.#machine = machine;
    const time = new Date(this.#startedAt).toISOString().replace(/[-:]|\.\d+/g, "");
    this.#id = `${time}-${input.suite.id}-${randomBytes(3).toString("hex")}`;
    this.#recorder = new Recorder(this.#id, steps, (update) => input.onUpdate?.(update));
  }

  async work(): Promise<BenchRun> {
    const { signal, onStart, onStep } = this.#input;
    const stop = () => (this.#recorder.state = "stopping");
    signal.addEventListener("abort", stop);
    mkdirSync(this.#shared);
    onStart?.(this.#look("running"));
    try {
      for (const [index, step] of this.#steps.entries()) {
        if (signal.aborted) break;
        this.#recorder.enter(step, index);
        await this.#workOn(step);
        onStep?.(this.#look(this.#recorder.state));
        // Lets signals and messages in between two steps.
        await nextTurn();
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
    this.#recorder.state = this.#outcome();
    this.#recorder.close();
    return this.#look(this.#recorder.state);
  }

  async #workOn(step: Step): Promise<void> {
    const bench = this.#benchFor(step);
    mkdirSync(bench.folder);
    try {
      const missing = (await step.missing?.(bench)) ?? null;
      if (missing !== null) this.#recorder.skipStep(step.id, missing);
      else await step.run(bench);
    } catch (error) {
      const stopped = this.#input.signal.aborted && toErrorView(error).code === "cancelled";
      if (!stopped) this.#recorder.failStep(step.id, error);
    } finally {
      rmSync(bench.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    }
  }

  #benchFor(step: Step): Bench {
    const recorder = this.#recorder;
    const { order, signal } = this.#input;
    return {
      order,
      signal,
      folder: join(this.#sandbox.path, `step-${step.id}`),
      shared: this.#shared,
      filesystem: { type: this.#machine.filesystem, reflink: this.#machine.reflink },
      phase: (name, done = 0, total) => recorder.phase(name, done, total ?? null),
      record: (series, value) => recorder.record(step.id, series, value),
      fail: (series, error, kind = "error") => {
        // A call that its process was killed in, because the run was stopped, failed for no reason of its own.
        if (!signal.aborted) recorder.fail(step.id, series, error, kind);
      },
      skip: (series, reason) => recorder.skip(step.id, series, reason),
      fact: (label, value, unit = typeof value === "number" ? "count" : "text") => recorder.fact({ step: step.id, label, value, unit }),
      database: (megabytes) => this.#database(megabytes),
      pause: () => this.#pause(),
    };
  }

  get #shared(): string {
    return join(this.#sandbox.path, "shared");
  }

  async #pause(): Promise<void> {
    await nextTurn();
    if (this.#input.signal.aborted) throw new EngineError("cancelled", "The run was stopped", { untouched: "What was measured is kept." });
  }

  #database(megabytes: number): Promise<string> {
    const found = this.#databases.get(megabytes);
    if (found) return found;
    const made = this.#makeDatabase(megabytes);
    this.#databases.set(megabytes, made);
    // Tried again by the next step that needs it.
    made.catch(() => this.#databases.delete(megabytes));
    return made;
  }

  async #makeDatabase(megabytes: number): Promise<string> {
    const path = join(this.#shared, `source-${megabytes}.db`);
    rmSync(`${path}.new`, { force: true });
    await makeSourceDatabase(path, { megabytes, seed: this.#input.order.seed }, async (done) => {
      this.#recorder.phase(`Make a database of ${megabytes} MiB`, Math.min(megabytes, Math.floor(done)), megabytes);
      await this.#pause();
    });
    return path;
  }

  #outcome(): BenchState {
    if (this.#input.signal.aborted) return "partial";
    return this.#recorder.hasSamples || this.#recorder.firstError === null ? "done" : "failed";
  }

  #look(state: BenchState): BenchRun {
    const { suite, order, folder } = this.#input;
    const ended = state === "done" || state === "partial" || state === "failed";
    return {
      id: this.#id,
      suite: suite.id,
      title: suite.title,
      size: order.size,
      state,
      startedAt: this.#startedAt,
      endedAt: ended ? Date.now() : null,
      mark: markOf(this.#machine),
      options: order.options,
      seed: order.seed,
      machine: this.#machine,
      command: commandOf(suite, order, folder),
      series: this.#recorder.series(),
      facts: [...this.#recorder.facts],
      tables: suite.tables(order),
      failure: state === "failed" ? this.#recorder.firstError : null,
      progress: this.#recorder.progress,
    };
  }
}
