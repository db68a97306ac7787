/**
 * An exact dump of a database: schema and rows, byte for byte, so that two files hold the same data exactly when their
 * dumps are equal. SQLite's own `.dump` rounds reals, loses text that is no valid Unicode, and stops at the first table
 * it cannot read.
 *
 * A value is written as `null`, `i:` exact integer, `r:` the 8 bytes of the double, `t:` or `b:` the stored bytes in hex
 * (beyond 256 bytes their length and SHA-256). Text is cast to a blob by SQLite, so it is never decoded here.
 */
import { createHash } from "node:crypto";
import Database from "better-sqlite3";

/** Columns a statement: two expressions a column have to stay under SQLite's limit of 2,000 result columns. */
const COLUMNS_A_STATEMENT = 900;
const LONG_VALUE_BYTES = 256;

/**
 * Opens the file with SQLite, read-write as any client would: a left-over WAL or hot journal is recovered. A schema that
 * SQLite cannot read is dumped as its message.
 */
export function dumpDatabase(path: string): string[] {
  const database = new Database(path, { fileMustExist: true });
  try {
    return dumpConnection(database);
  } catch (error) {
    return [`schema unreadable: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    database.close();
  }
}

/** The same through a connection that the caller has: for databases that another process is writing to. */
export function dumpConnection(database: Database.Database): string[] {
  database.pragma("trusted_schema = OFF");
  const lines = [...headerLines(database), ...schemaLines(database)];
  const tables = database
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' ORDER BY name")
    .all() as Table[];
  const columns = database.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1").pluck();
  for (const table of tables) lines.push(...tableLines(database, table, columns));
  return lines;
}

interface Table {
  readonly name: string;
  /** 1 for WITHOUT ROWID. */
  readonly wr: number;
}

function headerLines(database: Database.Database): string[] {
  const pragmas = ["page_size", "encoding", "auto_vacuum", "application_id", "user_version"];
  return pragmas.map((pragma) => `pragma ${pragma} = ${String(database.pragma(pragma, { simple: true }))}`);
}

function schemaLines(database: Database.Database): string[] {
  const rows = database
    .prepare("SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema ORDER BY rowid")
    .raw()
    .all() as (string | Buffer | null)[][];
  return rows.map((row) => `schema ${row.map((cell) => (Buffer.isBuffer(cell) ? cell.toString("hex") : String(cell))).join(" ")}`);
}

function tableLines(database: Database.Database, table: Table, columnNames: Database.Statement): string[] {
  try {
    const columns = columnNames.all(table.name) as string[];
    const starts = Array.from(
      { length: Math.max(1, Math.ceil(columns.length / COLUMNS_A_STATEMENT)) },
      (_, index) => index * COLUMNS_A_STATEMENT,
    );
    return starts.flatMap((start) => rowLines(database, table, columns.slice(start, start + COLUMNS_A_STATEMENT)));
  } catch (error) {
    // A collation, function or module that only the program that made the file has: both sides meet the same refusal.
    return [`table ${quoteName(table.name)} unreadable: ${error instanceof Error ? error.message : String(error)}`];
  }
}

function rowLines(database: Database.Database, table: Table, columns: readonly string[]): string[] {
  const rowid = table.wr === 1 ? null : rowidName(columns);
  const shown = columns.flatMap((column) => [`typeof(${quoteName(column)})`, textAsBlob(quoteName(column))]);
  const statement = database
    .prepare(`SELECT ${[rowid ?? "NULL", ...shown].join(", ")} FROM ${quoteName(table.name)}`)
    .raw()
    .safeIntegers();
  const lines: string[] = [];
  for (const row of statement.iterate() as Iterable<unknown[]>) {
    const cells = columns.map((_, index) => cellText(String(row[1 + 2 * index]), row[2 + 2 * index]));
    lines.push(`row ${quoteName(table.name)} ${rowid ? String(row[0]) : "-"} | ${cells.join(" | ")}`);
  }
  return lines;
}

function textAsBlob(column: string): string {
  return `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END`;
}

/** A name for the rowid that no column hides. */
function rowidName(columns: readonly string[]): string | null {
  const taken = new Set(columns.map((column) => column.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].find((candidate) => !taken.has(candidate)) ?? null;
}

function cellText(type: string, value: unknown): string {
  if (value === null) return "null";
  if (type === "integer") return `i:${String(value)}`;
  if (type === "real") return `r:${doubleBytes(Number(value))}`;
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
  const text =
    bytes.length <= LONG_VALUE_BYTES ? bytes.toString("hex") : `${bytes.length} bytes ${createHash("sha256").update(bytes).digest("hex")}`;
  return `${type === "text" ? "t" : "b"}:${text}`;
}

function doubleBytes(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString("hex");
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The first line in which two dumps differ, as both have it; null when they are equal. Long dumps take minutes to compare otherwise. */
export function firstDifference(found: readonly string[], wanted: readonly string[]): string | null {
  for (let line = 0; line < Math.max(found.length, wanted.length); line += 1) {
    if (found[line] !== wanted[line]) return `line ${line}: found ${found[line] ?? "nothing"}, wanted ${wanted[line] ?? "nothing"}`;
  }
  return null;
}
