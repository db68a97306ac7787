/** Runs a piece of ESM TypeScript in a process of its own, which can import the engine. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const REPOSITORY = join(import.meta.dirname, "../..");

export interface Script {
  readonly pid: number;
  /** The next line that it prints. Throws when it ends before. */
  readonly nextLine: () => Promise<string>;
  /** Writes one line to its standard input. */
  readonly send: (line: string) => void;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Kills it and waits for its end. */
  readonly kill: () => Promise<void>;
  /** Waits for its end; returns the exit code. */
  readonly end: () => Promise<number | null>;
}

export function startScript(source: string, environment: NodeJS.ProcessEnv = {}): Script {
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module-typescript", "-e", source], {
    cwd: REPOSITORY,
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const lines: string[] = [];
  let partial = "";
  let wake: (() => void) | null = null;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const parts = (partial + text).split("\n");
    partial = parts.pop() ?? "";
    lines.push(...parts);
    wake?.();
  });
  return {
    pid: child.pid ?? 0,
    nextLine: async () => {
      while (lines.length === 0) {
        const line = new Promise<void>((resolve) => (wake = resolve));
        const isOver = await Promise.race([line.then(() => false), ended.then(() => true)]);
        if (isOver && lines.length === 0) throw new Error("the script ended before it printed a line");
      }
      return lines.shift() ?? "";
    },
    send: (line) => child.stdin?.write(`${line}\n`),
    signal: (signal) => child.kill(signal),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
    end: async () => (await ended)[0],
  };
}
