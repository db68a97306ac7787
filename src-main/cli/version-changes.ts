/** What each version of a history changed, for `log --changes`. */
import type { ChangeCountsView, ChangedTableView } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { HistoryRow, HistoryView } from "#shared/views.ts";
import type { Store } from "#engine/store-api.ts";
import type { LongWork } from "./cli.ts";
import { formatCount, plural } from "./table.ts";

/** `changes`: since the version's parent; null for the first one, which has none. */
export type CountedHistory = Omit<HistoryView, "versions"> & {
  readonly versions: readonly (HistoryRow & { readonly changes: ChangeCountsView | null })[];
};

/** Asks until all is counted. Errors: `cancelled`. A version that cannot be compared says why. */
export async function countHistory(store: Store, database: string, history: HistoryView, work: LongWork): Promise<CountedHistory> {
  const counts = new Map<number, ChangeCountsView>();
  let wanted = history.versions.filter(({ parent }) => parent !== null).map(({ number }) => number);
  const total = wanted.length;
  work.phase("Counting what changed");
  while (wanted.length > 0) {
    const pairs = wanted.slice(0, LIMITS.changePairsMax).map((to) => ({ from: null, to }));
    for (const counted of await store.changes({ database, pairs }, work)) if (counted.state !== "pending") counts.set(counted.to, counted);
    wanted = wanted.filter((number) => !counts.has(number));
    work.progress(counts.size, total);
  }
  return { ...history, versions: history.versions.map((version) => ({ ...version, changes: counts.get(version.number) ?? null })) };
}

/** Tables that a line names. */
const TABLES_NAMED = 2;

/** "orders +12 -3 ~4, items +2 and 3 more, schema 1". */
export function changesText(changes: ChangeCountsView | null): string {
  if (!changes) return "";
  if (changes.state === "failed") return `unknown: ${changes.problem ?? ""}`;
  const named = changes.tables.slice(0, TABLES_NAMED).map(tableText).join(", ");
  const more = changes.tables.length - TABLES_NAMED + changes.moreTables;
  const rows = more > 0 ? `${named} and ${plural(more, "more table")}` : named;
  const schema = changes.schemaChanges > 0 ? `schema ${formatCount(changes.schemaChanges)}` : "";
  const parts = [rows, schema, changes.problem ?? ""].filter((part) => part !== "");
  return parts.length > 0 ? parts.join(", ") : "no rows";
}

function tableText({ name, inserted, deleted, updated }: ChangedTableView): string {
  const signs = [
    ["+", inserted],
    ["-", deleted],
    ["~", updated],
  ] as const;
  return [name, ...signs.flatMap(([sign, count]) => (count > 0 ? [sign + formatCount(count)] : []))].join(" ");
}
