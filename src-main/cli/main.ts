/**
 * Entry of `coppice`. Everything else is imported after the compile cache is on: a cold start is mostly the compiling
 * of modules, and static imports would be compiled before this line runs.
 */
import { enableCompileCache } from "node:module";

enableCompileCache();
void main();

async function main(): Promise<void> {
  const { runCli } = await import("./program.ts");
  process.exitCode = await runCli(process.argv.slice(2));
}
