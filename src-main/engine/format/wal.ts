/**
 * SQLite's write-ahead log, byte by byte (source: "WAL-mode File Format"; all integers big-endian).
 *
 *   header, 32 bytes   magic 0x377f0682 | 1 when checksums read big-endian words; version 3007000; page size;
 *                      sqliteCheckpoint sequence; salt 1; salt 2; checksum 1; checksum 2 of the 24 bytes before
 *   frame, 24 bytes    page number; pages of the database after the commit, 0 when this frame commits nothing; salt 1;
 *                      salt 2; checksum 1; checksum 2, continued from the frame before over 8 bytes and the page
 *   page               page-size bytes
 *
 * A frame counts when its salts are the header's and the running checksum holds. Everything behind the first frame that
 * does not, or behind the last commit, does not exist: a WAL that was reset keeps frames of its former life.
 */
import { assert } from "#shared/assert.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import type { PageBatch } from "./page-batch.ts";
import { isPageSize } from "./sqlite-header.ts";

export const WAL_HEADER_BYTES = 32;
export const WAL_FRAME_HEADER_BYTES = 24;

const MAGIC = 0x377f_0682;
const VERSION = 3_007_000;
/** A new buffer costs its size in page faults, and most patches are small. */
const WRITE_BYTES = 256 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** Running checksum: two 32-bit words. */
export interface WalChecksum {
  readonly first: number;
  readonly second: number;
}

export interface WalHeader {
  readonly pageSize: number;
  readonly sequence: number;
  readonly salt1: number;
  readonly salt2: number;
  readonly bigEndian: boolean;
  readonly checksum: WalChecksum;
}

export interface WalFrameHeader {
  readonly pageNumber: number;
  /** Pages of the database when this frame ends a transaction, else 0. */
  readonly commitPages: number;
  readonly salt1: number;
  readonly salt2: number;
  readonly checksum: WalChecksum;
}

/** What a WAL holds for a client that opens the database now. */
export interface WalContent {
  readonly header: WalHeader;
  /** Page number of each committed frame, in file order. */
  readonly framePages: Uint32Array;
  /** Transactions that these frames commit. */
  readonly commits: number;
  /** Pages of the database after the last commit; 0 when there is none. */
  readonly pageCount: number;
  /** Checksum stored in the last committed frame; that of the header when there is none. */
  readonly lastChecksum: WalChecksum;
  /** Valid frames behind the last commit: a transaction that was never finished. */
  readonly uncommittedFrames: number;
}

/** Byte position of frame `index` (0 = first): its header; the page follows 24 bytes later. */
export function walFrameOffset(pageSize: number, index: number): number {
  return WAL_HEADER_BYTES + index * (WAL_FRAME_HEADER_BYTES + pageSize);
}

/** Null when SQLite would take the WAL for empty: too short, not a WAL, another version, wrong checksum. */
export function parseWalHeader(bytes: Uint8Array): WalHeader | null {
  if (bytes.length < WAL_HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, WAL_HEADER_BYTES);
  const magic = view.getUint32(0);
  const pageSize = view.getUint32(8);
  if ((magic & ~1) !== MAGIC || view.getUint32(4) !== VERSION || !isPageSize(pageSize)) return null;
  const bigEndian = (magic & 1) === 1;
  const checksum = { first: view.getUint32(24), second: view.getUint32(28) };
  if (!sameChecksum(walChecksum(view, 0, 24, bigEndian, { first: 0, second: 0 }), checksum)) return null;
  return { pageSize, sequence: view.getUint32(12), salt1: view.getUint32(16), salt2: view.getUint32(20), bigEndian, checksum };
}

/** The 24 bytes before a page, unchecked. */
export function parseWalFrameHeader(bytes: Uint8Array): WalFrameHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, WAL_FRAME_HEADER_BYTES);
  return {
    pageNumber: view.getUint32(0),
    commitPages: view.getUint32(4),
    salt1: view.getUint32(8),
    salt2: view.getUint32(12),
    checksum: { first: view.getUint32(16), second: view.getUint32(20) },
  };
}

/**
 * Reads a WAL and checks every frame, 1 MiB at a time. Null when it holds nothing for SQLite (see `parseWalHeader`). The
 * caller keeps writers out; memory is 4 bytes a frame.
 */
export function readWal(disk: Disk, file: FileDescriptor): WalContent | null {
  const start = new Uint8Array(WAL_HEADER_BYTES);
  const header = parseWalHeader(start.subarray(0, disk.read(file, start, 0)));
  if (!header) return null;
  const frameBytes = WAL_FRAME_HEADER_BYTES + header.pageSize;
  const framesPerChunk = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  const chunk = new Uint8Array(framesPerChunk * frameBytes);
  const scan: FrameScan = {
    header,
    pages: new Uint32Array(256),
    valid: 0,
    committed: 0,
    commits: 0,
    pageCount: 0,
    running: header.checksum,
    last: header.checksum,
  };
  for (;;) {
    const frames = Math.floor(disk.read(file, chunk, walFrameOffset(header.pageSize, scan.valid)) / frameBytes);
    let index = 0;
    while (index < frames && takeFrame(scan, chunk.subarray(index * frameBytes, (index + 1) * frameBytes))) index += 1;
    if (index < framesPerChunk) break;
  }
  return {
    header,
    framePages: scan.pages.slice(0, scan.committed),
    commits: scan.commits,
    pageCount: scan.pageCount,
    lastChecksum: scan.last,
    uncommittedFrames: scan.valid - scan.committed,
  };
}

interface FrameScan {
  readonly header: WalHeader;
  pages: Uint32Array;
  valid: number;
  committed: number;
  commits: number;
  pageCount: number;
  running: WalChecksum;
  last: WalChecksum;
}

/** False when the frame does not continue the WAL. */
function takeFrame(scan: FrameScan, bytes: Uint8Array): boolean {
  const { header } = scan;
  const frame = parseWalFrameHeader(bytes);
  if (frame.salt1 !== header.salt1 || frame.salt2 !== header.salt2 || frame.pageNumber === 0) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const overHeader = walChecksum(view, 0, 8, header.bigEndian, scan.running);
  const checksum = walChecksum(view, WAL_FRAME_HEADER_BYTES, bytes.length, header.bigEndian, overHeader);
  if (!sameChecksum(checksum, frame.checksum)) return false;
  if (scan.valid === scan.pages.length) {
    const larger = new Uint32Array(scan.pages.length * 2);
    larger.set(scan.pages);
    scan.pages = larger;
  }
  scan.pages[scan.valid] = frame.pageNumber;
  scan.valid += 1;
  scan.running = checksum;
  if (frame.commitPages > 0) {
    scan.committed = scan.valid;
    scan.commits += 1;
    scan.pageCount = frame.commitPages;
    scan.last = checksum;
  }
  return true;
}

/** Page number → its newest committed frame at or behind `since`; pages beyond the database's end are left out. */
export function newestFrames(wal: WalContent, since = 0): Map<number, number> {
  const newest = new Map<number, number>();
  for (let index = since; index < wal.framePages.length; index += 1) {
    const pageNumber = wal.framePages[index] ?? 0;
    if (pageNumber <= wal.pageCount) newest.set(pageNumber, index);
  }
  return newest;
}

/**
 * Writes a complete WAL of one transaction: a client that finds it beside the main file recovers it and sees exactly
 * these pages at exactly this size. Salts should be random, so that no frame of another WAL continues this one.
 */
export async function writeWal(
  disk: Disk,
  file: FileDescriptor,
  options: { readonly pageSize: number; readonly pageCount: number; readonly salt1: number; readonly salt2: number },
  batches: AsyncIterable<PageBatch> | Iterable<PageBatch>,
): Promise<{ readonly frames: number; readonly bytes: number }> {
  const { pageSize } = options;
  const frameBytes = WAL_FRAME_HEADER_BYTES + pageSize;
  const buffer = new Uint8Array(Math.max(1, Math.floor(WRITE_BYTES / frameBytes)) * frameBytes);
  const header = buildWalHeader(options);
  disk.write(file, header.bytes, 0);
  let running = header.checksum;
  let position = WAL_HEADER_BYTES;
  let filled = 0;
  // One page waits until it is known whether another follows: the last frame carries the commit.
  const waiting = { pageNumber: 0, page: new Uint8Array(pageSize) };
  const append = (commitPages: number): void => {
    if (filled === buffer.length) {
      disk.write(file, buffer, position);
      position += filled;
      filled = 0;
    }
    running = putFrame(
      buffer.subarray(filled, filled + frameBytes),
      { ...waiting, commitPages, salt1: options.salt1, salt2: options.salt2 },
      running,
    );
    filled += frameBytes;
  };
  for await (const batch of batches) {
    for (let index = 0; index < batch.numbers.length; index += 1) {
      if (waiting.pageNumber > 0) append(0);
      waiting.pageNumber = batch.numbers[index] ?? 0;
      waiting.page.set(batch.bytes.subarray(index * pageSize, (index + 1) * pageSize));
    }
  }
  assert(waiting.pageNumber > 0, "a WAL commits at least one page");
  append(options.pageCount);
  disk.write(file, buffer.subarray(0, filled), position);
  const bytes = position + filled;
  return { frames: (bytes - WAL_HEADER_BYTES) / frameBytes, bytes };
}

function buildWalHeader(options: { pageSize: number; salt1: number; salt2: number }): { bytes: Uint8Array; checksum: WalChecksum } {
  const bytes = new Uint8Array(WAL_HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint32(4, VERSION);
  view.setUint32(8, options.pageSize);
  view.setUint32(16, options.salt1);
  view.setUint32(20, options.salt2);
  const checksum = walChecksum(view, 0, 24, false, { first: 0, second: 0 });
  view.setUint32(24, checksum.first);
  view.setUint32(28, checksum.second);
  return { bytes, checksum };
}

function putFrame(
  frame: Uint8Array,
  content: { pageNumber: number; page: Uint8Array; commitPages: number; salt1: number; salt2: number },
  running: WalChecksum,
): WalChecksum {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length);
  view.setUint32(0, content.pageNumber);
  view.setUint32(4, content.commitPages);
  view.setUint32(8, content.salt1);
  view.setUint32(12, content.salt2);
  frame.set(content.page, WAL_FRAME_HEADER_BYTES);
  const checksum = walChecksum(view, WAL_FRAME_HEADER_BYTES, frame.length, false, walChecksum(view, 0, 8, false, running));
  view.setUint32(16, checksum.first);
  view.setUint32(20, checksum.second);
  return checksum;
}

/** The Fibonacci-weighted checksum of the WAL format over `from` … `to` (a multiple of 8 bytes). */
function walChecksum(view: DataView, from: number, to: number, bigEndian: boolean, seed: WalChecksum): WalChecksum {
  let first = seed.first | 0;
  let second = seed.second | 0;
  for (let at = from; at < to; at += 8) {
    first = (first + view.getUint32(at, !bigEndian) + second) | 0;
    second = (second + view.getUint32(at + 4, !bigEndian) + first) | 0;
  }
  return { first: first >>> 0, second: second >>> 0 };
}

function sameChecksum(a: WalChecksum, b: WalChecksum): boolean {
  return a.first === b.first && a.second === b.second;
}
