import { matchesBranch, parentIds, parseBranchFilter } from "#shared/branch-filter.ts";
import type { BranchView } from "#shared/views.ts";

export interface Visible {
  /** What hide and solo leave over, in order of id. */
  readonly branches: readonly BranchView[];
  /** Ids that match the filter; null when there is none. */
  readonly matches: ReadonlySet<number> | null;
  /** What is wrong with the filter's text; then it is not applied. */
  readonly problem: string | null;
}

/** `hidden` branches leave with everything forked from them. */
function withoutHidden(branches: readonly BranchView[], hidden: ReadonlySet<number>): readonly BranchView[] {
  if (hidden.size === 0) return branches;
  const gone = new Set<number>();
  // Ids grow, and a fork is younger than what it was forked from: one pass in order of id reaches all descendants.
  return branches.filter((branch) => {
    const parent = branch.forkedFrom?.branchId;
    const hide = hidden.has(branch.id) || (parent != null && gone.has(parent));
    if (hide) gone.add(branch.id);
    return !hide;
  });
}

function onlyFamily(branches: readonly BranchView[], solo: number | null): readonly BranchView[] {
  if (solo === null) return branches;
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  if (!byId.has(solo)) return branches;
  const family = new Set<number>();
  for (let id: number | null | undefined = solo; id != null && !family.has(id); id = byId.get(id)?.forkedFrom?.branchId) family.add(id);
  const below = new Set([solo]);
  return branches.filter((branch) => {
    const parent = branch.forkedFrom?.branchId;
    if (parent != null && below.has(parent)) below.add(branch.id);
    return family.has(branch.id) || below.has(branch.id);
  });
}

export interface VisibleOptions {
  readonly filter: string;
  readonly hidden: ReadonlySet<number>;
  readonly solo: number | null;
  /** Unix milliseconds. */
  readonly now: number;
}

export function selectVisible(all: readonly BranchView[], options: VisibleOptions): Visible {
  const branches = onlyFamily(withoutHidden(all, options.hidden), options.solo);
  const filter = parseBranchFilter(options.filter);
  if (typeof filter === "string") return { branches, matches: null, problem: filter };
  if (filter.terms.length === 0) return { branches, matches: null, problem: null };
  const context = { now: options.now, parents: parentIds(all) };
  const matches = new Set<number>();
  for (const branch of branches) if (matchesBranch(filter, branch, context)) matches.add(branch.id);
  return { branches, matches, problem: null };
}
