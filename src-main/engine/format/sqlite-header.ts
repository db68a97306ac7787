/**
 * The first 100 bytes of a SQLite database file (source: "Database File Format", sections 1.3.1–1.3.22), and how page 1
 * is stored. Two files with equal content differ in bytes that say how and when they were written: those are zeroed
 * (`normalisePage1`) wherever pages are stored, hashed or compared, and written anew (`stampPage1`) into every file.
 */
import { assert } from "#shared/assert.ts";

export const SQLITE_HEADER_BYTES = 100;
export const PAGE_SIZE_MIN = 512;
export const PAGE_SIZE_MAX = 65_536;

/** The byte that SQLite's file locks stand on; the page that holds it is never used. */
export const LOCK_BYTE = 0x4000_0000;

const MAGIC = "SQLite format 3\0";
/** Only informs: which library wrote the change counter last. SQLite 3.54.1. */
const WRITTEN_BY = 3_054_001;
const ENCODINGS = ["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"] as const;

export type TextEncoding = (typeof ENCODINGS)[number];
export type JournalKind = "wal" | "rollback";

export interface SqliteHeader {
  /** 512 … 65536. */
  readonly pageSize: number;
  readonly journal: JournalKind;
  /** Bytes at the end of each page that belong to an extension. */
  readonly reservedBytes: number;
  readonly changeCounter: number;
  /** Pages by the header's own count; 0 when that field does not hold (a writer before SQLite 3.7): use the file's size. */
  readonly pageCount: number;
  readonly freePages: number;
  readonly schemaCookie: number;
  readonly schemaFormat: number;
  readonly encoding: TextEncoding;
  readonly autoVacuum: "none" | "full" | "incremental";
  readonly userVersion: number;
  readonly applicationId: number;
  /** Of the library that wrote the file last, e.g. 3054001; 0 when unknown. */
  readonly sqliteVersion: number;
}

/** Parses the header. Returns a sentence when the bytes are no header that SQLite accepts. */
export function parseSqliteHeader(bytes: Uint8Array): SqliteHeader | string {
  if (bytes.length < SQLITE_HEADER_BYTES) return `the file has ${bytes.length} bytes, a header has ${SQLITE_HEADER_BYTES}`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, SQLITE_HEADER_BYTES);
  if (Buffer.from(bytes.subarray(0, 16)).toString("latin1") !== MAGIC) return 'the file does not start with "SQLite format 3"';
  const pageSize = view.getUint16(16) === 1 ? PAGE_SIZE_MAX : view.getUint16(16);
  if (!isPageSize(pageSize)) return `the page size is ${pageSize}, not a power of two from 512 to 65536`;
  const writeVersion = view.getUint8(18);
  const readVersion = view.getUint8(19);
  if (readVersion < 1 || readVersion > 2 || writeVersion < 1) return `the file format is ${writeVersion}/${readVersion}, known are 1 and 2`;
  const reservedBytes = view.getUint8(20);
  if (pageSize - reservedBytes < 480) return `${reservedBytes} of ${pageSize} bytes a page are reserved, 480 must be left`;
  if (view.getUint8(21) !== 64 || view.getUint8(22) !== 32 || view.getUint8(23) !== 32) return "the payload fractions are not 64, 32, 32";
  const encoding = ENCODINGS[view.getUint32(56)];
  if (!encoding) return `the text encoding is ${view.getUint32(56)}, known are 1, 2 and 3`;
  const changeCounter = view.getUint32(24);
  return {
    pageSize,
    journal: writeVersion === 2 && readVersion === 2 ? "wal" : "rollback",
    reservedBytes,
    changeCounter,
    pageCount: changeCounter === view.getUint32(92) ? view.getUint32(28) : 0,
    freePages: view.getUint32(36),
    schemaCookie: view.getUint32(40),
    schemaFormat: view.getUint32(44),
    encoding,
    autoVacuum: view.getUint32(52) === 0 ? "none" : view.getUint32(64) === 0 ? "full" : "incremental",
    userVersion: view.getInt32(60),
    applicationId: view.getInt32(68),
    sqliteVersion: view.getUint32(96),
  };
}

export function isPageSize(value: number): boolean {
  return value >= PAGE_SIZE_MIN && value <= PAGE_SIZE_MAX && (value & (value - 1)) === 0;
}

/** The page that is never stored, hashed or written. A database of fewer pages has none. */
export function lockPageNumber(pageSize: number): number {
  return LOCK_BYTE / pageSize + 1;
}

/** Zeroes, in place, what does not belong to the content: 18–19 journal mode, 24–27 change counter, 92–99 who wrote it. */
export function normalisePage1(page: Uint8Array): void {
  assert(page.length >= SQLITE_HEADER_BYTES, "page 1 holds a header");
  page.fill(0, 18, 20);
  page.fill(0, 24, 28);
  page.fill(0, 92, 100);
}

/**
 * Makes a normalised page 1, in place, the start of a file. `changeCounter` (32 bits) must differ from that of every
 * content the same path held before: an idle client keeps its page cache as long as these bytes look the same.
 */
export function stampPage1(page: Uint8Array, stamp: { readonly journal: JournalKind; readonly changeCounter: number }): void {
  assert(page.length >= SQLITE_HEADER_BYTES, "page 1 holds a header");
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  view.setUint16(18, stamp.journal === "wal" ? 0x0202 : 0x0101);
  view.setUint32(24, stamp.changeCounter);
  view.setUint32(92, stamp.changeCounter);
  view.setUint32(96, WRITTEN_BY);
}
