/** What the checkpoints of one branch cost. */
import { assert } from "#shared/assert.ts";
import type { RequestInput } from "#shared/contract.ts";
import type { BranchUsageView, CheckpointUsageRow } from "#shared/usage-views.ts";
import type { Parts } from "../branches/parts.ts";
import { findBranch, type Place } from "../branches/resolve.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { makeRows, type SegmentRow } from "./usage-rows.ts";
import { joinOwners, NOBODY, readSegmentUsage, SEVERAL, type KeptTree, type SegmentUsage } from "./usage-segments.ts";

/** Errors: `branch-not-found`, `database-not-found`, `cancelled`. The newest checkpoint first. */
export async function branchUsage(parts: Parts, input: RequestInput<"usage.branch">, work: PhasedWork = {}): Promise<BranchUsageView> {
  const place = findBranch(parts, input.database, input.branch);
  await breathe(work);
  const { row, checkpoints } = parts.catalog.snapshot(() => {
    const usage = readSegmentUsage(parts);
    return { row: findRow(usage, place), checkpoints: checkpointRows(parts, usage, place) };
  });
  const { id: _, ...view } = row;
  const sizes = parts.files.sizes(parts.paths.checkout(place.database.name, place.branch.name));
  return { row: { ...view, fileBytes: sizes ? sizes.fileBytes + sizes.walBytes : 0 }, checkpoints };
}

function findRow(usage: SegmentUsage, { database, branch }: Place): SegmentRow {
  const row = makeRows(usage, database.id).find(({ id }) => id === branch.id);
  assert(row, "a live branch has a row");
  return row;
}

function checkpointRows(parts: Parts, usage: SegmentUsage, { database, branch }: Place): CheckpointUsageRow[] {
  const kept = usage.trees.get(database.id);
  const own = parts.catalog.checkpoints.ofBranch(branch.id);
  if (!kept) return [];
  const unique = uniqueBytes(kept, countRefs(usage, database.id), new Set(own.map(({ version }) => version)));
  return own.map(({ name, version }) => {
    const bytes = unique.get(version) ?? 0;
    return { name, version, uniqueBytes: bytes, sharedBytes: kept.tree.reachOf(version) - bytes };
  });
}

/** How many refs name each version, of whatever branch: a checkpoint is one of them. */
function countRefs(usage: SegmentUsage, database: number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const branch of usage.branches.values()) {
    if (branch.database !== database) continue;
    for (const version of branch.refs) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return counts;
}

/**
 * Bytes that only the one name on each of these versions keeps, once the undo window is over: a version counts when a
 * single ref is the only one that reaches it, and that is one of them.
 */
function uniqueBytes({ tree }: KeptTree, refs: ReadonlyMap<number, number>, checkpoints: ReadonlySet<number>): Map<number, number> {
  const owners = new Int32Array(tree.bytes.length);
  const add = (version: number, owner: number): void => {
    owners[version] = joinOwners(owners[version] ?? NOBODY, owner);
  };
  for (const [version, count] of refs) add(version, count === 1 && checkpoints.has(version) ? version : SEVERAL);
  const bytes = new Map<number, number>();
  for (const number of tree.numbers.toReversed()) {
    const owner = owners[number] ?? NOBODY;
    const parent = tree.parents[number] ?? 0;
    if (owner !== NOBODY && parent > 0) add(parent, owner);
    if (owner > 0) bytes.set(owner, (bytes.get(owner) ?? 0) + (tree.bytes[number] ?? 0));
  }
  return bytes;
}
