import { crc32 } from "node:zlib";
import type { SegmentRecord } from "../catalog/records.ts";
import { decompressFrame, decompressFrames } from "../format/segment-frame.ts";
import {
  countStoredPages,
  decodeIndexLength,
  decodeSegmentHeader,
  decodeSegmentIndex,
  hex,
  PAGE_HASH_BYTES,
  SEGMENT_HEADER_BYTES,
  SEGMENT_TRAILER_BYTES,
  type FailDecoding,
  type SegmentIndex,
} from "../format/segment-index.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import { FRAME_ROOM_BYTES, type Native } from "../io/native.ts";
import type { ObjectStore, StoredObject } from "../objects/object-store.ts";
import { partName } from "./segment-parts.ts";

/** Pages of one frame and their hashes, 16 bytes each. */
export interface DecodedFrame {
  readonly pages: Uint8Array;
  readonly hashes: Uint8Array;
}

/**
 * Where pages of a segment can be had that says again what others say: those of these numbers, as they are at its end.
 * `problem` is why the segment itself cannot tell. Throws when the others cannot either.
 */
export type StandIn = (numbers: Uint32Array, problem: EngineError) => Uint8Array;

/** One segment: its index in memory, its frames where they are stored. */
export class SegmentReader {
  readonly record: SegmentRecord;
  readonly index: SegmentIndex;
  /** Says which frames these are, also after a database's id was given away again. */
  readonly cacheKey: string;
  readonly #native: Native;
  readonly #parts: readonly StoredObject[];
  /** Position of each frame in its part. */
  readonly #positions: Float64Array;
  readonly #frameParts: Uint16Array;
  readonly #lockPage: number;
  #standIn: StandIn | null = null;

  private constructor(native: Native, record: SegmentRecord, parts: readonly StoredObject[], index: SegmentIndex, crc: number) {
    this.record = record;
    this.index = index;
    this.cacheKey = `${record.database}.${record.to}.${record.level}.${record.from}.${crc}`;
    this.#native = native;
    this.#parts = parts;
    this.#positions = new Float64Array(index.frameBytes.length);
    this.#frameParts = new Uint16Array(index.frameBytes.length);
    this.#lockPage = lockPageNumber(index.pageSize);
  }

  /** Reads the index. Throws `segment-missing` or `segment-corrupt`, naming the segment and the part. */
  static async open(native: Native, objects: ObjectStore, record: SegmentRecord): Promise<SegmentReader> {
    return SegmentReader.openNow(native, objects, record);
  }

  /** The same at once. `standIn` is asked for the pages of frames that turn out to be damaged. */
  static openNow(native: Native, objects: ObjectStore, record: SegmentRecord, standIn: StandIn | null = null): SegmentReader {
    const parts = openParts(objects, record);
    const last = parts.at(-1);
    const fail: FailDecoding = (found, expected) => failCorrupt(record, found, expected);
    if (!last || last.size < SEGMENT_HEADER_BYTES + SEGMENT_TRAILER_BYTES) return fail(`${last?.size ?? 0} bytes`, "header and trailer");
    const header = readExactly(last, 0, SEGMENT_HEADER_BYTES, fail);
    const trailer = readExactly(last, last.size - SEGMENT_TRAILER_BYTES, SEGMENT_TRAILER_BYTES, fail);
    const length = decodeIndexLength(trailer);
    const position = last.size - SEGMENT_TRAILER_BYTES - length;
    if (position < SEGMENT_HEADER_BYTES) fail(`an index of ${length} bytes in a part of ${last.size}`, "room for it");
    const index = decodeSegmentIndex(header, readExactly(last, position, length, fail), trailer, fail);
    const crc = new DataView(trailer.buffer, trailer.byteOffset).getUint32(4, true);
    const reader = new SegmentReader(native, record, parts, index, crc);
    reader.#placeFrames(position, fail);
    reader.#standIn = standIn;
    return reader;
  }

  /** Position of a page among the stored ones, or -1. */
  ordinalOf(pageNumber: number): number {
    const { pageNumbers, pageCount } = this.index;
    if (pageNumber > pageCount || pageNumber === this.#lockPage) return -1;
    if (!pageNumbers) return pageNumber < this.#lockPage ? pageNumber - 1 : pageNumber - 2;
    const at = lowerBound(pageNumbers, pageNumber);
    return pageNumbers[at] === pageNumber ? at : -1;
  }

  pageNumberAt(ordinal: number): number {
    if (this.index.pageNumbers) return this.index.pageNumbers[ordinal] ?? 0;
    return ordinal + 1 < this.#lockPage ? ordinal + 1 : ordinal + 2;
  }

  /** Stored pages beyond page `pageNumber`. */
  countPagesAfter(pageNumber: number): number {
    const { pageNumbers, pages, pageSize } = this.index;
    return pages - (pageNumbers ? lowerBound(pageNumbers, pageNumber + 1) : Math.min(pages, countStoredPages(pageSize, pageNumber)));
  }

  frameOf(ordinal: number): number {
    return Math.floor(ordinal / this.index.pagesPerFrame);
  }

  /** Ordinals of a frame: first, and one behind the last. */
  frameRange(frame: number): { readonly first: number; readonly end: number } {
    const first = frame * this.index.pagesPerFrame;
    return { first, end: Math.min(first + this.index.pagesPerFrame, this.index.pages) };
  }

  /** Numbers of a frame's pages, ascending. */
  framePages(frame: number): number[] {
    const { first, end } = this.frameRange(frame);
    return Array.from({ length: end - first }, (_, index) => this.pageNumberAt(first + index));
  }

  hashAt(ordinal: number): Uint8Array {
    return this.index.hashes.subarray(ordinal * PAGE_HASH_BYTES, (ordinal + 1) * PAGE_HASH_BYTES);
  }

  /** Writes the hash of each page it stores to that page's place in a list that begins with page 1, as far as the list goes. */
  copyHashes(list: Uint8Array): void {
    const { pageNumbers, pages, hashes } = this.index;
    if (pageNumbers) {
      for (const [ordinal, pageNumber] of pageNumbers.entries()) {
        if (pageNumber * PAGE_HASH_BYTES > list.length) return;
        list.set(this.hashAt(ordinal), (pageNumber - 1) * PAGE_HASH_BYTES);
      }
      return;
    }
    // All pages: two stretches, before and behind the lock page.
    const lockPosition = (this.#lockPage - 1) * PAGE_HASH_BYTES;
    const stored = hashes.subarray(0, pages * PAGE_HASH_BYTES);
    const before = stored.subarray(0, Math.min(lockPosition, list.length));
    list.set(before);
    const behind = list.subarray(lockPosition + PAGE_HASH_BYTES);
    if (behind.length > 0) behind.set(stored.subarray(lockPosition, lockPosition + behind.length));
  }

  /**
   * Decodes and verifies a frame. `dictionary`: the previous versions of its pages, those that have one, in order. A frame
   * that is damaged is taken from the stand-in, if there is one, and verified just as well.
   */
  decodeFrame(frame: number, dictionary: Uint8Array): DecodedFrame {
    try {
      return this.#decodeStored(frame, dictionary);
    } catch (error) {
      if (this.#standIn === null || !(error instanceof EngineError)) throw error;
      return this.#verify(frame, this.#standIn(Uint32Array.from(this.framePages(frame)), error));
    }
  }

  #decodeStored(frame: number, dictionary: Uint8Array): DecodedFrame {
    const stored = this.#readFrame(frame);
    let pages: Uint8Array;
    try {
      pages = decompressFrame(stored, this.#rawBytes(frame), dictionary);
    } catch (error) {
      return this.#failFrame(frame, error);
    }
    return this.#verify(frame, pages);
  }

  /** Which of these pages, by their places in the list, are as this segment stores them. Page 1 normalised. */
  placesOfSame(numbers: Uint32Array, bytes: Uint8Array): number[] {
    const hashes = this.#native.hashPages(bytes, this.index.pageSize);
    const isSame = (place: number, number: number): boolean => {
      const low = hashes.subarray((2 * place + 1) * PAGE_HASH_BYTES, (2 * place + 2) * PAGE_HASH_BYTES);
      const ordinal = this.ordinalOf(number);
      return ordinal >= 0 && Buffer.compare(low, this.hashAt(ordinal)) === 0;
    };
    return [...numbers].flatMap((number, place) => (isSame(place, number) ? [place] : []));
  }

  /** One behind the last of the frames from `frame` on that stand in the same part and decode to `rawBytesMax` or less; at least one. */
  runEnd(frame: number, rawBytesMax: number): number {
    const framesMax = Math.max(1, Math.floor(rawBytesMax / (this.index.pagesPerFrame * this.index.pageSize)));
    let end = frame + 1;
    while (end < frame + framesMax && end < this.index.frameBytes.length && this.#frameParts[end] === this.#frameParts[frame]) end += 1;
    return end;
  }

  /** Bytes of some frames as they are stored, and of their pages. */
  framesBytes(frames: readonly number[]): { readonly stored: number; readonly raw: number } {
    let [stored, raw] = [0, 0];
    for (const frame of frames) {
      stored += this.index.frameBytes[frame] ?? 0;
      raw += this.#rawBytes(frame);
    }
    return { stored, raw };
  }

  /**
   * Decodes and verifies frames, ascending, which have no dictionary, off this thread. `buffers` are of the sizes that
   * `framesBytes` says, `stored` with `FRAME_ROOM_BYTES` before. The hash of every page is compared, so the frames' own
   * checksums are only looked at when something is wrong.
   */
  async decodeRun(frames: readonly number[], buffers: DecodedFrame & { readonly stored: Uint8Array }): Promise<DecodedFrame> {
    const { pageSize, pagesPerFrame, frameBytes } = this.index;
    const { stored, pages, hashes } = buffers;
    if (this.#isRunRead(frames, stored.subarray(FRAME_ROOM_BYTES))) {
      const lengths = Uint32Array.from(frames, (frame) => frameBytes[frame] ?? 0);
      const run = { stored, frameBytes: lengths, frameRawBytes: pagesPerFrame * pageSize, pageSize };
      const isDecoded = await decompressFrames(this.#native, run, { pages, hashes });
      if (isDecoded && this.#areHashes(hashes, frames)) return { pages, hashes };
    }
    // One after another: what is damaged is named.
    const decoded = frames.map((frame) => this.decodeFrame(frame, new Uint8Array(0)));
    return { pages: Buffer.concat(decoded.map((one) => one.pages)), hashes: Buffer.concat(decoded.map((one) => one.hashes)) };
  }

  #isRunRead(frames: readonly number[], target: Uint8Array): boolean {
    try {
      return this.#readRun(frames, target);
    } catch (error) {
      if (error instanceof EngineError) return false;
      throw error;
    }
  }

  /** Says that these frames will be read, so that the disk may bring them together. */
  willRead(frames: readonly number[]): void {
    for (const frame of frames)
      this.#parts[this.#frameParts[frame] ?? 0]?.willRead?.(this.#positions[frame] ?? 0, this.index.frameBytes[frame] ?? 0);
  }

  /** Reads frames one behind another into `target`, neighbours together. False when they are not all there. */
  #readRun(frames: readonly number[], target: Uint8Array): boolean {
    let position = 0;
    for (let from = 0; from < frames.length;) {
      const first = frames[from] ?? 0;
      const part = this.#frameParts[first] ?? 0;
      let length = 0;
      for (; from < frames.length; from += 1) {
        const frame = frames[from] ?? 0;
        const place = (this.#positions[first] ?? 0) + length;
        if (this.#frameParts[frame] !== part || this.#positions[frame] !== place) break;
        length += this.index.frameBytes[frame] ?? 0;
      }
      if (this.#parts[part]?.read(this.#positions[first] ?? 0, target.subarray(position, position + length)) !== length) return false;
      position += length;
    }
    return position === target.length;
  }

  /** True when the low halves of `hashes` are what the index says of the pages of these frames. */
  #areHashes(hashes: Uint8Array, frames: readonly number[]): boolean {
    const found = new DataView(hashes.buffer, hashes.byteOffset, hashes.length);
    const expected = new DataView(this.index.hashes.buffer, this.index.hashes.byteOffset, this.index.hashes.length);
    let low = PAGE_HASH_BYTES;
    for (const frame of frames) {
      const { first, end } = this.frameRange(frame);
      for (let known = first * PAGE_HASH_BYTES; known < end * PAGE_HASH_BYTES; known += PAGE_HASH_BYTES, low += 2 * PAGE_HASH_BYTES)
        if (found.getUint32(low) !== expected.getUint32(known) || found.getUint32(low + 4) !== expected.getUint32(known + 4)) return false;
    }
    return low === hashes.length + PAGE_HASH_BYTES;
  }

  /** Checks every stored byte without decoding frames: headers, checksums, nothing missing, nothing behind. */
  checkStored(): void {
    for (let frame = 0; frame < this.index.frameBytes.length; frame += 1) this.#readFrame(frame);
  }

  #rawBytes(frame: number): number {
    const { first, end } = this.frameRange(frame);
    return (end - first) * this.index.pageSize;
  }

  #readFrame(frame: number): Uint8Array {
    const part = this.#parts[this.#frameParts[frame] ?? 0];
    const fail: FailDecoding = (found, expected) => failCorrupt(this.record, `${found} in frame ${frame}`, expected);
    if (!part) return fail("no part", "one");
    const stored = readExactly(part, this.#positions[frame] ?? 0, this.index.frameBytes[frame] ?? 0, fail);
    const crc = crc32(stored);
    const expected = this.index.frameCrcs[frame] ?? 0;
    if (crc !== expected) fail(`checksum ${hex(crc)}`, hex(expected));
    return stored;
  }

  #verify(frame: number, pages: Uint8Array): DecodedFrame {
    const hashes = this.#native.hashPages(pages, this.index.pageSize);
    const { first, end } = this.frameRange(frame);
    for (let ordinal = first; ordinal < end; ordinal += 1) {
      const found = hashes.subarray((ordinal - first) * 16 + 8, (ordinal - first + 1) * 16);
      const expected = this.hashAt(ordinal);
      if (Buffer.compare(found, expected) !== 0) {
        failCorrupt(
          this.record,
          `page ${this.pageNumberAt(ordinal)} with hash ${Buffer.from(found).toString("hex")}`,
          Buffer.from(expected).toString("hex"),
        );
      }
    }
    return { pages, hashes };
  }

  #failFrame(frame: number, error: unknown): never {
    const cause = error instanceof Error ? error.message : String(error);
    return failCorrupt(this.record, `frame ${frame} that does not decode (${cause})`, `${this.#rawBytes(frame)} bytes of pages`);
  }

  /** Lays the frames out over the parts and checks that they fill them exactly. */
  #placeFrames(indexPosition: number, fail: FailDecoding): void {
    const { partFrames, frameBytes, kind } = this.index;
    if (partFrames.length !== this.#parts.length) fail(`an index for ${partFrames.length} parts`, `${this.#parts.length}`);
    let frame = 0;
    for (const [part, object] of this.#parts.entries()) {
      const partKind = decodeSegmentHeader(readExactly(object, 0, SEGMENT_HEADER_BYTES, fail), fail);
      if (partKind !== kind) fail(`part ${part} of a ${partKind}`, `one of a ${kind}`);
      let position = SEGMENT_HEADER_BYTES;
      for (let left = partFrames[part] ?? 0; left > 0; left -= 1) {
        this.#positions[frame] = position;
        this.#frameParts[frame] = part;
        position += frameBytes[frame] ?? 0;
        frame += 1;
      }
      const end = part === this.#parts.length - 1 ? indexPosition : object.size;
      if (position !== end) fail(`${end} bytes of frames in part ${part}`, `${position}`);
    }
  }
}

/** The first index whose value is at least `value`. */
export function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function openParts(objects: ObjectStore, record: SegmentRecord): StoredObject[] {
  if (record.inline) return [memoryObject(record.inline)];
  const parts: StoredObject[] = [];
  for (let part = 0; part < record.parts; part += 1) {
    const name = partName(record.file ?? "", part);
    const object = record.file === null ? null : objects.open(name);
    if (!object) {
      throw new EngineError("segment-missing", `Cannot read ${nameSegment(record)}: its file ${name} is missing`, {
        details: { segment: nameSegment(record), name },
      });
    }
    parts.push(object);
  }
  return parts;
}

function memoryObject(bytes: Uint8Array): StoredObject {
  return {
    size: bytes.length,
    read: (position, buffer) => {
      const slice = bytes.subarray(position, position + buffer.length);
      buffer.set(slice);
      return slice.length;
    },
  };
}

function readExactly(object: StoredObject, position: number, length: number, fail: FailDecoding): Uint8Array {
  // Before anything is allocated: a length may be any number.
  if (position + length > object.size) fail(`${object.size} bytes`, `${position + length} or more`);
  const buffer = new Uint8Array(length);
  const read = object.read(position, buffer);
  if (read !== length) fail(`${read} bytes at ${position}`, `${length}`);
  return buffer;
}

/** "segment v12 (3f0c…-0.seg)": what messages and `details.segment` say. */
export function nameSegment(record: SegmentRecord): string {
  const where = record.file === null ? "in the catalog" : partName(record.file, 0);
  return `segment v${record.to}${record.from === null ? "" : ` from v${record.from}`} (${where})`;
}

/** Throws `segment-corrupt`. */
export function failCorrupt(record: SegmentRecord, found: string, expected: string): never {
  throw new EngineError("segment-corrupt", `Cannot read ${nameSegment(record)}: found ${found}, expected ${expected}`, {
    hint: "Run `coppice verify` to see which versions need this segment.",
    details: { segment: nameSegment(record), found, expected },
  });
}
