/**
 * Changes of a table as SQL: exactly what will run. Each statement names one row by its key, and by what it held when it
 * was changed here, so that a row that has moved on since is not found, and nothing is written over.
 */
import type { DataKeyView, DataValue } from "./query-views.ts";
import { isBlob, isCut, quoteName, sqlLiteral } from "./sql-literal.ts";

/** Of a longer value its length and its beginning are looked at. */
const COMPARED_BYTES = 1_024;
/** Columns of a row that are looked at before it is deleted. */
const COMPARED_COLUMNS = 64;

export interface EditedTable {
  readonly name: string;
  readonly key: DataKeyView;
  /** Columns that are stored, in order. */
  readonly columns: readonly string[];
  /** Of these, those that are declared NOT NULL: SQLite takes it for granted, also where a row breaks it. */
  readonly notNull: readonly string[];
  /** A column compares texts by rules of its own. */
  readonly hasCollations: boolean;
}

export interface RowEdit {
  readonly key: readonly DataValue[];
  /** What the row held, by column. */
  readonly old: ReadonlyMap<string, DataValue>;
  /** What it will hold; empty for one that is deleted. */
  readonly values: ReadonlyMap<string, DataValue>;
  readonly isDeleted: boolean;
}

export interface RowInsert {
  readonly id: number;
  readonly values: ReadonlyMap<string, DataValue>;
}

export function updateSql(table: EditedTable, edit: RowEdit): string {
  const set = [...edit.values].map(([column, value]) => `${quoteName(column)} = ${sqlLiteral(value)}`);
  // A rowid that is no column may stand for another row after VACUUM: the whole row says whether it is this one.
  const compared = table.key.isStable ? [...edit.values.keys()] : table.columns.slice(0, COMPARED_COLUMNS);
  return `UPDATE ${quoteName(table.name)} SET ${set.join(", ")} WHERE ${rowCondition(table, edit, compared)};`;
}

export function deleteSql(table: EditedTable, edit: RowEdit): string {
  return `DELETE FROM ${quoteName(table.name)} WHERE ${rowCondition(table, edit, table.columns.slice(0, COMPARED_COLUMNS))};`;
}

export function insertSql(table: EditedTable, { values }: RowInsert): string {
  if (values.size === 0) return `INSERT INTO ${quoteName(table.name)} DEFAULT VALUES;`;
  const columns = [...values.keys()].map(quoteName).join(", ");
  return `INSERT INTO ${quoteName(table.name)} (${columns}) VALUES (${[...values.values()].map(sqlLiteral).join(", ")});`;
}

function rowCondition(table: EditedTable, { key, old }: RowEdit, compared: readonly string[]): string {
  const named = new Set(table.key.columns.map((name) => name.toLowerCase()));
  const keys = table.key.columns.map((name, index) => `${quoteName(name)} IS ${sqlLiteral(key[index] ?? null)}`);
  const others = compared
    .filter((name) => !named.has(name.toLowerCase()) && old.has(name))
    .map((name) => isStill(table, name, old.get(name) ?? null));
  return [...keys, ...others].join(" AND ");
}

/** True in SQL while the column holds this value. */
function isStill({ hasCollations, notNull }: EditedTable, name: string, value: DataValue): string {
  const column = quoteName(name);
  if (value === null && notNull.includes(name)) return `typeof(${column}) = 'null'`;
  if (!isCut(value) && sizeOf(value) <= COMPARED_BYTES) {
    const isText = typeof value === "string" && hasCollations;
    return `${column} IS ${sqlLiteral(value)}${isText ? " COLLATE BINARY" : ""}`;
  }
  const start = beginning(value);
  return [lengthOf(column, value), ...(start === null ? [] : [start(column)])].join(" AND ");
}

function sizeOf(value: DataValue): number {
  if (typeof value === "string") return value.length;
  return typeof value === "object" && value !== null && "bytes" in value ? value.bytes : 0;
}

/** Characters of a text that is here, bytes of what is not: how many bytes a text takes depends on the database's encoding. */
function lengthOf(column: string, value: DataValue): string {
  if (typeof value === "string") return `length(${column}) IS ${Array.from(value.split("\0")[0] ?? "").length}`;
  return `octet_length(${column}) IS ${sizeOf(value)}`;
}

function beginning(value: DataValue): ((column: string) => string) | null {
  if (isBlob(value)) return (column) => `substr(${column}, 1, ${COMPARED_BYTES}) IS X'${value.blob.slice(0, COMPARED_BYTES * 2)}'`;
  const text = typeof value === "string" ? value : typeof value === "object" && value !== null && "text" in value ? value.text : null;
  // SQLite counts characters of a text up to its first NUL.
  if (text === null || text.includes("\0")) return null;
  const start = Array.from(text.slice(0, COMPARED_BYTES)).slice(0, COMPARED_BYTES / 2);
  return (column) => `substr(${column}, 1, ${start.length}) IS ${sqlLiteral(start.join(""))}`;
}
