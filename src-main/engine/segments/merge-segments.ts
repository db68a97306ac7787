/**
 * Makes one segment of several that follow each other: each frame of theirs is decoded once, oldest first, over what its
 * pages are by then, and what differs in the end from the state before the range is encoded against that state. The
 * state checksum is carried along; a segment that would not come to the one recorded is never published.
 */
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { ChainReader } from "./chain-reader.ts";
import { DeltaEncoder, isRewrite } from "./delta-encoder.ts";
import { PageShelf } from "./page-shelf.ts";
import type { SegmentParts } from "./segment-parts.ts";
import { failCorrupt, type SegmentReader } from "./segment-reader.ts";

export interface MergeOrder {
  /** The state before the range, and its state checksum, 16 bytes. */
  readonly before: ChainReader;
  readonly beforeChecksum: Uint8Array;
  /** Oldest first; the first stands on `before`, each other on the one before it. */
  readonly covers: readonly SegmentReader[];
  /** State checksum of the version at the end, from its record. */
  readonly checksum: Uint8Array;
  readonly level: number;
}

/** Told the bytes handled after each frame; may wait, or throw to give up. */
export type Advance = (bytes: number) => Promise<void>;

/**
 * The merged segment, ready to be published or discarded; "rewrite" when most pages changed and it would cost half of a
 * base, so that a new base is the better one. Throws `segment-corrupt`, what `advance` throws, and what the disk throws;
 * leaves nothing behind then. Memory is bounded but for some bytes a page of the range.
 */
export async function mergeSegments(order: MergeOrder, parts: SegmentParts, advance: Advance): Promise<DeltaEncoder | "rewrite"> {
  const merge = new Merge(order, parts, advance);
  try {
    await merge.readBefore();
    await merge.applyAll();
    return await merge.encode();
  } catch (error) {
    await merge.discard();
    throw error;
  }
}

class Merge {
  readonly #order: MergeOrder;
  readonly #parts: SegmentParts;
  readonly #advance: Advance;
  readonly #pageSize: number;
  readonly #pageCount: number;
  /** Numbers of all pages that the range stores, ascending. */
  readonly #numbers: Uint32Array;
  readonly #before: PageShelf;
  readonly #after: PageShelf;
  #encoder: DeltaEncoder | null = null;

  constructor(order: MergeOrder, parts: SegmentParts, advance: Advance) {
    const newest = order.covers.at(-1);
    assert(newest, "a merge covers segments");
    this.#order = order;
    this.#parts = parts;
    this.#advance = advance;
    this.#pageSize = newest.index.pageSize;
    this.#pageCount = newest.index.pageCount;
    this.#numbers = unionOf(order.covers);
    this.#before = new PageShelf(parts, this.#numbers, this.#pageSize);
    this.#after = new PageShelf(parts, this.#numbers, this.#pageSize);
  }

  async readBefore(): Promise<void> {
    const { before } = this.#order;
    const known = this.#numbers.filter((pageNumber) => pageNumber <= before.pageCount);
    const perRead = this.#pagesPerFrame();
    for (let from = 0; from < known.length; from += perRead) {
      const numbers = known.subarray(from, from + perRead);
      const bytes = new Uint8Array(numbers.length * this.#pageSize);
      await before.readInSlices(numbers, bytes, this.#advance);
      for (const [index, pageNumber] of numbers.entries()) this.#before.put(pageNumber, this.#pageOf(bytes, index));
    }
  }

  async applyAll(): Promise<void> {
    let pagesBelow = this.#order.before.pageCount;
    for (const segment of this.#order.covers) {
      for (let frame = 0; frame < segment.index.frameBytes.length; frame += 1) {
        const numbers = segment.framePages(frame);
        const pages = this.#parts.frames.get(`${segment.cacheKey}:${frame}`) ?? this.#decodeFrame(segment, frame, numbers, pagesBelow);
        for (const [index, pageNumber] of numbers.entries()) this.#after.put(pageNumber, this.#pageOf(pages, index));
        await this.#advance(pages.length);
      }
      pagesBelow = segment.index.pageCount;
    }
  }

  #decodeFrame(segment: SegmentReader, frame: number, numbers: readonly number[], pagesBelow: number): Uint8Array {
    return segment.decodeFrame(frame, this.#current(numbers.filter((pageNumber) => pageNumber <= pagesBelow))).pages;
  }

  async encode(): Promise<DeltaEncoder | "rewrite"> {
    const { before, beforeChecksum, checksum, covers, level } = this.#order;
    const previous = {
      pageCount: before.pageCount,
      readScattered: (numbers: Uint32Array, buffer: Uint8Array) => this.#readPrevious(numbers, buffer),
    };
    const size = { pageSize: this.#pageSize, pageCount: this.#pageCount };
    const encoder = new DeltaEncoder({ level, previous, previousChecksum: beforeChecksum, ...size }, this.#parts);
    this.#encoder = encoder;
    const kept = this.#numbers.filter((pageNumber) => pageNumber <= this.#pageCount);
    for (let from = 0; from < kept.length; from += encoder.pagesPerFrame) {
      const numbers = kept.subarray(from, from + encoder.pagesPerFrame);
      const bytes = this.#current([...numbers]);
      await encoder.add(numbers, bytes);
      await this.#advance(bytes.length);
    }
    await encoder.dropPages(this.#advance);
    const found = Buffer.from(await encoder.seal()).toString("hex");
    const expected = Buffer.from(checksum).toString("hex");
    const newest = covers.at(-1);
    if (newest && found !== expected) failCorrupt(newest.record, `state checksum ${found}`, expected);
    this.#closeShelves();
    if (isRewrite(encoder, this.#pageCount, before.segments.at(-1)?.record.bytes ?? 0)) {
      await encoder.discard();
      return "rewrite";
    }
    return encoder;
  }

  async discard(): Promise<void> {
    this.#closeShelves();
    await this.#encoder?.discard();
  }

  #closeShelves(): void {
    this.#before.close();
    this.#after.close();
  }

  #pagesPerFrame(): number {
    return Math.min(LIMITS.framePagesMax, LIMITS.frameBytesMax / this.#pageSize);
  }

  #pageOf(bytes: Uint8Array, index: number): Uint8Array {
    return bytes.subarray(index * this.#pageSize, (index + 1) * this.#pageSize);
  }

  /** What these pages are by now. */
  #current(numbers: readonly number[]): Uint8Array {
    const bytes = new Uint8Array(numbers.length * this.#pageSize);
    for (const [index, pageNumber] of numbers.entries()) {
      const page = this.#pageOf(bytes, index);
      const isKnown = this.#after.take(pageNumber, page) || this.#before.take(pageNumber, page);
      assert(isKnown, `page ${pageNumber} was read or decoded`);
    }
    return bytes;
  }

  /** Pages of the state before the range; those that the range does not store are lost to a smaller database. */
  #readPrevious(numbers: Uint32Array, buffer: Uint8Array): void {
    const others: number[] = [];
    for (const [index, pageNumber] of numbers.entries())
      if (!this.#before.take(pageNumber, this.#pageOf(buffer, index))) others.push(index);
    if (others.length === 0) return;
    const bytes = new Uint8Array(others.length * this.#pageSize);
    this.#order.before.readScattered(
      Uint32Array.from(others, (index) => numbers[index] ?? 0),
      bytes,
    );
    for (const [place, index] of others.entries()) buffer.set(this.#pageOf(bytes, place), index * this.#pageSize);
  }
}

/** Numbers of all pages that any of these segments stores, ascending. */
function unionOf(segments: readonly SegmentReader[]): Uint32Array {
  const numbers = new Set<number>();
  for (const segment of segments) for (const pageNumber of segment.index.pageNumbers ?? []) numbers.add(pageNumber);
  return Uint32Array.from(numbers).toSorted();
}

/** All pages of a version, as `writeBaseOfPages` wants them, read in slices. */
export async function* pagesInSlices(chain: ChainReader, advance: Advance): AsyncGenerator<PageBatch> {
  const perRead = Math.max(1, LIMITS.baseBlockBytes / chain.pageSize);
  const lockPage = lockPageNumber(chain.pageSize);
  for (let first = 1; first <= chain.pageCount; first += perRead) {
    const count = Math.min(perRead, chain.pageCount - first + 1);
    const numbers = Uint32Array.from({ length: count }, (_, index) => first + index).filter((pageNumber) => pageNumber !== lockPage);
    const bytes = new Uint8Array(numbers.length * chain.pageSize);
    await chain.readInSlices(numbers, bytes, advance);
    yield { numbers, bytes };
  }
}
