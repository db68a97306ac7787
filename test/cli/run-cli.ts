/** Runs command lines: in this process, or as a user does. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { vi } from "vitest";
import type { ErrorView } from "#shared/error-codes.ts";
import { runCli } from "../../src-main/cli/program.ts";
import { stdout } from "../../src-main/cli/stdout.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const MAIN = join(import.meta.dirname, "../../src-main/cli/main.ts");

/** One command line in this process, with what it prints. */
export async function cli(...args: readonly string[]): Promise<Ran> {
  const printed = { out: "", err: "" };
  const capture = (key: "out" | "err") => (chunk: string | Uint8Array) => {
    printed[key] += String(chunk);
    return true;
  };
  const spies = [
    vi.spyOn(stdout, "write").mockImplementation(capture("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(capture("err")),
  ];
  try {
    const code = await runCli(args);
    return { code, ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** The result of a command line with `--json`; throws what it printed instead. */
export async function cliResult<T>(...args: readonly string[]): Promise<T> {
  const { out } = await cli("--json", ...args);
  const answer = JSON.parse(out) as { ok: true; result: T } | { ok: false; error: ErrorView };
  if (!answer.ok) throw new Error(`${args.join(" ")}: ${answer.error.code}: ${answer.error.message}`);
  return answer.result;
}

/** The error of a command line with `--json`, and its exit code. */
export async function cliError(...args: readonly string[]): Promise<ErrorView & { exit: number }> {
  const { code, out } = await cli("--json", ...args);
  const answer = JSON.parse(out) as { ok: boolean; error: ErrorView };
  if (answer.ok) throw new Error(`${args.join(" ")} succeeded: ${out}`);
  return { ...answer.error, exit: code };
}

/** The program in a process of its own. */
export function startCli(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ran> } {
  return startProgram(process.execPath, [MAIN, ...args], env);
}

export function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { readonly child: ChildProcess; readonly ended: Promise<Ran> } {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  const printed = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.err += text));
  const ended = new Promise<Ran>((settle) =>
    child.once("close", (code, signal) => settle({ code: code ?? (signal ? -1 : 1), ...printed })),
  );
  return { child, ended };
}
