/** Two states of one table: which column is which, and what says that two rows are the same row. */
import type { SqlValue } from "../format/record.ts";
import type { DatabasePages } from "./database-pages.ts";
import { isKnownCollation, isSameValue, type KeyPart } from "./key-order.ts";
import type { SchemaObject } from "./read-schema.ts";
import type { TableColumn, TableShape } from "./table-shape.ts";

export interface TableSide {
  readonly pages: DatabasePages;
  readonly object: SchemaObject;
  readonly shape: TableShape;
}

/** One of the two sides is there. */
export interface TablePair {
  readonly left: TableSide | null;
  readonly right: TableSide | null;
  readonly columns: readonly PairedColumn[];
  readonly identity: Identity;
  /** The records of both sides mean the same when their bytes are equal. */
  readonly isByteComparable: boolean;
  readonly order: RowOrder;
}

export interface PairedColumn {
  readonly name: string;
  /** Its name on the left where that is another one. */
  readonly formerName: string | null;
  readonly type: string;
  /** Position among the columns of each side; -1 where it has none. */
  readonly left: number;
  readonly right: number;
  readonly generated: TableColumn["generated"];
  /** What a row of the left side holds in a column that only the right side has. */
  readonly fallback: SqlValue;
}

export interface Identity {
  readonly by: "primary key" | "unique" | "whole row";
  /** Positions among the paired columns, with their collations. */
  readonly parts: readonly { readonly column: number; readonly collation: string }[];
}

/** How both trees can be gone through together; "none" where their orders differ or are not known here. */
export type RowOrder =
  | { readonly kind: "rowid" }
  | { readonly kind: "key"; readonly parts: readonly KeyPart[] }
  | { readonly kind: "none" };

export function pairTables(left: TableSide | null, right: TableSide | null): TablePair {
  const columns = pairColumns(left?.shape ?? null, right?.shape ?? null);
  const only = right ?? left;
  if (!left || !right) {
    const order: RowOrder = only?.shape.hasRowid === false ? { kind: "key", parts: only.shape.primaryKey ?? [] } : { kind: "rowid" };
    return { left, right, columns, identity: identityOfOne(columns, only?.shape ?? null, right !== null), isByteComparable: false, order };
  }
  return {
    left,
    right,
    columns,
    identity: identityOf(columns, left.shape, right.shape),
    isByteComparable: left.pages.header.encoding === right.pages.header.encoding && recordsMeanTheSame(columns, left.shape, right.shape),
    order: orderOf(columns, left, right),
  };
}

/** By name; columns that have none in common by position, when all that is left over can be a renaming. */
function pairColumns(left: TableShape | null, right: TableShape | null): PairedColumn[] {
  const lefts = left?.columns ?? [];
  const rights = right?.columns ?? [];
  const byName = new Map(lefts.map(({ name }, index) => [name.toLowerCase(), index]));
  const partners = rights.map(({ name }) => byName.get(name.toLowerCase()) ?? -1);
  const taken = new Set(partners);
  if (lefts.length === rights.length) {
    for (const [index, { type }] of rights.entries()) {
      if (partners[index] !== -1 || taken.has(index) || lefts[index]?.type.toLowerCase() !== type.toLowerCase()) continue;
      partners[index] = index;
      taken.add(index);
    }
  }
  const paired = rights.map((column, index): PairedColumn => {
    const partner = partners[index] ?? -1;
    const former = lefts[partner]?.name ?? null;
    const { name, type, generated, fallback } = column;
    return { name, formerName: former === name ? null : former, type, left: partner, right: index, generated, fallback };
  });
  const dropped = lefts.flatMap(({ name, type, generated }, index) =>
    taken.has(index) ? [] : [{ name, formerName: null, type, left: index, right: -1, generated, fallback: null }],
  );
  return [...paired, ...dropped];
}

function identityOfOne(columns: readonly PairedColumn[], shape: TableShape | null, isRight: boolean): Identity {
  const key = shape?.primaryKey ?? shape?.uniques[0] ?? null;
  const positions = key && locate(columns, key, isRight ? "right" : "left");
  if (!positions) return { by: "whole row", parts: [] };
  return { by: shape?.primaryKey ? "primary key" : "unique", parts: positions };
}

function identityOf(columns: readonly PairedColumn[], left: TableShape, right: TableShape): Identity {
  const primary = sameKey(columns, left.primaryKey, right.primaryKey);
  if (primary) return { by: "primary key", parts: primary };
  const leftKeys = [...left.uniques, ...(left.primaryKey ? [left.primaryKey] : [])];
  const rightKeys = [...right.uniques, ...(right.primaryKey ? [right.primaryKey] : [])];
  for (const key of rightKeys) {
    for (const other of leftKeys) {
      const parts = sameKey(columns, other, key);
      if (parts) return { by: "unique", parts };
    }
  }
  return { by: "whole row", parts: [] };
}

/** Null unless both keys are over the same columns with the same collations. */
function sameKey(
  columns: readonly PairedColumn[],
  left: readonly KeyPart[] | null,
  right: readonly KeyPart[] | null,
): Identity["parts"] | null {
  if (!left || !right || left.length !== right.length) return null;
  const [a, b] = [locate(columns, left, "left"), locate(columns, right, "right")];
  if (!a || !b) return null;
  const isSame = b.every(({ column, collation }) => a.some((part) => part.column === column && part.collation === collation));
  return isSame ? b : null;
}

function locate(columns: readonly PairedColumn[], key: readonly KeyPart[], side: "left" | "right"): Identity["parts"] | null {
  const parts = key.map(({ column, collation }) => ({ column: columns.findIndex((each) => each[side] === column), collation }));
  return parts.every(({ column }) => column >= 0 && columns[column]?.generated !== "virtual") ? parts : null;
}

/** The columns that both records hold are the same ones in the same places; one side may have more behind them. */
function recordsMeanTheSame(columns: readonly PairedColumn[], left: TableShape, right: TableShape): boolean {
  if (left.hasRowid !== right.hasRowid) return false;
  const common = Math.min(left.stored.length, right.stored.length);
  for (let position = 0; position < common; position += 1) {
    const [l, r] = [left.stored[position] ?? -1, right.stored[position] ?? -1];
    const [a, b] = [left.columns[l], right.columns[r]];
    const isPair = columns.some((each) => each.left === l && each.right === r);
    if (!a || !b || !isPair || a.isReal !== b.isReal || !isSameValue(a.fallback, b.fallback)) return false;
    if ((l === left.rowidColumn) !== (r === right.rowidColumn)) return false;
  }
  return true;
}

function orderOf(columns: readonly PairedColumn[], left: TableSide, right: TableSide): RowOrder {
  const [a, b] = [left.shape, right.shape];
  if (a.hasRowid && b.hasRowid) return { kind: "rowid" };
  if (a.hasRowid || b.hasRowid || left.pages.header.encoding !== right.pages.header.encoding) return { kind: "none" };
  const [keyA, keyB] = [a.primaryKey ?? [], b.primaryKey ?? []];
  const isSame =
    keyA.length === keyB.length &&
    keyA.every((part, index) => {
      const other = keyB[index];
      const isPair = columns.some((each) => each.left === part.column && each.right === other?.column);
      return isPair && part.collation === other?.collation && part.isDescending === other.isDescending && isKnownCollation(part.collation);
    });
  return isSame ? { kind: "key", parts: keyB } : { kind: "none" };
}

/** True when rows in the order of the trees are matched by what orders them. */
export function isMatchedByOrder({ left, right, columns, identity, order }: TablePair): boolean {
  if (!left || !right) return true;
  if (identity.by !== "primary key" || order.kind === "none") return false;
  if (order.kind === "key") return true;
  const [part] = identity.parts;
  const column = part && columns[part.column];
  return column?.left === left.shape.rowidColumn && column.right === right.shape.rowidColumn && left.shape.rowidColumn >= 0;
}
