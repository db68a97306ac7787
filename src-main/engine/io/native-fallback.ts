/**
 * What the addon does, without it: hashing, comparing and folding in JavaScript, and no locks, clones, extents or hints.
 *
 * The fold: a page's hash is read as two big-endian 64-bit numbers, high first. With n its page number,
 *
 *     mix(hash, n) = ( fmix(high + n·B + low), fmix(low ^ n·A) )   modulo 2^64, written big-endian, high first
 *     A = 9e3779b97f4a7c15, B = d6e8feb86659fd93
 *     fmix(x): x ^= x >> 33; x *= ff51afd7ed558ccd; x ^= x >> 33; x *= c4ceb9fe1a85ec53; x ^= x >> 33
 *
 * and the fold is the XOR of mix over the pages. For one n, mix is a bijection: no two hashes are mixed into one. `fmix`
 * (the finaliser of MurmurHash3) keeps pages that change places, or changes that are alike, from cancelling out.
 */
import { readSync } from "node:fs";
import { assert } from "#shared/assert.ts";
import { EngineError } from "./errors.ts";
import type { Native } from "./native.ts";
import { toEngineError } from "./os-error.ts";
import { hashLong } from "./xxh3.ts";

const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
const HASH_BYTES = 16;
const LOW_BYTES = 8;
const CHUNK_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);
/** The largest page number of SQLite's file format. */
const PAGE_NUMBER_MAX = 0xffff_fffe;

/** `problem`: why the addon is not used. */
export function createFallback(problem: string): Native {
  return {
    kind: "fallback",
    problem,
    hasRangeLocks: false,
    facilities: () => [
      { name: "page hash", using: "JavaScript, 1 thread" },
      { name: "page comparison", using: "JavaScript, 1 thread" },
      { name: "frame decoding", using: "zlib, on several threads" },
      { name: "frame encoding", using: "zlib, 1 thread" },
      { name: "file clone", using: "none, files are copied" },
      { name: "range clone", using: "none" },
      { name: "file extents", using: "none" },
      { name: "process locks", using: "SQLite locks" },
      { name: "read-ahead", using: "none" },
    ],
    hashPages,
    decodeFrames: null,
    encodeFrame: null,
    foldHashes,
    hashFilePages,
    differingPages,
    compareFilePages,
    cloneFile: () => false,
    cloneToPath: () => false,
    cloneRange: () => false,
    extents: () => null,
    extentCount: () => null,
    filesystemType: () => 0,
    lockRange: refuseLocks,
    unlockRange: refuseLocks,
    isSoleOpener: () => false,
    cachedBytes: () => null,
    willRead: () => undefined,
    wontRead: () => undefined,
  };
}

function refuseLocks(): never {
  throw new EngineError("unsupported", "Open-file-description locks need the native addon");
}

function hashPages(pages: Uint8Array, pageSize: number): Uint8Array {
  assert(pageSize >= PAGE_BYTES_MIN && pages.length % pageSize === 0, "whole pages of at least 512 bytes are hashed");
  const count = pages.length / pageSize;
  const hashes = new Uint8Array(count * HASH_BYTES);
  const view = new DataView(hashes.buffer);
  for (let index = 0; index < count; index += 1)
    hashLong(pages.subarray(index * pageSize, (index + 1) * pageSize), view, index * HASH_BYTES);
  return hashes;
}

function hashFilePages(file: number, firstPageNumber: number, count: number, pageSize: number): Uint8Array {
  const hashes = new Uint8Array(count * HASH_BYTES);
  for (const { index, bytes } of readChunks([file], firstPageNumber, count, pageSize))
    hashes.set(hashPages(bytes[0] ?? NOTHING, pageSize), index * HASH_BYTES);
  return hashes;
}

function differingPages(
  file: number,
  firstPageNumber: number,
  count: number,
  pageSize: number,
  expectedLow: Uint8Array,
): Uint32Array<ArrayBuffer> {
  const found: number[] = [];
  for (const { index, pages, bytes } of readChunks([file], firstPageNumber, count, pageSize)) {
    const hashes = Buffer.from(hashPages(bytes[0] ?? NOTHING, pageSize).buffer);
    for (let page = 0; page < pages; page += 1) {
      const low = hashes.subarray(page * HASH_BYTES + LOW_BYTES, (page + 1) * HASH_BYTES);
      const at = (index + page) * LOW_BYTES;
      if (!low.equals(expectedLow.subarray(at, at + LOW_BYTES))) found.push(firstPageNumber + index + page);
    }
  }
  return Uint32Array.from(found);
}

function compareFilePages(
  file: number,
  otherFile: number,
  firstPageNumber: number,
  count: number,
  pageSize: number,
): Uint32Array<ArrayBuffer> {
  const found: number[] = [];
  for (const { index, pages, bytes } of readChunks([file, otherFile], firstPageNumber, count, pageSize)) {
    const [one = NOTHING, two = NOTHING] = bytes;
    for (let page = 0; page < pages; page += 1) {
      const [start, end] = [page * pageSize, (page + 1) * pageSize];
      if (one.compare(two, start, end, start, end) !== 0) found.push(firstPageNumber + index + page);
    }
  }
  return Uint32Array.from(found);
}

/** The pages of each file, some at a time, zeros behind its end; `index` counts from the first page asked for. */
function* readChunks(
  files: readonly number[],
  firstPageNumber: number,
  count: number,
  pageSize: number,
): Generator<{ index: number; pages: number; bytes: readonly Buffer[] }> {
  assert(pageSize >= PAGE_BYTES_MIN && pageSize <= PAGE_BYTES_MAX, "pages have 512 to 65536 bytes");
  assert(firstPageNumber >= 1 && firstPageNumber + count - 1 <= PAGE_NUMBER_MAX, "page numbers go from 1 to 4294967294");
  const pagesMax = Math.max(1, Math.floor(CHUNK_BYTES / pageSize));
  const buffers = files.map(() => Buffer.alloc(Math.min(pagesMax, count) * pageSize));
  for (let index = 0; index < count; index += pagesMax) {
    const pages = Math.min(pagesMax, count - index);
    const bytes = buffers.map((buffer) => buffer.subarray(0, pages * pageSize));
    for (const [which, file] of files.entries()) readFully(file, bytes[which] ?? NOTHING, (firstPageNumber - 1 + index) * pageSize);
    yield { index, pages, bytes };
  }
}

function readFully(file: number, buffer: Buffer, position: number): void {
  let done = 0;
  try {
    while (done < buffer.length) {
      const count = readSync(file, buffer, done, buffer.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
  } catch (error) {
    throw toEngineError("read", `file ${file}`, error);
  }
  buffer.fill(0, done);
}

function foldHashes(hashes: Uint8Array, firstPageNumber: number): Uint8Array {
  const count = hashes.length / HASH_BYTES;
  assert(Number.isInteger(count), "hashes have 16 bytes each");
  assert(firstPageNumber >= 1 && firstPageNumber + count - 1 <= PAGE_NUMBER_MAX, "page numbers go from 1 to 4294967294");
  const view = new DataView(hashes.buffer, hashes.byteOffset, hashes.byteLength);
  let high = 0n;
  let low = 0n;
  for (let index = 0; index < count; index += 1) {
    const pageNumber = BigInt(firstPageNumber + index);
    const hashHigh = view.getBigUint64(index * HASH_BYTES);
    const hashLow = view.getBigUint64(index * HASH_BYTES + 8);
    high ^= finalise(hashHigh + pageNumber * 0xd6e8feb86659fd93n + hashLow);
    low ^= finalise(hashLow ^ BigInt.asUintN(64, pageNumber * 0x9e3779b97f4a7c15n));
  }
  const folded = new Uint8Array(HASH_BYTES);
  const out = new DataView(folded.buffer);
  out.setBigUint64(0, high);
  out.setBigUint64(8, low);
  return folded;
}

function finalise(value: bigint): bigint {
  let mixed = BigInt.asUintN(64, value);
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 33n)) * 0xff51afd7ed558ccdn);
  mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return mixed ^ (mixed >> 33n);
}
