/** Values of rows as they are read and copied: 64-bit integers whole, NULL told from text, blobs by size. */
import type { DiffColumnView, DiffValue, RowChangeView } from "#shared/diff-views.ts";
import { formatBytes } from "#shared/units.ts";

export interface ValueText {
  readonly text: string;
  /** "none": there is no such column or row on this side. */
  readonly kind: "null" | "number" | "text" | "blob" | "none";
}

/** A cell before and after; a column that a side does not have has no value there, whatever its default is. */
export function valuesOf(
  change: RowChangeView,
  at: number,
  column: DiffColumnView,
): readonly [DiffValue | undefined, DiffValue | undefined] {
  return [column.side === "right" ? undefined : change.old?.[at], column.side === "left" ? undefined : change.new?.[at]];
}

/** One line; control characters are shown, not obeyed. */
export function valueText(value: DiffValue | undefined): ValueText {
  if (value === undefined) return { text: "no column", kind: "none" };
  if (value === null) return { text: "NULL", kind: "null" };
  if (typeof value === "number") return { text: String(value), kind: "number" };
  if (typeof value === "string") return { text: oneLine(value), kind: "text" };
  if ("integer" in value) return { text: value.integer, kind: "number" };
  if ("real" in value) return { text: value.real, kind: "number" };
  if ("text" in value) return { text: `${oneLine(value.text)}…`, kind: "text" };
  if ("invalidText" in value) return { text: `invalid text, ${formatBytes(value.bytes)}`, kind: "blob" };
  return { text: `blob, ${formatBytes(value.bytes)}`, kind: "blob" };
}

/** The whole of it as far as it is here: line breaks kept, bytes in hex. */
export function fullText(value: DiffValue | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return value.text;
  return groupHex("blob" in value ? value.blob : value.invalidText);
}

/** Bytes of the value as it is stored, where that is known; null for numbers. */
export function valueBytes(value: DiffValue | undefined): number | null {
  if (value === null || value === undefined || typeof value === "number") return null;
  if (typeof value === "string") return new TextEncoder().encode(value).length;
  return "bytes" in value ? value.bytes : null;
}

export function typeName(value: DiffValue | undefined): string {
  if (value === undefined) return "no column";
  if (value === null) return "NULL";
  if (typeof value === "number") return Number.isInteger(value) ? "INTEGER" : "REAL";
  if (typeof value === "string" || "text" in value) return "TEXT";
  if ("integer" in value) return "INTEGER";
  if ("real" in value) return "REAL";
  return "invalidText" in value ? "TEXT (invalid)" : "BLOB";
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f]/g, (control) =>
    String.fromCodePoint(control === "\u007f" ? 0x2421 : 0x2400 + control.charCodeAt(0)),
  );
}

function groupHex(hex: string): string {
  return (
    hex
      .match(/.{1,32}/g)
      ?.map((line) => line.match(/.{1,2}/g)?.join(" ") ?? "")
      .join("\n") ?? ""
  );
}
