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

const HEARTBEAT_PAGES = 64;

interface Side {
  readonly tree: Tree;
  readonly height: number;
  readonly kept: Pages;
  level: readonly number[];
}

/** Yields now and then, so that the caller can let others run. Throws `database-corrupt`. */
export function* findCandidates(left: Tree, right: Tree, dirty: DirtyPages): Generator<null, Candidates> {
  const sides = [startSide(left), startSide(right)] as const;
  const [a, b] = sides;
  for (let height = Math.max(a.height, b.height); height >= 0; height -= 1) {
    for (const side of sides) if (side.height === height) side.level = [side.tree.root];
    const [inA, inB] = [pagesOf(a), pagesOf(b)];
    const isSame = (page: number): boolean => inA.has(page) && inB.has(page) && !dirty.pages.has(page) && !(dirty.isBlind && height > 0);
    for (const side of sides) yield* keep(side, isSame, height);
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

/** Keeps the pages of this level that differ, and goes on to their children. */
function* keep(side: Side, isSame: (page: number) => boolean, height: number): Generator<null, void> {
  const { pages } = side.tree;
  const children: number[] = [];
  for (const number of side.level) {
    if (isSame(number)) continue;
    if (!side.kept.add(number)) pages.failAt(number)(`a second way to it from page ${side.tree.root}`, "one");
    if (height === 0) continue;
    if (side.kept.size % HEARTBEAT_PAGES === 0) yield null;
    const page = pages.page(number);
    if (page.isLeaf) pages.failAt(number)("a leaf", "an interior page");
    for (let index = 0; index < page.childCount; index += 1) children.push(page.childAt(index));
  }
  side.level = children;
}
