/** Counts of what changed between versions, asked for to their end. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ChangeCountsView } from "#shared/diff-views.ts";
import { openStore, type Store } from "#engine/store.ts";
import { withClient } from "../../support/stores.ts";

export type Pairs = readonly { readonly from: number | null; readonly to: number }[];

/** Asks until nothing is pending. */
export async function countsOf(store: Store, pairs: Pairs): Promise<readonly ChangeCountsView[]> {
  for (;;) {
    const answer = await store.changes({ database: "shop", pairs: [...pairs] });
    if (answer.every(({ state }) => state !== "pending")) return answer;
  }
}

export async function countsOfOne(store: Store, from: number | null, to: number): Promise<ChangeCountsView | undefined> {
  return (await countsOf(store, [{ from, to }]))[0];
}

const rows = (each: Pick<ChangeCountsView, "inserted" | "deleted" | "updated">) => `+${each.inserted} −${each.deleted} ~${each.updated}`;

/** "v1→v2 +2 −1 ~3 §0: notes +2 −1 ~3". */
export function textOf({ from, to, state, tables, moreTables, inserted, deleted, updated, schemaChanges }: ChangeCountsView): string {
  const named = tables.map((table) => ` ${table.name} ${rows(table)}`).join(",");
  const more = moreTables > 0 ? ` and ${moreTables}` : "";
  return `${state} ${from}→${to} ${rows({ inserted, deleted, updated })} §${schemaChanges}:${named}${more}`;
}

export async function open(path: string): Promise<Store> {
  const store = await openStore(path, { actor: "anna", ownProcess: true });
  onTestFinished(() => store.close());
  return store;
}

export function cacheFile(store: Store): string {
  return join(store.path, "cache", "changes", "counts.sqlite");
}

export function cachedEntries(store: Store): number {
  if (!existsSync(cacheFile(store))) return 0;
  return withClient(cacheFile(store), (database) => database.prepare("SELECT count(*) FROM counts").pluck().get() as number);
}
