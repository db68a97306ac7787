import type { Command } from "commander";
import { LIMITS } from "#shared/limits.ts";
import type { ForkResult } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import {
  collectMeta,
  parseBranchName,
  parseCount,
  parseMoment,
  parseNamedBranch,
  parseState,
  parseTtl,
  type BranchTarget,
  type StateTarget,
} from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { findTrashed } from "./find-trashed.ts";
import { formatAgo, formatTable } from "./table.ts";

interface ForkOptions {
  readonly at?: string;
  readonly ttl?: number;
  readonly count?: number;
  readonly meta?: Record<string, string>;
  readonly withUnsaved?: boolean;
}

export function addBranchCommands(program: Command, cli: () => Cli): void {
  program
    .command("fork")
    .description("make a new branch; copies nothing")
    .argument("<target>", "DB[@BRANCH[@AT]]: what to fork", parseState)
    .argument("<name>", "name of the new branch", parseBranchName)
    .option("--at <state>", "fork an earlier state: a checkpoint, v12 or a time", parseMoment)
    .option("--ttl <time>", "to the trash when unused for so long", parseTtl)
    .option("--count <n>", "make NAME-1 … NAME-n in one operation", parseCount(LIMITS.forkCountMax))
    .option("--meta <key=value>", "metadata of the new branch; repeatable", collectMeta)
    .option("--with-unsaved", "take along what the file holds and no version does")
    .action((target: StateTarget, name: string, options: ForkOptions) => fork(cli(), target, name, options));
  program
    .command("destroy")
    .description("move a branch to the trash; branches forked from it stay")
    .argument("<target>", "DB@BRANCH", parseNamedBranch)
    .option("--force", "also when it is protected")
    .action((target: BranchTarget, { force }: { force?: boolean }) => cli().act((store) => store.destroy({ ...target, force })));
  program
    .command("trash")
    .description("list what can be restored, the last first")
    .action(() =>
      cli().ask(
        (store) => store.trash({}),
        (trash, terminal) =>
          formatTable(
            terminal,
            [
              { title: "TARGET" },
              { title: "HEAD" },
              { title: "TRASHED", align: "right" },
              { title: "BY" },
              { title: "BECAUSE" },
              { title: "PURGE AFTER" },
            ],
            trash.map((each) => [
              each.kind === "database" ? each.database : `${each.database}@${each.name}`,
              `v${each.head}`,
              formatAgo(each.trashedAt),
              each.actor,
              each.reason,
              new Date(each.purgeAt).toISOString().slice(0, 16).replace("T", " "),
            ]),
          ),
        "The trash is empty",
      ),
    );
  program
    .command("restore")
    .description("bring back a branch or database from the trash, the last of that name")
    .argument("<target>", "DB@BRANCH, or DB for a whole database")
    .option("--as <name>", "under another name")
    .action((target: string, { as }: { as?: string }) =>
      cli().act(async (store) => {
        const { kind, id } = findTrashed(await store.trash({}), target, as);
        return store.restore({ kind, id, as });
      }),
    );
}

function fork(cli: Cli, { database, branch, at }: StateTarget, newBranch: string, options: ForkOptions): Promise<void> {
  if (at !== undefined && options.at !== undefined)
    throw new EngineError("bad-argument", `Two states to fork: @${at} and --at ${options.at}`);
  const { count, meta, withUnsaved, ttl: ttlMs } = options;
  return cli.act(
    (store) => store.fork({ database, branch, newBranch, at: at ?? options.at, count, meta, withUnsaved, ttlMs }),
    describeForks,
  );
}

/** The first and last of many: their names only differ in a number. */
function describeForks({ branches }: ForkResult): string[] {
  return branches.length > 1 ? [`${branches[0]} … ${branches.at(-1)}`] : [];
}
