/** Stock SQLite clients in processes of their own, killed or kept alive in the middle of what they do. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { join } from "node:path";

const REPOSITORY = join(import.meta.dirname, "../..");
const PRELUDE = `const Database = require("better-sqlite3"); const path = process.argv[1];`;

/** Runs `script` (it finds `path` and `Database`) and kills the process with SIGKILL at its end. */
export function runAndKill(path: string, script: string): void {
  const { signal, stderr } = spawnSync(process.execPath, ["-e", `${PRELUDE} ${script}; process.kill(process.pid, "SIGKILL");`, path], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  if (signal !== "SIGKILL") throw new Error(`the client ended before it was killed: ${stderr}`);
}

export interface LiveClient {
  readonly pid: number;
  /** Kills it and waits for its end. */
  readonly stop: () => Promise<void>;
}

/** Runs `script` and keeps the process, and what it holds, until `stop`. */
export async function runAndStay(path: string, script: string): Promise<LiveClient> {
  const child = spawn(process.execPath, ["-e", `${PRELUDE} ${script}; process.stdout.write("ready"); setInterval(() => {}, 1e6);`, path], {
    cwd: REPOSITORY,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await waitForReady(child);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid ?? 0, stop };
}

function waitForReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the client ended before it was ready")));
  });
}
