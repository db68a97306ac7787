/** Requests to a child process of a suite: one at a time, answered in order. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { EngineError } from "#engine/io/errors.ts";
import { allDone } from "./all-done.ts";

interface Call<Q> {
  readonly id: number;
  readonly request: Q;
}
type Reply<A> =
  | { readonly id: number; readonly ok: true; readonly answer: A }
  | { readonly id: number; readonly ok: false; readonly message: string };

/** The asking end. The child ends when it is told to, or with this process. */
export class Caller<Q, A> {
  readonly #child: ChildProcess;
  #lastId = 0;
  #waiting: { readonly id: number; readonly settle: (answer: A) => void; readonly fail: (error: Error) => void } | null = null;
  #gone: string | null = null;

  /** `entry`: a file that calls `serveCalls`. */
  constructor(entry: string) {
    this.#child = fork(entry, [], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
      // Inside Electron the executable is the app itself.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" },
    });
    this.#child.on("message", (reply: Reply<A>) => this.#take(reply));
    this.#child.once("exit", (code, signal) => this.#die(signal ? `was ended by ${signal}` : `ended with code ${code}`));
    this.#child.once("error", (error) => this.#die(`could not be started: ${error.message}`));
  }

  get isAlive(): boolean {
    return this.#gone === null;
  }

  /** Throws the child's message, or that it is gone. */
  call(request: Q): Promise<A> {
    if (this.#gone !== null) return Promise.reject(new Error(this.#gone));
    const id = ++this.#lastId;
    return new Promise((settle, fail) => {
      this.#waiting = { id, settle, fail };
      const call: Call<Q> = { id, request };
      this.#child.send(call, (error) => {
        // It is ending, or unreachable for good: either way its end tells why.
        if (error) this.kill();
      });
    });
  }

  async end(): Promise<void> {
    if (this.#gone !== null) return;
    const ended = once(this.#child, "exit");
    if (this.#child.connected) this.#child.disconnect();
    await ended;
  }

  /** In the middle of a request, when a run is stopped. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #take(reply: Reply<A>): void {
    const waiting = this.#waiting;
    if (waiting?.id !== reply.id) return;
    this.#waiting = null;
    if (reply.ok) waiting.settle(reply.answer);
    else waiting.fail(new Error(reply.message));
  }

  #die(how: string): void {
    this.#gone ??= `A process of the benchmark ${how}`;
    this.#waiting?.fail(new Error(this.#gone));
    this.#waiting = null;
  }
}

/** The answering end: the rest of the child's life. */
export function serveCalls<Q, A>(answer: (request: Q) => A): void {
  const reply = ({ id, request }: Call<Q>): Reply<A> => {
    try {
      return { id, ok: true, answer: answer(request) };
    } catch (error) {
      return { id, ok: false, message: error instanceof Error ? error.message : String(error) };
    }
  };
  process.on("message", (call: Call<Q>) => void process.send?.(reply(call)));
  process.on("disconnect", () => process.exit());
}

/**
 * Runs `act` with child processes that have answered `hello`, then ends them. Once `signal` says so they are killed and
 * `cancelled` is thrown.
 */
export async function withCallers<Q, A, T>(
  { entry, count, hello, signal }: { readonly entry: string; readonly count: number; readonly hello: Q; readonly signal: AbortSignal },
  act: (callers: readonly Caller<Q, A>[]) => Promise<T>,
): Promise<T> {
  const callers = Array.from({ length: count }, () => new Caller<Q, A>(entry));
  const kill = (): void => callers.forEach((caller) => caller.kill());
  signal.addEventListener("abort", kill);
  try {
    await allDone(callers.map((caller) => caller.call(hello)));
    return await act(callers);
  } catch (error) {
    // What failed because its process was killed has been stopped.
    if (!signal.aborted) throw error;
    throw new EngineError("cancelled", "The run was stopped", { untouched: "What was measured is kept." });
  } finally {
    signal.removeEventListener("abort", kill);
    await Promise.all(callers.map((caller) => caller.end()));
  }
}
