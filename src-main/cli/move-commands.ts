import type { Command } from "commander";
import type { MoveResult } from "#shared/views.ts";
import { parseBranch, parseBranchName, parseMoment, parseNamedBranch, parseTime, type BranchTarget } from "./arguments.ts";
import type { Cli, LongWork } from "./cli.ts";
import type { Store } from "#engine/store-api.ts";

interface MoveOptions {
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: number;
}

export function addMoveCommands(program: Command, cli: () => Cli): void {
  withMoveOptions(
    program.command("rollback").description("move a branch to an earlier (or later) state; unsaved work is kept as an autosave"),
  )
    .usage("<target> --to <state> [options]")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .requiredOption("--to <state>", "a checkpoint, v12 or a time", parseMoment)
    .action((target: BranchTarget, { to, ...options }: MoveOptions & { to: string }) =>
      move(cli(), `${target.branch} would be rolled back`, options, (store, choices, work) =>
        store.rollback({ ...target, to, ...choices }, work),
      ),
    );
  withMoveOptions(program.command("promote").description("make the state of one branch the head of another"))
    .usage("<target> --onto <branch> [options]")
    .argument("<target>", "DB@BRANCH: the branch that worked", parseNamedBranch)
    .requiredOption("--onto <branch>", "the branch that takes its state", parseBranchName)
    .action(({ database, branch: source }: BranchTarget, { onto, ...options }: MoveOptions & { onto: string }) =>
      move(cli(), `${source} would be promoted onto ${onto}`, options, (store, choices, work) =>
        store.promote({ database, source, onto, ...choices }, work),
      ),
    );
}

function withMoveOptions(command: Command): Command {
  return command
    .option("--force", "also when the branch is protected")
    .option("--dry-run", "say what would happen and change nothing")
    .option("--wait <time>", "how long to wait for a program that uses the file", parseTime);
}

type Choices = { readonly force: boolean | undefined; readonly dryRun: boolean | undefined; readonly waitMs: number | undefined };

async function move(
  cli: Cli,
  intention: string,
  options: MoveOptions,
  verb: (store: Store, choices: Choices, work: LongWork) => Promise<MoveResult>,
): Promise<void> {
  const choices = { force: options.force, dryRun: options.dryRun, waitMs: options.wait };
  if (!options.dryRun) return cli.act((store, work) => verb(store, choices, work), describeMove);
  const result = await cli.withStore((store, work) => verb(store, choices, work));
  const remarks = result.warnings.map((warning) => `\n${warning}`).join("");
  cli.terminal.result(result, `${intention}: v${result.from} → v${result.to}${remarks}`);
}

function describeMove({ from, to, autosave, checkout }: MoveResult): string[] {
  const kept = autosave === null ? "" : `; unsaved work kept as v${autosave}`;
  const file = checkout === "none" ? "" : `, file ${checkout}`;
  return from === to && autosave === null ? [] : [`v${from} → v${to}${file}${kept}`];
}
