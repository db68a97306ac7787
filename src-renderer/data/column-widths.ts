import type { DataValue } from "#shared/query-views.ts";
import { valueText, type ValueText } from "../ui/value-text.ts";

const CHARACTER_PX = 7.25;
const PADDING_PX = 24;
export const WIDTH_PX = { least: 48, first: 72, most: 320, fitted: 960 } as const;
/** Rows that widths are measured on. */
const MEASURED_ROWS = 200;

/** How wide a column must be for what is in it; up to `most`. */
export function measureColumn(
  title: string,
  index: number,
  rows: { readonly count: number; readonly rowAt: (row: number) => readonly DataValue[] | null },
  most: number,
): number {
  let longest = title.length + 3;
  const end = Math.min(rows.count, MEASURED_ROWS);
  for (let row = 0; row < end; row += 1) {
    const value = rows.rowAt(row)?.[index];
    if (value !== undefined) longest = Math.max(longest, shortText(value).text.length);
  }
  return Math.round(Math.min(most, Math.max(WIDTH_PX.first, longest * CHARACTER_PX + PADDING_PX)));
}

/** No cell shows more than this. */
const SHOWN_CHARS = 400;

/** What a cell shows: texts of which only the beginning can be seen are not looked at further. */
export function shortText(value: DataValue): ValueText {
  return valueText(shorten(value));
}

function shorten(value: DataValue): DataValue {
  if (typeof value === "string") return value.slice(0, SHOWN_CHARS);
  return typeof value === "object" && value !== null && "text" in value ? { ...value, text: value.text.slice(0, SHOWN_CHARS) } : value;
}
