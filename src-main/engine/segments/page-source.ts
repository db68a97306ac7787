import type { PagesAhead } from "./chain-reader.ts";
import type { PageNeed } from "./pages-ahead.ts";

/** A readable state of a database: a version rebuilt from its chain, or a file that is being imported. */
export interface PageSource {
  readonly pageSize: number;
  /** Pages, the lock page included in the count although it has no content. */
  readonly pageCount: number;
  /** Fills `buffer` (a multiple of the page size) with pages `first`, `first + 1`, …; page 1 normalised. */
  readPages(first: number, buffer: Uint8Array): void;
  /**
   * Fills `buffer` with the pages of these numbers, in order, each at most once; where that is cheaper than one by one.
   * `ahead`: what was found out already of what it needs.
   */
  readScattered?(numbers: Uint32Array, buffer: Uint8Array, ahead?: PagesAhead): void;
  /** Of which stored versions which pages are read to read these. */
  needs?(numbers: Uint32Array): readonly PageNeed[];
}

/** How long work reports and stops. `signal` is looked at between chunks; a cancelled call leaves nothing behind. */
export interface Work {
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
  /** Awaited between chunks, by work that lets others go first. */
  readonly giveWay?: (() => Promise<void>) | undefined;
}
