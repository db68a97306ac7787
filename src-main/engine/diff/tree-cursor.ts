import { type BtreePage, type Cell } from "../format/btree-page.ts";
import { placeOf, type CellPlace, type DatabasePages } from "./database-pages.ts";
import { PageSet } from "./page-set.ts";

/** SQLite's own bound (BTCURSOR_MAX_DEPTH). */
export const TREE_DEPTH_MAX = 20;

/** A b-tree of one state. */
export interface Tree {
  readonly pages: DatabasePages;
  readonly root: number;
  /** By rowid, else by key: an index or a table WITHOUT ROWID. */
  readonly isTable: boolean;
}

interface Frame {
  readonly page: BtreePage;
  /** On interior pages children and cells in turns; on leaves the cells. */
  step: number;
  /** Children before this one were read ahead. */
  prefetched: number;
}

/** Pages read ahead together. */
const PREFETCH_PAGES = 64;

/**
 * Goes through the rows of a tree in order of their keys; on key-ordered trees interior cells are rows too. With `only`,
 * leaves out every page (and what is below it) that is not in that set. A tree that leads to a page twice, or too deep, is
 * `database-corrupt`: it never goes round in circles.
 */
export class TreeCursor {
  readonly #tree: Tree;
  readonly #only: PageSet | null;
  /** Made when there is more than a root: a database may have thousands of small tables. */
  #visited: PageSet | null = null;
  readonly #stack: Frame[] = [];
  /** Pages entered so far, and leaves among them that are no root. */
  pagesRead = 0;
  leavesEntered = 0;
  #page: BtreePage | null = null;
  #index = 0;

  constructor(tree: Tree, only: PageSet | null) {
    this.#tree = tree;
    this.#only = only;
    if (only === null || only.has(tree.root)) this.#enter(tree.root);
  }

  /** False at the end. */
  next(): boolean {
    for (;;) {
      const frame = this.#stack.at(-1);
      if (!frame) return false;
      const { page } = frame;
      const step = frame.step;
      frame.step += 1;
      if (page.isLeaf) {
        if (step < page.cellCount) return this.#stand(page, step);
        this.#stack.pop();
      } else if (step > 2 * page.cellCount) {
        this.#stack.pop();
      } else if (step % 2 === 0) {
        const child = page.childAt(step / 2);
        if (this.#only !== null && !this.#only.has(child)) continue;
        if (step / 2 >= frame.prefetched) frame.prefetched = this.#prefetch(page, step / 2);
        this.#enter(child);
      } else if (!page.isTable) {
        return this.#stand(page, (step - 1) / 2);
      }
    }
  }

  get cell(): Cell {
    return this.#tree.pages.cell(this.place);
  }

  get place(): CellPlace {
    return placeOf(this.#here().number, this.#index);
  }

  #here(): BtreePage {
    if (!this.#page) throw new RangeError("the cursor stands on no row");
    return this.#page;
  }

  #stand(page: BtreePage, index: number): true {
    this.#page = page;
    this.#index = index;
    return true;
  }

  #enter(pageNumber: number): void {
    const { pages, isTable, root } = this.#tree;
    if (this.#stack.length > 0) this.#visited ??= new PageSet(pages.pageCount);
    if (pageNumber === root ? this.#stack.length > 0 : this.#visited?.add(pageNumber) === false)
      pages.failAt(pageNumber)(`a second way to it from page ${root}`, "one");
    if (this.#stack.length >= TREE_DEPTH_MAX) pages.failAt(pageNumber)("a tree deeper than SQLite makes", `${TREE_DEPTH_MAX} levels`);
    const page = pages.page(pageNumber);
    if (page.isTable !== isTable) pages.failAt(pageNumber)(page.isTable ? "rowids" : "keys", isTable ? "rowids" : "keys");
    this.pagesRead += 1;
    if (page.isLeaf && this.#stack.length > 0) this.leavesEntered += 1;
    this.#stack.push({ page, step: 0, prefetched: 0 });
  }

  /** Reads the next children ahead; returns the first that was not. */
  #prefetch(page: BtreePage, from: number): number {
    const wanted: number[] = [];
    let index = from;
    for (; index < page.childCount && wanted.length < PREFETCH_PAGES; index += 1) {
      const child = page.childAt(index);
      if (this.#only === null || this.#only.has(child)) wanted.push(child);
    }
    this.#tree.pages.prefetch([...new Set(wanted)]);
    return index;
  }
}

/** Levels below the root: 0 for a leaf. */
export function treeHeight({ pages, root }: Tree): number {
  let page = pages.page(root);
  for (let height = 0; height < TREE_DEPTH_MAX; height += 1) {
    if (page.isLeaf) return height;
    page = pages.page(page.childAt(0));
  }
  return pages.failAt(root)("a tree deeper than SQLite makes", `${TREE_DEPTH_MAX} levels`);
}
