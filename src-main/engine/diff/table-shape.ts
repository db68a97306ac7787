/**
 * What a table's definition says: columns, keys, and where each value is in a stored record. SQLite itself parses the
 * definition, in an empty database in memory whose schema is written as a file would have it: functions and collations
 * that are not here, and rules that rows would break, do no harm then. Nothing is run.
 */
import Database from "better-sqlite3";
import { quoteName } from "#shared/sql-literal.ts";
import type { SqlValue } from "../format/record.ts";
import type { KeyPart } from "./key-order.ts";
import type { SchemaObject } from "./read-schema.ts";

export interface TableColumn {
  readonly name: string;
  /** As declared. */
  readonly type: string;
  /** REAL affinity: an integer in a record means a real. */
  readonly isReal: boolean;
  readonly generated: "no" | "virtual" | "stored";
  /** What a row from before the column was added holds. */
  readonly fallback: SqlValue;
}

export interface TableShape {
  readonly columns: readonly TableColumn[];
  /** Positions of the columns that a record holds, in the record's order. */
  readonly stored: readonly number[];
  /** The column that is another name of the rowid; -1 for none. */
  readonly rowidColumn: number;
  readonly hasRowid: boolean;
  /** Declared PRIMARY KEY; null for none. On tables WITHOUT ROWID, the order of the tree. */
  readonly primaryKey: readonly KeyPart[] | null;
  /** UNIQUE constraints and indexes over plain columns and all rows. */
  readonly uniques: readonly (readonly KeyPart[])[];
  /** Indexes by which a row is found: that of a primary key that is no rowid first, then UNIQUE ones. */
  readonly keyIndexes: readonly { readonly name: string; readonly parts: readonly KeyPart[] }[];
  /** UNIQUE of any kind that is not the primary key. */
  readonly uniqueCount: number;
}

const MEMORY_PAGE_BYTES = 512;

/** Shapes of tables by name; a sentence where SQLite here cannot read a definition. `schemaFormat`: of the file's header. */
export function readShapes(
  tables: readonly SchemaObject[],
  all: readonly SchemaObject[],
  schemaFormat: number,
): Map<string, TableShape | string> {
  const indexes = new Map<string, SchemaObject[]>();
  for (const object of all) {
    if (object.type !== "index") continue;
    const list = indexes.get(object.table.toLowerCase()) ?? [];
    indexes.set(object.table.toLowerCase(), [...list, object]);
  }
  const withIndexes = tables.map((table) => [table, ...(indexes.get(table.name.toLowerCase()) ?? [])]);
  const together = tryShapes(withIndexes, schemaFormat);
  if (typeof together !== "string") return together;
  // One definition that cannot be read makes SQLite refuse them all.
  const shapes = new Map<string, TableShape | string>();
  for (const objects of withIndexes) {
    const name = objects[0]?.name ?? "";
    const alone = tryShapes([objects], schemaFormat);
    shapes.set(name, typeof alone === "string" ? alone : (alone.get(name) ?? "it is not there"));
  }
  return shapes;
}

function tryShapes(groups: readonly (readonly SchemaObject[])[], schemaFormat: number): Map<string, TableShape> | string {
  const database = new Database(":memory:");
  try {
    writeSchema(database, groups.flat());
    return new Map(groups.map(([table]) => [table?.name ?? "", readShape(database, table?.name ?? "", schemaFormat)]));
  } catch (error) {
    if (error instanceof Database.SqliteError) return error.message;
    throw error;
  } finally {
    database.close();
  }
}

/** Root pages must exist and be different: their number is all that SQLite looks at. */
function writeSchema(database: Database.Database, objects: readonly SchemaObject[]): void {
  database.unsafeMode(true);
  database.pragma(`page_size = ${MEMORY_PAGE_BYTES}`);
  database.pragma("trusted_schema = OFF");
  database.exec("CREATE TABLE pages (bytes); BEGIN");
  database.prepare("INSERT INTO pages VALUES (zeroblob(?))").run((objects.length + 2) * MEMORY_PAGE_BYTES);
  database.pragma("writable_schema = ON");
  const insert = database.prepare("INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)");
  for (const [index, { type, name, table, sql }] of objects.entries()) insert.run(type, name, table, index + 3, sql);
  database.exec("COMMIT");
  database.pragma("writable_schema = RESET");
}

const ROWID = -1;

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly dflt_value: string | null;
  readonly pk: number;
  readonly hidden: number;
}

interface IndexRow {
  readonly name: string;
  readonly unique: number;
  readonly origin: "c" | "u" | "pk";
  readonly partial: number;
}

interface IndexColumnRow {
  readonly cid: number;
  readonly desc: number;
  readonly coll: string | null;
  readonly key: number;
}

function readShape(database: Database.Database, table: string, schemaFormat: number): TableShape {
  const rows = database.prepare("SELECT name, type, dflt_value, pk, hidden FROM pragma_table_xinfo(?)").all(table) as ColumnRow[];
  if (rows.length === 0) throw new Database.SqliteError(`${table} has no columns`, "SQLITE_ERROR");
  const indexes = database.prepare('SELECT name, "unique", origin, partial FROM pragma_index_list(?)').all(table) as IndexRow[];
  const columns = rows.map((row) => columnOf(database, row));
  const primary = indexes.find(({ origin }) => origin === "pk");
  const primaryColumns = primary ? indexColumns(database, primary.name) : null;
  // The key of a table WITHOUT ROWID is the table; any other index ends with the rowid.
  const hasRowid = !primaryColumns || primaryColumns.some(({ cid }) => cid === ROWID);
  const keyColumns = rows.flatMap(({ pk }, index) => (pk > 0 ? [index] : []));
  const isAlias = hasRowid && !primary && keyColumns.length === 1;
  const rowidColumn = isAlias ? (keyColumns[0] ?? -1) : -1;
  const unique = indexes.filter((index) => index.unique === 1 && index.origin !== "pk");
  const keyed = [...(hasRowid && primary ? [primary] : []), ...unique].flatMap(({ name, partial }) => {
    const parts = partial === 0 ? keyParts(indexColumns(database, name), schemaFormat) : null;
    return parts ? [{ name, parts }] : [];
  });
  return {
    columns,
    stored: hasRowid || !primaryColumns ? inRecord(columns) : primaryColumns.map(({ cid }) => cid),
    rowidColumn,
    hasRowid,
    primaryKey: isAlias
      ? [{ column: rowidColumn, collation: "BINARY", isDescending: false }]
      : primaryColumns && keyParts(primaryColumns, schemaFormat),
    uniques: keyed.filter(({ name }) => name !== primary?.name).map(({ parts }) => parts),
    keyIndexes: keyed,
    uniqueCount: unique.length,
  };
}

function inRecord(columns: readonly TableColumn[]): number[] {
  return columns.flatMap(({ generated }, index) => (generated === "virtual" ? [] : [index]));
}

function columnOf(database: Database.Database, { name, type, dflt_value, hidden }: ColumnRow): TableColumn {
  return {
    name,
    type,
    isReal: affinityOf(type) === "REAL",
    generated: hidden === 2 ? "virtual" : hidden === 3 ? "stored" : "no",
    fallback: hidden === 0 && dflt_value !== null ? evaluateDefault(database, type, dflt_value) : null,
  };
}

/** The value as the column would hold it. A default that is no constant cannot stand for a missing value: none is ever missing then. */
function evaluateDefault(database: Database.Database, type: string, expression: string): SqlValue {
  try {
    database.exec(
      `CREATE TEMP TABLE fallback (value ${quoteName(affinityOf(type))} DEFAULT ${expression}); INSERT INTO fallback DEFAULT VALUES`,
    );
    const value = database.prepare("SELECT value FROM fallback").safeIntegers().pluck().get();
    return value as SqlValue;
  } catch {
    return null;
  } finally {
    database.exec("DROP TABLE IF EXISTS temp.fallback");
  }
}

/** Source: "Determination Of Column Affinity". */
function affinityOf(type: string): "INTEGER" | "TEXT" | "BLOB" | "REAL" | "NUMERIC" {
  const upper = type.toUpperCase();
  if (upper.includes("INT")) return "INTEGER";
  if (/CHAR|CLOB|TEXT/.test(upper)) return "TEXT";
  if (upper === "" || upper.includes("BLOB")) return "BLOB";
  return /REAL|FLOA|DOUB/.test(upper) ? "REAL" : "NUMERIC";
}

function indexColumns(database: Database.Database, index: string): IndexColumnRow[] {
  return database.prepare('SELECT cid, "desc", coll, key FROM pragma_index_xinfo(?) ORDER BY seqno').all(index) as IndexColumnRow[];
}

/** Null where an expression is part of the key. Files of the oldest schema formats know no descending order. */
function keyParts(columns: readonly IndexColumnRow[], schemaFormat: number): KeyPart[] | null {
  const key = columns.filter((column) => column.key === 1);
  if (key.some(({ cid }) => cid < 0)) return null;
  return key.map(({ cid, desc, coll }) => ({
    column: cid,
    collation: (coll ?? "BINARY").toUpperCase(),
    isDescending: desc === 1 && schemaFormat >= 4,
  }));
}
