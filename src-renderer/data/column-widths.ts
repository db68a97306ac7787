import type { DataValue } from "#shared/query-views.ts";
import { valueText } from "../ui/value-text.ts";

const CHARACTER_PX = 7.25;
const PADDING_PX = 24;
export const WIDTH_PX = { least: 48, first: 72, most: 320, fitted: 960 } as const;
/** Rows that widths are measured on. */
const MEASURED_ROWS = 200;

/** How wide a column must be for what is in it; up to `most`. */
export function measureColumn(
  title: string,
  index: number,
  rows: { readonly from: number; readonly count: number; readonly rowAt: (row: number) => readonly DataValue[] | null },
  most: number,
): number {
  let longest = title.length + 3;
  const end = Math.min(rows.count, rows.from + MEASURED_ROWS);
  for (let row = rows.from; row < end; row += 1) {
    const value = rows.rowAt(row)?.[index];
    if (value !== undefined) longest = Math.max(longest, shortText(value).length);
  }
  return Math.round(Math.min(most, Math.max(WIDTH_PX.first, longest * CHARACTER_PX + PADDING_PX)));
}

/** No cell shows more than this. */
const SHOWN_CHARS = 400;

/** What a cell shows: texts of which only the beginning can be seen are not looked at further. */
export function shortText(value: DataValue): string {
  return valueText(typeof value === "string" && value.length > SHOWN_CHARS ? value.slice(0, SHOWN_CHARS) : shorten(value)).text;
}

function shorten(value: DataValue): DataValue {
  return typeof value === "object" && value !== null && "text" in value ? { ...value, text: value.text.slice(0, SHOWN_CHARS) } : value;
}
