/**
 * Writes a version out as a file: the base's blocks in order, decoded on several threads, then each delta over what its pages are by then, so that
 * the file itself is the dictionary and memory stays bounded. The state checksum is carried along and compared at the
 * end: a file that this leaves behind holds exactly the version.
 */
import { assert } from "#shared/assert.ts";
import type { ChainReader } from "./chain-reader.ts";
import { decodeBase } from "./decode-base.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import { lockPageNumber, stampPage1, type JournalKind } from "../format/sqlite-header.ts";
import { Pace } from "./pace.ts";
import type { Work } from "./page-source.ts";
import { failCorrupt, type SegmentReader } from "./segment-reader.ts";
import { StateSum } from "./state-sum.ts";

export interface FileOrder {
  readonly disk: Disk;
  readonly native: Native;
  /** Must not exist. */
  readonly path: string;
  /** How page 1 is stamped (`stampPage1`). */
  readonly journal: JournalKind;
  readonly changeCounter: number;
  /** State checksum of the version, from its record. */
  readonly checksum: Uint8Array;
}

/**
 * Writes the chain's version to a new file, not synced. Throws `segment-corrupt` when a page or the whole is not what it
 * should be, `cancelled`, and what the disk throws; the file is gone then.
 */
export async function materialise(chain: ChainReader, order: FileOrder, work: Work = {}): Promise<void> {
  const file = order.disk.open(order.path, "wx+");
  try {
    await new Materialiser(chain, order, file, work).run();
  } catch (error) {
    order.disk.close(file);
    order.disk.remove(order.path);
    throw error;
  }
  order.disk.close(file);
}

class Materialiser {
  readonly #chain: ChainReader;
  readonly #order: FileOrder;
  readonly #file: FileDescriptor;
  readonly #pageSize: number;
  readonly #sum: StateSum;
  readonly #pace: Pace;

  constructor(chain: ChainReader, order: FileOrder, file: FileDescriptor, work: Work) {
    this.#chain = chain;
    this.#order = order;
    this.#file = file;
    this.#pageSize = chain.pageSize;
    this.#sum = new StateSum(order.native);
    const pages = chain.segments.reduce((total, segment) => total + segment.index.pages, 0);
    this.#pace = new Pace("Writing a version to a file", work, pages * chain.pageSize);
  }

  async run(): Promise<void> {
    let pagesBefore = 0;
    for (const segment of this.#chain.segments.toReversed()) {
      if (segment.index.kind === "base") await this.#writeBase(segment);
      else for (let frame = 0; frame < segment.index.frameBytes.length; frame += 1) await this.#applyFrame(segment, frame, pagesBefore);
      await this.#dropPages(segment.index.pageCount, pagesBefore);
      pagesBefore = segment.index.pageCount;
    }
    const found = Buffer.from(this.#sum.bytes()).toString("hex");
    const expected = Buffer.from(this.#order.checksum).toString("hex");
    const newest = this.#chain.segments[0];
    if (newest && found !== expected) failCorrupt(newest.record, `state checksum ${found}`, expected);
    this.#stamp();
    // A lock page at the very end is a hole up to here.
    this.#order.disk.truncate(this.#file, this.#chain.pageCount * this.#pageSize);
  }

  async #writeBase(segment: SegmentReader): Promise<void> {
    for await (const { first, pages, hashes } of decodeBase(segment)) {
      const numbers = Uint32Array.from({ length: pages.length / this.#pageSize }, (_, index) => segment.pageNumberAt(first + index));
      this.#sum.toggle(hashes, numbers);
      this.#writePages(numbers, pages);
      await this.#pace.advance(pages.length);
    }
  }

  async #applyFrame(segment: SegmentReader, frame: number, pagesBefore: number): Promise<void> {
    const numbers = framePages(segment, frame);
    const known = numbers.filter((pageNumber) => pageNumber <= pagesBefore);
    const dictionary = this.#readPages(known);
    if (known.length > 0) this.#sum.toggle(this.#order.native.hashPages(dictionary, this.#pageSize), known);
    const decoded = segment.decodeFrame(frame, dictionary);
    this.#sum.toggle(decoded.hashes, numbers);
    this.#writePages(numbers, decoded.pages);
    await this.#pace.advance(decoded.pages.length);
  }

  /** A shrunken database: its lost pages leave the checksum and the file, so that nothing finds them when it grows again. */
  async #dropPages(pageCount: number, pagesBefore: number): Promise<void> {
    if (pageCount >= pagesBefore) return;
    const lockPage = lockPageNumber(this.#pageSize);
    for (let pageNumber = pageCount + 1; pageNumber <= pagesBefore; pageNumber += 1) {
      if (pageNumber === lockPage) continue;
      this.#sum.toggle(this.#order.native.hashPages(this.#readPages([pageNumber]), this.#pageSize), [pageNumber]);
      await this.#pace.advance(this.#pageSize);
    }
    this.#order.disk.truncate(this.#file, pageCount * this.#pageSize);
  }

  #stamp(): void {
    if (this.#chain.pageCount === 0) return;
    const page = this.#readPages([1]);
    stampPage1(page, this.#order);
    this.#writePages([1], page);
  }

  #readPages(numbers: readonly number[]): Uint8Array {
    const bytes = new Uint8Array(numbers.length * this.#pageSize);
    for (const { first, from, to } of runsOf(numbers)) {
      const target = bytes.subarray(from * this.#pageSize, to * this.#pageSize);
      const read = this.#order.disk.read(this.#file, target, (first - 1) * this.#pageSize);
      assert(read === target.length, "the file holds every page below its size");
    }
    return bytes;
  }

  #writePages(numbers: ArrayLike<number>, bytes: Uint8Array): void {
    for (const { first, from, to } of runsOf(numbers)) {
      this.#order.disk.write(this.#file, bytes.subarray(from * this.#pageSize, to * this.#pageSize), (first - 1) * this.#pageSize);
    }
  }
}

function framePages(segment: SegmentReader, frame: number): number[] {
  const { first, end } = segment.frameRange(frame);
  return Array.from({ length: end - first }, (_, index) => segment.pageNumberAt(first + index));
}

/** Stretches of consecutive page numbers: one read or write each. `from`, `to`: places in the list. */
function* runsOf(numbers: ArrayLike<number>): Generator<{ first: number; from: number; to: number }> {
  let from = 0;
  for (let to = 1; to <= numbers.length; to += 1) {
    if (to < numbers.length && numbers[to] === (numbers[to - 1] ?? 0) + 1) continue;
    yield { first: numbers[from] ?? 0, from, to };
    from = to;
  }
}
