/** What the Usage screen does to branches: to the trash, with one progress and one Undo. */
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { performMany } from "../api/perform.ts";
import { formatPlural } from "../ui/format.ts";
import { showError } from "../ui/toasts.ts";
import { changeUsage, NONE, usageKey, usageState, type BranchName, type TrashedBranch } from "./usage-state.ts";

/** "attempt-1", "5 branches". */
export function nameBranches(branches: readonly BranchName[]): string {
  const [only] = branches;
  return branches.length === 1 && only ? only.branch : formatPlural(branches.length, "branch", "branches");
}

/** Afterwards the screen offers to purge exactly those; `predictedBytes` is what was said that this frees. */
export async function moveToTrash(api: Api, branches: readonly BranchName[], predictedBytes: number | null): Promise<void> {
  if (branches.length === 0 || usageState.get().moving) return;
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  changeUsage({ moving: { done: 0, total: branches.length, stop }, offer: null });
  let moved: readonly BranchName[] = [];
  try {
    moved = await performMany(
      api,
      "branch.destroy",
      branches.map(({ database, branch }) => ({ database, branch })),
      (count) => `Moved ${count === branches.length ? nameBranches(branches) : formatPlural(count, "branch", "branches")} to the Trash`,
      {
        signal: stopper.signal,
        onProgress: (done) => {
          if (usageState.get().moving?.stop === stop) changeUsage({ moving: { done, total: branches.length, stop } });
        },
      },
    );
    // Another store was opened meanwhile.
    if (usageState.get().moving?.stop !== stop) return;
    const gone = new Set(moved.map(usageKey));
    const { selection } = usageState.get();
    // What could not be moved stays selected, but for what is protected: that was left out and said so.
    const left = branches.map(usageKey).filter((key) => selection.has(key) && !gone.has(key));
    changeUsage({ selection: left.length > 0 ? new Set(left) : NONE });
    const trashed = await findInTrash(api, moved);
    if (trashed.length > 0 && usageState.get().moving?.stop === stop) {
      const predicted = moved.length === branches.length ? predictedBytes : null;
      changeUsage({ offer: { branches: trashed, predictedBytes: predicted, madeAt: Date.now() } });
    }
  } catch (error) {
    showError(toErrorView(error), null);
  } finally {
    if (usageState.get().moving?.stop === stop) changeUsage({ moving: null });
  }
}

/** The newest entry of each name: the one that was just put there. */
async function findInTrash(api: Api, branches: readonly BranchName[]): Promise<readonly TrashedBranch[]> {
  if (branches.length === 0) return [];
  const wanted = new Set(branches.map(usageKey));
  const found: TrashedBranch[] = [];
  const entries = (await api.request("trash.list", {})).toSorted((a, b) => b.trashedAt - a.trashedAt || b.id - a.id);
  for (const entry of entries) {
    const place = { database: entry.database, branch: entry.name };
    if (entry.kind === "branch" && wanted.delete(usageKey(place))) found.push({ ...place, id: entry.id });
  }
  return found;
}
