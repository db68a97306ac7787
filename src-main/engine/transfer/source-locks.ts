/**
 * SQLite's lock protocol on a source that is only read (source: SQLite's `os_unix.c` and `wal.c`). Locks are shared
 * open-file-description locks, so they need no write permission and go with the descriptor.
 *
 *  - Main file: shared on the SHARED range, taken the way a reader takes it, PENDING first. While it is held no
 *    rollback-journal commit reaches the main file, nobody deletes the WAL, and nobody changes the journal mode.
 *  - `-shm`: shared on the WAL_CKPT_LOCK byte. While it is held nobody moves WAL frames into the main file; writers go on
 *    appending to the WAL.
 *
 * RESERVED is never touched: SQLite asks for that byte to tell a hot journal from one in use, and a lock of ours there,
 * however short, would let another client read a half-written database. The DMS byte of the `-shm` is never touched
 * either: a client that finds it locked trusts an old `-shm`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { EngineError } from "../io/errors.ts";
import { LOCK_BYTE } from "../format/sqlite-header.ts";
import type { FileDescriptor } from "../io/disk.ts";
import { holdersText, otherHolders, type DatabasePaths, type TransferIo } from "./source-files.ts";

const PENDING = LOCK_BYTE;
const SHARED_FIRST = LOCK_BYTE + 2;
const SHARED_LENGTH = 510;
/** The 120 bytes before are the wal-index header; then write, sqliteCheckpoint, recover and five read locks. */
const SHM_CHECKPOINT = 121;
const RETRY_MS = 15;

/** How the main file was kept still: under SQLite's locks, or only compared before and after. */
export type Stillness = "locked" | "watched";

/**
 * Keeps SQLite clients from changing the main file until `main` is closed. Waits until `deadline` (`performance.now()`
 * time), then throws `source-busy` naming the holders.
 */
export async function lockMain(io: TransferIo, paths: DatabasePaths, main: FileDescriptor, deadline: number): Promise<Stillness> {
  if (!io.native.hasRangeLocks) return "watched";
  await retryUntil(
    deadline,
    () => lockShared(io, main),
    () => busy(paths, "a writer is changing the file"),
  );
  return "locked";
}

/**
 * Keeps the WAL from being moved into the main file until `shm` is closed. The `-shm` is opened after `lockMain`, which
 * keeps clients from deleting it.
 */
export async function lockWal(io: TransferIo, paths: DatabasePaths, shm: FileDescriptor, deadline: number): Promise<void> {
  if (!io.native.hasRangeLocks) return;
  await retryUntil(
    deadline,
    () => io.native.lockRange(shm, SHM_CHECKPOINT, 1, "shared"),
    () => busy(paths, "its WAL is being moved into the file"),
  );
}

function lockShared(io: TransferIo, main: FileDescriptor): boolean {
  if (!io.native.lockRange(main, PENDING, 1, "shared")) return false;
  const locked = io.native.lockRange(main, SHARED_FIRST, SHARED_LENGTH, "shared");
  io.native.unlockRange(main, PENDING, 1);
  return locked;
}

async function retryUntil(deadline: number, attempt: () => boolean, failure: () => EngineError): Promise<void> {
  while (!attempt()) {
    if (performance.now() >= deadline) throw failure();
    await sleep(RETRY_MS);
  }
}

function busy(paths: DatabasePaths, what: string): EngineError {
  const holders = otherHolders(paths);
  const names = holders.length > 0 ? `; held by ${holdersText(holders)}` : "";
  return new EngineError("source-busy", `Import of ${paths.main}: ${what}${names}`, {
    hint: "Try again when the other program has finished its transaction.",
    untouched: "The file is as it was; nothing was imported.",
    retryable: true,
    details: { path: paths.main, holders },
  });
}
