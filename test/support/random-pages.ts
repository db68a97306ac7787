/** Seeded page content for tests: compressible, as database pages are, and different for every page and version. */
import { normalisePage1 } from "#engine/format/sqlite-header.ts";

/** xorshift32: the same numbers for the same seed, everywhere. */
export function makeRandom(seed: number): (below: number) => number {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Page `pageNumber`; the first is normalised. */
export function makePage(random: (below: number) => number, pageSize: number, pageNumber: number): Uint8Array {
  const page = new Uint8Array(pageSize);
  for (let at = random(64); at < pageSize; at += 1 + random(24)) page[at] = random(256);
  if (pageNumber === 1) normalisePage1(page);
  return page;
}

export function makePages(random: (below: number) => number, pageSize: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => makePage(random, pageSize, index + 1));
}

/** The same page with a few bytes changed. */
export function editPage(random: (below: number) => number, page: Uint8Array, pageNumber: number): Uint8Array {
  const edited = Uint8Array.from(page);
  for (let edits = 1 + random(6); edits > 0; edits -= 1) edited[random(page.length)] = random(256);
  if (pageNumber === 1) normalisePage1(edited);
  return edited;
}
