/** Rows of values as text that other programs read: CSV, JSON and Markdown, for files and the clipboard alike. */
import type { DataValue } from "./query-views.ts";

/** A value as plain text: 64-bit integers whole, bytes as x'…'. Of a value that was cut what is there. */
export function plainText(value: DataValue, ofNull: string): string {
  if (value === null) return ofNull;
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return value.text;
  return `x'${"blob" in value ? value.blob : value.invalidText}'`;
}

export function isNumber(value: DataValue | undefined): boolean {
  return typeof value === "number" || (typeof value === "object" && value !== null && ("integer" in value || "real" in value));
}

/** A line as RFC 4180 has it, with its end. NULL is nothing, the empty text `""`. */
export function csvLine(values: readonly DataValue[]): string {
  return `${values.map((value) => (value === "" ? '""' : quoteCell(plainText(value, "")))).join(",")}\r\n`;
}

function quoteCell(text: string): string {
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Names as keys of an object: a name that stands twice gets a number. */
export function uniqueNames(columns: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    let name = column;
    for (let nth = 2; taken.has(name); nth += 1) name = `${column}:${nth}`;
    taken.add(name);
    return name;
  });
}

/**
 * An object a row. Integers keep all their digits, also those that JavaScript would round; what JSON has no number for
 * (infinities) is text; bytes are `{"blob": "hex"}`, and `{"invalidText": "hex"}` where they are text in no encoding.
 */
export function jsonRow(names: readonly string[], values: readonly DataValue[]): string {
  return `{${names.map((name, index) => `${JSON.stringify(name)}:${jsonValue(values[index] ?? null)}`).join(",")}}`;
}

function jsonValue(value: DataValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return /Infinity/.test(value.real) ? JSON.stringify(value.real) : value.real;
  if ("text" in value) return JSON.stringify(value.text);
  return JSON.stringify("blob" in value ? { blob: value.blob } : { invalidText: value.invalidText });
}

/** The two first lines of a Markdown table; numbers stand to the right. */
export function markdownHead(columns: readonly string[], isRight: readonly boolean[] = []): string {
  const rules = columns.map((_, index) => (isRight[index] ? "---:" : "---"));
  return `| ${columns.map(markdownText).join(" | ")} |\n| ${rules.join(" | ")} |\n`;
}

export function markdownRow(values: readonly DataValue[]): string {
  return `| ${values.map((value) => markdownText(plainText(value, "NULL"))).join(" | ")} |\n`;
}

function markdownText(text: string): string {
  return text.replaceAll(/[\\|<>*_`[\]]/g, String.raw`\$&`).replaceAll(/\r\n?|\n/g, " ");
}
