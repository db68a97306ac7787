/** What each live branch takes, from one look at the catalog. */
import type { SharedWith, UsageRow } from "#shared/usage-views.ts";
import { versionKey } from "../catalog/schema.ts";
import type { BranchRefs, SegmentUsage } from "./usage-segments.ts";

/** A row without what only the disk knows. */
export type SegmentRow = Omit<UsageRow, "fileBytes"> & { readonly id: number };

/** Bytes that only a branch keeps: freed with it. `inUse`: of those, what it refers to; the rest is kept for undo alone. */
interface Owned {
  readonly bytes: number;
  readonly inUse: number;
}

const NOTHING: Owned = { bytes: 0, inUse: 0 };

/** Of one database, or of all: the most unique bytes first. */
export function makeRows(usage: SegmentUsage, database: number | null): SegmentRow[] {
  const owned = sumOwned(usage);
  const relatives = findRelatives(usage);
  const rows: SegmentRow[] = [];
  for (const branch of usage.branches.values()) {
    if (!branch.isLive || (database !== null && branch.database !== database)) continue;
    rows.push(makeRow(usage, branch, owned.get(branch.id) ?? NOTHING, relatives));
  }
  return rows.toSorted((a, b) => b.uniqueBytes - a.uniqueBytes || compare(a.database, b.database) || compare(a.branch, b.branch));
}

/** Bytes that a purge of only this branch frees, by branch; of those in the trash too. */
export function sumOwned({ trees }: SegmentUsage): Map<number, Owned> {
  const owned = new Map<number, Owned>();
  for (const kept of trees.values()) {
    for (const number of kept.tree.numbers) {
      const owner = kept.ownerOf(number);
      if (owner <= 0) continue;
      const bytes = kept.tree.bytes[number] ?? 0;
      const { bytes: before, inUse } = owned.get(owner) ?? NOTHING;
      owned.set(owner, { bytes: before + bytes, inUse: inUse + (kept.isInUse(number) ? bytes : 0) });
    }
  }
  return owned;
}

function makeRow(usage: SegmentUsage, branch: BranchRefs, owned: Owned, relatives: Relatives): SegmentRow {
  const kept = usage.trees.get(branch.database);
  const sharedBytes = (kept?.tree.unionBytes(branch.refs) ?? 0) - owned.inUse;
  return {
    id: branch.id,
    database: usage.names.get(branch.database) ?? "",
    branch: branch.name,
    isProtected: branch.isProtected,
    logicalBytes: kept?.logicalBytes[branch.head] ?? 0,
    uniqueBytes: owned.bytes,
    sharedBytes,
    sharedWith: sharedBytes > 0 ? relatives(branch) : { branch: null, others: 0 },
  };
}

type Relatives = (branch: BranchRefs) => SharedWith;

/** Live branches that begin with the same version hold that version, at least, together. */
function findRelatives({ branches, trees }: SegmentUsage): Relatives {
  const groups = new Map<number, BranchRefs[]>();
  const children = new Map<number, BranchRefs>();
  const groupOf = ({ database, head }: BranchRefs): number => versionKey(database, trees.get(database)?.tree.rootOf(head) ?? 0);
  for (const branch of branches.values()) {
    if (!branch.isLive) continue;
    const key = groupOf(branch);
    const group = groups.get(key);
    if (group) group.push(branch);
    else groups.set(key, [branch]);
    if (branch.parent !== null && !children.has(branch.parent)) children.set(branch.parent, branch);
  }
  return (branch) => {
    const own = groupOf(branch);
    const group = groups.get(own) ?? [];
    const isNear = (other: BranchRefs | undefined): other is BranchRefs => other?.isLive === true && groupOf(other) === own;
    const nearest = [branches.get(branch.parent ?? 0), children.get(branch.id)].find(isNear) ?? firstOther(group, branch);
    return { branch: nearest?.name ?? null, others: Math.max(0, group.length - 2) };
  };
}

function firstOther([first, second]: readonly BranchRefs[], branch: BranchRefs): BranchRefs | undefined {
  return first?.id === branch.id ? second : first;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
