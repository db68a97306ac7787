/**
 * A fingerprint proves, without reading a page, that a checkout still holds what it held when the fingerprint was taken.
 *
 *   text   1.BOOT.DEVICE.INODE.SIZE.MTIME.CTIME.PAGES.WAL     numbers in base 36, times in nanoseconds
 *   WAL    "-" when no frame is committed, else SALT1-SALT2-FRAMES-SUM1-SUM2 (checksum of the last committed frame)
 *
 * Why it holds:
 * - A writer of the main file gives it the current time as mtime. The recorded mtime lies at least 50 ms back (set so
 *   under SQLite's write lock when it did not already), and the kernel's clock ticks every 10 ms or faster, so no later
 *   write can leave it as recorded. What `stat` returns after setting is recorded; when that is not what was set (whole
 *   seconds, two seconds, another owner) there is no fingerprint.
 * - A committed transaction in WAL mode need not touch the main file: it is seen in the WAL itself, at the place where
 *   the next frame must go, or by new salts.
 * - SQLite writes through `pwrite`. A build that writes through a memory map (SQLITE_MMAP_READWRITE) gets its mtime when
 *   a clean page is first dirtied, and after each sync; SQLite syncs the file at the end of every transaction or
 *   sqliteCheckpoint unless `synchronous=OFF`.
 * - Files are not synced by us, so after a power cut a file may be older than its stat says: a fingerprint of another
 *   boot proves nothing.
 */
import type { Disk, FileDescriptor, FileStat } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import {
  parseWalFrameHeader,
  parseWalHeader,
  readWal,
  walFrameOffset,
  WAL_FRAME_HEADER_BYTES,
  WAL_HEADER_BYTES,
  type WalChecksum,
  type WalContent,
} from "../format/wal.ts";
import { hasJournalContent, sidePaths } from "./side-files.ts";

const VERSION = "1";
const NS_PER_MS = 1_000_000n;
/** Further back than any timestamp granularity: nothing needs to be set. */
const SETTLED_NS = 2_500n * NS_PER_MS;
const SET_BACK_NS = 50n * NS_PER_MS;
/** Beyond rounding of what was set, within the distance to the next write. */
const GRANULARITY_NS = 10n * NS_PER_MS;

export interface WalMark {
  readonly salt1: number;
  readonly salt2: number;
  readonly frames: number;
  readonly last: WalChecksum;
}

export interface Fingerprint {
  readonly boot: string;
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly pageCount: number;
  readonly wal: WalMark | null;
}

export function formatFingerprint(print: Fingerprint): string {
  const { wal } = print;
  const mark = wal ? [wal.salt1, wal.salt2, wal.frames, wal.last.first, wal.last.second].map((value) => value.toString(36)).join("-") : "-";
  const numbers = [print.device, print.inode, print.size, print.mtimeNs, print.ctimeNs, print.pageCount].map((value) => value.toString(36));
  return [VERSION, print.boot, ...numbers, mark].join(".");
}

/** Null for a text of another version, which proves nothing. */
export function parseFingerprint(text: string): Fingerprint | null {
  const [version, boot, device, inode, size, mtime, ctime, pages, mark, ...rest] = text.split(".");
  if (version !== VERSION || !boot || !device || !inode || !size || !mtime || !ctime || !pages || !mark || rest.length > 0) return null;
  const wal = mark === "-" ? null : parseWalMark(mark);
  if (wal === undefined) return null;
  return {
    boot,
    device: parseBase36(device),
    inode: parseBase36(inode),
    size: parseInt(size, 36),
    mtimeNs: parseBase36(mtime),
    ctimeNs: parseBase36(ctime),
    pageCount: parseInt(pages, 36),
    wal,
  };
}

function parseWalMark(text: string): WalMark | undefined {
  const [salt1, salt2, frames, first, second, ...rest] = text.split("-").map((part) => parseInt(part, 36));
  if (salt1 === undefined || salt2 === undefined || frames === undefined || first === undefined || second === undefined) return undefined;
  return rest.length > 0 ? undefined : { salt1, salt2, frames, last: { first, second } };
}

function parseBase36(text: string): bigint {
  let value = 0n;
  for (const digit of text) value = value * 36n + BigInt(parseInt(digit, 36));
  return value;
}

/** The main file is the same one, and nobody wrote to it. */
export function isMainUnchanged(print: Fingerprint, stat: FileStat, boot: string): boolean {
  return (
    print.boot === boot &&
    print.device === stat.device &&
    print.inode === stat.inode &&
    print.size === stat.size &&
    print.mtimeNs === stat.mtimeNs &&
    print.ctimeNs === stat.ctimeNs
  );
}

export function markWal(wal: WalContent | null): WalMark | null {
  if (wal === null || wal.framePages.length === 0) return null;
  return { salt1: wal.header.salt1, salt2: wal.header.salt2, frames: wal.framePages.length, last: wal.lastChecksum };
}

export function isSameMark(a: WalMark | null, b: WalMark | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.salt1 === b.salt1 && a.salt2 === b.salt2 && a.frames === b.frames && a.last.first === b.last.first && a.last.second === b.last.second
  );
}

/**
 * Compares without a lock, and without opening the main file (so it may run in any process): stat, side files, stat.
 * "unknown" = it must be looked at under a lock.
 */
export function checkFingerprint(disk: Disk, boot: string, path: string, text: string | null): "missing" | "same" | "unknown" {
  const before = disk.stat(path);
  if (before === null) return "missing";
  const print = text === null ? null : parseFingerprint(text);
  if (print === null || !isMainUnchanged(print, before, boot)) return "unknown";
  try {
    if (hasJournalContent(disk, path) || !isWalUnchanged(disk, sidePaths(path).wal, print.wal)) return "unknown";
  } catch (error) {
    // A side file that went away between two looks, or that only others may read: who takes the lock will learn more.
    if (error instanceof EngineError) return "unknown";
    throw error;
  }
  const after = disk.stat(path);
  return after !== null && isMainUnchanged(print, after, boot) ? "same" : "unknown";
}

/** Takes the fingerprint of an open file under SQLite's write lock. Null where it would prove nothing. */
export function takeFingerprint(
  disk: Disk,
  boot: string,
  file: FileDescriptor,
  content: { readonly pageCount: number; readonly wal: WalContent | null },
): string | null {
  const stat = settleModified(disk, file);
  if (stat === null) return null;
  const { device, inode, size, mtimeNs, ctimeNs } = stat;
  return formatFingerprint({ boot, device, inode, size, mtimeNs, ctimeNs, pageCount: content.pageCount, wal: markWal(content.wal) });
}

function settleModified(disk: Disk, file: FileDescriptor): FileStat | null {
  const stat = disk.statFile(file);
  // The file system's clock is what counts here, so this is no place for an injected one.
  const now = BigInt(Date.now()) * NS_PER_MS;
  if (stat.mtimeNs < now - SETTLED_NS) return stat;
  const wanted = now - SET_BACK_NS;
  try {
    disk.setModified(file, wanted);
  } catch (error) {
    if (error instanceof EngineError && (error.code === "permission-denied" || error.code === "store-read-only")) return null;
    throw error;
  }
  const settled = disk.statFile(file);
  const distance = settled.mtimeNs - wanted;
  return distance > GRANULARITY_NS || distance < -GRANULARITY_NS ? null : settled;
}

/**
 * True when the WAL commits what it did. In the usual case two small reads: the header still has the salts, the last
 * frame its checksum, and behind it stands no frame of this life of the WAL. A frame that does stand there may be of a
 * transaction that was rolled back: then all is read.
 */
function isWalUnchanged(disk: Disk, wal: string, mark: WalMark | null): boolean {
  const stat = disk.stat(wal);
  if (stat === null || stat.size === 0) return mark === null;
  const file = disk.open(wal, "r");
  try {
    const start = new Uint8Array(WAL_HEADER_BYTES);
    const header = parseWalHeader(start.subarray(0, disk.read(file, start, 0)));
    if (header === null) return mark === null;
    if (mark && (header.salt1 !== mark.salt1 || header.salt2 !== mark.salt2)) return false;
    const frames = mark?.frames ?? 0;
    const next = new Uint8Array(WAL_FRAME_HEADER_BYTES);
    const filled = disk.read(file, next, walFrameOffset(header.pageSize, frames));
    const following = filled === next.length ? parseWalFrameHeader(next) : null;
    if (following && following.salt1 === header.salt1 && following.salt2 === header.salt2)
      return isSameMark(markWal(readWal(disk, file)), mark);
    if (mark === null) return true;
    disk.read(file, next, walFrameOffset(header.pageSize, frames - 1));
    const last = parseWalFrameHeader(next);
    return last.commitPages > 0 && last.checksum.first === mark.last.first && last.checksum.second === mark.last.second;
  } finally {
    disk.close(file);
  }
}
