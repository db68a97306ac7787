import { assert } from "#shared/assert.ts";
import { PAGE_HASH_BYTES } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { SegmentReader } from "./segment-reader.ts";

/**
 * Numbers, ascending, of the pages to write over a file that holds `held` so that it holds `wanted`, after it is cut to
 * the page count of `wanted` when that is smaller. Compares hashes; decodes nothing. Both have the same page size.
 *
 * Looks only at the pages of `apart`, segments that lead from both to a version which they have in common: O(changed
 * pages), unless a base is among them.
 */
export function pagesDiffering(
  held: ChainReader,
  wanted: ChainReader,
  apart: readonly SegmentReader[] = segmentsApart(held, wanted),
): Uint32Array {
  assert(held.pageSize === wanted.pageSize, "only versions of one page size differ by pages");
  return apart.some((segment) => segment.index.kind === "base") ? compareAll(held, wanted) : compareChanged(held, wanted, apart);
}

function compareChanged(held: ChainReader, wanted: ChainReader, apart: readonly SegmentReader[]): Uint32Array {
  const candidates = new Set<number>();
  for (const segment of apart) {
    for (let ordinal = 0; ordinal < segment.index.pages; ordinal += 1) {
      const pageNumber = segment.pageNumberAt(ordinal);
      if (pageNumber > wanted.pageCount) break;
      candidates.add(pageNumber);
    }
  }
  for (let pageNumber = held.pageCount + 1; pageNumber <= wanted.pageCount; pageNumber += 1) candidates.add(pageNumber);
  candidates.delete(lockPageNumber(wanted.pageSize));
  const differ = (pageNumber: number): boolean => {
    const [before, after] = [held.pageHash(pageNumber), wanted.pageHash(pageNumber)];
    return before === null || after === null || Buffer.compare(before, after) !== 0;
  };
  return Uint32Array.from(candidates).filter(differ).toSorted();
}

function compareAll(held: ChainReader, wanted: ChainReader): Uint32Array {
  const [before, after] = [held.pageHashes(), wanted.pageHashes()];
  const lockPage = lockPageNumber(wanted.pageSize);
  const numbers = new Uint32Array(wanted.pageCount);
  let count = 0;
  for (let pageNumber = 1; pageNumber <= wanted.pageCount; pageNumber += 1) {
    const [from, to] = [(pageNumber - 1) * PAGE_HASH_BYTES, pageNumber * PAGE_HASH_BYTES];
    const same = pageNumber <= held.pageCount && Buffer.compare(before.subarray(from, to), after.subarray(from, to)) === 0;
    if (same || pageNumber === lockPage) continue;
    numbers[count] = pageNumber;
    count += 1;
  }
  return numbers.slice(0, count);
}

/** Segments of the two chains above the newest common one. */
export function segmentsApart(a: ChainReader, b: ChainReader): SegmentReader[] {
  const apart: SegmentReader[] = [];
  let inA = 0;
  let inB = 0;
  for (;;) {
    const first = a.segments[inA];
    const second = b.segments[inB];
    if (!first && !second) return apart;
    if (first && second && first.cacheKey === second.cacheKey) return apart;
    if (first && (!second || first.record.to >= second.record.to)) {
      apart.push(first);
      inA += 1;
    } else if (second) {
      apart.push(second);
      inB += 1;
    }
  }
}
