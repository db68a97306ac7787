/**
 * Keyset paging: a page begins behind the last row of the one before, found by the values that rows are ordered by. The
 * order is a chosen column, then the key; NULL comes first, as SQLite sorts it. Without a key, rows are counted off.
 */
import { LIMITS } from "#shared/limits.ts";
import type { DataValue } from "#shared/query-views.ts";
import { quoteName } from "#shared/sql-literal.ts";
import { EngineError } from "../io/errors.ts";
import { bindValue } from "./bind-value.ts";
import type { Bound } from "./read-rows.ts";
import type { RowsOrder } from "./query-protocol.ts";
import type { TableShape } from "./table-columns.ts";

export interface Piece {
  readonly sql: string;
  readonly values: readonly Bound[];
}

interface OrderPart {
  readonly sql: string;
  readonly descending: boolean;
  readonly nullable: boolean;
}

export interface PageOrder {
  readonly parts: readonly OrderPart[];
  /** Of `parts`, those that are the key. */
  readonly keyStart: number;
  /** "": all rows. */
  readonly where: Piece;
  readonly orderBy: string;
  /** Rows to leave out, where there is no key. */
  readonly offset: number;
  /** Rows of the page at most: fewer than were asked for where the page begins the table. */
  readonly limit: number;
  /** Rows come in reverse, and are turned round. */
  readonly isReversed: boolean;
}

/** Values longer than this are not carried in a cursor. */
const CURSOR_CHARS_MAX = 16 * 1024;

export function pageOrder(shape: TableShape, order: RowsOrder): PageOrder {
  const parts = orderParts(shape, order.order);
  const keyStart = parts.length - shape.parts.length;
  const { cursor } = order;
  const isReversed = (cursor === "last" || cursor?.direction === "before") && shape.parts.length > 0;
  const sort = parts.map(({ sql, descending }) => `${sql}${descending === isReversed ? "" : " DESC"}`).join(", ");
  const orderBy = sort === "" ? "" : ` ORDER BY ${sort}`;
  const base = { parts, keyStart, orderBy, isReversed, limit: order.limit };
  // Without a key, where the end is has been counted before.
  if (cursor === null || cursor === "last") return { ...base, where: NOTHING, offset: 0 };
  const values = readCursor(cursor.from, shape.parts.length === 0 ? 1 : parts.length);
  if (shape.parts.length > 0) return { ...base, where: behind(parts, values, isReversed), offset: 0 };
  const at = Number(values[0]);
  const offset = cursor.direction === "before" ? Math.max(0, at - order.limit) : at;
  const limit = cursor.direction === "before" ? Math.min(order.limit, at) : order.limit;
  if (Number.isSafeInteger(at) && at >= 0 && offset <= LIMITS.dataOffsetMax) return { ...base, where: NOTHING, offset, limit };
  throw new EngineError("unsupported", `"${shape.name}" has no key: only its first ${LIMITS.dataOffsetMax} rows can be paged through`, {
    hint: "Filter it, or ask with SQL",
  });
}

const NOTHING: Piece = { sql: "", values: [] };

function orderParts(shape: TableShape, order: RowsOrder["order"]): OrderPart[] {
  const key = shape.parts.map(({ sql, descending }) => ({ sql, descending, nullable: false }));
  if (order === null) return key;
  const column = findColumn(shape, order.column);
  const first = { sql: quoteName(column), descending: order.descending, nullable: true };
  const [only] = shape.parts;
  // By the key itself: nothing else is needed.
  if (only && shape.parts.length === 1 && only.name.toLowerCase() === column.toLowerCase()) return [{ ...first, nullable: false }];
  return [first, ...key];
}

/** Throws `bad-argument`. The rowid counts as one where the table has it. */
export function findColumn(shape: TableShape, name: string): string {
  const found =
    shape.columns.find((column) => column.name === name) ??
    shape.columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
  if (found) return found.name;
  const key = shape.key.kind === "rowid" ? shape.key.columns.find((each) => each.toLowerCase() === name.toLowerCase()) : undefined;
  if (key !== undefined) return key;
  throw new EngineError("bad-argument", `"${shape.name}" has no column "${name}"`, { details: { name } });
}

/** Rows that come after these values, or before them. The bound on the first part alone is what an index can use. */
function behind(parts: readonly OrderPart[], values: readonly DataValue[], isReversed: boolean): Piece {
  const alternatives: string[] = [];
  const bound: Bound[] = [];
  for (let last = 0; last < parts.length; last += 1) {
    const terms: string[] = [];
    for (const [index, part] of parts.slice(0, last + 1).entries()) {
      const { sql, value } = bindValue(values[index] ?? null);
      if (index < last) {
        terms.push(`${part.sql} IS ${sql}`);
        bound.push(value);
        continue;
      }
      const goesUp = part.descending === isReversed;
      if (value === null) terms.push(goesUp ? `${part.sql} IS NOT NULL` : "0");
      else {
        terms.push(goesUp || !part.nullable ? `${part.sql} ${goesUp ? ">" : "<"} ${sql}` : `(${part.sql} < ${sql} OR ${part.sql} IS NULL)`);
        bound.push(value);
      }
    }
    alternatives.push(`(${terms.join(" AND ")})`);
  }
  const [first] = parts;
  const start = first ? bindValue(values[0] ?? null) : null;
  if (first && start && start.value !== null && parts.length > 1) {
    const goesUp = first.descending === isReversed;
    if (goesUp || !first.nullable)
      return {
        sql: `${first.sql} ${goesUp ? ">=" : "<="} ${start.sql} AND (${alternatives.join(" OR ")})`,
        values: [start.value, ...bound],
      };
  }
  return { sql: `(${alternatives.join(" OR ")})`, values: bound };
}

/** Null when a value is too long to be carried: the page then ends the table's paging in this order. */
export function writeCursor(values: readonly DataValue[]): string {
  const text = JSON.stringify(values);
  if (text.length <= CURSOR_CHARS_MAX) return text;
  throw new EngineError("unsupported", `Rows cannot be paged through in the order of values as long as these (${text.length} characters)`, {
    hint: "Order by another column",
  });
}

function readCursor(text: string, count: number): DataValue[] {
  try {
    const values: unknown = JSON.parse(text);
    if (Array.isArray(values) && values.length === count && values.every(isDataValue)) return values;
  } catch {
    // Said below.
  }
  throw new EngineError("bad-argument", `"${text.slice(0, 80)}" is no place in this table, in this order`);
}

function isDataValue(value: unknown): value is DataValue {
  if (value === null || typeof value === "string" || (typeof value === "number" && Number.isFinite(value))) return true;
  if (typeof value !== "object") return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const [integer, real, blob] = [fields.get("integer"), fields.get("real"), fields.get("blob") ?? fields.get("invalidText")];
  if (typeof integer === "string") return /^-?\d{1,19}$/.test(integer);
  if (typeof real === "string") return !Number.isNaN(Number(real)) || real.endsWith("Infinity");
  return typeof blob === "string" && /^([0-9a-f]{2})*$/.test(blob) && typeof fields.get("bytes") === "number";
}
