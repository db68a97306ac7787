/** What the Usage screen is set to: it outlives a look at another screen. */
import type { UsageRow } from "#shared/usage-views.ts";
import { createStore, useStore } from "../external-store.ts";

export type UsageColumn = "name" | "unique" | "shared" | "logical" | "file";

export interface UsageSort {
  readonly column: UsageColumn;
  readonly descending: boolean;
}

export interface BranchName {
  readonly database: string;
  readonly branch: string;
}

/** A branch that was moved to the trash here, and can be purged at once. */
export interface TrashedBranch extends BranchName {
  /** In the trash. */
  readonly id: number;
}

export interface PurgeOffer {
  readonly branches: readonly TrashedBranch[];
  /** What was said beforehand that purging them frees; null when it was not known yet. Their files went at once. */
  readonly predictedBytes: number | null;
  /** By the window's clock: a list of the trash that was read before does not know them. */
  readonly madeAt: number;
}

export interface UsageState {
  readonly scope: "database" | "store";
  readonly sort: UsageSort;
  readonly filter: string;
  /** Keys of branches. */
  readonly selection: ReadonlySet<string>;
  /** Line with the keyboard, and the one that a range with Shift begins at. */
  readonly focusedKey: string | null;
  readonly anchorKey: string | null;
  /** Keys of lines that are open. */
  readonly expanded: ReadonlySet<string>;
  /** Branches are on their way to the trash. */
  readonly moving: { readonly done: number; readonly total: number; readonly stop: () => void } | null;
  readonly offer: PurgeOffer | null;
}

export const NONE: ReadonlySet<string> = new Set();

const INITIAL: UsageState = {
  scope: "database",
  sort: { column: "unique", descending: true },
  filter: "",
  selection: NONE,
  focusedKey: null,
  anchorKey: null,
  expanded: NONE,
  moving: null,
  offer: null,
};

export const usageState = createStore<UsageState>(INITIAL);

export function useUsage<S>(select: (state: UsageState) => S): S {
  return useStore(usageState, select);
}

export function changeUsage(part: Partial<UsageState>): void {
  usageState.set((state) => ({ ...state, ...part }));
}

export function resetUsageState(): void {
  usageState.get().moving?.stop();
  usageState.set(INITIAL);
}

/** "shop@try-split", as the command line writes it: neither name can hold an "@". */
export function usageKey({ database, branch }: BranchName): string {
  return `${database}@${branch}`;
}

/** A name that comes back later is another branch: nobody selected that one. */
export function pruneSelection(rows: readonly UsageRow[]): void {
  const { selection } = usageState.get();
  if (selection.size === 0) return;
  const kept = new Set(rows.map(usageKey).filter((key) => selection.has(key)));
  if (kept.size < selection.size) changeUsage({ selection: kept });
}

export function toggleLine(key: string, open: boolean): void {
  const expanded = new Set(usageState.get().expanded);
  if (open) expanded.add(key);
  else expanded.delete(key);
  changeUsage({ expanded });
}

/** The first press of a column shows what is largest, or the names from A on; the next one turns it round. */
export function sortBy(column: UsageColumn): void {
  const { sort } = usageState.get();
  changeUsage({ sort: { column, descending: sort.column === column ? !sort.descending : column !== "name" } });
}

/** Selects all of these branches, or none of them when all are selected already. */
export function toggleSelected(keys: readonly string[]): void {
  const selection = new Set(usageState.get().selection);
  const all = keys.every((key) => selection.has(key));
  for (const key of keys) {
    if (all) selection.delete(key);
    else selection.add(key);
  }
  changeUsage({ selection });
}
