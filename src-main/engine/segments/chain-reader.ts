/**
 * Rebuilds a version from its segments. A page's content is in the newest segment of the chain that stores the page; that
 * segment's frame needs the versions before of all its pages, which are found the same way further down.
 *
 * Reading goes down the chain once, collecting which frames are needed, and up once, decoding each: no recursion, whose
 * depth a long chain would exhaust, and no frame twice.
 */
import type { VersionNumber } from "#shared/ids.ts";
import { assert } from "#shared/assert.ts";
import { BASE_LEVEL, type SegmentRecord } from "../catalog/records.ts";
import { countStoredPages, PAGE_HASH_BYTES } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import type { FrameCache } from "./frame-cache.ts";
import type { PageNeed } from "./pages-ahead.ts";
import type { PageSource } from "./page-source.ts";
import type { SegmentParts } from "./segment-parts.ts";
import { failCorrupt, SegmentReader } from "./segment-reader.ts";

/**
 * Answers with the segment that ends at a version, the highest level where there are several; or with a chain of that
 * version that is open already, on which a newer one then stands without opening it anew.
 */
export type SegmentLookup = (version: VersionNumber) => SegmentRecord | ChainReader | null;

/** Opens a segment, or finds it opened already. Null: it is not to be used, and who is asked for another knows one. */
export type OpenSegment = (record: SegmentRecord) => SegmentReader | null;

/** Opens the chain of version `to`. Throws `segment-missing` and `segment-corrupt`. */
export async function openChain(
  parts: SegmentParts,
  to: VersionNumber,
  segmentFor: SegmentLookup,
  openSegment?: OpenSegment,
): Promise<ChainReader> {
  return openChainNow(parts, to, segmentFor, openSegment);
}

/** The same at once. */
export function openChainNow(
  parts: SegmentParts,
  to: VersionNumber,
  segmentFor: SegmentLookup,
  openSegment: OpenSegment = (record) => SegmentReader.openNow(parts.native, parts.objects, record),
): ChainReader {
  const readers: SegmentReader[] = [];
  let sound = 0;
  let version: VersionNumber | null = to;
  while (version !== null) {
    const found: SegmentRecord | ChainReader | null = segmentFor(version);
    if (!found) {
      throw new EngineError("segment-missing", `Cannot rebuild v${to}: no segment ends at v${version}`, {
        details: { segment: `v${version}` },
      });
    }
    if (found instanceof ChainReader) {
      for (const segment of found.segments) readers.push(segment);
      sound = found.segments.length;
      break;
    }
    checkRecord(found, version);
    const reader = openSegment(found);
    if (!reader) continue;
    readers.push(reader);
    version = found.from;
  }
  return new ChainReader(parts.frames, readers, sound);
}

/** A record that leads nowhere, or round in a circle, is damage: no operation makes one. */
function checkRecord(record: SegmentRecord, version: VersionNumber): void {
  const leads =
    record.to === version && (record.level === BASE_LEVEL ? record.from === null : record.from !== null && record.from < version);
  if (!leads) failCorrupt(record, `level ${record.level} from v${record.from} to v${record.to}`, `a segment that ends at v${version}`);
}

/** A frame that is needed: for which of its pages, and its bytes where those are known. */
interface NeededFrame {
  readonly pages: number[];
  bytes: Uint8Array | null;
}

/** Those of one segment; null for none. */
type FramePlan = Map<number, NeededFrame> | null;

/** Pages of bases that are known already, by the segment's `cacheKey` and their numbers. */
export type PagesAhead = ReadonlyMap<string, ReadonlyMap<number, Uint8Array>>;

const NOTHING_AHEAD: PagesAhead = new Map();

/** A version, readable. Immutable, so it may be kept; holds the indexes of its segments in memory. */
export class ChainReader implements PageSource {
  readonly version: VersionNumber;
  /** Newest first; the last is the base. */
  readonly segments: readonly SegmentReader[];
  readonly pageSize: number;
  readonly pageCount: number;
  readonly #frames: FrameCache;
  readonly #lockPage: number;

  /** `sound`: how many of the last segments are those of a chain that is open already. */
  constructor(frames: FrameCache, segments: readonly SegmentReader[], sound: number) {
    const [newest] = segments;
    assert(newest, "a chain has a segment");
    this.version = newest.record.to;
    this.segments = segments;
    this.pageSize = newest.index.pageSize;
    this.pageCount = newest.index.pageCount;
    this.#frames = frames;
    this.#lockPage = lockPageNumber(this.pageSize);
    for (const [depth, segment] of segments.slice(0, segments.length - sound).entries())
      this.#checkFit(segment, segments[depth + 1] ?? null);
  }

  readPages(first: number, buffer: Uint8Array): void {
    const count = buffer.length / this.pageSize;
    this.readScattered(
      Uint32Array.from({ length: count }, (_, index) => first + index),
      buffer,
    );
  }

  /**
   * Fills `buffer` with the pages of these numbers, in order, each at most once. The lock page reads as zeros. See
   * `pages-ahead.ts` for `ahead`.
   */
  readScattered(numbers: Uint32Array, buffer: Uint8Array, ahead: PagesAhead = NOTHING_AHEAD): void {
    const content = new Map<number, Uint8Array>();
    const frames = this.#decode(this.#plan(this.#wanted(numbers), content, ahead), content);
    while (!frames.next().done);
    this.#copyOut(numbers, content, buffer);
  }

  /**
   * The same for work that must not hold the thread up: a page of a cold chain may take hundreds of frames. `advance` is
   * told the bytes of each frame after it is decoded, and may wait or throw.
   */
  async readInSlices(numbers: Uint32Array, buffer: Uint8Array, advance: (bytes: number) => Promise<void>): Promise<void> {
    const content = new Map<number, Uint8Array>();
    for (const bytes of this.#decode(this.#plan(this.#wanted(numbers), content), content)) await advance(bytes);
    this.#copyOut(numbers, content, buffer);
  }

  needs(numbers: Uint32Array): readonly PageNeed[] {
    return [{ chain: this, numbers }];
  }

  /** The base, and which of its pages are needed to read these: those that are not in memory. */
  basePages(numbers: Uint32Array): { readonly base: SegmentReader; readonly pages: number[] } {
    const base = this.segments.at(-1);
    assert(base, "a chain has a segment");
    const needed = this.#plan(this.#wanted(numbers), new Map())[this.segments.length - 1] ?? [];
    return { base, pages: [...needed].flatMap(([, { pages, bytes }]) => (bytes === null ? pages : [])) };
  }

  #wanted(numbers: Uint32Array): Set<number> {
    const wanted = new Set<number>();
    for (const pageNumber of numbers) {
      assert(pageNumber >= 1 && pageNumber <= this.pageCount, `page ${pageNumber} is one of ${this.pageCount}`);
      if (pageNumber !== this.#lockPage) wanted.add(pageNumber);
    }
    return wanted;
  }

  #copyOut(numbers: Uint32Array, content: ReadonlyMap<number, Uint8Array>, buffer: Uint8Array): void {
    assert(buffer.length === numbers.length * this.pageSize, "the buffer holds the pages");
    for (const [index, pageNumber] of numbers.entries()) {
      const target = buffer.subarray(index * this.pageSize, (index + 1) * this.pageSize);
      if (pageNumber === this.#lockPage) target.fill(0);
      else target.set(pageIn(content.get(pageNumber), pageNumber));
    }
  }

  /** Low 64 bits of each page's hash, 8 bytes a page, without decoding any; zeros for the lock page. */
  pageHashes(): Uint8Array {
    const hashes = new Uint8Array(this.pageCount * PAGE_HASH_BYTES);
    for (const segment of this.segments.toReversed()) segment.copyHashes(hashes);
    return hashes;
  }

  /** The same for one page; null for one that has no content. */
  pageHash(pageNumber: number): Uint8Array | null {
    if (pageNumber > this.pageCount) return null;
    for (const segment of this.segments) {
      const ordinal = segment.ordinalOf(pageNumber);
      if (ordinal >= 0) return segment.hashAt(ordinal);
    }
    return null;
  }

  /** Page size and completeness: what `to` has beyond the pages of `below` must all be stored in it. */
  #checkFit(segment: SegmentReader, below: SegmentReader | null): void {
    const { index, record } = segment;
    const isBase = below === null;
    if ((index.kind === "base") !== isBase) failCorrupt(record, `a ${index.kind}`, isBase ? "a base" : "a delta");
    if (!below) return;
    if (index.pageSize !== below.index.pageSize)
      failCorrupt(record, `page size ${index.pageSize}`, `${below.index.pageSize} as in v${below.record.to}`);
    const before = below.index.pageCount;
    const stored = segment.countPagesAfter(before);
    const expected = Math.max(0, countStoredPages(index.pageSize, index.pageCount) - countStoredPages(index.pageSize, before));
    if (stored !== expected) failCorrupt(record, `${stored} pages beyond page ${before}`, `${expected}`);
  }

  /**
   * Down: frames needed of each segment, newest first. `needed` is used up. A long chain has few hits: no level allocates
   * without one. Pages of the base that are known already go to `content`.
   */
  #plan(needed: Set<number>, content: Map<number, Uint8Array>, ahead: PagesAhead = NOTHING_AHEAD): FramePlan[] {
    const plan: FramePlan[] = [];
    for (const [depth, segment] of this.segments.entries()) {
      takeKnown(needed, content, ahead.get(segment.cacheKey));
      if (needed.size === 0) break;
      const frames = this.#takeFrames(segment, needed);
      plan.push(frames);
      if (!frames) continue;
      const pagesBelow = this.segments[depth + 1]?.index.pageCount ?? 0;
      for (const [frame, needs] of frames) {
        needs.bytes = this.#frames.get(frameKey(segment, frame)) ?? null;
        if (needs.bytes !== null || pagesBelow === 0) continue;
        for (const pageNumber of segment.framePages(frame)) if (pageNumber <= pagesBelow) needed.add(pageNumber);
      }
    }
    return plan;
  }

  /** Moves pages that the segment stores from `needed` to their frames; null when it stores none. */
  #takeFrames(segment: SegmentReader, needed: Set<number>): FramePlan {
    let frames: FramePlan = null;
    for (const pageNumber of needed) {
      const ordinal = segment.ordinalOf(pageNumber);
      if (ordinal < 0) continue;
      frames ??= new Map();
      const frame = segment.frameOf(ordinal);
      const needs = frames.get(frame);
      if (needs) needs.pages.push(pageNumber);
      else frames.set(frame, { pages: [pageNumber], bytes: null });
      needed.delete(pageNumber);
    }
    return frames;
  }

  /** Up: decodes oldest first, each frame over what its pages were in the version before. Yields the bytes of each frame. */
  *#decode(plan: readonly FramePlan[], content: Map<number, Uint8Array>): Generator<number, void> {
    for (let depth = plan.length - 1; depth >= 0; depth -= 1) {
      const segment = this.segments[depth];
      assert(segment, "the plan is as deep as the chain at most");
      const pagesBelow = this.segments[depth + 1]?.index.pageCount ?? 0;
      for (const [frame, { pages, bytes }] of plan[depth] ?? []) {
        const decoded = bytes ?? this.#decodeFrame(segment, frame, pagesBelow, content);
        const { first } = segment.frameRange(frame);
        for (const pageNumber of pages) {
          const position = (segment.ordinalOf(pageNumber) - first) * this.pageSize;
          content.set(pageNumber, decoded.subarray(position, position + this.pageSize));
        }
        yield decoded.length;
      }
    }
  }

  #decodeFrame(segment: SegmentReader, frame: number, pagesBelow: number, content: ReadonlyMap<number, Uint8Array>): Uint8Array {
    const dictionary = pagesBelow === 0 ? NO_BYTES : dictionaryOf(segment.framePages(frame), pagesBelow, content);
    const { pages } = segment.decodeFrame(frame, dictionary);
    this.#frames.put(frameKey(segment, frame), pages);
    return pages;
  }

  /** Keeps a frame that was decoded elsewhere in memory, as those that this chain decodes. */
  keepFrame(segment: SegmentReader, frame: number, pages: Uint8Array): void {
    this.#frames.put(frameKey(segment, frame), pages);
  }
}

const NO_BYTES = new Uint8Array(0);

function takeKnown(needed: Set<number>, content: Map<number, Uint8Array>, known: ReadonlyMap<number, Uint8Array> | undefined): void {
  if (!known) return;
  for (const pageNumber of needed) {
    const page = known.get(pageNumber);
    if (!page) continue;
    content.set(pageNumber, page);
    needed.delete(pageNumber);
  }
}

/** What a decoded frame is kept under. */
function frameKey(segment: SegmentReader, frame: number): string {
  return `${segment.cacheKey}:${frame}`;
}

function dictionaryOf(numbers: readonly number[], pagesBelow: number, content: ReadonlyMap<number, Uint8Array>): Uint8Array {
  return Buffer.concat(
    numbers.filter((pageNumber) => pageNumber <= pagesBelow).map((pageNumber) => pageIn(content.get(pageNumber), pageNumber)),
  );
}

function pageIn(page: Uint8Array | undefined, pageNumber: number): Uint8Array {
  assert(page, `page ${pageNumber} was planned`);
  return page;
}
