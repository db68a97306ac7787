import type { ChangeCountsView } from "#shared/diff-views.ts";
import type { BranchView } from "#shared/views.ts";
import { useChangeCounts } from "../api/change-counts.ts";

/** What a branch's head changed since the version at which it was forked. Null: not known yet, or it was forked from nothing. */
export function useBranchChanges({ id, database, head, forkedFrom }: BranchView): ChangeCountsView | null {
  return useChangeCounts(forkedFrom ? { identity: `branch ${id}`, database, from: forkedFrom.version, to: head } : null);
}
