import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { parseTarget } from "#shared/ids.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseState } from "./arguments.ts";

/** What stands in the place of a state for the file of a branch as it is now: no name looks like it. */
const UNSAVED = "+";

/**
 * `DB[@BRANCH[@AT]]`, `DB@BRANCH@+` for a branch with the unsaved work in its file, or a SQLite file. A word that could be
 * both is a database; `./word` is the file.
 */
export function parseSide(text: string): DiffSideInput {
  if (/^\.{0,2}\//.test(text)) return { kind: "file", path: resolve(text) };
  const [database = "", branch = "main", at, ...rest] = text.split("@");
  if (at === UNSAVED && rest.length === 0) {
    const target = parseState(`${database}@${branch}`);
    return { kind: "unsaved", database: target.database, branch: target.branch };
  }
  // Names of databases never end like this, and contain no folders.
  if (typeof parseTarget(text) === "string" && existsSync(text)) return { kind: "file", path: resolve(text) };
  try {
    const target = parseState(text);
    return { kind: "state", database: target.database, branch: target.branch, at: target.at };
  } catch (error) {
    if (!(error instanceof EngineError) || !/\.(db|sqlite3?)$/i.test(text)) throw error;
    throw new EngineError("file-not-found", `There is no file ${resolve(text)}`, { details: { path: resolve(text) } });
  }
}

/** One side alone: the branch's head against what its file holds. */
export function pairSides(left: DiffSideInput, right: DiffSideInput | undefined): { left: DiffSideInput; right: DiffSideInput } {
  if (right) return { left, right };
  if (left.kind !== "state" || left.at !== undefined)
    throw new EngineError("bad-argument", "Missing argument 'right': only a branch can be compared with the unsaved work in its own file", {
      hint: "Write coppice diff DB@BRANCH, or name both sides",
    });
  return { left, right: { kind: "unsaved", database: left.database, branch: left.branch } };
}
