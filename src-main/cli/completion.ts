/** Completion scripts, written from the command tree, so that they know every verb and option and nothing else. */
import type { Command } from "commander";
import { Argument } from "commander";
import type { Cli } from "./cli.ts";

export function addCompletionCommand(program: Command, cli: () => Cli): void {
  program
    .command("completion")
    .description("print a completion script, e.g. source <(coppice completion bash)")
    .addArgument(new Argument("<shell>", "for which shell").choices(["bash", "zsh", "fish"]))
    .action((shell: string) => {
      const script = completionScript(program, shell as Shell);
      cli().terminal.result({ shell, script }, script.trimEnd());
    });
}

type Shell = "bash" | "zsh" | "fish";

interface VerbWords {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
  /** What its first argument can be; empty when that is anybody's guess. */
  readonly choices: readonly string[];
}

export function completionScript(program: Command, shell: Shell): string {
  const verbs = program.commands.map(wordsOf);
  const globals = wordsOf(program).options;
  if (shell === "fish") return fishScript(verbs, globals);
  return shell === "zsh" ? zshScript(verbs, globals) : bashScript(verbs, globals);
}

function wordsOf(command: Command): VerbWords {
  const options = command.options.flatMap(({ long, description }) => (long ? [{ flag: long, description }] : []));
  return { name: command.name(), description: command.description(), options, choices: command.registeredArguments[0]?.argChoices ?? [] };
}

const withChoices = (verbs: readonly VerbWords[]) => verbs.filter(({ choices }) => choices.length > 0);
const flagsOf = (options: VerbWords["options"]) => options.map(({ flag }) => flag).join(" ");

function bashScript(verbs: readonly VerbWords[], globals: VerbWords["options"]): string {
  return `# bash completion of coppice
_coppice() {
  local word="\${COMP_WORDS[COMP_CWORD]}" verb="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${COMP_WORDS[index]}" in
      --) return ;;
      --store | --actor) ((index++)) ;;
      -*) ;;
      *) verb="\${COMP_WORDS[index]}"; break ;;
    esac
  done
  local options="${flagsOf(globals)} --help"
  case "$verb" in
    "") [[ $word == -* ]] || options="${verbs.map(({ name }) => name).join(" ")}" ;;
${verbs.map(({ name, options }) => (options.length > 0 ? `    ${name}) options="${flagsOf(options)} $options" ;;\n` : "")).join("")}  esac
  if [[ -n $verb && $word != -* ]]; then
    # The place of the first argument is right behind the verb.
    case "\${COMP_WORDS[COMP_CWORD - 1]}:$verb" in
${withChoices(verbs)
  .map(({ name, choices }) => `      ${name}:${name}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$word")) ;;\n`)
  .join("")}      *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
  else
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  fi
}
complete -o filenames -F _coppice coppice
`;
}

function zshItem(name: string, description: string): string {
  return `'${name}:${quote(description)}'`;
}

function zshScript(verbs: readonly VerbWords[], globals: VerbWords["options"]): string {
  const lines = (options: VerbWords["options"]) => options.map(({ flag, description }) => zshItem(flag, description)).join(" ");
  return `#compdef coppice
_coppice() {
  local verb="" index
  for ((index = 2; index < CURRENT; index++)); do
    case "$words[index]" in
      --) _files; return ;;
      --store | --actor) ((index++)) ;;
      -*) ;;
      *) verb="$words[index]"; break ;;
    esac
  done
  local -a verbs options
  verbs=(${verbs.map(({ name, description }) => zshItem(name, description)).join(" ")})
  options=(${lines(globals)} '--help:print help')
  case "$verb" in
    "") if [[ "$words[CURRENT]" != -* ]]; then _describe verb verbs; return; fi ;;
${verbs.map(({ name, options }) => (options.length > 0 ? `    ${name}) options+=(${lines(options)}) ;;\n` : "")).join("")}  esac
  if [[ "$words[CURRENT]" == -* ]]; then _describe option options; return; fi
  case "$words[CURRENT - 1]:$verb" in
${withChoices(verbs)
  .map(({ name, choices }) => `    ${name}:${name}) compadd ${choices.join(" ")} ;;\n`)
  .join("")}    *) _files ;;
  esac
}
compdef _coppice coppice
`;
}

function fishLine(condition: string, flag: string, description: string): string {
  return `complete -c coppice ${condition}-l ${flag.slice(2)} -d '${quote(description)}'\n`;
}

function fishScript(verbs: readonly VerbWords[], globals: VerbWords["options"]): string {
  return [
    "# fish completion of coppice\n",
    ...globals.map(({ flag, description }) => fishLine("", flag, description)),
    ...verbs.map(({ name, description }) => `complete -c coppice -f -n __fish_use_subcommand -a ${name} -d '${quote(description)}'\n`),
    ...withChoices(verbs).map(
      ({ name, choices }) => `complete -c coppice -n '__fish_seen_subcommand_from ${name}' -a '${choices.join(" ")}'\n`,
    ),
    ...verbs.flatMap(({ name, options }) =>
      options.map(({ flag, description }) => fishLine(`-n '__fish_seen_subcommand_from ${name}' `, flag, description)),
    ),
  ].join("");
}

/** Inside single quotes; a colon would end zsh's name. */
function quote(text: string): string {
  return text.replaceAll("'", "").replaceAll(":", " –");
}
