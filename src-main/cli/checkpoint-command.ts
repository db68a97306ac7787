import type { Command } from "commander";
import { formatBytes } from "#shared/units.ts";
import type { CheckpointResult } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { collectMeta, parseBranch, parseCheckpointName, parseTime, type BranchTarget } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { plural } from "./table.ts";

interface CheckpointOptions {
  readonly message?: string;
  readonly meta?: Record<string, string>;
  readonly replace?: boolean;
  readonly putMineOnTop?: boolean;
  readonly wait?: number;
  readonly rename?: readonly string[];
  readonly delete?: string;
}

export function addCheckpointCommand(program: Command, cli: () => Cli): void {
  program
    .command("checkpoint")
    .description("save what the branch's file holds as a version, and name it")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .argument("[name]", "name of the checkpoint; without one it is named auto-N", parseCheckpointName)
    .option("-m, --message <text>", "a message kept with the version")
    .option("--meta <key=value>", "metadata kept with the version; repeatable", collectMeta)
    .option("--replace", "move the name here when the branch already has it")
    .option("--put-mine-on-top", "the file's work was made on a version that is no longer the head: save it on top of the head")
    .option("--wait <time>", "how long to wait for a program that is writing", parseTime)
    .option("--rename <names...>", "OLD NEW: give a checkpoint of this branch another name")
    .option("--delete <name>", "take away the name of a checkpoint of this branch", parseCheckpointName)
    .action((target: BranchTarget, name: string | undefined, options: CheckpointOptions) => checkpoint(cli(), target, name, options));
}

function checkpoint(cli: Cli, target: BranchTarget, name: string | undefined, options: CheckpointOptions): Promise<void> {
  if (options.rename || options.delete !== undefined) return relabel(cli, target, name, options);
  const { message, meta, replace, wait: waitMs } = options;
  const resolve = options.putMineOnTop ? ("put-mine-on-top" as const) : undefined;
  return cli.act((store, work) => store.checkpoint({ ...target, name, message, meta, replace, resolve, waitMs }, work), describeSaved);
}

function describeSaved({ changedPages, storedBytes }: CheckpointResult): string[] {
  return changedPages > 0 ? [`${plural(changedPages, "page")} changed, ${formatBytes(storedBytes)} stored`] : [];
}

function relabel(cli: Cli, target: BranchTarget, name: string | undefined, options: CheckpointOptions): Promise<void> {
  const { rename, delete: doomed, ...others } = options;
  if (name !== undefined || Object.keys(others).length > 0 || (rename && doomed !== undefined)) {
    throw new EngineError("bad-argument", "--rename and --delete change a name that is there: they stand alone");
  }
  if (doomed !== undefined) return cli.act((store) => store.deleteCheckpoint({ ...target, name: doomed }));
  const [from, to, ...surplus] = rename ?? [];
  if (from === undefined || to === undefined || surplus.length > 0) {
    throw new EngineError("bad-argument", "--rename needs two names", { hint: "Write coppice checkpoint DB@BRANCH --rename OLD NEW" });
  }
  return cli.act((store) => store.renameCheckpoint({ ...target, name: parseCheckpointName(from), to: parseCheckpointName(to) }));
}
