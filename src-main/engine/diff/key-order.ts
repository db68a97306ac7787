/** The order of keys in b-trees that are not ordered by rowid (source: "Record sort order" in the file format). */
import { decodeText, InvalidText, type SqlValue } from "../format/record.ts";
import type { TextEncoding } from "../format/sqlite-header.ts";

export interface KeyPart {
  /** Position of the column in its table. */
  readonly column: number;
  /** Upper case: "BINARY", "NOCASE", "RTRIM", or one that only its program knows. */
  readonly collation: string;
  readonly isDescending: boolean;
}

export function isKnownCollation(collation: string): boolean {
  return collation === "BINARY" || collation === "NOCASE" || collation === "RTRIM";
}

/** Negative, zero or positive: as SQLite orders two keys. Collations are known ones. */
export function compareKeys(a: readonly SqlValue[], b: readonly SqlValue[], parts: readonly KeyPart[], encoding: TextEncoding): number {
  for (const [index, part] of parts.entries()) {
    const order = compareValues(a[index] ?? null, b[index] ?? null, part.collation, encoding);
    if (order !== 0) return part.isDescending ? -order : order;
  }
  return 0;
}

/** NULL, then numbers by value, then text by its collation, then blobs by their bytes. */
function compareValues(a: SqlValue, b: SqlValue, collation: string, encoding: TextEncoding): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (isText(a) && isText(b)) return compareText(a, b, collation, encoding);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return classOf(a) - classOf(b);
}

function classOf(value: SqlValue): 0 | 1 | 2 | 3 {
  if (value === null) return 0;
  if (isNumber(value)) return 1;
  return value instanceof Uint8Array ? 3 : 2;
}

function isNumber(value: SqlValue): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number";
}

function isText(value: SqlValue): value is string | InvalidText {
  return typeof value === "string" || value instanceof InvalidText;
}

/** JavaScript compares a bigint with a number exactly. */
function compareNumbers(a: bigint | number, b: bigint | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** BINARY compares the bytes as they are stored; NOCASE and RTRIM are defined on UTF-8. */
function compareText(a: string | InvalidText, b: string | InvalidText, collation: string, encoding: TextEncoding): number {
  if (collation === "BINARY") return Buffer.compare(textBytes(a, encoding), textBytes(b, encoding));
  const [x, y] = [textBytes(a, "UTF-8", encoding), textBytes(b, "UTF-8", encoding)];
  return collation === "RTRIM" ? Buffer.compare(withoutSpaces(x), withoutSpaces(y)) : compareNocase(x, y);
}

function withoutSpaces(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0x20) end -= 1;
  return bytes.subarray(0, end);
}

/** As SQLite does it: up to the first NUL, and then by length. */
function compareNocase(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const [x, y] = [lowerCase(a[index] ?? 0), lowerCase(b[index] ?? 0)];
    if (x !== y) return x - y;
    if (x === 0) break;
  }
  return a.length - b.length;
}

function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** The bytes of text in an encoding. Invalid text keeps its own, unless it stands in another encoding than the one wanted. */
export function textBytes(value: string | InvalidText, encoding: TextEncoding, storedIn: TextEncoding = encoding): Uint8Array {
  if (value instanceof InvalidText) return storedIn === encoding ? value.bytes : Buffer.from(lossyText(value.bytes, storedIn));
  if (encoding === "UTF-8") return Buffer.from(value);
  const bytes = Buffer.from(value, "utf16le");
  return encoding === "UTF-16be" ? bytes.swap16() : bytes;
}

function lossyText(bytes: Uint8Array, encoding: TextEncoding): string {
  const decoded = decodeText(bytes, encoding);
  if (typeof decoded === "string") return decoded;
  return new TextDecoder(encoding.toLowerCase(), { ignoreBOM: true }).decode(bytes);
}

/** Two values are the same for SQL and for the file: 1 is not 1.0, and 'a' is not x'61'. */
export function isSameValue(a: SqlValue, b: SqlValue): boolean {
  if (a === b || (typeof a === "number" && typeof b === "number" && a === b)) return true;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a instanceof InvalidText && b instanceof InvalidText && Buffer.compare(a.bytes, b.bytes) === 0;
}
