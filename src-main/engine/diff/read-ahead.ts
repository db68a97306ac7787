/**
 * Brings pages into the memory of one or two states before they are asked for: what both need is decoded once, on other
 * threads, while this one takes in what came before.
 */
import { EngineError } from "../io/errors.ts";
import { BasePageFinder, type PagesInHand } from "../segments/pages-ahead.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "../transfer/long-work.ts";
import type { DatabasePages } from "./database-pages.ts";
import type { PageSet } from "./page-set.ts";
import { treeHeight, type Tree, type TreeCursor } from "./tree-cursor.ts";

/** Pages of one state that will be asked for. */
export interface PagesWanted {
  readonly pages: DatabasePages;
  readonly numbers: readonly number[];
}

/** Page numbers that are decoded together: a page scattered among others takes a frame of 64 KiB. */
const BATCH_PAGES = 128;

interface Batch {
  /** In ascending order. */
  readonly numbers: Uint32Array;
  readonly reads: readonly { readonly pages: DatabasePages; readonly numbers: Uint32Array }[];
}

export class ReadAhead {
  readonly #finder: BasePageFinder;

  /** Of these states. */
  constructor(...states: readonly DatabasePages[]) {
    this.#finder = new BasePageFinder(() => {
      const donors = states.flatMap(({ findDonors }) => findDonors());
      return [...new Map(donors.map((donor) => [donor.path, donor])).values()];
    });
  }

  /** Throws what reading throws, and `cancelled`. */
  async read(wanted: readonly PagesWanted[], work: Work): Promise<void> {
    for await (const _ of this.batches(wanted, work));
  }

  /** The same; yields the numbers of the pages that are there now, while the next ones are being found. */
  async *batches(wanted: readonly PagesWanted[], work: Work): AsyncGenerator<Uint32Array, void> {
    const batches = cutBatches(wanted);
    let batch = batches.next().value;
    let found = this.#find(batch);
    try {
      while (batch) {
        const { reads, numbers } = batch;
        const inHand = await found;
        batch = batches.next().value;
        found = this.#find(batch);
        for (const read of reads) if (read.numbers.length > 0) read.pages.take(read.numbers, inHand.pages);
        inHand.release();
        await breathe(work);
        yield numbers;
      }
    } finally {
      // What is in flight writes to buffers that are ours.
      (await found).release();
    }
  }

  #find(batch: Batch | void): Promise<PagesInHand> {
    return this.#finder.find((batch?.reads ?? []).flatMap(({ pages, numbers }) => pages.needs(numbers)));
  }
}

/** Cuts at the same page numbers in every state, so that what they share is in one batch. */
function* cutBatches(wanted: readonly PagesWanted[]): Generator<Batch, void> {
  const all = new Set<number>();
  for (const { numbers } of wanted) for (const number of numbers) all.add(number);
  const sorted = Uint32Array.from(all).toSorted();
  const lists = wanted.map(({ pages, numbers }) => ({ pages, numbers: Uint32Array.from(numbers).toSorted(), at: 0 }));
  for (let from = 0; from < sorted.length; from += BATCH_PAGES) {
    const numbers = sorted.subarray(from, from + BATCH_PAGES);
    const last = numbers.at(-1) ?? 0;
    const reads = lists.map((list) => {
      const start = list.at;
      while (list.at < list.numbers.length && (list.numbers[list.at] ?? 0) <= last) list.at += 1;
      return { pages: list.pages, numbers: list.pages.missing(list.numbers.subarray(start, list.at)) };
    });
    yield { numbers, reads };
  }
}

/** Leaves taken at once, and how few of them are left when more are taken. */
const LEAVES_TAKEN = 512;

/** The leaves that a cursor is about to enter, found from the interior pages above them. */
export class LeavesAhead {
  readonly #pages: DatabasePages;
  readonly #cursor: TreeCursor;
  readonly #leaves: Generator<number, void>;
  #taken = 0;
  #isDone = false;

  constructor(tree: Tree, only: PageSet | null, cursor: TreeCursor) {
    this.#pages = tree.pages;
    this.#cursor = cursor;
    this.#leaves = leavesOf(tree, only);
  }

  /** True when the cursor is about to enter a leaf that was not read ahead. */
  get isDry(): boolean {
    return !this.#isDone && this.#cursor.leavesEntered >= this.#taken;
  }

  /** The next leaves, when it is time to read them. */
  take(): PagesWanted {
    const numbers: number[] = [];
    if (this.isDry) {
      const most = Math.min(LEAVES_TAKEN, this.#pages.pagesKept >>> 2);
      while (numbers.length < most && !this.#isDone) {
        const next = this.#next();
        if (next === null) this.#isDone = true;
        else numbers.push(next);
      }
      this.#taken = this.#cursor.leavesEntered + numbers.length;
    }
    return { pages: this.#pages, numbers };
  }

  #next(): number | null {
    try {
      return this.#leaves.next().value ?? null;
    } catch (error) {
      // The cursor meets the same damage, and says what it is.
      if (error instanceof EngineError && error.code === "database-corrupt") return null;
      throw error;
    }
  }
}

/** Leaves below a root in their order, `only` those that are in that set; none for a tree that is one leaf. */
function* leavesOf(tree: Tree, only: PageSet | null): Generator<number, void> {
  const height = treeHeight(tree);
  if (height > 0) yield* leavesBelow(tree.pages, tree.root, height, only);
}

function* leavesBelow(pages: DatabasePages, number: number, height: number, only: PageSet | null): Generator<number, void> {
  const page = pages.page(number);
  if (page.isLeaf) return;
  for (let index = 0; index < page.childCount; index += 1) {
    const child = page.childAt(index);
    if (only !== null && !only.has(child)) continue;
    if (height === 1) yield child;
    else yield* leavesBelow(pages, child, height - 1, only);
  }
}
