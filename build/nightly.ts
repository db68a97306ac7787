/**
 * `npm run nightly`: what takes too long for every change. A thousand rounds of random work by stock clients on file
 * systems that share blocks, each compared with a plain comparison of bytes; then a thousand kills in the middle of a verb.
 * `COPPICE_FIEMAP_ROUNDS` and `COPPICE_CRASH_ROUNDS` say how many, `COPPICE_SEED` repeats a run. Exit code 0 only when all
 * went well.
 */
import { join } from "node:path";
import { ROOT, run, runTool } from "./run.ts";
import { setUpMachine } from "./setup-machine.ts";

const ROUNDS = "1000";

async function runNightly(): Promise<readonly [what: string, code: number][]> {
  // Both need what they test: a skipped night is no good night.
  const required = { COPPICE_REQUIRE: "filesystems,addon" };
  const rounds = { COPPICE_FIEMAP_ROUNDS: process.env["COPPICE_FIEMAP_ROUNDS"] ?? ROUNDS };
  const kills = { COPPICE_CRASH_ROUNDS: process.env["COPPICE_CRASH_ROUNDS"] ?? ROUNDS };
  const vitest = ["run", "--project", "deep", "test/engine/checkouts/shadow-rounds.deep.test.ts"];
  return [
    ["changes found by extents", await runTool("vitest/vitest.mjs", vitest, { ...required, ...rounds })],
    ["kill -9", await run(process.execPath, [join(ROOT, "test/crash/kill-rounds.ts")], kills)],
  ];
}

await setUpMachine();
await run(process.execPath, [join(ROOT, "build/build-native.ts")]);
const outcomes = await runNightly();
for (const [what, code] of outcomes) console.log(`${what}: ${code === 0 ? "passed" : "FAILED"}`);
process.exit(outcomes.every(([, code]) => code === 0) ? 0 : 1);
