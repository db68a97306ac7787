/**
 * How a checkout comes to hold another version, so that a kill at any moment leaves the old content or the new one for
 * every stock client, never a mix.
 *
 * A few pages (`patchFile`):
 *   1. A complete WAL of one transaction is written in the temporary folder.         patch:written   old
 *   2. It is renamed to `<file>-wal`.                                                patch:renamed   new: a client recovers it
 *   3. Its pages are written into the main file, as a sqliteCheckpoint does, and     patch:folded    new: the WAL still holds
 *      the main file is cut to its size.                                                             every page that may be torn
 *   4. The WAL is removed.                                                           patch:done      new
 * All under the exclusive lock, so no client sees a step, and none can slip in between.
 *
 * Everything (`swapFile`, `placeFile`): a finished file is renamed (linked) to its place, side files out of the way before.
 * A client that opened the old file a moment before the rename waits for a lock on a file without a name, and would write
 * into nowhere; so both files stay locked until it is certain that nobody did, else the old file gets its place back.
 *
 * Nothing is synced: a checkout can be rebuilt, and after a power cut (another boot id in the fingerprint) it is compared
 * page by page with what it should hold. Work of clients is theirs to sync; what is in their WAL was folded in with a sync
 * before any of this starts (`sqlite-locks.ts`).
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { assert } from "#shared/assert.ts";
import type { PageBatch } from "../format/page-batch.ts";
import { lockPageNumber, stampPage1 } from "../format/sqlite-header.ts";
import { parseWalFrameHeader, walFrameOffset, WAL_FRAME_HEADER_BYTES, writeWal } from "../format/wal.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { CheckoutView } from "./checkout-view.ts";
import { takeFingerprint } from "./fingerprint.ts";
import { hasSideFiles, removeSideFiles, sidePaths } from "./side-files.ts";
import { checkoutBusy, findOthers, lockWholeFile, type CheckoutLock, type LockContext } from "./sqlite-locks.ts";

const FOLD_CHUNK_BYTES = 1024 * 1024;

export interface ReplaceContext extends LockContext {
  readonly boot: string;
  /** Folder for unfinished files, on the checkouts' file system. */
  readonly temporary: string;
}

export interface Patch {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly batches: AsyncIterable<PageBatch>;
}

/** A fresh name in the temporary folder, which is made when it is not there. */
function temporaryPath({ disk, temporary }: ReplaceContext, path: string, ending: string): string {
  disk.makeDirectory(temporary);
  return join(temporary, `${basename(path)}-${randomBytes(6).toString("hex")}-${ending}`);
}

/** The lock is exclusive; `view` shows the file as it is. */
export async function patchFile(
  context: ReplaceContext,
  path: string,
  file: FileDescriptor,
  view: CheckoutView,
  patch: Patch,
): Promise<void> {
  const { disk } = context;
  assert(view.pageSize === patch.pageSize && patch.pageCount > 0, "a patch keeps the page size, and an empty database is no patch");
  const written = temporaryPath(context, path, "wal");
  const { wal } = sidePaths(path);
  const walFile = disk.open(written, "w+");
  try {
    const salts = randomBytes(8);
    const options = { pageSize: patch.pageSize, pageCount: patch.pageCount, salt1: salts.readUInt32BE(0), salt2: salts.readUInt32BE(4) };
    const { frames } = await writeWal(disk, walFile, options, withFreshPage1(view, patch.batches));
    reach("patch:written");
    removeSideFiles(disk, path);
    disk.rename(written, wal);
    reach("patch:renamed");
    foldFrames(context, { from: walFile, into: file, frames, pageSize: patch.pageSize });
    disk.truncate(file, patch.pageCount * patch.pageSize);
    reach("patch:folded");
    disk.remove(wal);
    reach("patch:done");
  } finally {
    disk.close(walFile);
    disk.remove(written);
  }
}

/**
 * What cannot be patched because nothing is kept of it (it is empty, becomes empty, or has another page size): the pages
 * are all there, and become a file that is swapped in.
 */
export async function rebuildFile(
  context: ReplaceContext,
  path: string,
  lock: CheckoutLock,
  changeCounter: number,
  patch: Patch,
): Promise<void> {
  const { disk } = context;
  const { pageSize, pageCount } = patch;
  const finished = temporaryPath(context, path, "rebuilt");
  const file = disk.open(finished, "wx+");
  try {
    try {
      disk.truncate(file, pageCount * pageSize);
      let pages = 0;
      for await (const batch of patch.batches) {
        for (const [index, page] of batch.numbers.entries()) {
          const bytes = batch.bytes.slice(index * pageSize, (index + 1) * pageSize);
          if (page === 1) stampPage1(bytes, { journal: "wal", changeCounter });
          disk.write(file, bytes, (page - 1) * pageSize);
        }
        pages += batch.numbers.length;
      }
      const lockPages = pageCount >= lockPageNumber(pageSize) ? 1 : 0;
      assert(pages === pageCount - lockPages, `every page is given: ${pages} of ${pageCount - lockPages}`);
    } finally {
      disk.close(file);
    }
    swapFile(context, path, lock, finished);
  } finally {
    disk.remove(finished);
  }
}

/**
 * Page 1 is always in a patch, with a change counter that no client has seen: one that keeps a page cache without holding
 * a lock would trust the old counter, read old rows, and corrupt the file with its next write.
 */
async function* withFreshPage1(view: CheckoutView, batches: AsyncIterable<PageBatch>): AsyncGenerator<PageBatch> {
  const stamp = { journal: "wal", changeCounter: (view.changeCounter + 1) >>> 0 } as const;
  let hasPage1 = false;
  for await (const batch of batches) {
    if (batch.numbers[0] === 1) {
      const bytes = batch.bytes.slice();
      stampPage1(bytes.subarray(0, view.pageSize), stamp);
      yield { numbers: batch.numbers, bytes };
    } else {
      if (!hasPage1) yield readPage1(view, stamp);
      yield batch;
    }
    hasPage1 = true;
  }
  if (!hasPage1) yield readPage1(view, stamp);
}

function readPage1(view: CheckoutView, stamp: { readonly journal: "wal"; readonly changeCounter: number }): PageBatch {
  const bytes = new Uint8Array(view.pageSize);
  view.readPages(1, bytes);
  stampPage1(bytes, stamp);
  return { numbers: Uint32Array.of(1), bytes };
}

function foldFrames(
  context: LockContext,
  work: { readonly from: FileDescriptor; readonly into: FileDescriptor; readonly frames: number; readonly pageSize: number },
): void {
  const { disk } = context;
  const frameBytes = WAL_FRAME_HEADER_BYTES + work.pageSize;
  const chunk = new Uint8Array(Math.max(1, Math.floor(FOLD_CHUNK_BYTES / frameBytes)) * frameBytes);
  for (let first = 0; first < work.frames; first += chunk.length / frameBytes) {
    const filled = disk.read(work.from, chunk, walFrameOffset(work.pageSize, first));
    for (let at = 0; at < filled; at += frameBytes) {
      const { pageNumber } = parseWalFrameHeader(chunk.subarray(at, at + WAL_FRAME_HEADER_BYTES));
      disk.write(work.into, chunk.subarray(at + WAL_FRAME_HEADER_BYTES, at + frameBytes), (pageNumber - 1) * work.pageSize);
    }
  }
}

/** The lock is exclusive and stands, afterwards, on the new file. */
export function swapFile(context: ReplaceContext, path: string, lock: CheckoutLock, finished: string): void {
  const { disk } = context;
  const next = disk.open(finished, "r+");
  const previous = temporaryPath(context, path, "previous");
  let isSwapped = false;
  try {
    if (!lockWholeFile(context.native, next)) throw checkoutBusy(finished, context.holders(finished));
    refuseOthers(context, path, lock.file);
    disk.link(path, previous);
    reach("materialise:written");
    lock.detach();
    removeSideFiles(disk, path);
    disk.rename(finished, path);
    reach("materialise:renamed");
    const holders = findOthers(context, previous, lock.file);
    if (holders.length > 0) {
      disk.rename(previous, path);
      throw checkoutBusy(path, holders);
    }
    isSwapped = true;
  } finally {
    if (!isSwapped) disk.close(next);
    disk.remove(previous);
  }
  lock.replaceFile(next);
}

/** Links a finished file to where none is, and returns its fingerprint, taken while nobody could open it. */
export function placeFile(context: ReplaceContext, finished: string, path: string): string | null {
  const { disk } = context;
  const file = disk.open(finished, "r+");
  try {
    if (!lockWholeFile(context.native, file)) throw checkoutBusy(finished, context.holders(finished));
    if (disk.stat(path) === null) clearLeftovers(context, path);
    disk.makeDirectory(dirname(path));
    reach("materialise:written");
    linkToPlace(disk, finished, path);
    reach("materialise:renamed");
    disk.remove(finished);
    const view = new CheckoutView(disk, path, file);
    view.close();
    return takeFingerprint(disk, context.boot, file, view);
  } finally {
    disk.close(file);
  }
}

/** A link that leads nowhere holds nothing, and gives way. */
function linkToPlace(disk: Disk, finished: string, path: string): void {
  try {
    disk.link(finished, path);
  } catch (error) {
    if (!(error instanceof EngineError && error.code === "file-exists") || disk.stat(path) !== null) throw error;
    disk.remove(path);
    disk.link(finished, path);
  }
}

/** Removes a file and what stands beside it; the exclusive lock stays on what has no name any more. */
export function removeFile(context: ReplaceContext, path: string, lock: CheckoutLock): void {
  refuseOthers(context, path, lock.file);
  lock.detach();
  removeSideFiles(context.disk, path);
  context.disk.remove(path);
}

/** Moves a file to where none is. */
export function moveFile(context: ReplaceContext, path: string, lock: CheckoutLock, to: string): void {
  const { disk } = context;
  if (disk.stat(to) !== null) {
    throw new EngineError("file-exists", `Cannot move ${path} to ${to}: there is a file`, {
      untouched: "Both files are unchanged.",
      details: { path: to },
    });
  }
  refuseOthers(context, path, lock.file);
  clearLeftovers(context, to);
  lock.detach();
  removeSideFiles(disk, path);
  disk.makeDirectory(dirname(to));
  disk.rename(path, to);
}

/** A hold can last, and a client that opens the file meanwhile waits for its lock: it would wait on a file without a name. */
function refuseOthers(context: LockContext, path: string, file: FileDescriptor): void {
  const holders = findOthers(context, path, file);
  if (holders.length > 0) throw checkoutBusy(path, holders);
}

/** Side files of a main file that somebody deleted. A program that still works on that one keeps it, without a name. */
function clearLeftovers(context: LockContext, path: string): void {
  if (!hasSideFiles(context.disk, path)) return;
  const holders = context.holders(path);
  if (holders.length > 0) throw checkoutBusy(path, holders);
  removeSideFiles(context.disk, path);
}
