/** A program that ends with us: its shell waits at a pipe, which closes when this process ends in whatever way. */
import { spawn } from "node:child_process";

const OUTPUT_CHARS_MAX = 20_000;
/**
 * `$@` is the program. Beside it somebody reads from us, and ends the whole process group (the program's own children, too)
 * when there is a line or nobody left to write one.
 */
const SHELL =
  'exec 3<&0; "$@" </dev/null & program=$!; { read line <&3; kill -TERM 0; } & watch=$!; wait $program; status=$?; kill $watch; exit $status';

/** Throws with what the program said when it fails, or is ended by `signal`. */
export function runWatched(
  [program, ...args]: readonly [string, ...string[]],
  { signal, ...as }: { readonly uid?: number; readonly gid?: number; readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((settle, fail) => {
    const shell = spawn("/bin/sh", ["-c", SHELL, "sh", program, ...args], {
      ...as,
      cwd: "/",
      stdio: ["pipe", "ignore", "pipe"],
      detached: true,
    });
    const stop = () => shell.stdin.end();
    let complaint = "";
    shell.stderr.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(-OUTPUT_CHARS_MAX);
    });
    // The shell may be gone by the time we write to it.
    shell.stdin.on("error", () => undefined);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    shell.once("error", fail);
    shell.once("close", (status, killedBy) => {
      signal.removeEventListener("abort", stop);
      if (status === 0) settle();
      else fail(new Error(`${program} ended with ${status ?? killedBy}: ${complaint.trim()}`));
    });
  });
}
