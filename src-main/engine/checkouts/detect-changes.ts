/**
 * Which pages of a checkout differ from the version it held, cheapest proof first:
 *
 *   1. fingerprint   main file and WAL are as recorded: none.
 *   2. wal           the main file is as recorded, so everything since is in the WAL: its frames name the pages. Holds for
 *                    the same life of the WAL, and for the lives that follow it: SQLite starts a WAL over only when all
 *                    its frames are in the main file, and that would have changed the main file unless they were there
 *                    already. It counts the first salt up by one each time, which is how a successor is known from a
 *                    stranger.
 *   3. scan          every page is hashed and compared.
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

const HASH_BYTES = 16;
const LOW_HASH_BYTES = 8;
/** Large enough for the addon's second thread. */
const SCAN_CHUNK_BYTES = 8 * 1024 * 1024;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** Successive lives of a WAL between two looks; a stranger's salt falls in here once in 2^26. */
const WAL_LIVES_MAX = 64;

/** `stat` is the main file's, taken before `view` was opened, under the lock that keeps writers out. */
export async function detectChanges(
  context: { readonly native: Native; readonly boot: string; readonly stat: FileStat; readonly view: CheckoutView },
  known: KnownContent,
): Promise<CheckoutChanges> {
  const { view, boot, stat } = context;
  const print = known.fingerprint === null ? null : parseFingerprint(known.fingerprint);
  if (print !== null && isMainUnchanged(print, stat, boot)) {
    if (isSameMark(print.wal, markWal(view.wal))) return changesOf(view, "fingerprint", new Uint32Array(0), known.pageSize);
    const since = firstNewFrame(print, view);
    if (since !== null) return changesOf(view, "wal", pagesSince(print, view, since), known.pageSize);
  }
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

async function scanPages(native: Native, view: CheckoutView, known: KnownContent): Promise<Uint32Array> {
  const { pageSize, pageCount } = view;
  if (pageCount === 0) return new Uint32Array(0);
  // Another page size (VACUUM) leaves nothing to compare with.
  const expected = pageSize === known.pageSize ? await known.pageHashes() : new Uint8Array(0);
  const expectedPages = expected.length / LOW_HASH_BYTES;
  const lockPage = lockPageNumber(pageSize);
  const found = new PageList();
  const chunk = new Uint8Array(Math.min(SCAN_CHUNK_BYTES, pageCount * pageSize));
  for (let first = 1; first <= pageCount; first += chunk.length / pageSize) {
    const pages = Math.min(chunk.length / pageSize, pageCount - first + 1);
    const bytes = chunk.subarray(0, pages * pageSize);
    view.readPages(first, bytes);
    const hashes = native.hashPages(bytes, pageSize);
    for (let index = 0; index < pages; index += 1) {
      const page = first + index;
      if (page !== lockPage && (page > expectedPages || !isSameHash(hashes, index, expected, page))) found.add(page);
    }
    await setImmediate();
  }
  return found.finish();
}

function isSameHash(hashes: Uint8Array, index: number, expected: Uint8Array, page: number): boolean {
  const low = index * HASH_BYTES + HASH_BYTES - LOW_HASH_BYTES;
  const at = (page - 1) * LOW_HASH_BYTES;
  for (let byte = 0; byte < LOW_HASH_BYTES; byte += 1) {
    if (hashes[low + byte] !== expected[at + byte]) return false;
  }
  return true;
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

/** Page numbers at four bytes each, however many. */
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
    return this.#numbers.subarray(0, this.#length);
  }
}
