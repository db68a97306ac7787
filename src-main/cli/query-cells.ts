/** Values of SQL as text: for people, and for programs that read CSV. */
import type { DataValue } from "#shared/query-views.ts";

const CELL_CHARS = 80;

/** One line. Plain text stands as it is; NULL, blobs and text that is none say what they are. */
export function shownCell(value: DataValue): string {
  const text = plainCell(value, "NULL").replaceAll("\n", String.raw`\n`);
  return text.length > CELL_CHARS ? `${text.slice(0, CELL_CHARS - 1)}…` : text;
}

export function isNumber(value: DataValue): boolean {
  return typeof value === "number" || (typeof value === "object" && value !== null && ("integer" in value || "real" in value));
}

/** Lines as RFC 4180 has them. NULL is nothing, the empty text `""`. */
export function csvLine(values: readonly DataValue[]): string {
  return `${values.map((value) => (value === "" ? '""' : quoteCell(plainCell(value, "")))).join(",")}\r\n`;
}

function plainCell(value: DataValue, ofNull: string): string {
  if (value === null) return ofNull;
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return value.text;
  return `x'${"blob" in value ? value.blob : value.invalidText}'`;
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
