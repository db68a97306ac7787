/**
 * Entry of `coppice`. Everything else is imported after the compile cache is on: a cold start is mostly the compiling
 * of modules, and static imports would be compiled before this line runs.
 */
import { enableCompileCache } from "node:module";

enableCompileCache();
// A reader that has seen enough (`| head`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});
const { runCli } = await import("./program.ts");
process.exitCode = await runCli(process.argv.slice(2));
