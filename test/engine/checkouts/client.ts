import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export type ClientRequest =
  | { readonly do: "open"; readonly path: string; readonly timeoutMs: number }
  | { readonly do: "exec"; readonly sql: string }
  | { readonly do: "all"; readonly sql: string }
  | { readonly do: "serialize" }
  | { readonly do: "close" };
export type ClientReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code: string };

/** Runs a stock SQLite client in another process, as a user's program would be. */
export class Client {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, "client-child.ts"), [], { serialization: "advanced", execArgv: [] });
  }

  static async open(path: string, ...pragmas: string[]): Promise<Client> {
    const client = new Client();
    await client.open(path);
    for (const pragma of pragmas) await client.exec(`PRAGMA ${pragma}`);
    return client;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async open(path: string, timeoutMs = 0): Promise<void> {
    await this.#ask({ do: "open", path, timeoutMs });
  }

  async exec(sql: string): Promise<void> {
    await this.#ask({ do: "exec", sql });
  }

  async all(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.#ask({ do: "all", sql })) as Record<string, unknown>[];
  }

  /** Every page as this client reads it. */
  async serialize(): Promise<Uint8Array> {
    return (await this.#ask({ do: "serialize" })) as Uint8Array;
  }

  async close(): Promise<void> {
    await this.#ask({ do: "close" });
  }

  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill(signal);
    await exited;
  }

  async #ask(request: ClientRequest): Promise<unknown> {
    const answered = once(this.#child, "message");
    this.#child.send(request);
    const [reply] = (await answered) as [ClientReply];
    if (reply.ok) return reply.value;
    throw Object.assign(new Error(reply.message), { code: reply.code });
  }
}
