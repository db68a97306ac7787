/**
 * Which pages of a checkout differ from the version it held, cheapest proof first:
 *
 *   1. fingerprint   main file and WAL are as recorded: none.
 *   2. wal           the main file is as recorded, so everything since is in the WAL: its frames name the pages. Holds for
 *                    the same life of the WAL, and for the lives that follow it: SQLite starts a WAL over only when all
 *                    its frames are in the main file, and that would have changed the main file unless they were there
 *                    already. It counts the first salt up by one each time, which is how a successor is known from a
 *                    stranger.
 *   3. extents       the checkout has a shadow (`shadow.ts`), a clone that shares all blocks that nobody wrote since: what
 *                    lies on other blocks is compared with it.
 *   4. scan          every page is hashed and compared.
 *
 * SQLite's change counter is no proof of anything: it stands still in WAL mode.
 */
import { setImmediate } from "node:timers/promises";
import { assert } from "#shared/assert.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { lockPageNumber } from "../format/sqlite-header.ts";
import { newestFrames } from "../format/wal.ts";
import type { FileStat } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import type { CheckoutChanges, KnownContent } from "./checkout-files.ts";
import type { CheckoutView } from "./checkout-view.ts";
import { isMainUnchanged, isSameMark, markWal, parseFingerprint, type Fingerprint } from "./fingerprint.ts";
import type { Shadow } from "./shadow.ts";
import { LOW_HASH_BYTES, pagesThatDiffer } from "./view-hashes.ts";

/** Between two looks at what else there is to do: some ten milliseconds. */
const SCAN_STEP_BYTES = 64 * 1024 * 1024;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Successive lives of a WAL between two looks; a stranger's salt falls in here once in 2^26. */
const WAL_LIVES_MAX = 64;

/** `stat` is the main file's, taken before `view` was opened, under the lock that keeps writers out. */
export async function detectChanges(
  context: {
    readonly native: Native;
    readonly boot: string;
    readonly stat: FileStat;
    readonly view: CheckoutView;
    readonly shadow: Shadow | null;
  },
  known: KnownContent,
): Promise<CheckoutChanges> {
  const { view, boot, stat, shadow } = context;
  const print = known.fingerprint === null ? null : parseFingerprint(known.fingerprint);
  if (known.fingerprint !== null && print !== null && isMainUnchanged(print, stat, boot)) {
    shadow?.noteUnchanged(known.fingerprint);
    if (isSameMark(print.wal, markWal(view.wal))) return changesOf(view, "fingerprint", new Uint32Array(0), known.pageSize);
    const since = firstNewFrame(print, view);
    if (since !== null) return changesOf(view, "wal", pagesSince(print, view, since), known.pageSize);
  }
  // What was not synced when the power went is not what the shadow's record says.
  const written = print !== null && print.boot === boot && shadow ? await shadow.compare(known, print, view) : null;
  if (written !== null) return changesOf(view, "extents", written, known.pageSize);
  return changesOf(view, "scan", await scanPages(context.native, view, known), known.pageSize);
}

function changesOf(view: CheckoutView, proof: CheckoutChanges["proof"], numbers: Uint32Array, pageSizeWhenEmpty: number): CheckoutChanges {
  return {
    proof,
    pageSize: view.pageSize === 0 ? pageSizeWhenEmpty : view.pageSize,
    pageCount: view.pageCount,
    candidates: numbers.length,
    batches: { [Symbol.asyncIterator]: () => readBatches(view, numbers) },
  };
}

/** Index of the first frame that the fingerprint does not cover; null when the WAL tells nothing about what came before. */
function firstNewFrame(print: Fingerprint, view: CheckoutView): number | null {
  if (view.wal === null) return null;
  if (print.wal === null) return 0;
  const { salt1, salt2 } = view.wal.header;
  if (salt1 === print.wal.salt1 && salt2 === print.wal.salt2)
    return view.wal.framePages.length >= print.wal.frames ? print.wal.frames : null;
  const lives = (salt1 - print.wal.salt1) >>> 0;
  return lives >= 1 && lives <= WAL_LIVES_MAX ? 0 : null;
}

/** Pages in frames from `since` on, and pages that the database grew by: a page freed at once is in no frame. */
function pagesSince(print: Fingerprint, view: CheckoutView, since: number): Uint32Array {
  assert(view.wal !== null, "there are frames");
  const pages = new Set(newestFrames(view.wal, since).keys());
  const lockPage = lockPageNumber(view.pageSize);
  for (let page = print.pageCount + 1; page <= view.pageCount; page += 1) {
    if (page !== lockPage) pages.add(page);
  }
  return Uint32Array.from(pages).toSorted();
}

/** Pages of the main file are read and hashed by the threads that compare them; what is elsewhere, one by one. */
async function scanPages(native: Native, view: CheckoutView, known: KnownContent): Promise<Uint32Array> {
  const { pageSize, pageCount } = view;
  if (pageCount === 0) return new Uint32Array(0);
  // Another page size (VACUUM) leaves nothing to compare with.
  const expected = pageSize === known.pageSize ? await known.pageHashes() : new Uint8Array(0);
  const lockPage = lockPageNumber(pageSize);
  const found = new PageList();
  const pagesPerStep = SCAN_STEP_BYTES / pageSize;
  for (let first = 1; first <= pageCount; first += pagesPerStep) {
    const count = Math.min(pagesPerStep, pageCount - first + 1);
    const low = expected.subarray((first - 1) * LOW_HASH_BYTES, (first - 1 + count) * LOW_HASH_BYTES);
    for (const page of native.differingPages(view.main, first, count, pageSize, low))
      if (page !== 1 && page !== lockPage && !view.hasFrame(page)) found.add(page);
    await setImmediate();
  }
  const apart = new Set([1, ...view.framePages()].filter((page) => page <= pageCount));
  for (const page of pagesThatDiffer(native, view, apart, expected)) found.add(page);
  return found.finish();
}

/** Neighbouring pages are read together. */
async function* readBatches(view: CheckoutView, numbers: Uint32Array): AsyncGenerator<PageBatch> {
  const { pageSize } = view;
  const pagesMax = BATCH_BYTES_MAX / pageSize;
  for (let from = 0; from < numbers.length; from += pagesMax) {
    const batch = numbers.slice(from, from + pagesMax);
    const bytes = new Uint8Array(batch.length * pageSize);
    for (let start = 0; start < batch.length;) {
      let end = start + 1;
      while (end < batch.length && batch[end] === (batch[end - 1] ?? 0) + 1) end += 1;
      view.readPages(batch[start] ?? 0, bytes.subarray(start * pageSize, end * pageSize));
      start = end;
    }
    yield { numbers: batch, bytes };
    await setImmediate();
  }
}

/** Page numbers at four bytes each, however many, in whatever order. */
class PageList {
  #numbers = new Uint32Array(1024);
  #length = 0;

  add(page: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = page;
    this.#length += 1;
  }

  finish(): Uint32Array {
    return this.#numbers.subarray(0, this.#length).toSorted();
  }
}
