/** Tables as text for the clipboard: tab-separated for spreadsheets, JSON for programs. */

export interface TextColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number | boolean | null;
}

function cell(value: string | number | boolean | null): string {
  return String(value ?? "").replace(/[\t\r\n]+/g, " ");
}

/** Tabs and line breaks inside a value become spaces: one line a row, one tab a column. */
export function toTsv<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map((column) => cell(column.value(row))).join("\t"));
  return `${[columns.map((column) => cell(column.title)).join("\t"), ...lines].join("\n")}\n`;
}

export function toJson<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[]): string {
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map((column) => [column.title, column.value(row)]))),
    null,
    2,
  );
}
