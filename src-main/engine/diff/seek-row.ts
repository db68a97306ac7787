/** Finds one row by its key, and the pages that led to it: while those are the same, so is the row. */
import type { Int64 } from "../format/btree-page.ts";
import { readLayout, valueAt, type SqlValue } from "../format/record.ts";
import { pageOf, placeOf, type CellPlace, type DatabasePages } from "./database-pages.ts";
import { compareKeys, type KeyPart } from "./key-order.ts";
import { TREE_DEPTH_MAX } from "./tree-cursor.ts";
import { keyAt } from "./tree-seek.ts";

export interface FoundRow {
  /** Null when there is no such row. */
  readonly place: CellPlace | null;
  /** Every page that was read to know it, overflow pages included. */
  readonly pages: readonly number[];
}

export function seekRowid(pages: DatabasePages, root: number, rowid: Int64): FoundRow {
  const read: number[] = [];
  let number = root;
  while (read.length < TREE_DEPTH_MAX) {
    read.push(number);
    const page = pages.page(number);
    if (!page.isTable) return pages.failAt(number)("keys", "rowids");
    const index = firstNotLess(page.cellCount, (each) => page.rowidAt(each) < rowid);
    if (page.isLeaf) {
      const isThere = index < page.cellCount && page.rowidAt(index) === rowid;
      return isThere ? found(pages, placeOf(number, index), read) : { place: null, pages: read };
    }
    number = page.childAt(index);
  }
  return pages.failAt(root)("a tree deeper than SQLite makes", `${TREE_DEPTH_MAX} levels`);
}

/** `parts`: the first columns of the tree's records. */
export function seekKey(pages: DatabasePages, root: number, key: readonly SqlValue[], parts: readonly KeyPart[]): FoundRow {
  const read: number[] = [];
  let number = root;
  while (read.length < TREE_DEPTH_MAX) {
    read.push(number);
    const page = pages.page(number);
    if (page.isTable) return pages.failAt(number)("rowids", "keys");
    const compare = (each: number): number => {
      const here = pages.page(number);
      return compareKeys(keyAt(pages, here, each, parts), key, parts, pages.header.encoding);
    };
    const index = firstNotLess(page.cellCount, (each) => compare(each) < 0);
    if (index < page.cellCount && compare(index) === 0) return found(pages, placeOf(number, index), read);
    if (page.isLeaf) return { place: null, pages: read };
    number = page.childAt(index);
  }
  return pages.failAt(root)("a tree deeper than SQLite makes", `${TREE_DEPTH_MAX} levels`);
}

/** The rowid that an index has for a key: the value behind the key's own. */
export function rowidBehindKey(pages: DatabasePages, place: CellPlace, parts: readonly KeyPart[]): Int64 | null {
  const payload = pages.payload(pages.cell(place), place);
  const fail = pages.failAt(pageOf(place));
  const layout = readLayout(payload, fail);
  const value = valueAt(payload, layout, layout.types.length - 1, pages.header.encoding, fail);
  if (parts.length >= layout.types.length || typeof value !== "bigint") return null;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function found(pages: DatabasePages, place: CellPlace, read: readonly number[]): FoundRow {
  const cell = pages.cell(place);
  if (cell.overflow === 0) return { place, pages: read };
  return { place, pages: [...read, ...pages.overflowPages(cell, place)] };
}

/** The first index for which `isLess` is false; `count` when it is true for all. */
function firstNotLess(count: number, isLess: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isLess(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
