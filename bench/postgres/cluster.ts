/**
 * A Postgres server of a run: its data in the sandbox, reached by a private Unix socket, ended with the run. It is started
 * through a shell that waits at a pipe from us: when this process ends in whatever way, the pipe closes and the shell ends
 * the server. Should the shell die, too, the next run finds the server by its pid file in the sandbox.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runAs, type Runtime } from "./runtime.ts";
import { runWatched } from "./run-watched.ts";

/** Everything else is as the program brings it: fsync, synchronous_commit and full_page_writes on, WAL level replica. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ["listen_addresses", ""],
  // In the data folder, which is the server's working folder: private, and short enough for a socket's name.
  ["unix_socket_directories", "."],
  // Killed, it leaves nothing behind outside the data folder.
  ["dynamic_shared_memory_type", "mmap"],
];
const USER = "bench";
const POLL_MS = 1;
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;
const LOG_CHARS_MAX = 20_000;
/** `$@` is the server. The shell reads until we write a line or are gone, then asks the server to end ("fast"). */
const SHELL = '"$@" & server=$!; read line; kill -INT $server 2>/dev/null; wait $server';

export interface Row {
  readonly [column: string]: unknown;
}

export interface Connection {
  query(sql: string): Promise<readonly Row[]>;
  end(): Promise<void>;
}

export class Cluster {
  readonly #runtime: Runtime;
  readonly #data: string;
  readonly #signal: AbortSignal;
  #shell: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();
  #log = "";
  #socketFolder = "";

  private constructor(runtime: Runtime, data: string, signal: AbortSignal) {
    this.#runtime = runtime;
    this.#data = data;
    this.#signal = signal;
  }

  /**
   * A new cluster with its data in `folder`, which does not exist; not started. It ends when `signal` says so, whatever it is
   * doing.
   */
  static async make(runtime: Runtime, folder: string, signal: AbortSignal): Promise<Cluster> {
    mkdirSync(folder, { mode: 0o700 });
    if (runtime.user) chownSync(folder, runtime.user.uid, runtime.user.gid);
    const options = ["-D", folder, "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"];
    await runWatched([runtime.initdb, ...options], { ...runAs(runtime.user), signal });
    const cluster = new Cluster(runtime, folder, signal);
    signal.addEventListener("abort", () => void cluster.stop(), { once: true });
    return cluster;
  }

  /** What is measured under which settings, in words. */
  static get settings(): string {
    return "defaults (fsync, synchronous_commit and full_page_writes on), Unix socket only";
  }

  get isRunning(): boolean {
    return this.#shell !== null;
  }

  /** Starts the server; resolves with the first connection that it accepts. */
  async start(database = "postgres"): Promise<Connection> {
    if (this.#shell) throw new Error("the server runs already");
    const settings = SETTINGS.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = [this.#runtime.postgres, "-D", this.#data, ...settings];
    const shell = spawn("/bin/sh", ["-c", SHELL, "sh", ...server], {
      ...runAs(this.#runtime.user),
      cwd: "/",
      stdio: ["pipe", "ignore", "pipe"],
      // Ctrl-C reaches us alone, and we end the server.
      detached: true,
    });
    this.#shell = shell;
    shell.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#log = (this.#log + text).slice(-LOG_CHARS_MAX);
    });
    // The shell may be gone by the time we write to it.
    shell.stdin.on("error", () => undefined);
    this.#ended = new Promise((settle) => {
      const end = () => {
        this.#shell = null;
        settle();
      };
      shell.once("close", end);
      shell.once("error", end);
    });
    return this.#firstConnection(database);
  }

  async #firstConnection(database: string): Promise<Connection> {
    const deadline = performance.now() + START_MS_MAX;
    for (;;) {
      if (this.#signal.aborted) throw new Error("the run was stopped");
      if (!this.#shell) throw new Error(`the server ended: ${this.#log.trim()}`);
      try {
        return await this.#tryConnect(database);
      } catch (error) {
        if (performance.now() > deadline) throw new Error(`the server did not start: ${this.#log.trim()}`, { cause: error });
        await sleep(POLL_MS);
      }
    }
  }

  /** Throws while the server is not ready. */
  #tryConnect(database: string): Promise<Connection> {
    const pid = this.#pid();
    if (pid === null) throw new Error("there is no pid file yet");
    this.#socketFolder = `/proc/${pid}/cwd`;
    return this.connect(database);
  }

  async connect(database: string): Promise<Connection> {
    const { Client } = (await import("pg")).default;
    const client = new Client({ host: this.#socketFolder, user: USER, database, connectionTimeoutMillis: START_MS_MAX });
    // A server that is stopped ends its connections: whoever waits for a query learns it from that.
    client.on("error", () => undefined);
    await client.connect();
    return {
      query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
      end: () => client.end(),
    };
  }

  /** Ends the server and waits until it is gone. Nothing to do when it does not run. */
  async stop(): Promise<void> {
    const shell = this.#shell;
    if (!shell) return this.#ended;
    const pid = this.#pid();
    shell.stdin?.end("stop\n");
    const timer = new AbortController();
    const late = sleep(STOP_MS_MAX, "late" as const, { signal: timer.signal }).catch(() => "ended" as const);
    const how = await Promise.race([this.#ended.then(() => "ended" as const), late]);
    timer.abort();
    if (how === "late") {
      if (pid !== null) kill(pid);
      kill(-(shell.pid ?? 0));
      await this.#ended;
    }
  }

  #pid(): number | null {
    const file = join(this.#data, "postmaster.pid");
    if (!existsSync(file)) return null;
    const [pid = "", , , , , , , state = ""] = readFileSync(file, "utf8").split("\n");
    return state.startsWith("ready") && Number(pid) > 1 ? Number(pid) : null;
  }
}

function kill(pid: number): void {
  try {
    if (pid > 1 || pid < -1) process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}
