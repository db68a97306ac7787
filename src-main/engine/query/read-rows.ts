/**
 * Rows of a statement, exactly. better-sqlite3 hands texts over as JavaScript strings, in which bytes that are no valid
 * text have become U+FFFD. So where one turns up, the statement is run again inside another one that reads texts as
 * blobs. `LIMIT -1` keeps SQLite from flattening the two into one, so that each row is still computed once, and streamed.
 */
import type Database from "better-sqlite3";
import type { DataValue } from "#shared/query-views.ts";
import { viewValue } from "../diff/value-view.ts";
import { decodeText, type SqlValue } from "../format/record.ts";
import type { TextEncoding } from "../format/sqlite-header.ts";

/** What better-sqlite3 binds and returns with safe integers. */
export type Bound = null | bigint | number | string | Uint8Array;

export interface RowQuery {
  readonly database: Database.Database;
  readonly encoding: TextEncoding;
  /** One statement that returns rows, without its semicolon. */
  readonly sql: string;
  readonly values: readonly Bound[];
}

/** Columns of one answer that SQLite allows; some of them say which are texts. */
const COLUMNS_MAX = 1_900;
/** Arguments of one call. */
const ARGUMENTS = 500;
const REPLACED = "\uFFFD";

/** One row after another; `isExact` is false when a text of it is shown with replacement characters. */
export function* readRows(query: RowQuery): Generator<{ readonly row: SqlValue[]; readonly isExact: boolean }, void> {
  const statement = query.database.prepare<Bound[], Bound[]>(query.sql).raw().safeIntegers();
  let count = 0;
  let exact: Database.Statement<Bound[], Bound[]> | null | undefined;
  for (const row of statement.iterate(...query.values)) {
    const isSuspect = row.some((value) => typeof value === "string" && value.includes(REPLACED));
    if (isSuspect && exact === undefined) exact = statement.readonly ? prepareExact(query, statement.columns().length) : null;
    if (isSuspect && exact) break;
    yield { row, isExact: !isSuspect };
    count += 1;
  }
  if (!exact) return;
  const columns = statement.columns().length;
  for (const row of exact.iterate(...query.values, 1)) {
    if (count > 0) count -= 1;
    else yield { row: decodeRow(row, columns, query.encoding), isExact: true };
  }
}

/** Null for a statement that cannot stand inside another one. */
function prepareExact({ database, sql }: RowQuery, columns: number): Database.Statement<Bound[], Bound[]> | null {
  if (columns > COLUMNS_MAX) return null;
  const names = Array.from({ length: columns }, (_, index) => `c${index}`);
  const texts = names.map((name) => `typeof(${name}) = 'text'`);
  const flags = Array.from({ length: Math.ceil(columns / ARGUMENTS) }, (_, group) =>
    texts.slice(group * ARGUMENTS, (group + 1) * ARGUMENTS).join(", "),
  );
  const values = names.map((name) => `CASE WHEN typeof(${name}) = 'text' THEN CAST(${name} AS BLOB) ELSE ${name} END`);
  const outer = [...values, ...flags.map((group) => `concat(${group})`)].join(", ");
  try {
    return database
      .prepare<Bound[], Bound[]>(`WITH q(${names.join(", ")}) AS (SELECT * FROM (${sql}\n) LIMIT -1) SELECT ${outer} FROM q WHERE ?`)
      .raw()
      .safeIntegers();
  } catch {
    // PRAGMA and EXPLAIN, for example: they are read as they are.
    return null;
  }
}

function decodeRow(row: readonly Bound[], columns: number, encoding: TextEncoding): SqlValue[] {
  const flags = row.slice(columns).join("");
  return row
    .slice(0, columns)
    .map((value, index) => (flags[index] === "1" && value instanceof Uint8Array ? decodeText(value, encoding) : value));
}

/** Values as they travel, and about how many characters they take. */
export function viewRow(row: readonly SqlValue[], valueBytesMax: number): { readonly values: DataValue[]; readonly chars: number } {
  let chars = 2;
  const values = row.map((value) => {
    const view = viewValue(value, valueBytesMax);
    chars += sizeOf(view);
    return view;
  });
  return { values, chars };
}

function sizeOf(value: DataValue): number {
  if (value === null || typeof value === "number") return 8;
  if (typeof value === "string") return value.length + 3;
  if ("text" in value) return value.text.length + 40;
  return "blob" in value ? value.blob.length + 40 : "invalidText" in value ? value.invalidText.length + 40 : 40;
}
