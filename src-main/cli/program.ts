/** The command tree, and what every run has in common: global options, errors, exit codes. */
import { Command, CommanderError, Option } from "commander";
import { programName } from "#host/program.ts";
import { EngineError } from "#engine/io/errors.ts";
import { Cli, type GlobalOptions } from "./cli.ts";
import { stdout } from "./stdout.ts";
import { Terminal } from "./terminal.ts";
import { verbsWith } from "./verbs.ts";

const TARGETS = `
Targets: DB is DB@main, DB@BRANCH is the head of a branch, DB@BRANCH@AT an earlier state of it.
AT: the name of a checkpoint, a version (v12) or a time (2026-11-30T12:00:00Z). Durations: 90s, 2h, 1h30m, 7d.
The store: --store, else COPPICE_STORE, else the nearest folder .coppice upwards.
Exit codes: 0 done, 1 failed, 2 usage, 3 conflict or refused, 4 not found, 130 cancelled.`;

/**
 * Every verb, or when `only` is one those alone that are described together with it. `cli` is asked for when a verb runs,
 * after the global options have been read.
 */
export function buildProgram(cli: () => Cli, only?: string): Command {
  const program = new Command("coppice");
  program
    .description("Branch SQLite databases like code.")
    .usage("[options] VERB …")
    .version(programName(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help, also for one verb: coppice VERB --help")
    .option("--store <spec>", "the store: a folder or file:// URL")
    .option("--json", "print one JSON object: {ok, result} or {ok, error}")
    .option("-q, --quiet", "print results only: no sentences, warnings or progress")
    .option("--no-color", "no colours (also: NO_COLOR)")
    .addOption(new Option("--actor <name>", "who is acting, in the operation log (also: COPPICE_ACTOR)"))
    .addHelpText("after", TARGETS)
    .configureHelp({ showGlobalOptions: true })
    // Errors are printed by `runCli`, in one form for usage errors and failures.
    .configureOutput({ writeOut: (text) => void stdout.write(text), outputError: () => {} })
    .exitOverride();
  for (const { heading, add } of verbsWith(only)) {
    if (heading !== undefined) program.commandsGroup(heading);
    add(program, cli);
  }
  program
    .helpCommand(false)
    .command("help")
    .description("print help")
    .argument("[verb]")
    .action((verb: string | undefined) => printHelp(program, verb));
  return program;
}

/** A verb that is not there is refused as it is everywhere. */
async function printHelp(program: Command, verb: string | undefined): Promise<void> {
  const command = verb === undefined ? program : program.commands.find((each) => each.name() === verb);
  if (command) command.outputHelp();
  else await program.parseAsync([verb ?? ""], { from: "user" });
}

/** Runs one command line (without program name) and returns the exit code. Never throws. */
export async function runCli(args: readonly string[]): Promise<number> {
  const terminal = new Terminal(readLooks(args));
  let cli: Cli | null = null;
  const program = buildProgram(() => (cli ??= new Cli(terminal, program.opts<GlobalOptions>())), args[0]);
  try {
    await program.parseAsync(withoutLateHelp(program, args), { from: "user" });
    return (cli as Cli | null)?.exitCode ?? 0;
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) return args.length === 0 ? 2 : 0;
    return terminal.fail(
      error instanceof CommanderError ? usageError(error, findVerb(program, args)) : error,
      (cli as Cli | null)?.interruptedBy ?? null,
    );
  } finally {
    terminal.endProgress();
  }
}

/** Help is asked about a verb that does not exist: the answer is that it does not, not the help of another. */
function withoutLateHelp(program: Command, args: readonly string[]): readonly string[] {
  const [first] = args;
  const isUnknown = first !== undefined && !first.startsWith("-") && findVerb(program, [first]) === undefined;
  return isUnknown ? args.filter((word) => word !== "--help" && word !== "-h") : args;
}

/** How to print is needed before, and also when, the command line cannot be parsed. */
function readLooks(args: readonly string[]): { json: boolean; quiet: boolean; color: boolean } {
  const end = args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  return {
    json: own.includes("--json"),
    quiet: own.includes("--quiet") || own.includes("-q"),
    color: !own.includes("--no-color") && !process.env["NO_COLOR"],
  };
}

function isHelp(error: CommanderError): boolean {
  return error.code === "commander.helpDisplayed" || error.code === "commander.help" || error.code === "commander.version";
}

function findVerb(program: Command, args: readonly string[]): string | undefined {
  return args.find((word) => program.commands.some((command) => command.name() === word));
}

/** Commander's sentence, and its "(Did you mean …?)" as the hint. */
function usageError(error: CommanderError, verb: string | undefined): EngineError {
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const choices = [...(suggestion ?? "").matchAll(/-{0,2}[a-z][a-z-]*(?=[,?])/g)].map(([choice]) => choice);
  const hint = suggestion?.replace(/^\((.*)\)$/, "$1") ?? `See \`coppice ${verb === undefined ? "" : `${verb} `}--help\``;
  return new EngineError("bad-argument", `${message[0]?.toUpperCase() ?? ""}${message.slice(1)}`, {
    hint,
    details: choices.length > 0 ? { choices } : {},
  });
}
