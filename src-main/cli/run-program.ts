import { spawn } from "node:child_process";
import { EngineError } from "#engine/io/errors.ts";
import { exitCodeOf } from "./terminal.ts";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/**
 * Runs a program in the foreground and returns its exit code, 128 + N when signal N ended it. Signals meant for us reach
 * it, and we end after it. Throws `file-not-found`, `permission-denied` or `io-failed` when it cannot be started.
 */
export async function runProgram(
  command: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly stdoutFree: boolean },
): Promise<number> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["inherit", options.stdoutFree ? 2 : "inherit", "inherit"],
    env: { ...process.env, ...options.env },
  });
  const passOn = (signal: NodeJS.Signals) => void (reachesGroup(signal) || child.kill(signal));
  for (const signal of PASSED_ON) process.on(signal, passOn);
  try {
    return await new Promise<number>((settle, fail) => {
      child.once("error", (error: NodeJS.ErrnoException) => fail(startError(program, error)));
      child.once("exit", (code, signal) => settle(signal ? exitCodeOf(signal) : (code ?? 1)));
    });
  } finally {
    for (const signal of PASSED_ON) process.off(signal, passOn);
  }
}

/** A terminal sends Ctrl-C and Ctrl-\ to the whole group, the child included: sent again, they would arrive twice. */
function reachesGroup(signal: NodeJS.Signals): boolean {
  return process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT");
}

function startError(program: string, error: NodeJS.ErrnoException): EngineError {
  const code = error.code === "ENOENT" ? "file-not-found" : error.code === "EACCES" ? "permission-denied" : "io-failed";
  return new EngineError(code, `"${program}" could not be started`, { cause: error, details: { name: program } });
}
