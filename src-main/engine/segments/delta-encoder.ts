/**
 * Encodes the pages of one state over those of another, frame by frame, and carries the state checksum along. Used for a
 * version's own change and for merged segments, whose two states are further apart.
 */
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import { compressDeltaFrameAside } from "../format/segment-frame.ts";
import { countStoredPages } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { SegmentParts } from "./segment-parts.ts";
import { SegmentWriter } from "./segment-writer.ts";
import { StateSum } from "./state-sum.ts";
import type { WrittenVersion } from "./write-base.ts";

/** Frames that are compressed on other threads at a time, with two of them busy. */
const FRAMES_IN_FLIGHT_MAX = 4;

/** The state that pages are stored against. */
export interface PreviousState {
  readonly pageCount: number;
  /** Fills `buffer` with the pages of these numbers, in order. */
  readScattered(numbers: Uint32Array, buffer: Uint8Array): void;
}

export interface DeltaOrder {
  readonly level: number;
  readonly previous: PreviousState;
  /** Its state checksum, 16 bytes. */
  readonly previousChecksum: Uint8Array;
  /** Of both states. */
  readonly pageSize: number;
  readonly pageCount: number;
}

export class DeltaEncoder {
  readonly pagesPerFrame: number;
  readonly #parts: SegmentParts;
  readonly #order: DeltaOrder;
  readonly #writer: SegmentWriter;
  readonly #sum: StateSum;
  readonly #lockPage: number;
  /** The one being filled, those that are being compressed, oldest first, and those whose space can be used again. */
  #frame: OpenFrame | null = null;
  readonly #inFlight: { readonly frame: OpenFrame; readonly stored: Promise<Uint8Array> }[] = [];
  readonly #free: OpenFrame[] = [];
  #newPages = 0;

  constructor(order: DeltaOrder, parts: SegmentParts) {
    this.pagesPerFrame = Math.min(LIMITS.framePagesMax, LIMITS.frameBytesMax / order.pageSize);
    this.#parts = parts;
    this.#order = order;
    this.#writer = new SegmentWriter(parts, "delta", order.level, 0);
    this.#sum = new StateSum(parts.native, order.previousChecksum);
    this.#lockPage = lockPageNumber(order.pageSize);
  }

  /** Stored bytes and pages so far. Complete after `seal`, but for the index. */
  get bytes(): number {
    return this.#writer.bytes;
  }
  get pages(): number {
    return this.#writer.pages;
  }

  /** Takes at most `pagesPerFrame` candidates; keeps those that differ. */
  async add(numbers: Uint32Array, bytes: Uint8Array): Promise<void> {
    const { pageSize, pageCount, previous } = this.#order;
    const candidates = numbers.filter(
      (pageNumber) => pageNumber <= previous.pageCount && pageNumber <= pageCount && pageNumber !== this.#lockPage,
    );
    const before = new Uint8Array(candidates.length * pageSize);
    previous.readScattered(candidates, before);
    let known = 0;
    for (const [index, pageNumber] of numbers.entries()) {
      if (pageNumber > pageCount || pageNumber === this.#lockPage) continue;
      const page = bytes.subarray(index * pageSize, (index + 1) * pageSize);
      if (pageNumber > previous.pageCount) {
        await this.#put(pageNumber, page, null);
        continue;
      }
      const old = before.subarray(known * pageSize, (known + 1) * pageSize);
      known += 1;
      if (Buffer.compare(page, old) !== 0) await this.#put(pageNumber, page, old);
    }
  }

  /** Takes the pages that a shrunken database lost out of the checksum. `advance` is told the bytes as they are read. */
  async dropPages(advance: (bytes: number) => Promise<void>): Promise<void> {
    const { pageSize, pageCount, previous } = this.#order;
    for (let first = pageCount + 1; first <= previous.pageCount; first += this.pagesPerFrame) {
      const end = Math.min(first + this.pagesPerFrame, previous.pageCount + 1);
      const numbers = Uint32Array.from({ length: end - first }, (_, index) => first + index).filter(
        (pageNumber) => pageNumber !== this.#lockPage,
      );
      const pages = new Uint8Array(numbers.length * pageSize);
      previous.readScattered(numbers, pages);
      this.#sum.toggle(this.#parts.native.hashPages(pages, pageSize), numbers);
      await advance(pages.length);
    }
  }

  /** Ends the last frame. Returns the state checksum that all of it comes to. */
  async seal(): Promise<Uint8Array> {
    const { pageSize, pageCount, previous } = this.#order;
    await this.#endFrame();
    while (this.#inFlight.length > 0) await this.#takeOldest();
    const expected = Math.max(0, countStoredPages(pageSize, pageCount) - countStoredPages(pageSize, previous.pageCount));
    assert(this.#newPages === expected, `all ${expected} new pages come, ${this.#newPages} did`);
    return this.#sum.bytes();
  }

  /** After `seal`: completes the segment, durably unless it is small enough for the catalog. */
  async publish(): Promise<WrittenVersion> {
    const { pageSize, pageCount } = this.#order;
    const changedPages = this.#writer.pages;
    const segment = await this.#writer.finish({ pageSize, pageCount, pagesPerFrame: this.pagesPerFrame });
    return { segment, pageSize, pageCount, changedPages, checksum: this.#sum.bytes() };
  }

  /** Leaves nothing behind, published or not. */
  async discard(): Promise<void> {
    await Promise.allSettled(this.#inFlight.map(({ stored }) => stored));
    await this.#writer.discard();
  }

  async #put(pageNumber: number, page: Uint8Array, old: Uint8Array | null): Promise<void> {
    this.#frame ??= this.#free.pop() ?? new OpenFrame(this.pagesPerFrame, this.#order.pageSize);
    this.#frame.put(pageNumber, page, old);
    if (!old) this.#newPages += 1;
    if (this.#frame.numbers.length === this.pagesPerFrame) await this.#endFrame();
  }

  /** Its compression begins; that of earlier frames is waited for when there is much of it. */
  async #endFrame(): Promise<void> {
    const frame = this.#frame;
    if (frame === null) return;
    this.#frame = null;
    const stored = compressDeltaFrameAside(this.#parts.native, frame.ownPages, frame.dictionary);
    // A failure is met when its turn comes; until then it is not an unhandled one.
    stored.catch(() => undefined);
    this.#inFlight.push({ frame, stored });
    if (this.#inFlight.length > FRAMES_IN_FLIGHT_MAX) await this.#takeOldest();
  }

  async #takeOldest(): Promise<void> {
    const oldest = this.#inFlight[0];
    assert(oldest, "a frame is in flight");
    const stored = await oldest.stored;
    this.#inFlight.shift();
    this.#write(oldest.frame, stored);
    oldest.frame.clear();
    this.#free.push(oldest.frame);
  }

  #write(frame: OpenFrame, stored: Uint8Array): void {
    const { pageSize } = this.#order;
    const { numbers, previousNumbers } = frame;
    const hashes = this.#parts.native.hashPages(frame.ownPages, pageSize);
    if (previousNumbers.length > 0) this.#sum.toggle(this.#parts.native.hashPages(frame.dictionary, pageSize), previousNumbers);
    this.#sum.toggle(hashes, numbers);
    this.#writer.addFrame(stored, numbers, hashes);
  }
}

/** A frame that is not stored yet: its pages, and the previous versions of those that have one. */
class OpenFrame {
  readonly numbers: number[] = [];
  readonly previousNumbers: number[] = [];
  readonly #pageSize: number;
  readonly #pages: Uint8Array;
  readonly #previousPages: Uint8Array;

  constructor(pagesMax: number, pageSize: number) {
    this.#pageSize = pageSize;
    this.#pages = new Uint8Array(pagesMax * pageSize);
    this.#previousPages = new Uint8Array(pagesMax * pageSize);
  }

  get ownPages(): Uint8Array {
    return this.#pages.subarray(0, this.numbers.length * this.#pageSize);
  }

  get dictionary(): Uint8Array {
    return this.#previousPages.subarray(0, this.previousNumbers.length * this.#pageSize);
  }

  put(pageNumber: number, page: Uint8Array, old: Uint8Array | null): void {
    this.#pages.set(page, this.numbers.length * this.#pageSize);
    this.numbers.push(pageNumber);
    if (!old) return;
    this.#previousPages.set(old, this.previousNumbers.length * this.#pageSize);
    this.previousNumbers.push(pageNumber);
  }

  clear(): void {
    this.numbers.length = 0;
    this.previousNumbers.length = 0;
  }
}

/**
 * Whether a delta is worth a new base: most pages changed, and it costs half of what a base does. A small database, or
 * one whose pages all changed by a few bytes, stays with its delta: that is the smaller write by far. `baseBytes`: of the
 * base that the chain stands on.
 */
export function isRewrite(delta: { readonly bytes: number; readonly pages: number }, pageCount: number, baseBytes: number): boolean {
  return delta.bytes > LIMITS.inlineSegmentBytesMax && delta.pages > pageCount / 2 && delta.bytes > baseBytes / 2;
}
