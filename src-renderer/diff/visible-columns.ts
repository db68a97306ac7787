import type { DiffColumnView, RowChangeView } from "#shared/diff-views.ts";
import { valuesOf, valueText } from "../ui/value-text.ts";

/** Columns shown beside the key when little changed, so that a row can be recognised. */
const CONTEXT_COLUMNS = 5;
const CHARACTER_PX = 7.4;
const WIDTH_PX = { least: 72, most: 300, padding: 24 } as const;
/** Rows that widths are measured on. */
const MEASURED_ROWS = 200;

export interface VisibleColumn {
  /** Position among the table's columns. */
  readonly index: number;
  readonly column: DiffColumnView;
  readonly widthPx: number;
}

/** The key, what changed in any of the rows, and a few more for context; all when asked for. */
export function visibleColumns(
  columns: readonly DiffColumnView[],
  rows: readonly RowChangeView[],
  options: { readonly all: boolean; readonly ignored: ReadonlySet<string> },
): readonly VisibleColumn[] {
  const changed = new Set(rows.flatMap((row) => (row.kind === "update" ? row.changed : [])));
  let context = CONTEXT_COLUMNS - columns.filter((column, index) => column.isKey || changed.has(index)).length;
  const isShown = (column: DiffColumnView, index: number): boolean => {
    if (options.all || column.isKey) return true;
    if (options.ignored.has(column.name)) return false;
    if (changed.has(index)) return true;
    context -= 1;
    return context >= 0;
  };
  return columns.flatMap((column, index) => (isShown(column, index) ? [{ index, column, widthPx: widthOf(column, index, rows) }] : []));
}

function widthOf(column: DiffColumnView, index: number, rows: readonly RowChangeView[]): number {
  let longest = (column.formerName === null ? column.name : `${column.formerName} → ${column.name}`).length + 2;
  for (const row of rows.slice(0, MEASURED_ROWS)) {
    const [old, current] = valuesOf(row, index, column);
    const before = valueText(old).text.length;
    const after = valueText(current).text.length;
    const isChanged = row.kind === "update" && row.changed.includes(index);
    longest = Math.max(longest, isChanged ? before + after + 3 : row.kind === "delete" ? before : after);
  }
  return Math.round(Math.min(WIDTH_PX.most, Math.max(WIDTH_PX.least, longest * CHARACTER_PX + WIDTH_PX.padding)));
}

/** Whether a typed text is in a value of the row, or in the name of a column that changed. */
export function matchesRow(row: RowChangeView, columns: readonly DiffColumnView[], search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return true;
  return columns.some((column, index) => {
    if (row.changed.includes(index) && column.name.toLowerCase().includes(wanted)) return true;
    return valuesOf(row, index, column).some((value) => value !== undefined && valueText(value).text.toLowerCase().includes(wanted));
  });
}
