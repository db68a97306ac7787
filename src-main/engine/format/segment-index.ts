/**
 * Everything of a segment but its frames: the header of each part, the index and the trailer. docs/FORMAT.md has the same
 * byte by byte.
 *
 *   part     header, frames …; the last part goes on with index and trailer
 *   header   "CS", format version, kind (0 delta, 1 base)
 *   index    log2 of the page size, page count, pages stored, pages a frame, parts, frames of each part but the last,
 *            stored bytes of each frame (varints); CRC-32 of each frame (4 bytes); page numbers as differences
 *            (varints; a base has none); low 64 bits of each page's hash (8 bytes)
 *   trailer  bytes of the index (4), CRC-32 over header, index and the four bytes before (4)
 *
 * Fixed-size integers are little-endian. All frames but the last hold the same number of pages, so a page's frame is a
 * division.
 */
import { crc32 } from "node:zlib";
import { assert } from "#shared/assert.ts";
import { isPageSize, lockPageNumber } from "./sqlite-header.ts";
import { ByteReader, ByteWriter } from "./varint.ts";

export const SEGMENT_FORMAT = 1;
export const SEGMENT_HEADER_BYTES = 4;
export const SEGMENT_TRAILER_BYTES = 8;
/** Bytes of a page's hash in the index. */
export const PAGE_HASH_BYTES = 8;
/** Pages of a frame are decoded together: bounds what a malicious index can make us allocate. */
const FRAME_BYTES_CAP = 1024 * 1024;

export type SegmentKind = "delta" | "base";
const KINDS: readonly SegmentKind[] = ["delta", "base"];

/** Stops decoding; throws. `found` completes "found …, expected …". */
export type FailDecoding = (found: string, expected: string) => never;

export interface SegmentIndex {
  readonly kind: SegmentKind;
  readonly pageSize: number;
  /** Pages of the database at the segment's version, the lock page included. */
  readonly pageCount: number;
  readonly pagesPerFrame: number;
  /** Ascending. Null in a base: all pages but the lock page. */
  readonly pageNumbers: Uint32Array | null;
  /** Pages stored. */
  readonly pages: number;
  /** 8 bytes a stored page, in order. */
  readonly hashes: Uint8Array;
  readonly frameBytes: Uint32Array;
  readonly frameCrcs: Uint32Array;
  /** Frames of each part. */
  readonly partFrames: readonly number[];
}

export function encodeSegmentHeader(kind: SegmentKind): Uint8Array {
  return Uint8Array.of(0x43, 0x53, SEGMENT_FORMAT, KINDS.indexOf(kind));
}

export function decodeSegmentHeader(header: Uint8Array, fail: FailDecoding): SegmentKind {
  if (header.length < SEGMENT_HEADER_BYTES || header[0] !== 0x43 || header[1] !== 0x53) fail(describe(header), 'a segment ("CS")');
  if (header[2] !== SEGMENT_FORMAT) fail(`segment format ${header[2]}`, `format ${SEGMENT_FORMAT}`);
  return KINDS[header[3] ?? -1] ?? fail(`segment kind ${header[3]}`, "kind 0 or 1");
}

/** Index and trailer, in pieces so that the hashes of a large base are not copied. */
export function encodeSegmentIndex(index: SegmentIndex): Uint8Array[] {
  assert(index.hashes.length === index.pages * PAGE_HASH_BYTES, "one hash a page");
  assert(index.frameBytes.length === Math.ceil(index.pages / index.pagesPerFrame), "frames are full");
  const out = new ByteWriter();
  for (const value of [Math.log2(index.pageSize), index.pageCount, index.pages, index.pagesPerFrame, index.partFrames.length])
    out.varint(value);
  for (const frames of index.partFrames.slice(0, -1)) out.varint(frames);
  for (const bytes of index.frameBytes) out.varint(bytes);
  for (const crc of index.frameCrcs) out.uint32(crc);
  let before = 0;
  for (const pageNumber of index.pageNumbers ?? []) {
    assert(pageNumber > before, "page numbers ascend");
    out.varint(pageNumber - before);
    before = pageNumber;
  }
  const head = out.finish();
  const trailer = new ByteWriter();
  trailer.uint32(head.length + index.hashes.length);
  trailer.uint32([encodeSegmentHeader(index.kind), head, index.hashes, trailer.finish()].reduce((crc, piece) => crc32(piece, crc), 0));
  return [head, index.hashes, trailer.finish()];
}

/** Bytes of the index, which stands right before the trailer. */
export function decodeIndexLength(trailer: Uint8Array): number {
  return new DataView(trailer.buffer, trailer.byteOffset, SEGMENT_TRAILER_BYTES).getUint32(0, true);
}

/** Decodes index and trailer of the last part, whose header is given. Bounds every length by the bytes at hand. */
export function decodeSegmentIndex(header: Uint8Array, index: Uint8Array, trailer: Uint8Array, fail: FailDecoding): SegmentIndex {
  const crc = [header, index, trailer.subarray(0, 4)].reduce((sum, piece) => crc32(piece, sum), 0);
  const stored = new DataView(trailer.buffer, trailer.byteOffset, SEGMENT_TRAILER_BYTES).getUint32(4, true);
  if (crc !== stored) fail(`index checksum ${hex(crc)}`, hex(stored));
  const kind = decodeSegmentHeader(header, fail);
  const reader = new ByteReader(index, (found) => fail(found, "a whole index"));
  const pageSize = 2 ** Math.min(reader.varint(), 31);
  if (!isPageSize(pageSize)) fail(`page size ${pageSize}`, "a power of two from 512 to 65536");
  const pageCount = reader.varint();
  const pages = reader.varint();
  const pagesPerFrame = reader.varint();
  if (pages * PAGE_HASH_BYTES > reader.left) fail(`${pages} pages in an index of ${index.length} bytes`, "room for their hashes");
  if (pagesPerFrame < 1 || pagesPerFrame * pageSize > FRAME_BYTES_CAP)
    fail(`${pagesPerFrame} pages a frame`, `at most ${FRAME_BYTES_CAP} bytes`);
  const frames = Math.ceil(pages / pagesPerFrame);
  const partFrames = decodeParts(reader, frames, fail);
  const frameBytes = Uint32Array.from({ length: frames }, () => reader.varint());
  const crcs = reader.take(frames * 4);
  const crcView = new DataView(crcs.buffer, crcs.byteOffset, crcs.length);
  const frameCrcs = Uint32Array.from({ length: frames }, (_, frame) => crcView.getUint32(frame * 4, true));
  const pageNumbers = kind === "base" ? null : decodePageNumbers(reader, { pages, pageSize, pageCount }, fail);
  if (kind === "base" && pages !== countStoredPages(pageSize, pageCount)) fail(`${pages} pages`, `all of ${pageCount} pages`);
  const hashes = reader.take(pages * PAGE_HASH_BYTES);
  if (reader.left > 0) fail(`${reader.left} bytes behind the index`, "none");
  return { kind, pageSize, pageCount, pagesPerFrame, pageNumbers, pages, hashes, frameBytes, frameCrcs, partFrames };
}

function decodeParts(reader: ByteReader, frames: number, fail: FailDecoding): number[] {
  const parts = reader.varint();
  if (parts < 1 || parts > frames + 1) fail(`${parts} parts for ${frames} frames`, "1 or more");
  let left = frames;
  const partFrames: number[] = [];
  for (let part = 0; part < parts - 1; part += 1) {
    const count = reader.varint();
    if (count > left) fail(`${count} frames in part ${part}`, `at most ${left}`);
    partFrames.push(count);
    left -= count;
  }
  return [...partFrames, left];
}

function decodePageNumbers(
  reader: ByteReader,
  size: { pages: number; pageSize: number; pageCount: number },
  fail: FailDecoding,
): Uint32Array {
  const numbers = new Uint32Array(size.pages);
  let before = 0;
  for (let ordinal = 0; ordinal < size.pages; ordinal += 1) {
    const pageNumber = before + reader.varint();
    if (pageNumber === before || pageNumber > size.pageCount || pageNumber === lockPageNumber(size.pageSize)) {
      fail(`page ${pageNumber} after page ${before}`, `an ascending number up to ${size.pageCount}`);
    }
    numbers[ordinal] = pageNumber;
    before = pageNumber;
  }
  return numbers;
}

/** Pages of a database of `pageCount` pages that have content: all but the lock page. */
export function countStoredPages(pageSize: number, pageCount: number): number {
  return pageCount >= lockPageNumber(pageSize) ? pageCount - 1 : pageCount;
}

export function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}

function describe(bytes: Uint8Array): string {
  return bytes.length === 0 ? "nothing" : `bytes ${Buffer.from(bytes).toString("hex")}`;
}
