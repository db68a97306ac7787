import { resolve } from "node:path";
import type { Command } from "commander";
import { formatBytes } from "#shared/units.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseBranch, parseState, parseTime, type BranchTarget, type StateTarget } from "./arguments.ts";
import type { Cli, LongWork } from "./cli.ts";
import type { Store } from "#engine/store-api.ts";

interface CheckoutOptions {
  readonly takeTheirs?: boolean;
  readonly putMineOnTop?: boolean;
  readonly wait?: number;
}

export function addFileCommands(program: Command, cli: () => Cli): void {
  program
    .command("checkout")
    .description("make a branch's file current and print its path; with @AT a read-only file of that state")
    .argument("<target>", "DB[@BRANCH[@AT]]", parseState)
    .option("--take-theirs", "the file holds work on a version that is no longer the head: keep it as an autosave, take the head")
    .option("--put-mine-on-top", "keep the file: what sets it apart from the head becomes unsaved work")
    .option("--wait <time>", "how long to wait for a program that uses the file", parseTime)
    .action((target: StateTarget, options: CheckoutOptions) => checkout(cli(), target, options));
  program
    .command("path")
    .description("print where a branch's file is, or would be; touches nothing")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .action((target: BranchTarget) =>
      cli().ask(
        async (store) => ({ path: (await store.branch(target)).checkout.path }),
        ({ path }) => path,
      ),
    );
  program
    .command("export")
    .description("write a state of a branch as a SQLite file of its own")
    .argument("<target>", "DB[@BRANCH[@AT]]", parseState)
    .argument("<file>", "where to")
    .option("--overwrite", "replace a file that is there")
    .action((target: StateTarget, file: string, { overwrite }: { overwrite?: boolean }) =>
      cli().ask(
        (store, work) => store.export({ ...target, file: resolve(file), overwrite }, work),
        ({ path, bytes }, terminal) => (terminal.looks.quiet ? "" : `Exported to ${path} (${formatBytes(bytes)})`),
      ),
    );
}

async function checkout(cli: Cli, target: StateTarget, options: CheckoutOptions): Promise<void> {
  if (options.takeTheirs && options.putMineOnTop)
    throw new EngineError("bad-argument", "--take-theirs and --put-mine-on-top exclude each other");
  if (target.at !== undefined && Object.keys(options).length > 0) {
    throw new EngineError("bad-argument", `@${target.at} is a state that cannot change: there is nothing to choose about its file`);
  }
  const result = await cli.withStore((store, work) => prepareFile(store, target, options, work));
  for (const warning of result.warnings) cli.terminal.warn(warning);
  cli.terminal.result(result, result.path);
}

/** The file of a branch's head, to work in, or of an earlier state, to look at. */
export async function prepareFile(
  store: Store,
  { database, branch, at }: StateTarget,
  options: CheckoutOptions,
  work: LongWork,
): Promise<{ readonly path: string; readonly warnings: readonly string[] }> {
  if (at !== undefined) return { ...(await store.openCheckpoint({ database, branch, at }, work)), warnings: [] };
  const resolution = options.takeTheirs ? "take-theirs" : options.putMineOnTop ? "put-mine-on-top" : undefined;
  return store.checkout({ database, branch, resolve: resolution, waitMs: options.wait }, work);
}
