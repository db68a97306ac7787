import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const STDOUT = JSON.stringify(join(import.meta.dirname, "../../src-main/cli/stdout.ts"));
const LINES = 200_000;

/** Lines in many calls to stdout, more than a pipe holds; every seventh call asks for a terminal, which makes the pipe non-blocking. */
const PROGRAM = `const { stdout } = await import(${STDOUT});
for (let line = 0; line < ${LINES}; line += 100) {
  const text = Array.from({ length: 100 }, (_, index) => line + index + "\\n").join("");
  if (line % 700 === 0 && stdout.isTerminal) throw new Error("a pipe is no terminal");
  if (!stdout.write(text)) await stdout.drained();
}`;

test.each([
  ["at once", ""],
  ["as Node's stream writes it", "process.stdout.isTTY;"],
])("CLI-29: everything arrives in order though nobody reads for a while, %s", async (_, before) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", `${before}${PROGRAM}`], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((settle) => child.once("close", settle));
  let text = "";
  child.stdout.setEncoding("utf8");
  await sleep(300);
  for await (const piece of child.stdout) {
    text += String(piece);
    if (text.length < 400_000) await sleep(5);
  }
  expect(await ended).toBe(0);
  expect(text).toBe(Array.from({ length: LINES }, (__, line) => `${line}\n`).join(""));
});

test("CLI-29: what stdout does not take ends the program with 1 and one line that says so", async () => {
  const program = `const { stdout } = await import(${STDOUT}); stdout.write("text\\n");`;
  const full = openSync("/dev/full", "w");
  onTestFinished(() => closeSync(full));
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", full, "pipe"] });
  let said = "";
  child.stderr?.on("data", (piece) => (said += String(piece)));
  expect(await new Promise((settle) => child.once("close", settle))).toBe(1);
  expect(said).toMatch(/^coppice: What was found cannot be written to stdout: .*ENOSPC.*\n$/);
});
