/**
 * How a checkout comes to hold another version, so that a kill at any moment leaves the old content or the new one for
 * every stock client, never a mix.
 *
 * A few pages (`foldPatch`):
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
import { dirname } from "node:path";
import { assert } from "#shared/assert.ts";
import { parseWalFrameHeader, walFrameOffset, WAL_FRAME_HEADER_BYTES } from "../format/wal.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { CheckoutView } from "./checkout-view.ts";
import { takeFingerprint } from "./fingerprint.ts";
import { Shadow } from "./shadow.ts";
import { hasSideFiles, removeSideFiles, sidePaths } from "./side-files.ts";
import { checkoutBusy, findOthers, lockWholeFile, type CheckoutLock, type LockContext } from "./sqlite-locks.ts";
import { temporaryName, type TemporaryFiles, type WrittenPatch } from "./write-patch.ts";

const FOLD_CHUNK_BYTES = 1024 * 1024;
/** Kept: folding never waits, and a new buffer costs more than the pages of a small patch. */
let foldBuffer = new Uint8Array(0);

export interface ReplaceContext extends LockContext, TemporaryFiles {
  readonly boot: string;
  /** The folder of shadows; without it there are none. */
  readonly shadows?: string | undefined;
}

/** The lock is exclusive; `written` is the complete WAL of one transaction (`write-patch.ts`). Returns the pages it had. */
export function foldPatch(context: ReplaceContext, path: string, file: FileDescriptor, written: WrittenPatch): number[] {
  const { disk } = context;
  const { wal } = sidePaths(path);
  const walFile = disk.open(written.wal, "r");
  try {
    reach("patch:written");
    removeSideFiles(disk, path);
    disk.rename(written.wal, wal);
    reach("patch:renamed");
    const pages = foldFrames(disk, { ...written, from: walFile, into: file });
    disk.truncate(file, written.pageCount * written.pageSize);
    reach("patch:folded");
    disk.remove(wal);
    reach("patch:done");
    return pages;
  } finally {
    disk.close(walFile);
  }
}

function foldFrames(
  disk: Disk,
  work: { readonly from: FileDescriptor; readonly into: FileDescriptor; readonly frames: number; readonly pageSize: number },
): number[] {
  const pages: number[] = [];
  const frameBytes = WAL_FRAME_HEADER_BYTES + work.pageSize;
  const framesPerChunk = Math.min(work.frames, Math.max(1, Math.floor(FOLD_CHUNK_BYTES / frameBytes)));
  if (foldBuffer.length < framesPerChunk * frameBytes) foldBuffer = new Uint8Array(framesPerChunk * frameBytes);
  const chunk = foldBuffer;
  for (let first = 0; first < work.frames; first += framesPerChunk) {
    const wanted = chunk.subarray(0, Math.min(framesPerChunk, work.frames - first) * frameBytes);
    const filled = disk.read(work.from, wanted, walFrameOffset(work.pageSize, first));
    assert(filled === wanted.length, "the WAL holds every frame that was written");
    for (let at = 0; at < filled; at += frameBytes) {
      const { pageNumber } = parseWalFrameHeader(chunk.subarray(at, at + WAL_FRAME_HEADER_BYTES));
      disk.write(work.into, chunk.subarray(at + WAL_FRAME_HEADER_BYTES, at + frameBytes), (pageNumber - 1) * work.pageSize);
      pages.push(pageNumber);
    }
  }
  return pages;
}

/** The lock is exclusive and stands, afterwards, on the new file. */
export function swapFile(context: ReplaceContext, path: string, lock: CheckoutLock, finished: string): void {
  const { disk } = context;
  const next = disk.open(finished, "r+");
  const previous = temporaryName(context, path, "previous");
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
    const fingerprint = takeFingerprint(disk, context.boot, file, view);
    Shadow.of(context, file)?.follow(fingerprint, [], true);
    return fingerprint;
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

/**
 * Moves a file away for other use; false, with nothing at `to`, when a client opened it just before: it would write into what
 * becomes somebody else's file. Once it is moved nobody can open it any more, so looking after that is enough.
 */
export function retireFile(context: ReplaceContext, path: string, lock: CheckoutLock, to: string): boolean {
  moveFile(context, path, lock, to);
  reach("retire:moved");
  if (findOthers(context, to, lock.file).length === 0) return true;
  context.disk.remove(to);
  return false;
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
