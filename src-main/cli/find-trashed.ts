import type { TrashView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseBranch, parseBranchName, parseDatabaseName } from "./arguments.ts";

/** What `DB@BRANCH` or `DB` names in the trash, the last trashed first. Also checks the new name. */
export function findTrashed(trash: readonly TrashView[], text: string, as: string | undefined): TrashView {
  const kind = text.includes("@") ? "branch" : "database";
  const { database, branch } = parseBranch(text);
  if (as !== undefined) (kind === "branch" ? parseBranchName : parseDatabaseName)(as);
  const found = trash.find((each) => each.kind === kind && each.database === database && (kind === "database" || each.name === branch));
  if (found) return found;
  const code = kind === "branch" ? "branch-not-found" : "database-not-found";
  throw new EngineError(code, `The trash holds no ${kind} "${text}"`, {
    hint: "`coppice trash` lists what it holds",
    details: { name: text },
  });
}
