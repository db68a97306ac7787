/** Long values: slices of their bytes by the key of their row, and what can be made of the bytes. */
import { isBlob } from "#shared/sql-literal.ts";
import { LIMITS } from "#shared/limits.ts";
import type { DataValue, DataValueView } from "#shared/query-views.ts";
import type { Api } from "../api/api.ts";
import { plainText } from "./copy-values.ts";
import { placeInput, type DataPlace } from "./data-session.ts";

export interface ValuePlace {
  readonly place: DataPlace;
  readonly table: string;
  readonly key: readonly DataValue[];
  readonly column: string;
}

export function readSlice(api: Api, { place, table, key, column }: ValuePlace, offset: number, limit: number): Promise<DataValueView> {
  return api.request("data.value", { ...placeInput(place), table, key: [...key], column, offset, limit });
}

/** Throws a RangeError for a value that is too large to be held here, and `ApiError`. */
export async function readBytes(
  api: Api,
  value: ValuePlace,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly view: DataValueView }> {
  const first = await readSlice(api, value, 0, LIMITS.dataSliceBytesMax);
  if (first.bytes > bytesMax) throw new RangeError(`the value has ${first.bytes} bytes, and at most ${bytesMax} are read at once`);
  const whole = new Uint8Array(first.bytes);
  let filled = put(whole, 0, first.slice);
  while (filled < whole.length) {
    signal?.throwIfAborted();
    // oxlint-disable-next-line no-await-in-loop -- one slice after the other
    const next = await readSlice(api, value, filled, LIMITS.dataSliceBytesMax);
    const end = put(whole, filled, next.slice);
    if (end === filled || next.bytes !== first.bytes) throw new RangeError("the value changed while it was read");
    filled = end;
  }
  return { bytes: whole, view: first };
}

function put(whole: Uint8Array, offset: number, hex: string): number {
  const bytes = bytesOfHex(hex);
  whole.set(bytes.subarray(0, whole.length - offset), offset);
  return Math.min(whole.length, offset + bytes.length);
}

export function bytesOfHex(hex: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(hex.length >> 1);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16);
  return bytes;
}

/** Bytes of a value, as far as it is here; texts as UTF-8. */
export function bytesOf(value: DataValue): Uint8Array<ArrayBuffer> {
  if (isBlob(value)) return bytesOfHex(value.blob);
  if (typeof value === "object" && value !== null && "invalidText" in value) return bytesOfHex(value.invalidText);
  return new TextEncoder().encode(plainText(value));
}

function hexOfBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The whole of a value that was cut. */
export async function readWholeValue(api: Api, value: ValuePlace, bytesMax: number): Promise<DataValue> {
  const { bytes, view } = await readBytes(api, value, bytesMax);
  if (view.type === "blob") return { blob: hexOfBytes(bytes), bytes: bytes.length };
  if (view.type !== "text") return view.value;
  return decodeWhole(bytes, view.encoding) ?? { invalidText: hexOfBytes(bytes), bytes: bytes.length };
}

/** Null for bytes that are no text in this encoding. */
function decodeWhole(bytes: Uint8Array, encoding: string): string | null {
  try {
    return decoderFor(encoding, true).decode(bytes);
  } catch {
    return null;
  }
}

/** "UTF-8", "UTF-16le", "UTF-16be", as SQLite calls them. */
function decoderFor(encoding: string, fatal: boolean): TextDecoder {
  return new TextDecoder(encoding.toLowerCase(), { fatal, ignoreBOM: true });
}

/** Bytes read beyond a part, so that the character on its edge is whole. */
export const EDGE_BYTES = 4;

/**
 * The characters that begin in `[0, size)` of these bytes; up to `EDGE_BYTES` more are there to end the last one. The first
 * part of a text begins with a character, others may begin inside one, which belongs to the part before.
 */
export function decodePart(bytes: Uint8Array, size: number, isFirst: boolean, encoding: string): string {
  const isInside = /16/.test(encoding) ? isLowSurrogate(encoding) : (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  const step = /16/.test(encoding) ? 2 : 1;
  let start = 0;
  const skipMax = isFirst ? 0 : Math.min(EDGE_BYTES, bytes.length);
  while (start < skipMax && isInside(start, bytes)) start += step;
  let end = Math.min(size, bytes.length);
  while (end < bytes.length && end < size + EDGE_BYTES && isInside(end, bytes)) end += step;
  return decoderFor(encoding, false).decode(bytes.subarray(start, end));
}

function isLowSurrogate(encoding: string): (at: number, bytes: Uint8Array) => boolean {
  const high = encoding.toLowerCase().endsWith("be") ? 0 : 1;
  return (at, bytes) => ((bytes[at + high] ?? 0) & 0xfc) === 0xdc;
}

/** By its first bytes; null for what is no image that a page can show. */
export function imageType(hex: string): string | null {
  const types: readonly (readonly [RegExp, string])[] = [
    [/^89504e470d0a1a0a/, "image/png"],
    [/^ffd8ff/, "image/jpeg"],
    [/^474946383[79]61/, "image/gif"],
    [/^52494646.{8}57454250/, "image/webp"],
    [/^424d/, "image/bmp"],
  ];
  return types.find(([pattern]) => pattern.test(hex.slice(0, 32)))?.[1] ?? null;
}

/** Lines of sixteen bytes: where they are, the bytes, and what can be printed of them. */
export function hexLines(
  bytes: Uint8Array,
  offset: number,
): readonly { readonly at: string; readonly hex: string; readonly text: string }[] {
  const lines: { at: string; hex: string; text: string }[] = [];
  for (let start = 0; start < bytes.length; start += 16) {
    const line = bytes.subarray(start, start + 16);
    lines.push({
      at: (offset + start).toString(16).padStart(8, "0"),
      hex: Array.from(line, (byte) => byte.toString(16).padStart(2, "0")).join(" "),
      text: Array.from(line, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join(""),
    });
  }
  return lines;
}
