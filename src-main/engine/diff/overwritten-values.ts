/**
 * Finds the rows whose large values were overwritten in place. SQLite writes a value of equal size over the old one: an
 * overflow page changes, and the page with the row does not. An overflow page does not say whose it is, so its owner is
 * looked for where it most likely is:
 *
 *   1. among the rows that are compared anyway (their overflow pages are usually new ones, or reused);
 *   2. in the pointer map, where there is one;
 *   3. among the pages nearby, which were written with it;
 *   4. everywhere. This alone costs more than what changed, and it ends as soon as the last owner is found.
 */
import { readUint32 } from "../format/btree-page.ts";
import { pageOf, placeOf, type CellPlace, type DatabasePages } from "./database-pages.ts";
import type { ChangedPages } from "./changed-pages.ts";
import type { PageSet } from "./page-set.ts";
import { TreeCursor, type Tree } from "./tree-cursor.ts";

/** Pages on either side that count as nearby. */
const NEARBY_PAGES = 64;
const POINTER_MAP_OVERFLOW_LATER = 4;
const POINTER_MAP_OVERFLOW_FIRST = 3;
const HEARTBEAT_PAGES = 64;

/** A tree of the right state, with the pages of it that are compared anyway. */
export interface ComparedTree {
  readonly tree: Tree;
  readonly compared: PageSet;
}

/** Marks the owners (`ChangedPages.mark`). Yields now and then, so that the caller can let others run. */
export function* markOwners(changes: ChangedPages, compared: readonly ComparedTree[], trees: readonly Tree[]): Generator<null, void> {
  const open = changes.overwritten;
  for (const { tree, compared: only } of compared) {
    if (open.size === 0) return;
    yield* dropOwned(new TreeCursor(tree, only), tree.pages, open);
  }
  dropOwnedByChanged(changes, open);
  for (const number of open) {
    const owner = changes.right.map.exists ? ownerInMap(changes, number) : ownerNearby(changes, number);
    if (owner === null) continue;
    changes.mark(owner);
    open.delete(number);
    yield null;
  }
  for (const tree of trees) {
    if (open.size === 0) return;
    yield* markByScan(changes, new TreeCursor(tree, null), open);
  }
}

/** Takes pages that the rows of the cursor own off the list. */
function* dropOwned(cursor: TreeCursor, pages: DatabasePages, open: PageSet): Generator<null, void> {
  for (const place of largeCells(cursor, open)) {
    if (place === null) yield null;
    else for (const page of pages.overflowPages(cursor.cell, place)) open.delete(page);
  }
}

/** Places of cells with overflow pages, as long as owners are looked for; null now and then, so that others can run. */
function* largeCells(cursor: TreeCursor, open: PageSet): Generator<CellPlace | null, void> {
  let seen = 0;
  while (open.size > 0 && cursor.next()) {
    if (cursor.pagesRead > seen + HEARTBEAT_PAGES) {
      seen = cursor.pagesRead;
      yield null;
    }
    if (cursor.cell.overflow !== 0) yield cursor.place;
  }
}

/** Pages of keys that changed are indexes mostly, which are not compared: what they own needs no owner. */
function dropOwnedByChanged({ changed, right }: ChangedPages, open: PageSet): void {
  if (open.size === 0) return;
  for (const number of changed) {
    if (!right.isBtree(number)) continue;
    const page = right.pages.page(number);
    if (page.isTable) continue;
    for (let index = 0; index < page.cellCount; index += 1) {
      const cell = page.cellAt(index);
      if (cell.overflow !== 0) for (const overflow of right.pages.overflowPages(cell, placeOf(number, index))) open.delete(overflow);
    }
  }
}

function* markByScan(changes: ChangedPages, cursor: TreeCursor, open: PageSet): Generator<null, void> {
  const { pages } = changes.right;
  for (const place of largeCells(cursor, open)) {
    if (place === null) {
      yield null;
      continue;
    }
    const hits = [...pages.overflowPages(cursor.cell, place)].filter((page) => open.has(page));
    for (const page of hits) open.delete(page);
    if (hits.length > 0) changes.mark(pageOf(place));
  }
}

function ownerInMap({ right }: ChangedPages, overflowPage: number): number | null {
  let page = overflowPage;
  for (let steps = 0; steps < right.pages.pageCount; steps += 1) {
    const { kind, parent } = right.map.entry(page);
    if (kind === POINTER_MAP_OVERFLOW_FIRST) return right.isBtree(parent) ? parent : null;
    if (kind !== POINTER_MAP_OVERFLOW_LATER || !right.isOverflow(parent)) return null;
    page = parent;
  }
  return null;
}

/** Goes back from page to page within a window. What a page in use points at is real: only the search is a guess. */
function ownerNearby({ right }: ChangedPages, overflowPage: number): number | null {
  const { pages } = right;
  const pointers = new Map<number, { readonly from: number; readonly isRow: boolean }>();
  const last = Math.min(pages.pageCount, overflowPage + NEARBY_PAGES);
  for (let number = Math.max(2, overflowPage - NEARBY_PAGES); number <= last; number += 1) {
    if (right.isOverflow(number)) {
      pointers.set(readUint32(pages.bytes(number), 0), { from: number, isRow: false });
      continue;
    }
    if (!right.isBtree(number)) continue;
    const page = pages.page(number);
    if (page.isTable && !page.isLeaf) continue;
    for (let index = 0; index < page.cellCount; index += 1) {
      const { overflow } = page.cellAt(index);
      if (overflow !== 0) pointers.set(overflow, { from: number, isRow: true });
    }
  }
  let page = overflowPage;
  for (let steps = 0; steps <= 2 * NEARBY_PAGES; steps += 1) {
    const pointer = pointers.get(page);
    if (!pointer) return null;
    if (pointer.isRow) return pointer.from;
    page = pointer.from;
  }
  return null;
}
