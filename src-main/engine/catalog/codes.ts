/** Numbers that stand for words in catalog rows. Append only: a word's place is its number for ever. */
import { assert } from "#shared/assert.ts";
import type { OperationKind, VersionKind } from "#shared/views.ts";
import { EngineError } from "../io/errors.ts";

const OPERATION_KINDS: readonly OperationKind[] = [
  "fork",
  "checkpoint",
  "create-database",
  "drop-database",
  "restore-database",
  "rename-database",
  "autosave",
  "rollback",
  "promote",
  "destroy",
  "restore",
  "rename",
  "protect",
  "unprotect",
  "touch",
  "set-meta",
  "rename-checkpoint",
  "delete-checkpoint",
  "expire",
  "purge",
  "undo",
  "redo",
];
const VERSION_KINDS: readonly VersionKind[] = ["checkpoint", "import", "autosave", "flush", "rollback-safety", "merge", "rescue"];
const OPERATION_STATES = ["done", "undone", "permanent"] as const;

/** Added to a version's kind when its branch lists it as `auto-<number>`. */
export const AUTOMATIC_FLAG = 16;

function codeOf<T>(words: readonly T[], word: T): number {
  const code = words.indexOf(word);
  assert(code >= 0, `${String(word)} has a code`);
  return code;
}
function wordOf<T>(words: readonly T[], code: number): T {
  const word = words[code];
  if (word === undefined)
    throw new EngineError("store-corrupt", `Reading the catalog: found an unknown code ${code}`, { details: { found: String(code) } });
  return word;
}

export const operationKindCode = (kind: OperationKind): number => codeOf(OPERATION_KINDS, kind);
export const operationKindOf = (code: number): OperationKind => wordOf(OPERATION_KINDS, code);
export const versionKindCode = (kind: VersionKind): number => codeOf(VERSION_KINDS, kind);
export const versionKindOf = (code: number): VersionKind => wordOf(VERSION_KINDS, code % AUTOMATIC_FLAG);
export const operationStateOf = (code: number): "done" | "undone" | "permanent" => wordOf(OPERATION_STATES, code);
