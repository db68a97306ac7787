/** What a table looks like to somebody who pages through it: its columns, and what tells its rows apart. */
import type Database from "better-sqlite3";
import type { DataColumnView, DataKeyView } from "#shared/query-views.ts";
import { quoteName } from "#shared/sql-literal.ts";
import { EngineError } from "../io/errors.ts";

export interface KeyPart {
  /** Names the value in SQL. */
  readonly sql: string;
  readonly name: string;
  /** In the order that the table, or its index, is kept in. */
  readonly descending: boolean;
}

/** Beyond so many columns there is no room for a key beside them in one answer: rows are counted off. */
const COLUMNS_BESIDE_KEY_MAX = 1_900;

export interface TableShape {
  readonly name: string;
  readonly columns: readonly DataColumnView[];
  readonly key: DataKeyView;
  readonly parts: readonly KeyPart[];
}

interface ListedTable {
  readonly name: string;
  readonly type: "table" | "virtual" | "shadow" | "view";
  readonly wr: number;
}

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
  readonly notnull: number;
  readonly dflt_value: string | null;
  readonly hidden: number;
}

/** Throws `bad-argument` when there is no such table or view, and what SQLite says of one that cannot be read. */
export function readShape(database: Database.Database, name: string): TableShape {
  const found = database
    .prepare<[string], ListedTable>("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND lower(name) = lower(?)")
    .all(name);
  const listed = found.find((each) => each.name === name) ?? found[0];
  if (!listed) throw new EngineError("bad-argument", `There is no table or view "${name}"`, { details: { name } });
  const columns = readColumns(database, listed.name);
  return { name: listed.name, columns, ...readKey(database, listed, columns) };
}

export function readColumns(database: Database.Database, table: string): DataColumnView[] {
  return database
    .prepare<[string], ColumnRow>("SELECT name, type, pk, \"notnull\", dflt_value, hidden FROM pragma_table_xinfo(?, 'main')")
    .all(table)
    .map((row) => ({
      name: row.name,
      type: row.type,
      keyPosition: row.pk,
      notNull: row.notnull === 1,
      default: row.dflt_value,
      generated: row.hidden === 2 ? "virtual" : row.hidden === 3 ? "stored" : "no",
      isHidden: row.hidden === 1,
    }));
}

export function readKey(
  database: Database.Database,
  table: ListedTable,
  columns: readonly DataColumnView[],
): { readonly key: DataKeyView; readonly parts: readonly KeyPart[] } {
  if (table.type === "view" || columns.length > COLUMNS_BESIDE_KEY_MAX) return NO_KEY;
  if (table.wr === 1) return primaryKey(database, table.name, columns);
  const alias = table.type === "virtual" ? null : rowidAlias(database, table.name, columns);
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const name = alias ?? ["rowid", "_rowid_", "oid"].find((each) => !taken.has(each));
  if (name === undefined || (table.type === "virtual" && !hasRowid(database, table.name, name))) return NO_KEY;
  return {
    key: { kind: "rowid", columns: [name], isStable: alias !== null },
    parts: [{ sql: quoteName(name), name, descending: false }],
  };
}

const NO_KEY = { key: { kind: "none", columns: [], isStable: false }, parts: [] } as const;

/** A virtual table need not have one. */
function hasRowid(database: Database.Database, table: string, name: string): boolean {
  try {
    database.prepare(`SELECT ${name} FROM ${quoteName(table)} ORDER BY ${name}`);
    return true;
  } catch {
    return false;
  }
}

/** One column, declared exactly INTEGER, and no index made for it: `INTEGER PRIMARY KEY DESC` has one. */
function rowidAlias(database: Database.Database, table: string, columns: readonly DataColumnView[]): string | null {
  const key = columns.filter(({ keyPosition }) => keyPosition > 0);
  const [only] = key;
  if (!only || key.length > 1 || only.type.toUpperCase() !== "INTEGER") return null;
  const indexes = database.prepare("SELECT 1 FROM pragma_index_list(?, 'main') WHERE origin = 'pk'").all(table);
  return indexes.length === 0 ? only.name : null;
}

function primaryKey(database: Database.Database, table: string, columns: readonly DataColumnView[]) {
  const rows = database
    .prepare<[string], { name: string; desc: number }>(
      "SELECT x.name, x.\"desc\" FROM pragma_index_list(?, 'main') AS l, pragma_index_xinfo(l.name, 'main') AS x WHERE l.origin = 'pk' AND x.key = 1 ORDER BY x.seqno",
    )
    .all(table);
  const names = columns.filter(({ keyPosition }) => keyPosition > 0).toSorted((a, b) => a.keyPosition - b.keyPosition);
  const parts = names.map(({ name }) => ({
    sql: quoteName(name),
    name,
    descending: rows.find((row) => row.name === name)?.desc === 1,
  }));
  return { key: { kind: "primary key", columns: parts.map(({ name }) => name), isStable: true }, parts } as const;
}
