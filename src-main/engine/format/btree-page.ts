/**
 * SQLite's b-tree pages (source: "Database File Format", sections 1.6 and 2).
 *
 *   page header   kind (2, 5, 10, 13); first freeblock; cells; start of the cell content; fragmented bytes; on interior
 *                 pages the rightmost child. On page 1 it comes behind the 100 bytes of the file's header
 *   cell pointers two bytes a cell, in order of the keys
 *   cell          table leaf: payload size, rowid, payload · table interior: left child, rowid · index leaf: payload
 *                 size, payload · index interior: left child, payload size, payload. What of a payload does not fit is in
 *                 a list of overflow pages, whose first one is named at its end
 *
 * Nothing of a page is trusted: every position and length is checked before it is used.
 */
import { assert } from "#shared/assert.ts";
import { SQLITE_HEADER_BYTES } from "./sqlite-header.ts";

/** A rowid or another 64-bit integer: a bigint only where a number would not be exact. */
export type Int64 = number | bigint;

export interface Cell {
  /** Page with the smaller keys; 0 on leaves. */
  readonly child: number;
  /** Of table pages; null on index pages. */
  readonly rowid: Int64 | null;
  /** Bytes of the whole payload; 0 on table interior pages. */
  readonly payloadBytes: number;
  /** The part of the payload that is on this page: a view. */
  readonly local: Uint8Array;
  /** First overflow page; 0 when all of the payload is local. */
  readonly overflow: number;
}

/** Called, and must throw, when a page makes no sense. */
export type FailPage = (found: string, expected: string) => never;

const INDEX_INTERIOR = 2;
const TABLE_INTERIOR = 5;
const INDEX_LEAF = 10;
const TABLE_LEAF = 13;
const NO_BYTES = new Uint8Array(0);

/** True when the first byte is that of a b-tree page. An overflow page begins with a page number, whose first byte is 0 or 1 in files below 2^25 pages. */
export function looksLikeBtreePage(bytes: Uint8Array, pageNumber: number): boolean {
  const kind = bytes[pageNumber === 1 ? SQLITE_HEADER_BYTES : 0];
  return kind === INDEX_INTERIOR || kind === TABLE_INTERIOR || kind === INDEX_LEAF || kind === TABLE_LEAF;
}

export class BtreePage {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly isLeaf: boolean;
  readonly isTable: boolean;
  readonly cellCount: number;
  /** Of interior pages; else 0. */
  readonly rightChild: number;
  readonly #usable: number;
  readonly #pointers: number;
  readonly #fail: FailPage;

  /** `bytes` is the whole page; `usable` its bytes without those reserved. */
  constructor(number: number, bytes: Uint8Array, usable: number, fail: FailPage) {
    const start = number === 1 ? SQLITE_HEADER_BYTES : 0;
    const kind = bytes[start] ?? 0;
    if (!looksLikeBtreePage(bytes, number)) fail(`kind ${kind}`, "a b-tree page (2, 5, 10 or 13)");
    this.number = number;
    this.bytes = bytes;
    this.isLeaf = kind >= INDEX_LEAF;
    this.isTable = kind === TABLE_LEAF || kind === TABLE_INTERIOR;
    this.cellCount = readUint16(bytes, start + 3);
    this.rightChild = this.isLeaf ? 0 : readUint32(bytes, start + 8);
    this.#usable = usable;
    this.#pointers = start + (this.isLeaf ? 8 : 12);
    this.#fail = fail;
    if (this.#pointers + 2 * this.cellCount > usable) fail(`${this.cellCount} cells`, `as many as fit in ${usable} bytes`);
  }

  /** Number of children: cells and the rightmost one; 0 on leaves. */
  get childCount(): number {
    return this.isLeaf ? 0 : this.cellCount + 1;
  }

  childAt(index: number): number {
    assert(!this.isLeaf && index <= this.cellCount, "the child is one of an interior page");
    if (index === this.cellCount) return this.rightChild;
    return readUint32(this.bytes, this.#cellStart(index, 4));
  }

  /** Rowid of a table page's cell, without the rest. */
  rowidAt(index: number): Int64 {
    assert(this.isTable, "index pages have no rowids");
    const start = this.#cellStart(index, 4);
    if (!this.isLeaf) return this.#varint(start + 4).value;
    return this.#varint(start + varintBytes(this.bytes, start)).value;
  }

  cellAt(index: number): Cell {
    let position = this.#cellStart(index, this.isLeaf ? 2 : 5);
    let child = 0;
    if (!this.isLeaf) {
      child = readUint32(this.bytes, position);
      position += 4;
    }
    if (this.isTable && !this.isLeaf) return { child, rowid: this.#varint(position).value, payloadBytes: 0, local: NO_BYTES, overflow: 0 };
    const size = this.#varint(position);
    position = size.end;
    let rowid: Int64 | null = null;
    if (this.isTable) {
      const found = this.#varint(position);
      rowid = found.value;
      position = found.end;
    }
    if (typeof size.value !== "number" || size.value > PAYLOAD_BYTES_MAX)
      return this.#fail(`a payload of ${size.value} bytes`, "less than 2 GiB");
    return this.#payload(child, rowid, size.value, position);
  }

  #payload(child: number, rowid: Int64 | null, payloadBytes: number, position: number): Cell {
    const localBytes = localPayloadBytes(payloadBytes, this.#usable, this.isTable);
    const hasOverflow = localBytes < payloadBytes;
    const end = position + localBytes;
    if (end + (hasOverflow ? 4 : 0) > this.#usable) this.#fail(`a cell that ends at ${end}`, `within ${this.#usable} bytes`);
    const local = this.bytes.subarray(position, end);
    return { child, rowid, payloadBytes, local, overflow: hasOverflow ? readUint32(this.bytes, end) : 0 };
  }

  /** Position of a cell that has at least `bytes` bytes. */
  #cellStart(index: number, bytes: number): number {
    assert(index >= 0 && index < this.cellCount, "the cell is one of the page");
    const start = readUint16(this.bytes, this.#pointers + 2 * index);
    if (start < this.#pointers + 2 * this.cellCount || start + bytes > this.#usable)
      this.#fail(`cell ${index} at ${start}`, `behind the cell pointers, within ${this.#usable} bytes`);
    return start;
  }

  #varint(position: number): { readonly value: Int64; readonly end: number } {
    const end = position + varintBytes(this.bytes, position);
    if (end > this.#usable) this.#fail("a number that ends behind the page", `within ${this.#usable} bytes`);
    return { value: readVarint(this.bytes, position), end };
  }
}

const PAYLOAD_BYTES_MAX = 2 ** 31 - 1;

/** How much of a payload stays on its page. */
export function localPayloadBytes(payloadBytes: number, usable: number, isTable: boolean): number {
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (payloadBytes <= most) return payloadBytes;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const rest = least + ((payloadBytes - least) % (usable - 4));
  return rest <= most ? rest : least;
}

/** Bytes of the big-endian varint at a position: 1 to 9. What is missing reads as zero. */
export function varintBytes(bytes: Uint8Array, position: number): number {
  for (let length = 1; length < 9; length += 1) if ((bytes[position + length - 1] ?? 0) < 0x80) return length;
  return 9;
}

/** A 64-bit two's complement number in SQLite's varint. */
export function readVarint(bytes: Uint8Array, position: number): Int64 {
  let value = 0;
  for (let index = 0; index < 7; index += 1) {
    const byte = bytes[position + index] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return value;
  }
  let large = BigInt(value);
  const eighth = bytes[position + 7] ?? 0;
  large = (large << 7n) | BigInt(eighth & 0x7f);
  if (eighth >= 0x80) large = (large << 8n) | BigInt(bytes[position + 8] ?? 0);
  return normaliseInt64(BigInt.asIntN(64, large));
}

/** A number where that is exact. */
export function normaliseInt64(value: bigint): Int64 {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

export function readUint16(bytes: Uint8Array, position: number): number {
  return ((bytes[position] ?? 0) << 8) | (bytes[position + 1] ?? 0);
}

export function readUint32(bytes: Uint8Array, position: number): number {
  return (readUint16(bytes, position) * 65_536 + readUint16(bytes, position + 2)) >>> 0;
}
