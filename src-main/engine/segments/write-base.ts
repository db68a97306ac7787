import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import { BASE_LEVEL } from "../catalog/records.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { BaseCompressor } from "../format/segment-frame.ts";
import { countStoredPages } from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { Pace } from "./pace.ts";
import type { PageSource, Work } from "./page-source.ts";
import type { SegmentParts } from "./segment-parts.ts";
import { SegmentWriter, type StoredSegment } from "./segment-writer.ts";
import { StateSum } from "./state-sum.ts";

/** Blocks that are compressed at a time: enough for two cores, few enough to count as nothing. */
const BLOCKS_IN_FLIGHT = 3;

/** What a version's record says, and where its pages are. */
export interface WrittenVersion {
  readonly segment: StoredSegment;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly changedPages: number;
  /** State checksum, 16 bytes. */
  readonly checksum: Uint8Array;
}

/** Stores all pages of `source` as a base. Memory is bounded but for 12 bytes a page. Throws `cancelled`, and what the disk throws. */
export function writeBase(source: PageSource, parts: SegmentParts, work: Work = {}): Promise<WrittenVersion> {
  return writeBlocks(parts, source, blocksOfSource(source), work);
}

/** The same from batches that bring every page (but the lock page, if they like). */
export function writeBaseOfPages(
  state: { readonly pageSize: number; readonly pageCount: number; readonly pages: AsyncIterable<PageBatch> },
  parts: SegmentParts,
  work: Work = {},
): Promise<WrittenVersion> {
  return writeBlocks(parts, state, blocksOfPages(state), work);
}

interface Size {
  readonly pageSize: number;
  readonly pageCount: number;
}

/** The pages of one frame. */
interface Block {
  readonly numbers: Uint32Array;
  readonly bytes: Uint8Array;
}

async function writeBlocks(parts: SegmentParts, size: Size, blocks: AsyncIterable<Block>, work: Work): Promise<WrittenVersion> {
  const pages = countStoredPages(size.pageSize, size.pageCount);
  const writer = new SegmentWriter(parts, "base", BASE_LEVEL, pages);
  const sum = new StateSum(parts.native);
  const pace = new Pace("Storing a base", work, pages * size.pageSize);
  const compressors = Array.from({ length: BLOCKS_IN_FLIGHT }, () => new BaseCompressor(LIMITS.baseBlockBytes));
  let turn = 0;
  const inFlight: { readonly block: Block; readonly stored: Promise<Uint8Array> }[] = [];
  const takeOldest = async (): Promise<void> => {
    const oldest = inFlight.shift();
    assert(oldest, "a block is in flight");
    const hashes = parts.native.hashPages(oldest.block.bytes, size.pageSize);
    sum.toggle(hashes, oldest.block.numbers);
    writer.addFrame(await oldest.stored, oldest.block.numbers, hashes);
    await pace.advance(oldest.block.bytes.length);
  };
  try {
    for await (const block of blocks) {
      turn = (turn + 1) % BLOCKS_IN_FLIGHT;
      const compressor = compressors[turn];
      assert(compressor, "a turn is one of the compressors, and the one that is free");
      const stored = compressor.compress(block.bytes);
      // A failure is met when its turn comes; until then it is not an unhandled one.
      stored.catch(() => {});
      inFlight.push({ block, stored });
      if (inFlight.length >= BLOCKS_IN_FLIGHT) await takeOldest();
    }
    while (inFlight.length > 0) await takeOldest();
    const segment = await writer.finish({ ...size, pagesPerFrame: pagesPerBlock(size.pageSize) });
    return { segment, pageSize: size.pageSize, pageCount: size.pageCount, changedPages: pages, checksum: sum.bytes() };
  } catch (error) {
    await writer.discard();
    throw error;
  } finally {
    for (const compressor of compressors) compressor.close();
  }
}

/**
 * Buffers that take turns. Made anew for each block they would pile up by the hundred until they are collected; a block is
 * stored before the turn comes to its buffer again.
 */
class BlockBuffers {
  readonly #buffers = Array.from({ length: BLOCKS_IN_FLIGHT + 1 }, () => new Uint8Array(LIMITS.baseBlockBytes));
  #turn = 0;

  next(): Uint8Array {
    this.#turn = (this.#turn + 1) % this.#buffers.length;
    const buffer = this.#buffers[this.#turn];
    assert(buffer, "a turn is one of the buffers");
    return buffer;
  }
}

function pagesPerBlock(pageSize: number): number {
  return LIMITS.baseBlockBytes / pageSize;
}

async function* blocksOfSource(source: PageSource): AsyncGenerator<Block> {
  const { pageSize, pageCount } = source;
  const lockPage = lockPageNumber(pageSize);
  const buffers = new BlockBuffers();
  for (let next = 1; next <= pageCount;) {
    const numbers: number[] = [];
    for (; numbers.length < pagesPerBlock(pageSize) && next <= pageCount; next += 1) if (next !== lockPage) numbers.push(next);
    if (numbers.length === 0) return;
    const bytes = buffers.next().subarray(0, numbers.length * pageSize);
    const beforeLock = numbers.filter((pageNumber) => pageNumber < lockPage).length;
    if (beforeLock > 0) source.readPages(numbers[0] ?? 1, bytes.subarray(0, beforeLock * pageSize));
    if (beforeLock < numbers.length) source.readPages(numbers[beforeLock] ?? 1, bytes.subarray(beforeLock * pageSize));
    yield { numbers: Uint32Array.from(numbers), bytes };
  }
}

async function* blocksOfPages(state: Size & { readonly pages: AsyncIterable<PageBatch> }): AsyncGenerator<Block> {
  const { pageSize, pageCount } = state;
  const lockPage = lockPageNumber(pageSize);
  let expected = 1;
  let numbers: number[] = [];
  const buffers = new BlockBuffers();
  let bytes = buffers.next();
  for await (const batch of state.pages) {
    for (const [index, pageNumber] of batch.numbers.entries()) {
      if (pageNumber === lockPage || pageNumber > pageCount) continue;
      if (expected === lockPage) expected += 1;
      assert(pageNumber === expected, `page ${pageNumber} comes where page ${expected} should`);
      expected += 1;
      bytes.set(batch.bytes.subarray(index * pageSize, (index + 1) * pageSize), numbers.length * pageSize);
      numbers.push(pageNumber);
      if (numbers.length < pagesPerBlock(pageSize)) continue;
      yield { numbers: Uint32Array.from(numbers), bytes };
      numbers = [];
      bytes = buffers.next();
    }
  }
  assert(expected > pageCount || (expected === pageCount && expected === lockPage), `all ${pageCount} pages come, ${expected - 1} did`);
  if (numbers.length > 0) yield { numbers: Uint32Array.from(numbers), bytes: bytes.subarray(0, numbers.length * pageSize) };
}
