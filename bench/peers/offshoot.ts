/**
 * offshoot, driven by its own command line and, where it can be, by its daemon's socket: newline-separated JSON, one answer
 * a request. Its words stay its own.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram } from "../common/limits.ts";

const START_MS_MAX = 10_000;
const STOP_MS_MAX = 10_000;
const POLL_MS = 5;
const REPLY_BYTES_MAX = 1024 * 1024;

/** One store of it. Every call is a command; throws with what the program said. */
export class OffshootStore {
  readonly #program: string;
  readonly #spec: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(program: string, spec: string, env: NodeJS.ProcessEnv = process.env) {
    this.#program = program;
    this.#spec = spec;
    this.#env = env;
  }

  version(): string {
    return runProgram(this.#program, ["version"], this.#env).trim();
  }
  init(): void {
    this.#run("init");
  }
  create(database: string, from: string): void {
    this.#run("create", database, "--from", from);
  }
  fork(database: string, branch: string, newBranch: string, at?: string): void {
    this.#run("fork", `${database}@${branch}`, newBranch, ...(at === undefined ? [] : ["--at", at]));
  }
  /** Path of the branch's file. */
  checkout(database: string, branch: string): string {
    return this.#run("checkout", `${database}@${branch}`).trim();
  }
  checkpoint(database: string, branch: string, name: string): void {
    this.#run("checkpoint", `${database}@${branch}`, name);
  }
  rollback(database: string, branch: string, to: string): void {
    this.#run("rollback", `${database}@${branch}`, "--to", to);
  }
  promote(database: string, source: string, onto: string): void {
    this.#run("promote", `${database}@${source}`, "--onto", onto, "--force");
  }
  destroy(database: string, branch: string): void {
    this.#run("destroy", `${database}@${branch}`);
  }
  status(): void {
    this.#run("status");
  }

  /** Starts its daemon on `socket`, which does not exist. */
  async serve(socket: string): Promise<OffshootDaemon> {
    const child = spawn(this.#program, ["serve", "-socket", socket, "-store", this.#spec], { env: this.#env, stdio: "ignore" });
    return OffshootDaemon.connect(child, socket);
  }

  #run(verb: string, ...args: readonly string[]): string {
    return runProgram(this.#program, [verb, ...args, "-store", this.#spec], this.#env);
  }
}

interface Reply {
  readonly ok: boolean;
  readonly error?: string;
  readonly checkout?: string;
}

export class OffshootDaemon {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  #received = "";
  #waiting: { readonly settle: (reply: Reply) => void; readonly fail: (error: Error) => void } | null = null;

  private constructor(child: ChildProcess, socket: Socket) {
    this.#child = child;
    this.#socket = socket;
    socket.setEncoding("utf8").on("data", (text: string) => this.#receive(text));
    socket.on("error", (error) => this.#waiting?.fail(error));
    socket.on("close", () => this.#waiting?.fail(new Error("offshoot's daemon closed the connection")));
  }

  /** Throws, having ended it, when the daemon does not answer in time. */
  static async connect(child: ChildProcess, path: string): Promise<OffshootDaemon> {
    let failure: Error | null = null;
    child.once("error", (error) => (failure = error));
    const deadline = performance.now() + START_MS_MAX;
    for (;;) {
      const socket = await tryConnect(path);
      if (socket) return new OffshootDaemon(child, socket);
      if (failure !== null || child.exitCode !== null || performance.now() > deadline) {
        child.kill("SIGKILL");
        throw new Error("offshoot's daemon did not start", { cause: failure });
      }
      await sleep(POLL_MS);
    }
  }

  async fork(database: string, branch: string, name: string): Promise<void> {
    await this.#call({ op: "fork", db: database, branch, name });
  }
  /** Path of the file that the session watches. */
  async open(database: string, branch: string): Promise<string> {
    return (await this.#call({ op: "open", db: database, branch })).checkout ?? "";
  }
  async close(database: string, branch: string): Promise<void> {
    await this.#call({ op: "close", db: database, branch });
  }
  async destroy(database: string, branch: string): Promise<void> {
    await this.#call({ op: "destroy", db: database, branch });
  }

  /** Ends the daemon and waits for it. */
  async stop(): Promise<void> {
    this.#waiting = null;
    this.#socket.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((settle) => this.#child.once("exit", settle));
    this.#child.kill("SIGTERM");
    const timer = new AbortController();
    const late = sleep(STOP_MS_MAX, undefined, { signal: timer.signal }).then(
      () => this.#child.kill("SIGKILL"),
      () => undefined,
    );
    await Promise.race([ended, late]);
    timer.abort();
    await ended;
  }

  async #call(request: Readonly<Record<string, string>>): Promise<Reply> {
    const reply = await new Promise<Reply>((settle, fail) => {
      this.#waiting = { settle, fail };
      this.#socket.write(`${JSON.stringify(request)}\n`);
    });
    if (!reply.ok) throw new Error(`offshoot refused ${request["op"]}: ${reply.error ?? "it does not say why"}`);
    return reply;
  }

  #receive(text: string): void {
    this.#received += text;
    if (this.#received.length > REPLY_BYTES_MAX) return this.#waiting?.fail(new Error("offshoot's daemon sent too long an answer"));
    const end = this.#received.indexOf("\n");
    if (end < 0) return;
    const line = this.#received.slice(0, end);
    this.#received = this.#received.slice(end + 1);
    const waiting = this.#waiting;
    this.#waiting = null;
    try {
      waiting?.settle(JSON.parse(line) as Reply);
    } catch (error) {
      waiting?.fail(new Error(`offshoot's daemon sent no JSON: ${line.slice(0, 200)}`, { cause: error }));
    }
  }
}

function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.removeAllListeners();
      settle(socket);
    });
    socket.once("error", () => settle(null));
  });
}
