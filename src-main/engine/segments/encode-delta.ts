import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { compressDeltaFrame } from "../format/segment-frame.ts";
import { countStoredPages } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { VersionNumber } from "#shared/ids.ts";
import { ChainReader } from "./chain-reader.ts";
import { Pace } from "./pace.ts";
import type { Work } from "./page-source.ts";
import { partName, type SegmentParts } from "./segment-parts.ts";
import { SegmentReader } from "./segment-reader.ts";
import { SegmentWriter, type StoredSegment } from "./segment-writer.ts";
import { StateSum } from "./state-sum.ts";
import { writeBase, writeBaseOfPages, type WrittenVersion } from "./write-base.ts";

/** Level of a version's own change against its parent. */
const CHECKPOINT_LEVEL = 0;

/** A state as the pages that may differ from a version. */
export interface StateChange {
  /** The version the pages are stored against. */
  readonly previous: ChainReader;
  /** Its state checksum, 16 bytes. */
  readonly previousChecksum: Uint8Array;
  readonly pageSize: number;
  readonly pageCount: number;
  /**
   * At least every page that differs, and every page beyond the previous page count; when the page size differs, all
   * pages. Page 1 normalised. Pages that turn out equal are skipped.
   */
  readonly pages: AsyncIterable<PageBatch>;
}

/**
 * Stores a change as a delta; as a base when the page size changed, or when a rewrite of most pages left a delta that is
 * large beside the base it stands on. Null when nothing changed. Throws `cancelled`, `segment-corrupt` (previous pages),
 * and what the disk throws; leaves nothing behind then.
 */
export async function encodeDelta(change: StateChange, parts: SegmentParts, work: Work = {}): Promise<WrittenVersion | null> {
  if (change.pageSize !== change.previous.pageSize) return writeBaseOfPages(change, parts, work);
  const delta = await writeDelta(change, parts, work);
  return delta && isRewrite(change, delta) ? rebase(change, delta.segment, parts, work) : delta;
}

async function writeDelta(change: StateChange, parts: SegmentParts, work: Work): Promise<WrittenVersion | null> {
  const encoder = new DeltaEncoder(change, parts);
  const pace = new Pace("Storing a change", work, change.pageCount * change.pageSize);
  try {
    for await (const batch of change.pages) {
      for (let from = 0; from < batch.numbers.length; from += encoder.pagesPerFrame) {
        const numbers = batch.numbers.subarray(from, from + encoder.pagesPerFrame);
        const bytes = batch.bytes.subarray(from * change.pageSize, (from + numbers.length) * change.pageSize);
        encoder.add(numbers, bytes);
        await pace.advance(bytes.length);
      }
    }
    await encoder.dropPages(pace);
    return await encoder.finish();
  } catch (error) {
    await encoder.discard();
    throw error;
  }
}

class DeltaEncoder {
  readonly pagesPerFrame: number;
  readonly #parts: SegmentParts;
  readonly #change: StateChange;
  readonly #writer: SegmentWriter;
  readonly #sum: StateSum;
  readonly #lockPage: number;
  /** The frame being filled: its pages, and the previous versions of those that have one. */
  readonly #numbers: number[] = [];
  readonly #pages: Uint8Array;
  readonly #previousNumbers: number[] = [];
  readonly #previousPages: Uint8Array;
  #newPages = 0;

  constructor(change: StateChange, parts: SegmentParts) {
    this.pagesPerFrame = Math.min(LIMITS.framePagesMax, LIMITS.frameBytesMax / change.pageSize);
    this.#parts = parts;
    this.#change = change;
    this.#writer = new SegmentWriter(parts, "delta", CHECKPOINT_LEVEL, 0);
    this.#sum = new StateSum(parts.native, change.previousChecksum);
    this.#lockPage = lockPageNumber(change.pageSize);
    this.#pages = new Uint8Array(this.pagesPerFrame * change.pageSize);
    this.#previousPages = new Uint8Array(this.pagesPerFrame * change.pageSize);
  }

  /** Takes at most `pagesPerFrame` candidates; keeps those that differ. */
  add(numbers: Uint32Array, bytes: Uint8Array): void {
    const { pageSize, pageCount, previous } = this.#change;
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
        this.#put(pageNumber, page, null);
        continue;
      }
      const old = before.subarray(known * pageSize, (known + 1) * pageSize);
      known += 1;
      if (Buffer.compare(page, old) !== 0) this.#put(pageNumber, page, old);
    }
  }

  /** Takes the pages that a shrunken database lost out of the checksum. */
  async dropPages(pace: Pace): Promise<void> {
    const { pageSize, pageCount, previous } = this.#change;
    for (let first = pageCount + 1; first <= previous.pageCount; first += this.pagesPerFrame) {
      const end = Math.min(first + this.pagesPerFrame, previous.pageCount + 1);
      const numbers = Uint32Array.from({ length: end - first }, (_, index) => first + index).filter(
        (pageNumber) => pageNumber !== this.#lockPage,
      );
      const pages = new Uint8Array(numbers.length * pageSize);
      previous.readScattered(numbers, pages);
      this.#sum.toggle(this.#parts.native.hashPages(pages, pageSize), numbers);
      await pace.advance(pages.length);
    }
  }

  /** Null when the state is the previous one. */
  async finish(): Promise<WrittenVersion | null> {
    const { pageSize, pageCount, previous } = this.#change;
    this.#endFrame();
    const expected = Math.max(0, countStoredPages(pageSize, pageCount) - countStoredPages(pageSize, previous.pageCount));
    assert(this.#newPages === expected, `all ${expected} new pages come, ${this.#newPages} did`);
    const changedPages = this.#writer.pages;
    if (changedPages === 0 && pageCount === previous.pageCount) return null;
    const segment = await this.#writer.finish({ pageSize, pageCount, pagesPerFrame: this.pagesPerFrame });
    return { segment, pageSize, pageCount, changedPages, checksum: this.#sum.bytes() };
  }

  discard(): Promise<void> {
    return this.#writer.discard();
  }

  #put(pageNumber: number, page: Uint8Array, old: Uint8Array | null): void {
    const { pageSize } = this.#change;
    this.#pages.set(page, this.#numbers.length * pageSize);
    this.#numbers.push(pageNumber);
    if (old) {
      this.#previousPages.set(old, this.#previousNumbers.length * pageSize);
      this.#previousNumbers.push(pageNumber);
    } else this.#newPages += 1;
    if (this.#numbers.length === this.pagesPerFrame) this.#endFrame();
  }

  #endFrame(): void {
    if (this.#numbers.length === 0) return;
    const { pageSize } = this.#change;
    const pages = this.#pages.subarray(0, this.#numbers.length * pageSize);
    const dictionary = this.#previousPages.subarray(0, this.#previousNumbers.length * pageSize);
    const hashes = this.#parts.native.hashPages(pages, pageSize);
    if (dictionary.length > 0) this.#sum.toggle(this.#parts.native.hashPages(dictionary, pageSize), this.#previousNumbers);
    this.#sum.toggle(hashes, this.#numbers);
    this.#writer.addFrame(compressDeltaFrame(pages, dictionary), this.#numbers, hashes);
    this.#numbers.length = 0;
    this.#previousNumbers.length = 0;
  }
}

/**
 * Whether the delta is worth a new base: most pages changed, and it costs half of what a base does. A small database, or
 * one whose pages all changed by a few bytes, stays with its delta: that is the smaller write by far.
 */
function isRewrite(change: StateChange, delta: WrittenVersion): boolean {
  const base = change.previous.segments.at(-1)?.record.bytes ?? 0;
  const { bytes } = delta.segment;
  return bytes > LIMITS.inlineSegmentBytesMax && delta.changedPages > change.pageCount / 2 && bytes > base / 2;
}

/** Replaces a delta that was just written by a base of the same state. */
async function rebase(change: StateChange, delta: StoredSegment, parts: SegmentParts, work: Work): Promise<WrittenVersion> {
  const below = change.previous.segments[0]?.record;
  assert(below, "a chain has a segment");
  const record = { ...delta, database: below.database, to: (below.to + 1) as VersionNumber, from: below.to };
  try {
    const reader = await SegmentReader.open(parts.native, parts.objects, record);
    return await writeBase(
      new ChainReader(parts.frames, [reader, ...change.previous.segments], change.previous.segments.length),
      parts,
      work,
    );
  } finally {
    for (let part = 0; part < delta.parts; part += 1) await parts.objects.remove(partName(delta.file ?? "", part));
  }
}
