/**
 * The two locks under which a checkout is looked at and replaced.
 *
 *   write       SQLite's own write lock, taken by a connection of ours (BEGIN IMMEDIATE): right in every journal mode,
 *               recovers a hot journal or a left-over WAL, and lets readers go on.
 *   exclusive   all of SQLite's lock bytes of the main file, through an open-file-description lock: no client reads,
 *               writes, or even opens its WAL. Before it counts, nothing is left to fold in, and no other process has the
 *               file open (an idle client in a rollback-journal mode holds no lock). Where such locks do not exist, a
 *               connection in exclusive locking mode takes the place: slower, and a file that was just swapped in is
 *               not locked.
 *
 * The POSIX lock trap: closing any descriptor of a file drops all POSIX locks of the process on it. So in both modes our
 * own descriptor is opened before the connection and closed after it, and `path-turns.ts` keeps a second hold away.
 */
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { Holder } from "#shared/error-codes.ts";
import { LOCK_BYTE } from "../format/sqlite-header.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import type { Native } from "../io/native.ts";
import { checkoutCorrupt } from "./checkout-view.ts";
import { hasJournalContent, sidePaths, walBytes } from "./side-files.ts";

/** PENDING, RESERVED and the SHARED range, as SQLite's os_unix.c lays them out. */
const LOCK_BYTES = { start: LOCK_BYTE, length: 512 };
const SHARED_BYTES = { start: LOCK_BYTE + 2, length: 510 };
const RETRY_MS_MAX = 20;
/** A client that closes in between leaves something to fold in again. */
const FOLDS_MAX = 3;

export interface LockContext {
  readonly disk: Disk;
  readonly native: Native;
  /** Processes other than this one that have the file or its side files open. */
  readonly holders: (path: string) => Holder[];
}

export interface CheckoutLock {
  /** Read and write in mode "exclusive", else read only. Owned by the lock. */
  readonly file: FileDescriptor;
  /** The file is about to be replaced, or pages of it: nothing that is released later may touch side files by name. */
  detach(): void;
  /** Takes over the descriptor of the file that stands at the path from now on. Mode "exclusive" only. */
  replaceFile(file: FileDescriptor): void;
  release(): void;
}

/** Both throw `checkout-busy` after `waitMs`; `file-not-found`, `permission-denied`, `checkout-corrupt` at once. */
export function takeWriteLock(context: LockContext, path: string, waitMs: number): Promise<CheckoutLock> {
  return retry(context, path, waitMs, () => tryWriteLock(context, path));
}

export function takeExclusiveLock(context: LockContext, path: string, waitMs: number): Promise<CheckoutLock> {
  return retry(context, path, waitMs, () =>
    context.native.hasRangeLocks ? tryRangeLock(context, path) : tryConnectionLock(context, path),
  );
}

/** False when somebody has the file: for a file that is not at its place yet. */
export function lockWholeFile(native: Native, file: FileDescriptor): boolean {
  return !native.hasRangeLocks || native.lockRange(file, LOCK_BYTES.start, LOCK_BYTES.length, "exclusive");
}

/** Others that have a file open. The kernel's own answer first: looking through all processes takes milliseconds. */
export function findOthers(context: LockContext, path: string, file: FileDescriptor): readonly Holder[] {
  return context.native.isSoleOpener(file) ? [] : context.holders(path);
}

export function checkoutBusy(path: string, holders: readonly Holder[]): EngineError {
  const named = holders.map((holder) => `${holder.program ?? "a program"} (pid ${holder.pid})`).join(", ");
  return new EngineError("checkout-busy", `Cannot lock ${path}: it is in use${named ? ` by ${named}` : ""}`, {
    hint: named ? "Close it there, or wait until it is done." : "Close the programs that have it open.",
    untouched: `${path} is unchanged.`,
    retryable: true,
    details: { path, holders },
  });
}

async function retry(context: LockContext, path: string, waitMs: number, attempt: () => CheckoutLock | null): Promise<CheckoutLock> {
  const deadline = performance.now() + waitMs;
  for (let tries = 0; ; tries += 1) {
    const lock = attempt();
    if (lock) return lock;
    const left = deadline - performance.now();
    if (left <= 0) throw checkoutBusy(path, context.holders(path));
    // Jitter, so that two processes that stepped back from each other do not meet again.
    await sleep(Math.min(left, RETRY_MS_MAX, 1 + Math.random() * 2 ** Math.min(tries, 5)));
  }
}

function tryWriteLock(context: LockContext, path: string): CheckoutLock | null {
  const { disk, native } = context;
  const file = disk.open(path, "r");
  const connection = openConnection(disk, path, file, (opened) => opened.exec("BEGIN IMMEDIATE"));
  if (connection === null) return null;
  return {
    file,
    detach: () => undefined,
    replaceFile: () => undefined,
    release: () => {
      // The last connection to close folds the WAL in and deletes it, unless somebody else has the file. Its frames are
      // what the fingerprint speaks of, so we are that somebody.
      if (native.hasRangeLocks && walBytes(disk, path) > 0) native.lockRange(file, SHARED_BYTES.start, SHARED_BYTES.length, "shared");
      connection.close();
      disk.close(file);
    },
  };
}

function tryRangeLock(context: LockContext, path: string): CheckoutLock | null {
  const { disk, native } = context;
  let file = disk.open(path, "r+");
  let isLocked = false;
  try {
    isLocked = lockQuietFile(context, path, file);
  } finally {
    if (!isLocked) disk.close(file);
  }
  if (!isLocked) return null;
  return {
    get file() {
      return file;
    },
    detach: () => undefined,
    replaceFile: (next) => {
      disk.close(file);
      file = next;
    },
    release: () => {
      native.unlockRange(file, LOCK_BYTES.start, LOCK_BYTES.length);
      disk.close(file);
    },
  };
}

/** Locks, looks, and when something is left in the side files, lets SQLite fold it in and starts over. */
function lockQuietFile(context: LockContext, path: string, file: FileDescriptor): boolean {
  const { disk, native } = context;
  for (let folds = 0; folds <= FOLDS_MAX; folds += 1) {
    if (!lockWholeFile(native, file) || !isAtPath(disk, path, file) || findOthers(context, path, file).length > 0) return false;
    if (!hasSideContent(disk, path)) return true;
    native.unlockRange(file, LOCK_BYTES.start, LOCK_BYTES.length);
    const outcome = foldSideFiles(path);
    if (outcome === "busy") return false;
    // Nobody can fold anything into what is no database. It can still be replaced: that is why it is held.
    if (outcome === "not-a-database")
      return lockWholeFile(native, file) && isAtPath(disk, path, file) && findOthers(context, path, file).length === 0;
  }
  return false;
}

/** Synced: what is in a WAL may be a client's durable work. */
function foldSideFiles(path: string): "folded" | "busy" | "not-a-database" {
  const connection = new Database(path, { fileMustExist: true, timeout: 0 });
  try {
    connection.pragma("synchronous = FULL");
    // The first read rolls a hot journal back.
    connection.pragma("schema_version");
    connection.pragma("wal_checkpoint(TRUNCATE)");
    return "folded";
  } catch (error) {
    if (isBusy(error)) return "busy";
    const known = asEngineError(path, error);
    if (known.code === "checkout-corrupt") return "not-a-database";
    throw known;
  } finally {
    connection.close();
  }
}

function tryConnectionLock(context: LockContext, path: string): CheckoutLock | null {
  const { disk } = context;
  let file = disk.open(path, "r+");
  let connection: Database.Database | null = null;
  try {
    connection = openConnection(disk, path, file, (opened) => {
      opened.pragma("locking_mode = EXCLUSIVE");
      opened.pragma("synchronous = FULL");
      opened.pragma("schema_version");
      opened.pragma("wal_checkpoint(TRUNCATE)");
      opened.exec("BEGIN EXCLUSIVE");
    });
    if (connection === null) return null;
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "checkout-corrupt") throw error;
    // No client can use what is no database, so there is nobody to keep out.
    file = disk.open(path, "r+");
  }
  if (context.holders(path).length > 0 || (connection !== null && hasSideContent(disk, path))) {
    connection?.close();
    disk.close(file);
    return null;
  }
  // The index of a client that was killed; this locking mode does without.
  disk.remove(sidePaths(path).shm);
  return {
    get file() {
      return file;
    },
    // A connection in WAL mode removes the WAL by name when it closes, which must not be one that a patch put there.
    detach: () => {
      if (connection === null) return;
      connection.exec("ROLLBACK");
      connection.pragma("journal_mode = DELETE");
      connection.exec("BEGIN EXCLUSIVE");
    },
    replaceFile: (next) => {
      disk.close(file);
      file = next;
    },
    release: () => {
      connection?.close();
      disk.close(file);
    },
  };
}

/**
 * Opens a connection on the file that `file` is open on, and locks it. Null when somebody has it or it was replaced
 * meanwhile. `file` is closed, after the connection, unless the connection is returned.
 */
function openConnection(
  disk: Disk,
  path: string,
  file: FileDescriptor,
  lock: (connection: Database.Database) => void,
): Database.Database | null {
  let connection: Database.Database | null = null;
  let isLocked = false;
  try {
    connection = new Database(path, { fileMustExist: true, timeout: 0 });
    lock(connection);
    isLocked = isAtPath(disk, path, file);
  } catch (error) {
    if (!isBusy(error)) throw asEngineError(path, error);
  } finally {
    if (!isLocked) {
      connection?.close();
      disk.close(file);
    }
  }
  return isLocked ? connection : null;
}

function isAtPath(disk: Disk, path: string, file: FileDescriptor): boolean {
  const stat = disk.stat(path);
  const own = disk.statFile(file);
  return stat !== null && stat.inode === own.inode && stat.device === own.device;
}

function hasSideContent(disk: Disk, path: string): boolean {
  return walBytes(disk, path) > 0 || hasJournalContent(disk, path);
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

function asEngineError(path: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (!(error instanceof Database.SqliteError)) throw error;
  const kind = /^SQLITE_([A-Z]+)/.exec(error.code)?.[1] ?? "";
  if (kind === "NOTADB" || kind === "CORRUPT") return checkoutCorrupt(path, error.message, error);
  // No room for the WAL's index, which a first connection makes.
  const isFull = kind === "FULL" || error.code === "SQLITE_IOERR_SHMSIZE";
  const code = isFull ? "disk-full" : ["READONLY", "PERM", "CANTOPEN", "AUTH"].includes(kind) ? "permission-denied" : "io-failed";
  return new EngineError(code, `Cannot lock ${path}: ${isFull ? "the disk is full" : error.message}`, {
    ...(isFull ? { hint: "Free some space, then try again." } : {}),
    untouched: `${path} is unchanged.`,
    details: { path },
    cause: error,
  });
}
