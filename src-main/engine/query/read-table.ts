/** Pages, counts and single values of a table. Runs in the process that runs SQL. */
import { LIMITS } from "#shared/limits.ts";
import type { DataFilter, DataRowView, DataValue, DataValueView } from "#shared/query-views.ts";
import { quoteName } from "#shared/sql-literal.ts";
import { viewValue } from "../diff/value-view.ts";
import { decodeText, InvalidText, type SqlValue } from "../format/record.ts";
import type { TextEncoding } from "../format/sqlite-header.ts";
import { EngineError } from "../io/errors.ts";
import { bindValue } from "./bind-value.ts";
import { findColumn, pageOrder, writeCursor, type PageOrder, type Piece } from "./page-order.ts";
import type { FoundRows, QueryJobs, RowsOrder, TableOrder } from "./query-protocol.ts";
import { readRows, viewRow, type Bound } from "./read-rows.ts";
import { withDatabase, type OpenedFile } from "./sqlite-file.ts";
import { readShape, type TableShape } from "./table-columns.ts";

/** Two results a column, and the key, of what one answer can have. Wider tables are read whole, and cut afterwards. */
const CUT_COLUMNS_MAX = 600;

export function readPage(order: RowsOrder): Promise<FoundRows> {
  return withDatabase(order, "read", (file) => {
    file.database.exec("BEGIN");
    const shape = readShape(file.database, order.table);
    const page = pageOrder(shape, endAsPlace(file, shape, order));
    const { query, read } = selectRows(shape, order, page);
    const found: { readonly row: DataRowView; readonly place: DataValue[] }[] = [];
    let [chars, hasMore] = [0, false];
    for (const { row } of readRows({ ...file, ...query })) {
      if (found.length >= page.limit || chars >= LIMITS.queryAnswerBytesMax) {
        hasMore = true;
        break;
      }
      const next = read(row, file.encoding);
      chars += next.chars;
      found.push(next);
    }
    if (page.isReversed) found.reverse();
    return { columns: shape.columns, key: shape.key, rows: found.map(({ row }) => row), ...edges(shape, order, page, found, hasMore) };
  });
}

/** Without a key the end is found by counting. */
function endAsPlace({ database }: OpenedFile, shape: TableShape, order: RowsOrder): RowsOrder {
  if (order.cursor !== "last" || shape.parts.length > 0) return order;
  return { ...order, cursor: { from: writeCursor([countOf(database, shape, order.filters)]), direction: "before" } };
}

/** Where the pages before and behind this one begin. */
function edges(
  shape: TableShape,
  { cursor }: RowsOrder,
  page: PageOrder,
  found: readonly { readonly place: DataValue[] }[],
  hasMore: boolean,
): Pick<FoundRows, "next" | "previous"> {
  const isLast = cursor === "last";
  const goesBack = isLast || cursor?.direction === "before";
  if (shape.parts.length === 0) {
    const end = page.offset + found.length;
    return { next: hasMore ? writeCursor([end]) : null, previous: page.offset > 0 ? writeCursor([page.offset]) : null };
  }
  const [first, last] = [found[0], found.at(-1)];
  const hasBefore = goesBack ? hasMore : cursor !== null;
  const hasBehind = isLast ? false : goesBack || hasMore;
  return {
    next: hasBehind && last ? writeCursor(last.place) : null,
    previous: hasBefore && first ? writeCursor(first.place) : null,
  };
}

/** The statement for a page, and how its rows are understood. */
function selectRows(shape: TableShape, order: RowsOrder, page: PageOrder) {
  const columns = shape.columns.map(({ name }) => quoteName(name));
  const places = page.parts.map(({ sql }) => sql);
  const isCut = columns.length <= CUT_COLUMNS_MAX;
  const max = LIMITS.queryValueBytesMax;
  const isLong = (sql: string): string => `typeof(${sql}) IN ('text', 'blob') AND octet_length(${sql}) > ${max}`;
  const shown = isCut ? columns.map((sql) => `iif(${isLong(sql)}, substr(CAST(${sql} AS BLOB), 1, ${max}), ${sql})`) : columns;
  const lengths = isCut ? columns.map((sql) => `iif(${isLong(sql)}, substr(typeof(${sql}), 1, 1) || octet_length(${sql}), NULL)`) : [];
  const where = conditions([filterPiece(shape, order.filters), page.where]);
  const extra = page.limit + 1;
  const sql = `SELECT ${[...shown, ...places, ...lengths].join(", ")} FROM ${quoteName(shape.name)}${where.sql}${page.orderBy} LIMIT ${extra}${page.offset > 0 ? ` OFFSET ${page.offset}` : ""}`;
  const read = (row: readonly SqlValue[], encoding: TextEncoding) => {
    const whole = viewRow(row.slice(columns.length, columns.length + places.length), Number.MAX_SAFE_INTEGER);
    const values = row.slice(0, columns.length);
    const { values: views, chars } = viewRow(values, max);
    const cut = row.slice(columns.length + places.length);
    for (const [index, length] of cut.entries())
      if (typeof length === "string") views[index] = cutValue(values[index] ?? null, length, encoding);
    const key = shape.parts.length === 0 ? null : whole.values.slice(page.keyStart < 0 ? 0 : page.keyStart);
    return { row: { key, values: views }, place: whole.values, chars: chars + whole.chars };
  };
  return { query: { sql, values: where.values }, read };
}

/** The beginning of a long text or blob. `length`: "t" or "b", and its bytes. */
function cutValue(start: SqlValue, length: string, encoding: TextEncoding): DataValue {
  const bytes = Number(length.slice(1));
  if (!(start instanceof Uint8Array)) return viewValue(start, LIMITS.queryValueBytesMax);
  if (length.startsWith("b")) return { blob: Buffer.from(start).toString("hex"), bytes };
  // A character may have been cut in two.
  for (let lost = 0; lost < 4; lost += 1) {
    const text = decodeText(start.subarray(0, start.length - lost), encoding);
    if (!(text instanceof InvalidText)) return { text, bytes };
  }
  return { invalidText: Buffer.from(start).toString("hex"), bytes };
}

function conditions(pieces: readonly Piece[]): Piece {
  const given = pieces.filter(({ sql }) => sql !== "");
  return {
    sql: given.length === 0 ? "" : ` WHERE ${given.map(({ sql }) => sql).join(" AND ")}`,
    values: given.flatMap(({ values }) => values),
  };
}

function filterPiece(shape: TableShape, filters: readonly DataFilter[]): Piece {
  const values: Bound[] = [];
  const terms = filters.map(({ column, operator, value }) => {
    const name = quoteName(findColumn(shape, column));
    const binding = bindValue(value);
    values.push(binding.value);
    if (operator === "contains") return `instr(lower(CAST(${name} AS TEXT)), lower(CAST(${binding.sql} AS TEXT))) > 0`;
    if (operator === "starts with") {
      values.push(binding.value);
      const text = `lower(CAST(${binding.sql} AS TEXT))`;
      return `substr(lower(CAST(${name} AS TEXT)), 1, length(${text})) = ${text}`;
    }
    return `${name} ${operator.toUpperCase()} ${binding.sql}`;
  });
  return { sql: terms.length === 0 ? "" : `(${terms.join(" AND ")})`, values };
}

export function countRows(order: TableOrder): Promise<{ count: number }> {
  return withDatabase(order, "read", ({ database }) => {
    return { count: countOf(database, readShape(database, order.table), order.filters) };
  });
}

function countOf(database: OpenedFile["database"], shape: TableShape, filters: readonly DataFilter[]): number {
  const where = conditions([filterPiece(shape, filters)]);
  const count = database
    .prepare<Bound[], number>(`SELECT count(*) FROM ${quoteName(shape.name)}${where.sql}`)
    .pluck()
    .get(...where.values);
  return Number(count);
}

/** Throws `bad-argument` when the table has no key, or no such row. */
export function readValue(order: QueryJobs["value"]["input"]): Promise<DataValueView> {
  return withDatabase(order, "read", (file) => {
    const shape = readShape(file.database, order.table);
    const column = quoteName(findColumn(shape, order.column));
    if (shape.parts.length === 0 || order.key.length !== shape.parts.length)
      throw new EngineError(
        "bad-argument",
        `A row of "${shape.name}" is named by ${shape.parts.length} values of its key, not by ${order.key.length}`,
      );
    const where = equalKey(shape, order.key);
    const row = selectValue(file, `FROM ${quoteName(shape.name)} WHERE ${where.sql}`, column, order, where.values);
    if (row === undefined) throw new EngineError("bad-argument", `"${shape.name}" has no such row any more`);
    return row;
  });
}

function equalKey({ parts }: TableShape, key: readonly DataValue[]): Piece {
  const bindings = key.map(bindValue);
  return {
    sql: parts.map(({ sql }, index) => `${sql} IS ${bindings[index]?.sql ?? "NULL"}`).join(" AND "),
    values: bindings.map(({ value }) => value),
  };
}

function selectValue(
  { database, encoding }: OpenedFile,
  from: string,
  column: string,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  values: readonly Bound[],
): DataValueView | undefined {
  const isBytes = `typeof(${column}) IN ('text', 'blob')`;
  const row = database
    .prepare<Bound[], readonly [DataValueView["type"], bigint | null, Bound, Uint8Array | null]>(
      `SELECT typeof(${column}), iif(${isBytes}, octet_length(${column}), 0), iif(${isBytes}, NULL, ${column}),
       iif(${isBytes}, substr(CAST(${column} AS BLOB), ${offset + 1}, ${limit}), NULL) ${from}`,
    )
    .raw()
    .safeIntegers()
    .get(...values);
  if (row === undefined) return undefined;
  const [type, bytes, value, slice] = row;
  return { type, bytes: Number(bytes), value: viewValue(value, 0), slice: Buffer.from(slice ?? []).toString("hex"), encoding };
}
