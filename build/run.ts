/** Running other programs from the scripts of this folder. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");

/** Runs a program in the foreground, without a keyboard; returns its exit code. */
export function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, ...env } });
  return new Promise((settle) => {
    child.once("error", (error) => {
      console.error(`${program}: ${error.message}`);
      settle(127);
    });
    child.once("exit", (code, signal) => settle(code ?? (signal ? 128 : 1)));
  });
}

/** Runs a JavaScript program of node_modules with the Node that runs this. */
export function runTool(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  return run(process.execPath, [join(ROOT, "node_modules", path), ...args], env);
}

/** True when a program can be found on PATH. */
export function hasProgram(name: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${name}`], { stdio: "ignore" }).status === 0;
}
