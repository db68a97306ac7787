/** Which verbs there are, and where each is described. */
import type { Command } from "commander";
import type { Cli } from "./cli.ts";
import { addCompletionCommand } from "./completion.ts";
import { addBenchCommand } from "./bench-command.ts";
import { addBranchCommands } from "./branch-commands.ts";
import { addCheckpointCommand } from "./checkpoint-command.ts";
import { addDatabaseCommands } from "./database-commands.ts";
import { addDiffCommand } from "./diff-command.ts";
import { addFileCommands } from "./file-commands.ts";
import { addHistoryCommands } from "./history-commands.ts";
import { addLabelCommands } from "./label-commands.ts";
import { addMoveCommands } from "./move-commands.ts";
import { addProgramCommands } from "./program-commands.ts";
import { addQueryCommand } from "./query-command.ts";
import { addStoreCommands } from "./store-commands.ts";
import { addUsageCommand } from "./usage-command.ts";

interface Verbs {
  /** In the help; those without one stand under the heading before. */
  readonly heading?: string;
  readonly names: readonly string[];
  readonly add: (program: Command, cli: () => Cli) => void;
}

/** In the order of the help. */
export const VERBS: readonly Verbs[] = [
  { heading: "Databases:", names: ["create", "ls", "drop"], add: addDatabaseCommands },
  { heading: "Branches:", names: ["fork", "destroy", "trash", "restore"], add: addBranchCommands },
  { names: ["checkpoint"], add: addCheckpointCommand },
  { names: ["rollback", "promote"], add: addMoveCommands },
  { heading: "Labels:", names: ["rename", "protect", "unprotect", "touch", "meta"], add: addLabelCommands },
  { heading: "Files and programs:", names: ["checkout", "path", "export"], add: addFileCommands },
  { names: ["open", "run"], add: addProgramCommands },
  { heading: "Comparing and asking:", names: ["diff"], add: addDiffCommand },
  { names: ["query"], add: addQueryCommand },
  { heading: "History and undo:", names: ["log", "ops", "undo", "redo"], add: addHistoryCommands },
  {
    heading: "The store:",
    names: ["init", "status", "cache", "gc", "verify", "repair", "doctor", "demo", "serve"],
    add: addStoreCommands,
  },
  { names: ["usage"], add: addUsageCommand },
  { names: ["bench"], add: addBenchCommand },
  { names: ["completion"], add: addCompletionCommand },
];
/** Prints what the whole tree holds. */
const LOOKS_AT_ALL = "completion";

/** All that are described together with `verb`: a cold command should not build thirty others. All when it is none. */
export function verbsWith(verb: string | undefined): readonly Verbs[] {
  const found = verb === undefined || verb === LOOKS_AT_ALL ? [] : VERBS.filter(({ names }) => names.includes(verb));
  return found.length > 0 ? found : VERBS;
}
