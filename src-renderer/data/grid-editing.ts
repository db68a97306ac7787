/** Editing of a table in its grid: what may be changed, and how what is typed becomes a staged change. */
import type { DataColumnView, DataRowView, DataTableView, DataValue } from "#shared/query-views.ts";
import type { DataPlace } from "./data-session.ts";
import { isCut } from "#shared/sql-literal.ts";
import type { EditedTable } from "#shared/edit-sql.ts";
import { countTo, type GridRange } from "./grid-selection.ts";
import { parseTyped, typedText } from "./parse-value.ts";
import {
  dropInserts,
  keyText,
  stageInsertValues,
  stageRows,
  withValues,
  withoutValues,
  type SeenRow,
  type StagedTable,
} from "./staged-edits.ts";
import type { GridEditing, RowMark } from "./value-grid.tsx";

/** Longer values are edited beneath the grid. */
const INLINE_CHARS_MAX = 2_000;

/** The rows of a grid: new ones first, then those of the table as they are, or as they will be. */
export interface GridRows {
  readonly place: DataPlace;
  readonly shape: EditedTable;
  readonly columns: readonly DataColumnView[];
  readonly rows: readonly DataRowView[];
  readonly staged: StagedTable | null;
}

/** Why no row of the table can be changed; null when they can. */
export function whyTableNot(place: DataPlace, table: DataTableView, isWritable: boolean): string | null {
  if (place.at !== null || !isWritable) return "an earlier state cannot change";
  if (table.kind === "view") return "the rows of a view are computed";
  if (table.kind === "shadow") return "it belongs to a virtual table";
  if (table.name.toLowerCase().startsWith("sqlite_")) return "SQLite keeps this table itself";
  return table.key === null || table.key.kind === "none" ? "its rows have no key" : null;
}

export function insertCount({ staged }: GridRows): number {
  return staged?.inserts.length ?? 0;
}

function editAt(grid: GridRows, index: number) {
  const key = grid.rows[index - insertCount(grid)]?.key ?? null;
  return key === null ? undefined : grid.staged?.edits.get(keyText(key));
}

/** Values as they are shown; a column of a new row that has its default is NULL here, see `absentAt`. */
export function valuesAt(grid: GridRows, index: number): readonly DataValue[] | null {
  const insert = grid.staged?.inserts[index];
  if (insert) return grid.columns.map(({ name }) => insert.values.get(name) ?? null);
  const row = grid.rows[index - insertCount(grid)];
  if (!row) return null;
  const edit = editAt(grid, index);
  return edit && edit.values.size > 0
    ? grid.columns.map(({ name }, at) => (edit.values.has(name) ? (edit.values.get(name) ?? null) : (row.values[at] ?? null)))
    : row.values;
}

/** What stands for a value that a new row does not have yet. */
export function absentAt(grid: GridRows, index: number, column: number): string | null {
  const insert = grid.staged?.inserts[index];
  const about = grid.columns[column];
  if (!insert || !about || insert.values.has(about.name)) return null;
  if (about.generated !== "no") return "computed";
  return about.notNull && about.default === null && !isRowid(grid, about.name) ? "required" : "default";
}

/** SQLite gives a new row one. */
function isRowid({ shape }: GridRows, name: string): boolean {
  return shape.key.kind === "rowid" && shape.key.columns[0] === name;
}

export function markAt(grid: GridRows, index: number): RowMark | null {
  if (index < insertCount(grid)) return { sign: "+", word: "new" };
  const edit = editAt(grid, index);
  if (!edit) return null;
  return edit.isDeleted ? { sign: "−", word: "deleted" } : { sign: "~", word: "changed" };
}

export function whyColumnNot(column: DataColumnView | undefined): string | null {
  if (!column) return "there is no such column";
  if (column.generated !== "no") return "the column is computed";
  return column.isHidden ? "the column is hidden" : null;
}

export function gridEditing(grid: GridRows): GridEditing {
  const valueAt = (row: number, column: number): DataValue => valuesAt(grid, row)?.[column] ?? null;
  return {
    whyNot: (row, column) => {
      const why = whyColumnNot(grid.columns[column]);
      if (why !== null) return why;
      return editAt(grid, row)?.isDeleted ? "the row is deleted" : whyNotInline(valueAt(row, column));
    },
    textOf: (row, column) => typedText(valueAt(row, column)),
    commit: (row, column, text) => {
      const old = valueAt(row, column);
      // Nothing typed into NULL leaves it NULL: an empty text is made beneath the grid.
      if (text === typedText(old)) return null;
      const parsed = parseTyped(text, grid.columns[column]?.type ?? "", old);
      if (parsed.problem === null) stageValueAt(grid, row, column, parsed.value);
      return parsed.problem;
    },
    setNull: (range) => stageNulls(grid, range),
    deleteRows: (range) => {
      const rows = seenIn(grid, range);
      dropInserts(grid.place, grid.shape, insertsIn(grid, range));
      stageRows(grid.place, grid.shape, rows, (edit) => ({ ...edit, isDeleted: true }));
    },
    revert: (range) => {
      const names = countTo(range.left, range.right).map((index) => grid.columns[index]?.name ?? "");
      stageInsertValues(grid.place, grid.shape, insertsIn(grid, range), names, undefined);
      stageRows(grid.place, grid.shape, seenIn(grid, range), (edit) => withoutValues(edit, names));
    },
    isChanged: (row, column) => {
      const name = grid.columns[column]?.name ?? "";
      return grid.staged?.inserts[row]?.values.has(name) ?? editAt(grid, row)?.values.has(name) ?? false;
    },
  };
}

/** New rows of a range, by their ids. */
function insertsIn({ staged }: GridRows, { top, bottom }: GridRange): readonly number[] {
  return (staged?.inserts ?? []).slice(top, bottom + 1).map(({ id }) => id);
}

/** Rows of the table in a range. */
function seenIn(grid: GridRows, { top, bottom }: GridRange): readonly SeenRow[] {
  const inserts = insertCount(grid);
  return grid.rows.slice(Math.max(0, top - inserts), Math.max(0, bottom + 1 - inserts)).map((row) => ({ row, columns: grid.columns }));
}

export function stageValueAt(grid: GridRows, row: number, column: number, value: DataValue): void {
  const name = grid.columns[column]?.name;
  if (name === undefined) return;
  const insert = grid.staged?.inserts[row];
  const found = grid.rows[row - insertCount(grid)];
  if (insert) stageInsertValues(grid.place, grid.shape, [insert.id], [name], value);
  else if (found) stageRows(grid.place, grid.shape, [{ row: found, columns: grid.columns }], (edit) => withValues(edit, [name], value));
}

function stageNulls(grid: GridRows, range: GridRange): void {
  const names = countTo(range.left, range.right).flatMap((index) =>
    whyColumnNot(grid.columns[index]) === null ? [grid.columns[index]?.name ?? ""] : [],
  );
  stageInsertValues(grid.place, grid.shape, insertsIn(grid, range), names, null);
  stageRows(grid.place, grid.shape, seenIn(grid, range), (edit) => (edit.isDeleted ? edit : withValues(edit, names, null)));
}

/** What cannot be typed in one line is edited beneath the grid. */
function whyNotInline(value: DataValue): string | null {
  if (isCut(value)) return "it is long: edit it beneath";
  if (typeof value === "object" && value !== null && "invalidText" in value) return "its text is not valid: edit it beneath";
  const text = typedText(value);
  // oxlint-disable-next-line no-control-regex -- one line cannot hold them
  return text.length > INLINE_CHARS_MAX || /[\u0000-\u001f]/.test(text) ? "it is more than a line: edit it beneath" : null;
}
