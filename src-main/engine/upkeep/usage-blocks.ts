/**
 * Blocks that several files of a store have in common (clones) are on the disk once. The system counts them for each
 * file: here is told by how much too much.
 */
import type { Parts } from "../branches/parts.ts";
import { mayShareBlocks } from "../io/filesystem.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";

/** Files that the keeper is asked about at once. */
const FILES_PER_CALL = 64;

/**
 * For each group of files the bytes of blocks that one before, in the group or in an earlier group, has as well. Null for a
 * group with a file of which nobody tells, and for those after it.
 */
export async function countRepeats(
  parts: Pick<Parts, "disk" | "files" | "paths">,
  groups: readonly (readonly string[])[],
  work: PhasedWork,
): Promise<(number | null)[]> {
  if (groups.every((paths) => paths.length === 0) || !mayShareBlocks(parts.paths.root, parts.disk)) return groups.map(() => 0);
  const places: number[] = [];
  const repeats: (number | null)[] = [];
  const total = groups.reduce((sum, paths) => sum + paths.length, 0);
  let asked = 0;
  let covered = 0;
  for (const paths of groups) {
    let bytes: number | null = repeats.at(-1) === null ? null : 0;
    for (let from = 0; from < paths.length && bytes !== null; from += FILES_PER_CALL) {
      const some = paths.slice(from, from + FILES_PER_CALL);
      for (const found of await parts.files.sharedPlaces(some))
        bytes = found === null || bytes === null ? null : bytes + addPlaces(places, found);
      asked += some.length;
      work.progress?.(asked, total);
      await breathe(work);
    }
    const union = bytes === null ? covered : measureUnion(places);
    repeats.push(bytes === null ? null : bytes - (union - covered));
    covered = union;
  }
  return repeats;
}

/** Returns the bytes that were added. */
function addPlaces(places: number[], found: Float64Array): number {
  let bytes = 0;
  for (let at = 0; at < found.length; at += 2) {
    places.push(found[at] ?? 0, found[at + 1] ?? 0);
    bytes += found[at + 1] ?? 0;
  }
  return bytes;
}

/** Bytes that lie in at least one of the ranges: pairs of start and length. */
function measureUnion(places: readonly number[]): number {
  const order = Array.from({ length: places.length / 2 }, (_, index) => index * 2).toSorted((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  let bytes = 0;
  let end = -Infinity;
  for (const at of order) {
    const start = Math.max(places[at] ?? 0, end);
    const until = (places[at] ?? 0) + (places[at + 1] ?? 0);
    if (until <= start) continue;
    bytes += until - start;
    end = until;
  }
  return bytes;
}
