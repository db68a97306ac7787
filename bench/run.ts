/**
 * Entry of `npm run bench -- [suite] …`: `coppice bench` from the sources, with the addon built when there is none. Without
 * it the run says that its figures are those of the slower paths.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

if (!existsSync(join(ROOT, "native", "build", "Release", "coppice_native.node"))) {
  // What it says goes to stderr: stdout is for results.
  spawnSync(process.execPath, [join(ROOT, "build", "build-native.ts")], { stdio: ["ignore", 2, 2] });
}
const { runCli } = await import("../src-main/cli/program.ts");
process.exitCode = await runCli(["bench", ...process.argv.slice(2)]);
