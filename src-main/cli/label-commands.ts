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
      const { database, branch } = parseBranch(text);
      const to = text.includes("@") ? parseBranchName(name) : parseDatabaseName(name);
      return cli().act((store) =>
        text.includes("@") ? store.rename({ database, branch, to, force }) : store.renameDatabase({ database, to }),
      );
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
    .action((target: BranchTarget, { ttl, force }: Force & { ttl?: number | "none" }) =>
      cli().act((store) => store.touch({ ...target, ttlMs: ttl === "none" ? null : ttl, force })),
    );
  program
    .command("meta")
    .description("print a branch's metadata, or set some of it")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .argument("[key=value...]", "what to set")
    .option("--unset <keys...>", "keys to take away")
    .action((target: BranchTarget, pairs: readonly string[], { unset }: { unset?: readonly string[] }) =>
      changeMeta(cli(), target, pairs, unset),
    );
}

function changeMeta(cli: Cli, target: BranchTarget, pairs: readonly string[], unset: readonly string[] = []): Promise<void> {
  if (pairs.length === 0 && unset.length === 0) {
    return cli.ask(
      async (store) => (await store.branch(target)).meta,
      (meta, terminal) => (Object.keys(meta).length > 0 ? formatFacts(terminal, Object.entries(meta)) : ""),
    );
  }
  const set = pairs.reduce<Meta>((before, pair) => collectMeta(pair, before), {});
  return cli.act(async (store) => {
    const { meta } = await store.branch(target);
    const kept = Object.entries(meta).filter(([key]) => !unset.includes(key));
    return store.setMeta({ ...target, meta: { ...Object.fromEntries(kept), ...set } });
  });
}
