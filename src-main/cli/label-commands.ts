import type { Command } from "commander";
import type { Meta } from "#shared/views.ts";
import { collectMeta, parseBranch, parseBranchName, parseDatabaseName, parseTtlOrNone, type BranchTarget } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { formatFacts } from "./table.ts";

interface Force {
  readonly force?: boolean;
}

export function addLabelCommands(program: Command, cli: () => Cli): void {
  program
    .command("rename")
    .description("give a branch (DB@BRANCH) or a database (DB) another name; its file moves with it")
    .argument("<target>", "DB@BRANCH or DB")
    .argument("<name>", "the new name")
    .option("--force", "also when the branch is protected")
    .action((text: string, name: string, { force }: Force) => {
      const target = parseBranch(text);
      if (text.includes("@")) return cli().act((store) => store.rename({ ...target, to: parseBranchName(name), force }));
      return cli().act((store) => store.renameDatabase({ database: target.database, to: parseDatabaseName(name) }));
    });
  for (const verb of ["protect", "unprotect"] as const) {
    program
      .command(verb)
      .description(
        verb === "protect" ? "refuse destroy, rollback, promote onto, rename and TTL without --force" : "take the protection away",
      )
      .argument("<target>", "DB[@BRANCH]", parseBranch)
      .action((target: BranchTarget) => cli().act((store) => store.protect({ ...target, protected: verb === "protect" })));
  }
  program
    .command("touch")
    .description("restart the clock of a branch's TTL, or change the TTL")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .option("--ttl <time>", "the new TTL, or none", parseTtlOrNone)
    .option("--force", "also when the branch is protected")
    .action((target: BranchTarget, { ttl: ttlMs, force }: Force & { ttl?: number | null }) =>
      cli().act((store) => store.touch({ ...target, ttlMs, force })),
    );
  program
    .command("meta")
    .description("print a branch's metadata, or set some of it")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .argument("[key=value...]", "what to set", collectMeta)
    .option("--unset <keys...>", "keys to take away")
    .action((target: BranchTarget, set: Meta | undefined, { unset }: { unset?: readonly string[] }) =>
      changeMeta(cli(), target, set, unset),
    );
}

function changeMeta(cli: Cli, target: BranchTarget, set: Meta | undefined, unset: readonly string[] = []): Promise<void> {
  if (set === undefined && unset.length === 0) {
    return cli.ask(
      async (store) => (await store.branch(target)).meta,
      (meta, terminal) => (Object.keys(meta).length > 0 ? formatFacts(terminal, Object.entries(meta)) : ""),
    );
  }
  return cli.act(async (store) => {
    const { meta } = await store.branch(target);
    const kept = Object.entries(meta).filter(([key]) => !unset.includes(key));
    return store.setMeta({ ...target, meta: { ...Object.fromEntries(kept), ...set } });
  });
}
