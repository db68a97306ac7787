/**
 * Copies a database that may be in use, to a state that some reader could have seen, and leaves no trace: the source is
 * never opened with SQLite, which would recover a left-over WAL (rewriting it), create a `-shm`, or delete side files.
 *
 * Runs where no SQLite connection on the source is open in the same process (see docs/ARCHITECTURE.md, "The POSIX lock
 * trap"); takes and returns plain data, so that it can be asked for across a process border.
 *
 * The rule that makes a copy right: the main file did not change from before it was read until after everything was, and
 * the WAL's salts did not change while the WAL was read. A WAL only grows behind its last commit, or starts again once
 * all of it is in the main file, so the two together are a committed state. A rollback journal is copied after the main
 * file; see `source-journal.ts`. SQLite's locks (`source-locks.ts`) make this succeed at once; where they do not exist,
 * the copy is taken again when something moved.
 */
import { createHash, type Hash } from "node:crypto";
import { EngineError } from "../io/errors.ts";
import { WAL_HEADER_BYTES, readWal } from "../format/wal.ts";
import { judgeFile } from "./judge-file.ts";
import { databasePaths, locateSource, otherHolders, type DatabasePaths, type TransferIo } from "./source-files.ts";
import { journalBytesToCopy } from "./source-journal.ts";
import { lockMain, lockWal, type Stillness } from "./source-locks.ts";
import type { Disk, FileDescriptor, FileStat } from "../io/disk.ts";
import type { Holder } from "#shared/error-codes.ts";
import { Pace } from "../segments/pace.ts";
import type { Work } from "../segments/page-source.ts";

const CHUNK_BYTES = 1024 * 1024;
const ATTEMPTS_MAX = 4;

export interface CopyRequest {
  readonly file: string;
  /** Where the copy goes; nothing may be there. Side files go beside it. */
  readonly into: string;
  /** Milliseconds to wait for another program's transaction. */
  readonly waitMs: number;
}

export interface SourceCopy {
  /** As asked for. */
  readonly source: string;
  /** With symbolic links resolved. */
  readonly realPath: string;
  /** Of the main file. */
  readonly bytes: number;
  /** Of the main file before and after, hex; the two were equal. */
  readonly sha256: string;
  /** Names that the file has. */
  readonly links: number;
  readonly stillness: Stillness;
  /** Null when there is no WAL that SQLite would use. */
  readonly wal: { readonly frames: number; readonly transactions: number; readonly unfinishedFrames: number } | null;
  /** Bytes of the journal beside it, and of what must be rolled back on the copy. */
  readonly journal: { readonly bytes: number; readonly rollBackBytes: number } | null;
  readonly holders: readonly Holder[];
}

/**
 * Copies `file` and what SQLite needs of its side files to `into`. Opening the copy with SQLite then recovers it. Throws
 * `file-not-found`, `not-sqlite`, `encrypted`, `truncated`, `unsupported`, `permission-denied`, `source-busy`,
 * `source-changed`, `disk-full`, `cancelled`; nothing is left at `into` then.
 */
export async function copySource(io: TransferIo, request: CopyRequest, work: Work): Promise<SourceCopy> {
  try {
    let changed = "";
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const result = await tryCopy(io, request, work);
      if (typeof result !== "string") return result;
      changed = result;
      removeCopy(io.disk, request.into);
    }
    throw new EngineError("source-changed", `Import of ${request.file}: ${changed} while it was read, ${ATTEMPTS_MAX} times in a row`, {
      hint: "Stop the program that changes it, or import a copy.",
      untouched: "Nothing was imported.",
      retryable: true,
      details: { path: request.file, holders: otherHolders(databasePaths(request.file)) },
    });
  } catch (error) {
    removeCopy(io.disk, request.into);
    throw error;
  }
}

/** Removes a copy and its side files. */
export function removeCopy(disk: Disk, into: string): void {
  const paths = databasePaths(into);
  for (const path of [paths.main, paths.wal, paths.shm, paths.journal]) disk.remove(path);
}

/** Returns what changed meanwhile when the copy is not to be trusted. */
async function tryCopy(io: TransferIo, request: CopyRequest, work: Work): Promise<SourceCopy | string> {
  const { disk } = io;
  const paths = locateSource(disk, request.file);
  // With a side file beside it the main file alone proves nothing: it is judged again after recovery.
  if (!hasContent(disk, paths.wal) && !hasContent(disk, paths.journal)) judgeFile(disk, paths.main, request.file);
  const main = disk.open(paths.main, "r");
  let shm: FileDescriptor | null = null;
  try {
    const deadline = performance.now() + request.waitMs;
    const stillness = await lockMain(io, paths, main, deadline);
    shm = openIfThere(disk, paths.shm);
    if (shm !== null) await lockWal(io, paths, shm, deadline);
    const before = disk.statFile(main);
    const sha256 = await copyMain(disk, main, before.size, request.into, work);
    const journal = await copyJournal(disk, paths, request.into, work);
    const wal = before.size === 0 ? null : await copyWal(disk, paths, request.into, work);
    const changed = wal === "reset" ? "its WAL started again" : await mainChanged(disk, { paths, main, before, sha256 }, work);
    if (changed || wal === "reset") return changed ?? "its WAL started again";
    return {
      source: request.file,
      realPath: paths.main,
      bytes: before.size,
      sha256,
      links: before.links,
      stillness,
      wal,
      journal,
      holders: otherHolders(paths),
    };
  } finally {
    if (shm !== null) disk.close(shm);
    disk.close(main);
  }
}

async function copyMain(disk: Disk, main: FileDescriptor, size: number, into: string, work: Work): Promise<string> {
  const hash = createHash("sha256");
  const copy = disk.open(into, "wx+", 0o600);
  try {
    await readThrough(disk, main, size, work, (bytes, position) => {
      hash.update(bytes);
      disk.write(copy, bytes, position);
    });
    return hash.digest("hex");
  } finally {
    disk.close(copy);
  }
}

async function copyJournal(disk: Disk, paths: DatabasePaths, into: string, work: Work): Promise<SourceCopy["journal"]> {
  const journal = openIfThere(disk, paths.journal);
  if (journal === null) return null;
  try {
    const { size } = disk.statFile(journal);
    const rollBackBytes = journalBytesToCopy(disk, journal);
    if (rollBackBytes > 0) await copyBytes(disk, journal, rollBackBytes, databasePaths(into).journal, quietly(work));
    return size === 0 ? null : { bytes: size, rollBackBytes };
  } finally {
    disk.close(journal);
  }
}

async function copyWal(disk: Disk, paths: DatabasePaths, into: string, work: Work): Promise<SourceCopy["wal"] | "reset"> {
  const wal = openIfThere(disk, paths.wal);
  if (wal === null) return null;
  try {
    const target = databasePaths(into).wal;
    const start = readStart(disk, wal);
    await copyBytes(disk, wal, disk.statFile(wal).size, target, quietly(work));
    if (!start.equals(readStart(disk, wal))) return "reset";
    const copy = disk.open(target, "r");
    try {
      const content = readWal(disk, copy);
      return content && { frames: content.framePages.length, transactions: content.commits, unfinishedFrames: content.uncommittedFrames };
    } finally {
      disk.close(copy);
    }
  } finally {
    disk.close(wal);
  }
}

/** Null when the main file is, byte for byte and at the same path, what was copied. */
async function mainChanged(
  disk: Disk,
  read: { paths: DatabasePaths; main: FileDescriptor; before: FileStat; sha256: string },
  work: Work,
): Promise<string | null> {
  const there = disk.stat(read.paths.main);
  if (!there) return "it was deleted";
  if (there.device !== read.before.device || there.inode !== read.before.inode) return "another file took its place";
  const hash = await hashFile(disk, read.main, read.before.size, work);
  const after = disk.statFile(read.main);
  return hash === read.sha256 && after.size === read.before.size ? null : "its contents changed";
}

async function hashFile(disk: Disk, file: FileDescriptor, size: number, work: Work): Promise<string> {
  const hash: Hash = createHash("sha256");
  await readThrough(disk, file, size, quietly(work), (bytes) => hash.update(bytes));
  return hash.digest("hex");
}

async function copyBytes(disk: Disk, from: FileDescriptor, size: number, to: string, work: Work): Promise<void> {
  const copy = disk.open(to, "wx+", 0o600);
  try {
    await readThrough(disk, from, size, work, (bytes, position) => disk.write(copy, bytes, position));
  } finally {
    disk.close(copy);
  }
}

/** Reads `size` bytes a chunk at a time, less when the file ends before; the event loop turns between chunks. */
async function readThrough(
  disk: Disk,
  file: FileDescriptor,
  size: number,
  work: Work,
  take: (bytes: Uint8Array, position: number) => void,
): Promise<void> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  const pace = new Pace("The import", work, size);
  for (let position = 0; position < size; position += CHUNK_BYTES) {
    const bytes = chunk.subarray(0, disk.read(file, chunk.subarray(0, Math.min(CHUNK_BYTES, size - position)), position));
    take(bytes, position);
    await pace.advance(bytes.length);
  }
}

/** Cancellable, but not counted: the main file alone is what progress is about. */
function quietly(work: Work): Work {
  return { signal: work.signal };
}

function readStart(disk: Disk, wal: FileDescriptor): Buffer {
  const start = Buffer.alloc(WAL_HEADER_BYTES);
  return start.subarray(0, disk.read(wal, start, 0));
}

function hasContent(disk: Disk, path: string): boolean {
  return (disk.stat(path)?.size ?? 0) > 0;
}

/** Null when the file is gone: side files come and go with their clients. */
function openIfThere(disk: Disk, path: string): FileDescriptor | null {
  try {
    return disk.open(path, "r");
  } catch (error) {
    if (error instanceof EngineError && error.code === "file-not-found") return null;
    throw error;
  }
}
