import { assert } from "#shared/assert.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { ChainReader } from "./chain-reader.ts";
import type { SegmentReader } from "./segment-reader.ts";

/**
 * Numbers, ascending, of the pages to write over a file that holds `held` so that it holds `wanted`, after it is cut to
 * the page count of `wanted` when that is smaller. Compares hashes; decodes nothing. Both have the same page size.
 *
 * Looks only at what either side changed since the newest segment that both stand on: O(changed pages).
 */
export function pagesDiffering(held: ChainReader, wanted: ChainReader): Uint32Array {
  assert(held.pageSize === wanted.pageSize, "only versions of one page size differ by pages");
  const candidates = new Set<number>();
  for (const segment of segmentsApart(held, wanted)) {
    for (let ordinal = 0; ordinal < segment.index.pages; ordinal += 1) {
      const pageNumber = segment.pageNumberAt(ordinal);
      if (pageNumber > wanted.pageCount) break;
      candidates.add(pageNumber);
    }
  }
  for (let pageNumber = held.pageCount + 1; pageNumber <= wanted.pageCount; pageNumber += 1) candidates.add(pageNumber);
  candidates.delete(lockPageNumber(wanted.pageSize));
  return Uint32Array.from(candidates)
    .filter((pageNumber) => !sameBytes(held.pageHash(pageNumber), wanted.pageHash(pageNumber)))
    .toSorted();
}

/** Segments of the two chains above the newest common one. */
function segmentsApart(a: ChainReader, b: ChainReader): SegmentReader[] {
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

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}
