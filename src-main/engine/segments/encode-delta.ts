import { assert } from "#shared/assert.ts";
import type { VersionNumber } from "#shared/ids.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { ChainReader } from "./chain-reader.ts";
import { DeltaEncoder, isRewrite, type PreviousState } from "./delta-encoder.ts";
import { Pace } from "./pace.ts";
import { BasePageFinder, type PagesInHand } from "./pages-ahead.ts";
import type { Work } from "./page-source.ts";
import { partName, type SegmentParts } from "./segment-parts.ts";
import { SegmentReader } from "./segment-reader.ts";
import type { StoredSegment } from "./segment-writer.ts";
import { writeBase, writeBaseOfPages, type WrittenVersion } from "./write-base.ts";

/** Level of a version's own change against its parent. */
const CHECKPOINT_LEVEL = 0;
/** Pages whose previous versions are read together: each may need a block of the base to be decoded. */
const PAGES_AHEAD = 256;
const PAGES_AHEAD_MIN = 32;

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
  if (!delta) return null;
  const baseBytes = change.previous.segments.at(-1)?.record.bytes ?? 0;
  return isRewrite({ bytes: delta.segment.bytes, pages: delta.changedPages }, change.pageCount, baseBytes)
    ? rebase(change, delta.segment, parts, work)
    : delta;
}

async function writeDelta(change: StateChange, parts: SegmentParts, work: Work): Promise<WrittenVersion | null> {
  const previous = new PreviousPages(change.previous);
  const encoder = new DeltaEncoder({ ...change, previous, level: CHECKPOINT_LEVEL }, parts);
  const pace = new Pace("Storing a change", work, change.pageCount * change.pageSize);
  try {
    for await (const batch of change.pages)
      for (const slice of slicesOf(batch, change.pageSize, PAGES_AHEAD)) {
        await previous.bringAhead(slice.numbers);
        for (const { numbers, bytes } of slicesOf(slice, change.pageSize, encoder.pagesPerFrame)) {
          await encoder.add(numbers, bytes);
          await pace.advance(bytes.length);
        }
      }
    await encoder.dropPages((bytes) => pace.advance(bytes));
    await encoder.seal();
    if (encoder.pages === 0 && change.pageCount === change.previous.pageCount) return null;
    return await encoder.publish();
  } catch (error) {
    await encoder.discard();
    throw error;
  }
}

/** The version that pages are stored against, with those of its base found ahead. */
class PreviousPages implements PreviousState {
  readonly #chain: ChainReader;
  readonly #finder = new BasePageFinder();
  #inHand: PagesInHand | null = null;

  constructor(chain: ChainReader) {
    this.#chain = chain;
  }

  get pageCount(): number {
    return this.#chain.pageCount;
  }

  readScattered(numbers: Uint32Array, buffer: Uint8Array): void {
    this.#chain.readScattered(numbers, buffer, this.#inHand?.pages);
  }

  /** A few pages are sooner read than other threads take them up. */
  async bringAhead(numbers: Uint32Array): Promise<void> {
    this.#inHand?.release();
    this.#inHand = null;
    const known = numbers.filter((pageNumber) => pageNumber <= this.pageCount);
    if (known.length >= PAGES_AHEAD_MIN) this.#inHand = await this.#finder.find([{ chain: this.#chain, numbers: known }]);
  }
}

/** The same pages, at most `pagesMax` at a time. */
function* slicesOf({ numbers, bytes }: PageBatch, pageSize: number, pagesMax: number): Generator<PageBatch> {
  for (let from = 0; from < numbers.length; from += pagesMax) {
    const to = Math.min(from + pagesMax, numbers.length);
    yield { numbers: numbers.subarray(from, to), bytes: bytes.subarray(from * pageSize, to * pageSize) };
  }
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
