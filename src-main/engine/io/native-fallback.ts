/**
 * What the addon does, without it: hashing and folding in JavaScript, and no locks, clones or hints.
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
import { assert } from "#shared/assert.ts";
import { EngineError } from "./errors.ts";
import type { Native } from "./native.ts";
import { hashLong } from "./xxh3.ts";

const PAGE_BYTES_MIN = 512;
const HASH_BYTES = 16;
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
      { name: "file clone", using: "copy" },
      { name: "process locks", using: "SQLite locks" },
      { name: "read-ahead", using: "none" },
    ],
    hashPages,
    foldHashes,
    cloneFile: () => false,
    lockRange: refuseLocks,
    unlockRange: refuseLocks,
    isSoleOpener: () => false,
    willRead: () => undefined,
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
