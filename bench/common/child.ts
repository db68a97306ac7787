/** Programs that a step starts and waits for, without holding up the run: they end when it is stopped. */
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "#engine/io/errors.ts";
import type { Bench } from "../suite.ts";

const OUTPUT_CHARS_MAX = 1024 * 1024;

/**
 * A program of ours as it is shipped, e.g. "cli.js": beside this module when that is built itself, else in `out/`. Null when
 * nothing was built.
 */
export function findBuilt(name: string): string | null {
  const places = [join(import.meta.dirname, name), join(import.meta.dirname, "../../out/main", name)];
  return places.find((path) => existsSync(path)) ?? null;
}

/** When a built program was built, for facts: it may be older than the sources. */
export function describeBuilt(path: string): string {
  return `the built program of ${statSync(path).mtime.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Standard output. Throws with what the program said when it fails; killed when the run is stopped. */
export function runChild(bench: Bench, program: string, args: readonly string[]): Promise<string> {
  return new Promise((settle, fail) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], signal: bench.signal, killSignal: "SIGKILL" });
    let output = "";
    let complaint = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-OUTPUT_CHARS_MAX)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint = (complaint + text).slice(-OUTPUT_CHARS_MAX)));
    child.once("error", (error) => fail(bench.signal.aborted ? stopped() : error));
    child.once("close", (status, signal) => {
      if (status === 0) settle(output);
      else if (bench.signal.aborted) fail(stopped());
      else fail(new Error(`${program} ended with ${status ?? signal}: ${complaint.trim()}`));
    });
  });
}

function stopped(): EngineError {
  return new EngineError("cancelled", "The run was stopped", { untouched: "What was measured is kept." });
}

/** Runs a script of ours with the Node that runs this. */
export function runNode(bench: Bench, args: readonly string[]): Promise<string> {
  return runChild(bench, process.execPath, args);
}
