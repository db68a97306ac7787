/**
 * What two states share, as pages: which pages differ, which of them lead to rows, and which pages of the trees must be
 * looked into because something below them differs.
 */
import { looksLikeBtreePage } from "../format/btree-page.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "../transfer/long-work.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import type { DatabasePages } from "./database-pages.ts";
import { PointerMap, readFreePages } from "./free-pages.ts";
import type { DirtyPages } from "./candidate-pages.ts";
import { PageSet } from "./page-set.ts";
import { ReadAhead } from "./read-ahead.ts";
import { pathTo, type OrderedTree } from "./tree-seek.ts";

/** Beyond this share of all pages it is cheaper to look into every interior page than to seek each changed one's tree. */
const SEEK_SHARE_MAX = 1 / 16;

/** Changed pages by which it is learnt in which tree most of them are. */
const FIRST_PAGES = 64;

/** Pages by what they are in one state. */
export class PageRoles {
  readonly pages: DatabasePages;
  readonly free: PageSet;
  readonly map: PointerMap;
  readonly #lockPage: number;

  constructor(pages: DatabasePages) {
    this.pages = pages;
    this.free = readFreePages(pages);
    this.map = new PointerMap(pages);
    this.#lockPage = lockPageNumber(pages.pageSize);
  }

  isInUse(pageNumber: number): boolean {
    return (
      pageNumber <= this.pages.pageCount && pageNumber !== this.#lockPage && !this.free.has(pageNumber) && !this.map.isMapPage(pageNumber)
    );
  }

  /** A page in use that begins like a b-tree page is one: see `looksLikeBtreePage`. */
  isBtree(pageNumber: number): boolean {
    return this.isInUse(pageNumber) && looksLikeBtreePage(this.pages.bytes(pageNumber), pageNumber);
  }

  isOverflow(pageNumber: number): boolean {
    return this.isInUse(pageNumber) && !looksLikeBtreePage(this.pages.bytes(pageNumber), pageNumber);
  }
}

export class ChangedPages {
  readonly left: PageRoles;
  readonly right: PageRoles;
  /** Pages that differ, or are in one state only. */
  readonly changed: PageSet;
  /** Overflow pages of the right state among them. */
  readonly overflow: PageSet;
  /** Overflow pages in both states: a large value may have been overwritten in place, its row's page untouched. */
  readonly overwritten: PageSet;
  readonly #trees: readonly OrderedTree[];
  readonly #marked: PageSet;
  #isBlind = false;

  /** Neighbouring pages are often of one tree: the last one is tried first. */
  #lastTree: OrderedTree | null = null;

  private constructor(left: DatabasePages, right: DatabasePages, trees: readonly OrderedTree[]) {
    const pageCount = Math.max(left.pageCount, right.pageCount);
    this.left = new PageRoles(left);
    this.right = new PageRoles(right);
    this.changed = new PageSet(pageCount);
    this.overflow = new PageSet(pageCount);
    this.overwritten = new PageSet(pageCount);
    this.#marked = new PageSet(pageCount);
    this.#trees = trees;
  }

  /** `numbers`: pages that differ. `trees`: every table's tree of the right state whose order is known. Throws `cancelled`. */
  static async read(
    left: DatabasePages,
    right: DatabasePages,
    numbers: readonly number[],
    trees: readonly OrderedTree[],
    work: Work,
  ): Promise<ChangedPages> {
    const pages = new ChangedPages(left, right, trees);
    const ahead = new ReadAhead(left, right);
    const fits = numbers.length <= left.pagesKept;
    pages.#isBlind = numbers.length > Math.max(left.pageCount, right.pageCount) * SEEK_SHARE_MAX;
    await breathe(work);
    const [first, rest] = [numbers.slice(0, FIRST_PAGES), numbers.slice(FIRST_PAGES)];
    for (const chunk of [first, rest]) {
      // A changed page is stored against what it was: both are found together.
      const wanted = [{ pages: right, numbers: chunk }, ...(fits ? [{ pages: left, numbers: chunk }] : [])];
      for await (const batch of ahead.batches(wanted, work)) for (const number of batch) pages.#note(number);
      if (chunk === first) await pages.#readInterior(ahead, rest.length, work);
    }
    return pages;
  }

  /** Where many pages are still to be found in a tree, its interior pages are read at once, as far as they are fewer. */
  async #readInterior(ahead: ReadAhead, pagesLeft: number, work: Work): Promise<void> {
    const tree = this.#lastTree;
    if (this.#isBlind || !tree) return;
    const { pages } = tree;
    let level = [tree.root];
    while (level.length > 0) {
      level = interiorBelow(pages, level);
      if (level.length > Math.min(pagesLeft, pages.pagesKept / 2)) return;
      await ahead.read([{ pages, numbers: level }], work);
    }
  }

  #note(number: number): void {
    this.changed.add(number);
    this.#marked.add(number);
    if (this.right.isBtree(number)) this.mark(number);
    if (!this.right.isOverflow(number)) return;
    this.overflow.add(number);
    if (this.left.isOverflow(number)) this.overwritten.add(number);
  }

  get dirty(): DirtyPages {
    return { pages: this.#marked, isBlind: this.#isBlind };
  }

  /** Makes a page of the right state a candidate, with all that leads to it. */
  mark(pageNumber: number): void {
    this.#marked.add(pageNumber);
    if (this.#isBlind) return;
    try {
      const path = this.#findPath(pageNumber);
      // A page of rows that no tree leads to: the keys are not in order, so nothing is concluded from where they are.
      if (path === null) this.#isBlind = this.right.pages.page(pageNumber).isTable;
      else for (const number of path) this.#marked.add(number);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "database-corrupt") throw error;
      // Who reads that tree says what is wrong with it.
      this.#isBlind = true;
    }
  }

  #findPath(pageNumber: number): number[] | null {
    const page = this.right.pages.page(pageNumber);
    if (this.#lastTree) {
      const path = pathTo(this.#lastTree, page);
      if (path) return path;
    }
    for (const tree of this.#trees) {
      if (tree === this.#lastTree || tree.isTable !== page.isTable) continue;
      const path = pathTo(tree, page);
      if (!path) continue;
      this.#lastTree = tree;
      return path;
    }
    return null;
  }
}

/** Children of these pages, where they are interior pages too; none of a damaged tree, of which others say what is wrong. */
function interiorBelow(pages: DatabasePages, level: readonly number[]): number[] {
  try {
    const first = pages.page(level[0] ?? 0);
    if (first.isLeaf || pages.page(first.childAt(0)).isLeaf) return [];
    return level.flatMap((number) => {
      const page = pages.page(number);
      return Array.from({ length: page.childCount }, (_, index) => page.childAt(index));
    });
  } catch (error) {
    if (error instanceof EngineError && error.code === "database-corrupt") return [];
    throw error;
  }
}
