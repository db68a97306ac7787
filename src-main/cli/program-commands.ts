/** `open` and `run`: other programs with the path of a branch's file. */
import type { Command } from "commander";
import { formatTarget } from "#shared/ids.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import { parseCheckpointName, parseState, parseTtl, type StateTarget } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { prepareFile } from "./file-commands.ts";

/** A fork whose `run` was killed goes to the trash after this. */
const RUN_TTL_MS = 24 * 3_600_000;

export function addProgramCommands(program: Command, cli: () => Cli): void {
  program
    .command("open")
    .description("run a program on a branch's file: its path replaces {} or comes last, and is in COPPICE_PATH")
    .usage("<target> [options] -- <command...>")
    .argument("<target>", "DB[@BRANCH[@AT]]", parseState)
    .argument("<command...>", "after --: the program and its arguments")
    .option("--checkpoint <name>", "save the result under this name when the program ends with 0", parseCheckpointName)
    .action((target: StateTarget, command: string[], { checkpoint }: { checkpoint?: string }) => open(cli(), target, command, checkpoint));
  program
    .command("run")
    .description("run a program on a throw-away fork, which goes to the trash afterwards")
    .usage("--fork <target> [options] -- <command...>")
    .requiredOption("--fork <target>", "DB[@BRANCH[@AT]]: what to fork", parseState)
    .argument("<command...>", "after --: the program and its arguments")
    .option("--ttl <time>", "to the trash when unused for so long, should this process be killed (default: 1d)", parseTtl)
    .option("--keep", "leave the fork, with its file, as it is")
    .action((command: string[], { fork, ...options }: { fork: StateTarget; ttl?: number; keep?: boolean }) =>
      runOnFork(cli(), fork, command, options),
    );
}

async function open(cli: Cli, target: StateTarget, command: readonly string[], checkpoint: string | undefined): Promise<void> {
  if (target.at !== undefined && checkpoint !== undefined)
    throw new EngineError("bad-argument", `@${target.at} is a state that cannot change: there is nothing to checkpoint`);
  const { path, warnings } = await cli.withStore((store, work) => prepareFile(store, target, {}, work));
  for (const warning of warnings) cli.terminal.warn(warning);
  // The store is closed meanwhile: the program owns the file.
  const exitCode = await start(cli, command, path);
  cli.exitCode = exitCode;
  if (exitCode !== 0 || checkpoint === undefined) {
    if (checkpoint !== undefined) cli.terminal.warn(`${command[0]} ended with ${exitCode}: no checkpoint was made`);
    return finish(cli, { path, exitCode, checkpoint: null });
  }
  const saved = await cli.withStore((store, work) =>
    store.checkpoint({ database: target.database, branch: target.branch, name: checkpoint }, work),
  );
  cli.terminal.note(saved.operation?.summary ?? `Nothing changed: ${checkpoint} is v${saved.version} already`);
  finish(cli, { path, exitCode, checkpoint: saved.name });
}

async function runOnFork(
  cli: Cli,
  { database, branch, at }: StateTarget,
  command: readonly string[],
  options: { readonly ttl?: number; readonly keep?: boolean },
): Promise<void> {
  const fork = { database, branch: `run-${Date.now().toString(36)}-${process.pid.toString(36)}` };
  const ttlMs = options.ttl ?? (options.keep ? undefined : RUN_TTL_MS);
  const path = await cli.withStore(async (store, work) => {
    const { warnings } = await store.fork({ database, branch, at, newBranch: fork.branch, ttlMs });
    for (const warning of warnings) cli.terminal.warn(warning);
    return (await store.checkout(fork, work)).path;
  });
  try {
    cli.exitCode = await start(cli, command, path);
  } finally {
    if (!options.keep) await discard(cli, fork);
  }
  if (options.keep) cli.terminal.note(`Kept as ${formatTarget(fork)}`);
  finish(cli, { path: options.keep ? path : null, exitCode: cli.exitCode, branch: fork.branch, kept: options.keep ?? false });
}

/** A fork that a left-over process still uses stays for its TTL: that must not hide how the program ended. */
async function discard(cli: Cli, fork: { readonly database: string; readonly branch: string }): Promise<void> {
  try {
    await cli.withStore((store) => store.destroy(fork));
  } catch (error) {
    cli.terminal.warn(`${formatTarget(fork)} was not removed and stays until its TTL ends: ${toErrorView(error).message}`);
  }
}

/** The path goes where the command says, else to its end. */
async function start(cli: Cli, command: readonly string[], path: string): Promise<number> {
  const { runProgram } = await import("./run-program.ts");
  return runProgram(withPath(command, path), { env: { COPPICE_PATH: path }, stdoutFree: cli.terminal.looks.json });
}

function withPath(command: readonly string[], path: string): string[] {
  return command.some((word) => word.includes("{}")) ? command.map((word) => word.replaceAll("{}", path)) : [...command, path];
}

/** stdout is the program's, unless JSON was asked for. */
function finish(cli: Cli, result: unknown): void {
  if (cli.terminal.looks.json) cli.terminal.result(result, "");
}
