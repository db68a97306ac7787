import type { ChangeCountsView } from "#shared/diff-views.ts";
import type { HistoryRow } from "#shared/views.ts";
import { useChangeCounts } from "../api/change-counts.ts";

/** What a version changed since the one before it. Null: not known yet, or it is the first one. */
export function useVersionChanges(database: string, { number, parent, checksum }: HistoryRow): ChangeCountsView | null {
  return useChangeCounts(parent === null ? null : { identity: checksum, database, from: parent, to: number });
}
