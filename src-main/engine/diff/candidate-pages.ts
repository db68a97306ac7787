/**
 * Which pages of two trees can hold rows that differ.
 *
 * A page that stands in both trees at the same height, with the same content in itself and everything below, holds the
 * same rows in both: it is left out. All others are candidates, also those that merely entered or left a tree and were
 * not written (deleting many rows unlinks leaves without touching them). Interior pages are compared by the lists of
 * their children, level by level from the top, so that splits, merges and new roots need no special case.
 */
import type { PageSet } from "./page-set.ts";
import { PageSet as Pages } from "./page-set.ts";
import type { PagesWanted } from "./read-ahead.ts";
import { treeHeight, type Tree } from "./tree-cursor.ts";

export interface Candidates {
  readonly left: PageSet;
  readonly right: PageSet;
}

/** Pages that are not to be skipped: changed ones, and those that lead to one. */
export interface DirtyPages {
  readonly pages: PageSet;
  /** Interior pages are all looked into: it is not known which of them lead to changed ones. */
  readonly isBlind: boolean;
}

/** Interior pages of either side that are read together. */
const CHUNK_PAGES = 512;

interface Side {
  readonly tree: Tree;
  readonly height: number;
  readonly kept: Pages;
  level: readonly number[];
}

/** Yields what it will read next, so that the caller can read that ahead, and let others run. Throws `database-corrupt`. */
export function* findCandidates(left: Tree, right: Tree, dirty: DirtyPages): Generator<readonly PagesWanted[], Candidates> {
  const sides = [startSide(left), startSide(right)] as const;
  const [a, b] = sides;
  for (let height = Math.max(a.height, b.height); height >= 0; height -= 1) {
    for (const side of sides) if (side.height === height) side.level = [side.tree.root];
    const [inA, inB] = [pagesOf(a), pagesOf(b)];
    const isSame = (page: number): boolean => inA.has(page) && inB.has(page) && !dirty.pages.has(page) && !(dirty.isBlind && height > 0);
    for (const side of sides) keepDifferent(side, isSame);
    if (height > 0) yield* goDown(sides);
  }
  return { left: a.kept, right: b.kept };
}

function startSide(tree: Tree): Side {
  return { tree, height: treeHeight(tree), kept: new Pages(tree.pages.pageCount), level: [] };
}

function pagesOf({ level, tree }: Side): Pages {
  const pages = new Pages(tree.pages.pageCount);
  for (const page of level) pages.add(page);
  return pages;
}

/** Leaves those pages in the level that differ, and keeps them. */
function keepDifferent(side: Side, isSame: (page: number) => boolean): void {
  side.level = side.level.filter((number) => !isSame(number));
  for (const number of side.level) {
    if (!side.kept.add(number)) side.tree.pages.failAt(number)(`a second way to it from page ${side.tree.root}`, "one");
  }
}

/** Goes on to the children of both levels. */
function* goDown(sides: readonly Side[]): Generator<readonly PagesWanted[], void> {
  const children = sides.map((): number[] => []);
  const most = Math.max(...sides.map(({ level }) => level.length));
  for (let from = 0; from < most; from += CHUNK_PAGES) {
    const chunks = sides.map(({ tree, level }) => ({ pages: tree.pages, numbers: level.slice(from, from + CHUNK_PAGES) }));
    yield chunks;
    for (const [side, { pages, numbers }] of chunks.entries()) {
      for (const number of numbers) {
        const page = pages.page(number);
        if (page.isLeaf) pages.failAt(number)("a leaf", "an interior page");
        for (let index = 0; index < page.childCount; index += 1) children[side]?.push(page.childAt(index));
      }
    }
  }
  for (const [index, side] of sides.entries()) side.level = children[index] ?? [];
}
