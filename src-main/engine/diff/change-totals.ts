/** One comparison in numbers: rows that differ, by table, and changes of the schema. */
import type { TableCounts, TableDiffView } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Work } from "../segments/page-source.ts";
import type { CountedChanges } from "./change-cache.ts";
import type { Diff } from "./open-diff.ts";

export const NO_CHANGES: CountedChanges = {
  tables: [],
  moreTables: 0,
  inserted: 0,
  deleted: 0,
  updated: 0,
  schemaChanges: 0,
  problem: null,
};

/** Throws `cancelled`, `database-corrupt`, and what reading its sides throws. */
export async function countChanges(diff: Diff, work: Work): Promise<CountedChanges> {
  const found = new Map<string, TableCounts>();
  for await (const counts of diff.summary(work)) if (counts.isComplete) found.set(counts.name, counts);
  const tables = foldShadows(diff.view.tables, found);
  const sum = (part: "inserted" | "deleted" | "updated") => tables.reduce((total, table) => total + table[part], 0);
  const shown = tables.slice(0, LIMITS.changeTablesMax);
  // Names may be very long, and there may be many.
  while (JSON.stringify(shown).length > LIMITS.changeEntryBytesMax) shown.pop();
  const problems = [...found.values()].filter(({ notComparable }) => notComparable !== null);
  return {
    tables: shown,
    moreTables: tables.length - shown.length,
    inserted: sum("inserted"),
    deleted: sum("deleted"),
    updated: sum("updated"),
    schemaChanges: diff.view.schema.length,
    problem: problems.length === 0 ? null : problemOf(problems),
  };
}

/** Characters of a problem that are kept. */
const PROBLEM_CHARS_MAX = 1_000;

function problemOf(tables: readonly TableCounts[]): string {
  const [first] = tables;
  const more = tables.length > 1 ? ` (and ${tables.length - 1} more)` : "";
  return `${first?.name ?? ""} is not comparable: ${first?.notComparable ?? ""}`.slice(0, PROBLEM_CHARS_MAX) + more;
}

/** Tables with changed rows, the most changed first. A shadow table counts for its owner, as on the Diff screen. */
function foldShadows(views: readonly TableDiffView[], found: ReadonlyMap<string, TableCounts>): CountedChanges["tables"] {
  const tables = new Map<string, CountedChanges["tables"][number]>();
  for (const { name, owner } of views) {
    const counts = found.get(name);
    if (!counts || rowsOf(counts) === 0) continue;
    const table = tables.get(owner ?? name) ?? { name: owner ?? name, inserted: 0, deleted: 0, updated: 0 };
    table.inserted += counts.inserted;
    table.deleted += counts.deleted;
    table.updated += counts.updated;
    tables.set(table.name, table);
  }
  return [...tables.values()].toSorted((a, b) => rowsOf(b) - rowsOf(a));
}

function rowsOf({ inserted, deleted, updated }: Pick<TableCounts, "inserted" | "deleted" | "updated">): number {
  return inserted + deleted + updated;
}
