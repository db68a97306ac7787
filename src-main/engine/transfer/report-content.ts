/**
 * What the import report says about the content. Work is bounded: small files are read whole, of large ones a sample, and
 * the report says which. Statements are short, so that the import can be cancelled between them.
 */
import type Database from "better-sqlite3";
import { SqliteError } from "better-sqlite3";
import { formatBytes } from "#shared/units.ts";
import type { ImportNote } from "#shared/views.ts";
import { quoteName } from "#shared/sql-literal.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "./long-work.ts";
import { counted, grouped, note, ok, warning } from "./report-file.ts";
import type { SchemaTable } from "./report-schema.ts";

/** Up to this size integrity_check, which also compares indexes with their tables, and a look at every row. */
const SMALL_BYTES_MAX = 64 * 1024 * 1024;
/** Up to this size quick_check, foreign keys and row counts; beyond it a sample only. */
const LARGE_BYTES_MAX = 1024 * 1024 * 1024;
const TABLES_MAX = 2_000;
const SAMPLE_ROWS = 10_000;
const PROBLEMS_MAX = 100;
/** Five results a column, of 2,000 that SQLite allows. */
const COLUMNS_A_STATEMENT = 300;
const EXACT_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export interface ContentReport {
  readonly rows: number | null;
  readonly notes: readonly ImportNote[];
}

export async function contentReport(
  database: Database.Database,
  tables: readonly SchemaTable[],
  bytes: number,
  work: Work,
): Promise<ContentReport> {
  const integrity = await integrityNote(database, tables, bytes, work);
  const foreignKeys = foreignKeyNotes(database, bytes);
  const values = await scanValues(database, tables, bytes, work);
  return { rows: values.rows, notes: [integrity, ...foreignKeys, ...integerNotes(values), ...blobNotes(values)] };
}

async function integrityNote(database: Database.Database, tables: readonly SchemaTable[], bytes: number, work: Work): Promise<ImportNote> {
  if (bytes > LARGE_BYTES_MAX)
    return note("Integrity", `Not checked: the file is larger than ${formatBytes(LARGE_BYTES_MAX)}`, "Every page is stored as it is");
  const check = bytes <= SMALL_BYTES_MAX ? "integrity_check" : "quick_check";
  // Table by table a large file can be cancelled; with very many tables one pass over all is much cheaper.
  const parts =
    bytes > SMALL_BYTES_MAX && tables.length <= TABLES_MAX
      ? ["sqlite_schema", ...tables.filter((table) => table.type !== "virtual").map((table) => table.name)]
      : [null];
  const problems: string[] = [];
  for (const part of parts) {
    problems.push(...runCheck(database, check, part));
    await breathe(work);
  }
  if (problems.length === 0) return ok("Integrity", `${check} ok`);
  const many = problems.length >= PROBLEMS_MAX ? `at least ${problems.length} problems` : counted(problems.length, "problem");
  return warning("Integrity", `${check}: ${many}, first: ${problems[0]}`, "Bytes kept as they are");
}

function runCheck(database: Database.Database, check: string, table: string | null): string[] {
  const argument = table === null ? String(PROBLEMS_MAX) : quoteName(table);
  try {
    const rows = database.prepare(`PRAGMA ${check}(${argument})`).pluck().all() as string[];
    return rows.filter((row) => row !== "ok");
  } catch (error) {
    return [sqliteMessage(error)];
  }
}

function foreignKeyNotes(database: Database.Database, bytes: number): ImportNote[] {
  const constraints = Number(
    database
      .prepare(
        "SELECT count(*) FROM pragma_table_list l, pragma_foreign_key_list(l.name) f WHERE l.schema = 'main' AND l.type = 'table' AND f.seq = 0",
      )
      .pluck()
      .get(),
  );
  if (constraints === 0) return [];
  if (bytes > LARGE_BYTES_MAX)
    return [ok("Foreign keys", `${counted(constraints, "constraint")}, not checked in a file of this size`, "Kept")];
  try {
    let violations = 0;
    for (const _ of database.prepare("PRAGMA foreign_key_check").iterate()) {
      violations += 1;
      if (violations === PROBLEMS_MAX) break;
    }
    const found = `${violations === PROBLEMS_MAX ? `At least ${violations} violations` : counted(violations, "violation")} in ${counted(constraints, "constraint")}`;
    return [violations === 0 ? ok("Foreign keys", found) : warning("Foreign keys", found, "Rows kept as they are")];
  } catch (error) {
    return [warning("Foreign keys", `${counted(constraints, "constraint")}, cannot be checked: ${sqliteMessage(error)}`, "Kept")];
  }
}

interface Values {
  rows: number | null;
  readonly sampled: boolean;
  blobs: number;
  largestBlob: number;
  largest: { readonly column: string; readonly value: bigint } | null;
  largeColumns: number;
}

async function scanValues(database: Database.Database, tables: readonly SchemaTable[], bytes: number, work: Work): Promise<Values> {
  const own = tables.filter((table) => table.type === "table");
  const sampled = bytes > SMALL_BYTES_MAX || own.length > TABLES_MAX;
  const counts = bytes <= LARGE_BYTES_MAX && own.length <= TABLES_MAX;
  const values: Values = { rows: counts ? 0 : null, sampled, blobs: 0, largestBlob: 0, largest: null, largeColumns: 0 };
  for (const table of own.slice(0, TABLES_MAX)) {
    try {
      scanTable(database, table, values);
    } catch (error) {
      // A function or collation that only the program that made the file has: reported by its own check.
      sqliteMessage(error);
      values.rows = null;
    }
    await breathe(work);
  }
  return values;
}

function scanTable(database: Database.Database, table: SchemaTable, values: Values): void {
  const columns = database.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 1").pluck().all(table.name) as string[];
  for (let start = 0; start < columns.length; start += COLUMNS_A_STATEMENT) {
    const chunk = columns.slice(start, start + COLUMNS_A_STATEMENT);
    const row = database
      .prepare(scanSql(table.name, chunk, values.sampled ? SAMPLE_ROWS : -1))
      .safeIntegers()
      .raw()
      .get() as (bigint | null)[];
    if (start === 0 && values.rows !== null) values.rows += values.sampled ? countRows(database, table.name) : Number(row[0]);
    chunk.forEach((column, index) => takeColumn(values, `${table.name}.${column}`, row.slice(1 + 4 * index, 5 + 4 * index)));
  }
}

/** Reads the smallest index at most. */
function countRows(database: Database.Database, table: string): number {
  return Number(
    database
      .prepare(`SELECT count(*) FROM ${quoteName(table)}`)
      .pluck()
      .get(),
  );
}

/** Counts rows and, for each column: blobs, longest blob, largest and smallest integer. Blobs are not loaded. */
function scanSql(table: string, columns: readonly string[], limit: number): string {
  const results = columns.map(
    (_, i) =>
      `sum(t${i} = 'blob'), max(CASE t${i} WHEN 'blob' THEN v${i} END), max(CASE t${i} WHEN 'integer' THEN v${i} END), min(CASE t${i} WHEN 'integer' THEN v${i} END)`,
  );
  const inner = columns.map((column, i) => {
    const name = quoteName(column);
    return `typeof(${name}) AS t${i}, CASE typeof(${name}) WHEN 'integer' THEN ${name} WHEN 'blob' THEN length(${name}) END AS v${i}`;
  });
  return `SELECT count(*), ${results.join(", ")} FROM (SELECT ${inner.join(", ")} FROM ${quoteName(table)} LIMIT ${limit})`;
}

function takeColumn(values: Values, column: string, [blobs, longest, largest, smallest]: (bigint | null)[]): void {
  values.blobs += Number(blobs ?? 0);
  values.largestBlob = Math.max(values.largestBlob, Number(longest ?? 0));
  const worst = [largest, smallest].filter((value) => typeof value === "bigint").toSorted((a, b) => (size(a) > size(b) ? -1 : 1))[0];
  if (worst === undefined || size(worst) <= EXACT_MAX) return;
  values.largeColumns += 1;
  if (!values.largest || size(worst) > size(values.largest.value)) values.largest = { column, value: worst };
}

function size(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function integerNotes(values: Values): ImportNote[] {
  if (!values.largest) return [];
  const others = values.largeColumns > 1 ? `, and ${counted(values.largeColumns - 1, "more column")}` : "";
  const { column, value } = values.largest;
  return [
    ok(
      "Large integers",
      `${column} ${value < 0n ? "down" : "up"} to ${grouped(value)}${others}${sampleText(values)}`,
      "Shown and compared exactly",
    ),
  ];
}

function blobNotes(values: Values): ImportNote[] {
  if (values.blobs > 0)
    return [
      ok("Blobs", `${counted(values.blobs, "value")}, largest ${formatBytes(values.largestBlob)}${sampleText(values)}`, "Loaded on demand"),
    ];
  return values.sampled ? [note("Values", `No blob or large integer${sampleText(values)}`, "Kept")] : [];
}

function sampleText(values: Values): string {
  return values.sampled ? ` (first ${grouped(SAMPLE_ROWS)} rows of up to ${grouped(TABLES_MAX)} tables)` : "";
}

/** SQLite's own words; anything else than a SQLite error is a bug and goes on. */
export function sqliteMessage(error: unknown): string {
  if (error instanceof SqliteError) return error.message;
  throw error;
}
