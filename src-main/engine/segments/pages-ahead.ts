/**
 * Finds what reads are about to need before they run: pages of bases, which need no others, and once for all the reads.
 * Where a file has them as they are, they are taken from there; else their frames are decoded on other threads. One by
 * one and on this one that would cost several times as much. What is not found (there is too much of it, or it is damaged)
 * is left to the read itself, which says what is wrong.
 */
import { normalisePage1 } from "../format/sqlite-header.ts";
import { RunBuffers } from "./decode-base.ts";
import type { ChainReader, PagesAhead } from "./chain-reader.ts";
import type { SegmentReader } from "./segment-reader.ts";

/** Pages that will be read of a stored version. */
export interface PageNeed {
  readonly chain: ChainReader;
  readonly numbers: Uint32Array;
}

/** A file that may have pages of a version as they are. Nothing that comes from it is trusted: hashes tell. */
export interface PageDonor {
  readonly path: string;
  /** Null when it cannot be read now. */
  read(numbers: Uint32Array, pageSize: number): Promise<Uint8Array | null>;
}

export interface PagesInHand {
  readonly pages: PagesAhead;
  /** They are not to be used any more: what is found next is put in their place. */
  release(): void;
}

/** Of frames that are decoded at once. */
const BYTES_MAX = 16 * 1024 * 1024;
/** Of frames decoded in one call, which costs as much as decoding some ten kilobytes. */
const RUN_BYTES = 1024 * 1024;
/**
 * Up to so many frames are decoded without looking at files, and kept in the memory of the store: whoever asks for so
 * little may ask again.
 */
const FEW_FRAMES = 64;
/** A file that has fewer of the pages asked for is not asked again. */
const USEFUL_SHARE = 1 / 4;

/** Pages needed of one base, and what is known of them. */
interface Wanted {
  readonly chain: ChainReader;
  readonly base: SegmentReader;
  readonly open: Set<number>;
  readonly found: Map<number, Uint8Array>;
}

export class BasePageFinder {
  readonly #free: RunBuffers[] = [];
  #donors: readonly PageDonor[] | null = null;
  readonly #findDonors: () => readonly PageDonor[];

  /** `findDonors`: called once, when there is much to read. */
  constructor(findDonors: () => readonly PageDonor[] = () => []) {
    this.#findDonors = findDonors;
  }

  /** Never fails. */
  async find(needs: readonly PageNeed[]): Promise<PagesInHand> {
    const wanted = gather(needs);
    const used: RunBuffers[] = [];
    for (const each of wanted.values()) {
      const isMuch = framesOf(each).size > FEW_FRAMES;
      if (isMuch) await this.#takeFromFiles(each);
      await this.#decode(each, used, !isMuch);
    }
    const pages = new Map([...wanted].map(([key, { found }]) => [key, found]));
    return { pages, release: () => this.#free.push(...used.splice(0)) };
  }

  async #takeFromFiles(wanted: Wanted): Promise<void> {
    this.#donors ??= this.#findDonors();
    for (const donor of this.#donors) {
      const asked = wanted.open.size;
      if (asked === 0) return;
      const found = await takeFrom(donor, wanted).catch(() => 0);
      if (found < asked * USEFUL_SHARE) this.#donors = this.#donors.filter((other) => other !== donor);
    }
  }

  async #decode(wanted: Wanted, used: RunBuffers[], isKept: boolean): Promise<void> {
    const frameBytes = wanted.base.index.pagesPerFrame * wanted.base.index.pageSize;
    const frames = [...framesOf(wanted)].slice(0, Math.floor(BYTES_MAX / frameBytes));
    wanted.base.willRead(frames.map(([frame]) => frame));
    const runFrames = Math.max(1, Math.floor(RUN_BYTES / frameBytes));
    const runs: Promise<void>[] = [];
    for (let from = 0; from < frames.length; from += runFrames) {
      const buffers = this.#free.pop() ?? new RunBuffers();
      used.push(buffers);
      // All are waited for, also those behind one that failed: buffers in use are not handed out again.
      runs.push(decodeRun(wanted, frames.slice(from, from + runFrames), buffers, isKept).catch(() => undefined));
    }
    await Promise.all(runs);
  }
}

function gather(needs: readonly PageNeed[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { chain, numbers } of needs) {
    const { base, pages } = chain.basePages(numbers);
    const known = wanted.get(base.cacheKey) ?? { chain, base, open: new Set(), found: new Map() };
    for (const page of pages) known.open.add(page);
    wanted.set(base.cacheKey, known);
  }
  return wanted;
}

/** Frames that have the pages which are still to be found, ascending, with these pages. */
function framesOf({ base, open }: Wanted): Map<number, number[]> {
  const frames = new Map<number, number[]>();
  for (const page of Uint32Array.from(open).toSorted()) {
    const frame = base.frameOf(base.ordinalOf(page));
    const pages = frames.get(frame);
    if (pages) pages.push(page);
    else frames.set(frame, [page]);
  }
  return frames;
}

/** How many pages the file has as the base stores them. */
async function takeFrom(donor: PageDonor, { base, open, found }: Wanted): Promise<number> {
  const { pageSize } = base.index;
  const numbers = Uint32Array.from(open).toSorted();
  const bytes = await donor.read(numbers, pageSize);
  if (bytes?.length !== numbers.length * pageSize) return 0;
  const page = (index: number) => bytes.subarray(index * pageSize, (index + 1) * pageSize);
  if (numbers[0] === 1) normalisePage1(page(0));
  const same = base.placesOfSame(numbers, bytes);
  for (const place of same) {
    const number = numbers[place] ?? 0;
    found.set(number, page(place));
    open.delete(number);
  }
  return same.length;
}

async function decodeRun(
  { chain, base, found }: Wanted,
  frames: readonly (readonly [frame: number, pages: readonly number[]])[],
  buffers: RunBuffers,
  isKept: boolean,
): Promise<void> {
  const { pageSize } = base.index;
  const numbers = frames.map(([frame]) => frame);
  const decoded = await base.decodeRun(numbers, buffers.take(base, numbers));
  let position = 0;
  for (const [frame, pages] of frames) {
    const { raw } = base.framesBytes([frame]);
    const bytes = isKept ? decoded.pages.slice(position, position + raw) : decoded.pages.subarray(position, position + raw);
    if (isKept) chain.keepFrame(base, frame, bytes);
    const { first } = base.frameRange(frame);
    for (const number of pages) {
      const at = (base.ordinalOf(number) - first) * pageSize;
      found.set(number, bytes.subarray(at, at + pageSize));
    }
    position += raw;
  }
}
