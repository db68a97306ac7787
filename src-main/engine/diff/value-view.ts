import type { DiffValue } from "#shared/diff-views.ts";
import { InvalidText, type SqlValue } from "../format/record.ts";

/** A value as JSON can carry it; of text and blobs at most `bytesMax` bytes. Exact: see `DiffValue`. */
export function viewValue(value: SqlValue, bytesMax: number): DiffValue {
  if (value === null) return null;
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(value);
    return bytes <= bytesMax ? value : { text: cutText(value, bytesMax), bytes };
  }
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { integer: value.toString() };
  }
  if (typeof value === "number") return Number.isFinite(value) && !Number.isInteger(value) ? value : { real: realText(value) };
  const isText = value instanceof InvalidText;
  const bytes = isText ? value.bytes : value;
  const hex = Buffer.from(bytes.subarray(0, bytesMax)).toString("hex");
  return isText ? { invalidText: hex, bytes: bytes.length } : { blob: hex, bytes: bytes.length };
}

/** Whole characters only. */
function cutText(text: string, bytesMax: number): string {
  const cut = Buffer.from(text.slice(0, bytesMax)).subarray(0, bytesMax).toString();
  return cut.endsWith("\uFFFD") && !text.startsWith(cut) ? cut.slice(0, -1) : cut;
}

/** Always told from an integer: "1.0", "-0.0", "1e+300", "Infinity". */
export function realText(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
