/**
 * SQLite's record format (source: "Database File Format", section 2.1): a header of its own length and one serial type a
 * value, then the values. Integers are exact; text that is no valid text of the database's encoding keeps its bytes.
 */
import { readVarint, varintBytes, type FailPage } from "./btree-page.ts";
import type { TextEncoding } from "./sqlite-header.ts";

/** Text whose bytes are not valid in their encoding. */
export class InvalidText {
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Integers are bigints and reals numbers, so that 1 and 1.0 are told apart. */
export type SqlValue = null | bigint | number | string | Uint8Array | InvalidText;

/** Where the values of a record are. */
export interface RecordLayout {
  readonly types: readonly number[];
  /** Position of each value, and at the end of the last one. */
  readonly positions: readonly number[];
}

const COLUMNS_MAX = 32_767;
const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8] as const;

/** Reads the header alone: of a long record the first bytes will do, as long as they hold the header. */
export function readLayout(payload: Uint8Array, fail: FailPage): RecordLayout {
  const headerBytes = readVarint(payload, 0);
  if (typeof headerBytes !== "number" || headerBytes < 1 || headerBytes > payload.length)
    return fail(`a record header of ${headerBytes} bytes`, `at most ${payload.length}`);
  const types: number[] = [];
  const positions: number[] = [headerBytes];
  let position = varintBytes(payload, 0);
  let end = headerBytes;
  while (position < headerBytes) {
    const type = readVarint(payload, position);
    position += varintBytes(payload, position);
    if (typeof type !== "number" || type < 0 || type === 10 || type === 11) return fail(`serial type ${type}`, "one that exists");
    end += valueBytes(type);
    types.push(type);
    positions.push(end);
    if (types.length > COLUMNS_MAX) return fail("more values than a table has columns", `${COLUMNS_MAX}`);
  }
  if (position !== headerBytes) return fail("a record header that ends within a number", "whole numbers");
  return { types, positions };
}

function valueBytes(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return type < 7 ? (INTEGER_BYTES[type] ?? 0) : type === 7 ? 8 : 0;
}

/** The value of one column; null behind the last one. */
export function valueAt(payload: Uint8Array, layout: RecordLayout, index: number, encoding: TextEncoding, fail: FailPage): SqlValue {
  const type = layout.types[index];
  if (type === undefined || type === 0) return null;
  const [start, end] = [layout.positions[index] ?? 0, layout.positions[index + 1] ?? 0];
  if (end > payload.length) return fail(`a record of ${payload.length} bytes`, `${end} or more`);
  if (type === 8) return 0n;
  if (type === 9) return 1n;
  if (type < 7) return readInteger(payload, start, end);
  if (type === 7) {
    const real = new DataView(payload.buffer, payload.byteOffset + start, 8).getFloat64(0);
    // SQLite reads a NaN as NULL.
    return Number.isNaN(real) ? null : real;
  }
  const bytes = payload.subarray(start, end);
  return type % 2 === 0 ? bytes : decodeText(bytes, encoding);
}

function readInteger(payload: Uint8Array, start: number, end: number): bigint {
  if (end - start > 6) return new DataView(payload.buffer, payload.byteOffset + start, 8).getBigInt64(0);
  let value = 0;
  for (let position = start; position < end; position += 1) value = value * 256 + (payload[position] ?? 0);
  const limit = 2 ** (8 * (end - start));
  return BigInt(value >= limit / 2 ? value - limit : value);
}

const DECODERS: Readonly<Record<TextEncoding, InstanceType<typeof TextDecoder>>> = {
  "UTF-8": new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }),
  "UTF-16le": new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true }),
  "UTF-16be": new TextDecoder("utf-16be", { fatal: true, ignoreBOM: true }),
};

export function decodeText(bytes: Uint8Array, encoding: TextEncoding): string | InvalidText {
  try {
    return DECODERS[encoding].decode(bytes);
  } catch {
    return new InvalidText(bytes);
  }
}
