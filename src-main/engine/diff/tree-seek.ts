/** Finds the tree that a page belongs to: by going down each tree after the page's own first key, until it is met. */
import type { BtreePage } from "../format/btree-page.ts";
import type { SqlValue } from "../format/record.ts";
import { readLayout, valueAt } from "../format/record.ts";
import { placeOf, type DatabasePages } from "./database-pages.ts";
import { compareKeys, type KeyPart } from "./key-order.ts";
import { TREE_DEPTH_MAX, type Tree } from "./tree-cursor.ts";

/** A tree with what its order is; null for rowids. Keys come first in the records of tables WITHOUT ROWID. */
export interface OrderedTree extends Tree {
  readonly key: readonly KeyPart[] | null;
}

/**
 * Page numbers from the root to `target`, both included; null when the page is in no place of the tree where its keys
 * would be looked for.
 */
export function pathTo(tree: OrderedTree, target: BtreePage): number[] | null {
  if (target.number === tree.root) return [tree.root];
  if (target.isTable !== tree.isTable || target.cellCount === 0) return null;
  const wanted = tree.isTable ? target.rowidAt(0) : keyAt(tree.pages, target, 0, tree.key ?? []);
  const path: number[] = [tree.root];
  let page = tree.pages.page(tree.root);
  while (!page.isLeaf && path.length <= TREE_DEPTH_MAX) {
    const child = page.childAt(childFor(tree, page, wanted));
    path.push(child);
    if (child === target.number) return path;
    page = tree.pages.page(child);
    if (page.isTable !== tree.isTable) return null;
  }
  return null;
}

/** The first child whose keys can be as large as the wanted one. */
function childFor(tree: OrderedTree, page: BtreePage, wanted: number | bigint | readonly SqlValue[]): number {
  let low = 0;
  let high = page.cellCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isLess(tree, page, middle, wanted)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isLess(tree: OrderedTree, page: BtreePage, index: number, wanted: number | bigint | readonly SqlValue[]): boolean {
  if (typeof wanted === "number" || typeof wanted === "bigint") return page.rowidAt(index) < wanted;
  const parts = tree.key ?? [];
  return compareKeys(keyAt(tree.pages, page, index, parts), wanted, parts, tree.pages.header.encoding) < 0;
}

/** Values of the key of a row of a key-ordered tree. */
export function keyAt(pages: DatabasePages, page: BtreePage, index: number, parts: readonly KeyPart[]): SqlValue[] {
  const payload = pages.payload(page.cellAt(index), placeOf(page.number, index));
  const fail = pages.failAt(page.number);
  const layout = readLayout(payload, fail);
  return parts.map((_, position) => valueAt(payload, layout, position, pages.header.encoding, fail));
}
