/**
 * Changes that were made in the grid and not applied yet, by branch and table. Outside React: they survive another screen,
 * another table and another branch, and ask nothing.
 */
import { createStore, useStore } from "../external-store.ts";
import type { DataColumnView, DataKeyView, DataRowView, DataTableView, DataValue } from "#shared/query-views.ts";
import { deleteSql, insertSql, updateSql, type EditedTable, type RowEdit, type RowInsert } from "#shared/edit-sql.ts";
import type { DataPlace } from "./data-session.ts";
import { isSameValue } from "#shared/query-compare.ts";

export interface StagedTable {
  readonly shape: EditedTable;
  /** By the key of the row, as text. */
  readonly edits: ReadonlyMap<string, RowEdit>;
  readonly inserts: readonly RowInsert[];
}

export type StagedBranch = ReadonlyMap<string, StagedTable>;

const NOTHING: StagedBranch = new Map();

const stagedEdits = createStore<{ readonly branches: ReadonlyMap<string, StagedBranch> }>({ branches: new Map() });

const branchKey = ({ database, branch }: DataPlace): string => JSON.stringify([database, branch]);

export function stagedOf(place: DataPlace): StagedBranch {
  return place.at === null ? (stagedEdits.get().branches.get(branchKey(place)) ?? NOTHING) : NOTHING;
}

export function useStaged(place: DataPlace): StagedBranch {
  return useStore(stagedEdits, () => stagedOf(place));
}

const keyTexts = new WeakMap<readonly DataValue[], string>();

/** Found once for each row that was read: it is asked for with every cell that is drawn. */
export function keyText(key: readonly DataValue[]): string {
  const text = keyTexts.get(key) ?? JSON.stringify(key);
  keyTexts.set(key, text);
  return text;
}

export function editedTable(table: DataTableView, columns: readonly DataColumnView[], key: DataKeyView): EditedTable {
  return {
    name: table.name,
    key,
    notNull: columns.filter((column) => column.notNull).map(({ name }) => name),
    columns: columns.filter(({ generated, isHidden }) => generated === "no" && !isHidden).map(({ name }) => name),
    hasCollations: /\bcollate\b/i.test(table.sql ?? ""),
  };
}

function changeTable(place: DataPlace, shape: EditedTable, change: (table: StagedTable) => StagedTable): void {
  stagedEdits.set(({ branches }) => {
    const branch = new Map(branches.get(branchKey(place)));
    const next = change({ ...(branch.get(shape.name) ?? { edits: new Map(), inserts: [] }), shape });
    if (next.edits.size === 0 && next.inserts.length === 0) branch.delete(shape.name);
    else branch.set(shape.name, next);
    return { branches: new Map(branches).set(branchKey(place), branch) };
  });
}

/** A row of the table as it was read. */
export interface SeenRow {
  readonly row: DataRowView;
  readonly columns: readonly DataColumnView[];
}

function editOf(table: StagedTable, { row, columns }: SeenRow): RowEdit {
  const key = row.key ?? [];
  const found = table.edits.get(keyText(key));
  if (found) return found;
  return { key, old: new Map(columns.map(({ name }, index) => [name, row.values[index] ?? null])), values: new Map(), isDeleted: false };
}

/** Changes rows that were read, all at once; one that is as it was read is no change. */
export function stageRows(place: DataPlace, shape: EditedTable, rows: readonly SeenRow[], change: (edit: RowEdit) => RowEdit): void {
  changeTable(place, shape, (table) => {
    const edits = new Map(table.edits);
    for (const seen of rows) {
      const edit = change(editOf(table, seen));
      if (edit.values.size === 0 && !edit.isDeleted) edits.delete(keyText(edit.key));
      else edits.set(keyText(edit.key), edit);
    }
    return { ...table, edits };
  });
}

export function withValues(edit: RowEdit, columns: readonly string[], value: DataValue): RowEdit {
  const values = new Map(edit.values);
  for (const column of columns) {
    if (isSameValue(edit.old.get(column) ?? null, value)) values.delete(column);
    else values.set(column, value);
  }
  return { ...edit, values };
}

/** Takes back what was changed in these columns, and that the row goes. */
export function withoutValues(edit: RowEdit, columns: readonly string[]): RowEdit {
  return { ...edit, isDeleted: false, values: new Map([...edit.values].filter(([name]) => !columns.includes(name))) };
}

let lastInsert = 0;

export function stageInsert(place: DataPlace, shape: EditedTable): void {
  lastInsert += 1;
  const id = lastInsert;
  changeTable(place, shape, (table) => ({ ...table, inserts: [...table.inserts, { id, values: new Map() }] }));
}

/** `value` undefined: the column's default again. */
export function stageInsertValues(
  place: DataPlace,
  shape: EditedTable,
  ids: readonly number[],
  columns: readonly string[],
  value: DataValue | undefined,
): void {
  const chosen = new Set(ids);
  changeTable(place, shape, (table) => ({
    ...table,
    inserts: table.inserts.map((insert) => {
      if (!chosen.has(insert.id)) return insert;
      const values = new Map(insert.values);
      for (const column of columns) {
        if (value === undefined) values.delete(column);
        else values.set(column, value);
      }
      return { ...insert, values };
    }),
  }));
}

export function dropInserts(place: DataPlace, shape: EditedTable, ids: readonly number[]): void {
  const dropped = new Set(ids);
  changeTable(place, shape, (table) => ({ ...table, inserts: table.inserts.filter(({ id }) => !dropped.has(id)) }));
}

export function discardEdits(place: DataPlace): void {
  stagedEdits.set(({ branches }) => {
    const rest = new Map(branches);
    rest.delete(branchKey(place));
    return { branches: rest };
  });
}

/** What was applied is no longer staged; what was changed meanwhile still is. */
export function discardApplied(place: DataPlace, applied: StagedBranch): void {
  for (const [name, { edits, inserts, shape }] of applied) {
    changeTable(place, shape, (table) => ({
      ...table,
      edits: new Map([...table.edits].filter(([key, edit]) => edits.get(key) !== edit)),
      inserts: table.inserts.filter((insert) => !inserts.includes(insert)),
      shape: stagedOf(place).get(name)?.shape ?? shape,
    }));
  }
}

/** When the store changes: its branches are no longer there to be changed. */
export function resetEdits(): void {
  stagedEdits.set({ branches: new Map() });
}

/** One change, as it will run. */
export interface StagedStatement {
  readonly kind: "delete" | "update" | "insert";
  readonly sql: string;
  readonly table: string;
  /** "id 3", of a row that is there. */
  readonly row: string;
}

function editStatement(table: EditedTable, edit: RowEdit): StagedStatement {
  return {
    ...(edit.isDeleted ? { kind: "delete", sql: deleteSql(table, edit) } : { kind: "update", sql: updateSql(table, edit) }),
    table: table.name,
    row: table.key.columns.map((name, index) => `${name} ${JSON.stringify(edit.key[index])}`).join(", "),
  };
}

/** All changes of a branch: what goes makes room for what comes. Throws a RangeError for a value that has no SQL. */
export function stagedStatements(branch: StagedBranch): readonly StagedStatement[] {
  const tables = [...branch.values()];
  const edits = tables.flatMap(({ shape, edits: changed }) => [...changed.values()].map((edit) => editStatement(shape, edit)));
  return [
    ...edits.filter(({ kind }) => kind === "delete"),
    ...edits.filter(({ kind }) => kind === "update"),
    ...tables.flatMap(({ shape, inserts }) =>
      inserts.map((insert) => ({ kind: "insert" as const, sql: insertSql(shape, insert), table: shape.name, row: "" })),
    ),
  ];
}

export function countStaged(branch: StagedBranch): { readonly inserts: number; readonly updates: number; readonly deletes: number } {
  let [inserts, updates, deletes] = [0, 0, 0];
  for (const table of branch.values()) {
    inserts += table.inserts.length;
    for (const { isDeleted } of table.edits.values()) {
      if (isDeleted) deletes += 1;
      else updates += 1;
    }
  }
  return { inserts, updates, deletes };
}
