/** Cells as text: raw for the clipboard, and in the formats that other programs read. Numbers stay exact everywhere. */
import type { DataValue } from "#shared/query-views.ts";
import { quoteName, sqlLiteral } from "#shared/sql-literal.ts";

export interface CopiedCells {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly DataValue[])[];
  /** Names the table in INSERT statements. */
  readonly table: string;
}

export type CopyFormat = "raw" | "headers" | "csv" | "json" | "sql" | "markdown" | "literal";

export const COPY_FORMATS: Readonly<Record<CopyFormat, { readonly label: string; readonly type: string }>> = {
  raw: { label: "Copy", type: "text/tab-separated-values" },
  headers: { label: "Copy with headers", type: "text/tab-separated-values" },
  csv: { label: "Copy as CSV", type: "text/csv" },
  json: { label: "Copy as JSON", type: "application/json" },
  sql: { label: "Copy as SQL INSERT", type: "application/sql" },
  markdown: { label: "Copy as Markdown", type: "text/markdown" },
  literal: { label: "Copy as SQL literal", type: "application/sql" },
};

/** Throws a RangeError where SQL would need the whole of a value that was cut. */
export function formatCells(format: CopyFormat, cells: CopiedCells): string {
  switch (format) {
    case "raw":
      return rawText(cells.rows);
    case "headers":
      return rawText([cells.columns, ...cells.rows]);
    case "csv":
      return [cells.columns, ...cells.rows.map((row) => row.map(plainText))].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
    case "json":
      return jsonText(cells);
    case "sql":
      return insertText(cells);
    case "markdown":
      return markdownText(cells);
    case "literal":
      return cells.rows.map((row) => row.map(sqlLiteral).join(", ")).join("\n");
  }
}

/** Nothing for NULL, hex for bytes. */
export function plainText(value: DataValue): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return value.text;
  return "blob" in value ? value.blob : value.invalidText;
}

/** A single value as it is; several with tabs between them, quoted as spreadsheets do it where they hold tabs or breaks. */
function rawText(rows: readonly (readonly DataValue[])[]): string {
  const [only] = rows;
  if (rows.length === 1 && only?.length === 1) return plainText(only[0] ?? null);
  return rows.map((row) => row.map((value) => tabField(plainText(value))).join("\t")).join("\n");
}

function tabField(text: string): string {
  return /[\t\r\n"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Integers of 64 bits are numbers here too: JSON has no bound, only some of its readers do. */
function jsonText({ columns, rows }: CopiedCells): string {
  const names = uniqueNames(columns).map((name) => JSON.stringify(name));
  const lines = rows.map((row) => `  {${row.map((value, index) => `${names[index] ?? '""'}: ${jsonValue(value)}`).join(", ")}}`);
  return `[\n${lines.join(",\n")}\n]\n`;
}

function jsonValue(value: DataValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if ("integer" in value) return value.integer;
  // JSON has no infinities.
  if ("real" in value) return Number.isFinite(Number(value.real)) ? value.real : JSON.stringify(value.real);
  return JSON.stringify(plainText(value));
}

/** A result may name two columns alike; an object cannot. */
function uniqueNames(columns: readonly string[]): string[] {
  const seen = new Set<string>();
  return columns.map((name) => {
    let [unique, number] = [name, 2];
    while (seen.has(unique)) {
      unique = `${name} ${number}`;
      number += 1;
    }
    seen.add(unique);
    return unique;
  });
}

function insertText({ columns, rows, table }: CopiedCells): string {
  const head = `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(", ")}) VALUES`;
  return rows.map((row) => `${head} (${row.map(sqlLiteral).join(", ")});\n`).join("");
}

function markdownText({ columns, rows }: CopiedCells): string {
  const cell = (value: DataValue): string => (value === null ? "*NULL*" : markdownCell(plainText(value)));
  return line(columns.map(markdownCell)) + line(columns.map(() => "---")) + rows.map((row) => line(row.map(cell))).join("");
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

function markdownCell(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|")
    .replaceAll(/\r\n|[\r\n]/g, "<br>");
}
