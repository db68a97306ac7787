/** How the Branches screen shows its list: kept while other screens are open, and by commands from outside of it. */
import { createStore, useStore } from "../external-store.ts";
import type { Sort } from "./rows.ts";

export interface BranchesView {
  readonly mode: "graph" | "flat";
  readonly filter: string;
  readonly sort: Sort;
  readonly toggled: ReadonlyMap<string, boolean>;
  readonly hidden: ReadonlySet<number>;
  /** Only this branch, what it was forked from and what was forked from it. */
  readonly solo: number | null;
  readonly renaming: number | null;
  /** Row with the keyboard. */
  readonly focusedKey: string | null;
}

const INITIAL: BranchesView = {
  mode: "graph",
  filter: "",
  sort: { column: "name", descending: false },
  toggled: new Map(),
  hidden: new Set(),
  solo: null,
  renaming: null,
  focusedKey: null,
};

export const branchesView = createStore<BranchesView>(INITIAL);

export function useBranchesView<S>(select: (view: BranchesView) => S): S {
  return useStore(branchesView, select);
}

export function changeBranchesView(part: Partial<BranchesView>): void {
  branchesView.set((view) => ({ ...view, ...part }));
}

export function toggleRow(key: string, open: boolean): void {
  branchesView.set((view) => ({ ...view, toggled: new Map(view.toggled).set(key, open) }));
}

export function resetBranchesView(): void {
  branchesView.set(INITIAL);
}
