import type { DataValue } from "#shared/query-views.ts";
import { isNumber } from "#shared/row-text.ts";
import { shownCell } from "./query-cells.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** The header also where there are no rows; numbers to the right; every column, empty ones too. */
export function rowTable(terminal: Terminal, columns: readonly string[], rows: readonly (readonly DataValue[])[]): string {
  const heads = columns.map((title, index) => ({
    title,
    isKept: true,
    ...(rows.length > 0 && rows.every((row) => row[index] === null || isNumber(row[index] ?? null)) ? { align: "right" as const } : {}),
  }));
  if (rows.length === 0) return terminal.paint("dim", columns.join("  "));
  return formatTable(
    terminal,
    heads,
    rows.map((row) => row.map(shownCell)),
  );
}
