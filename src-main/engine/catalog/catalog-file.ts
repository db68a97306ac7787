/** The catalog's file before any connection of the engine is on it. */
import { dirname } from "node:path";
import Database from "better-sqlite3";
import type { UnixMs } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Disk } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { toCatalogError } from "./catalog-error.ts";
import type { CommitLock } from "./commit-queue.ts";
import { WAL_PAGES, type ConnectionPorts } from "./connection.ts";
import { APPLICATION_ID, FORMAT_VERSION, SCHEMA } from "./schema.ts";

const PAGE_BYTES = 4096;
/** Header, a full WAL, and room for the commit that fills it. */
const RESERVED_WAL_BYTES = 32 + (WAL_PAGES + 64) * (PAGE_BYTES + 24);

/**
 * Builds the file beside its place and renames it there, so that a crash leaves a whole catalog or none. The caller
 * holds the catalog's lock: nobody else creates one meanwhile.
 */
export function createCatalogFile(path: string, disk: Disk, identity: { readonly uid: Uint8Array; readonly at: UnixMs }): void {
  if (disk.stat(path))
    throw new EngineError("store-exists", `There is already a catalog at ${path}`, { details: { path }, untouched: "It was not changed." });
  const unfinished = `${path}.new`;
  for (const ending of ["", "-wal", "-shm", "-journal"]) disk.remove(unfinished + ending);
  try {
    const database = new Database(unfinished);
    try {
      database.pragma(`page_size = ${PAGE_BYTES}`);
      database.pragma("auto_vacuum = INCREMENTAL");
      // Nobody knows the file yet: one sync at the end, instead of three for each table.
      database.pragma("synchronous = OFF");
      database.pragma("journal_mode = OFF");
      database.exec(SCHEMA);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database
        .prepare("INSERT INTO meta (only, format, uid, created_at) VALUES (1, ?, ?, ?)")
        .run(FORMAT_VERSION, identity.uid, identity.at);
      database.pragma("journal_mode = WAL");
    } finally {
      database.close();
    }
    syncFile(unfinished, disk);
  } catch (error) {
    for (const ending of ["", "-wal", "-shm", "-journal"]) disk.remove(unfinished + ending);
    throw toCatalogError(error, "Creating", path);
  }
  disk.rename(unfinished, path);
  disk.syncDirectory(dirname(path));
}

function syncFile(path: string, disk: Disk): void {
  const file = disk.open(path, "r+");
  try {
    disk.sync(file);
  } finally {
    disk.close(file);
  }
}

/**
 * Makes the WAL's file long enough for all the frames it gets before it is folded in, so that commits write into blocks
 * that exist. SQLite stops reading a WAL at the first frame that does not belong to it; zeros never do. Only where our
 * lock keeps the file from being deleted at the next close.
 */
export function reserveWal(path: string, ports: ConnectionPorts, lock: CommitLock): void {
  const { disk, native } = ports;
  const wal = `${path}-wal`;
  const stat = disk.stat(wal);
  if (!native.hasRangeLocks || !stat || stat.size >= RESERVED_WAL_BYTES) return;
  lock.acquire(LIMITS.catalogLockWaitMs);
  try {
    const file = disk.open(wal, "r+");
    try {
      const { size } = disk.statFile(file);
      if (size >= RESERVED_WAL_BYTES) return;
      disk.write(file, new Uint8Array(RESERVED_WAL_BYTES - size), size);
      disk.sync(file);
    } finally {
      disk.close(file);
    }
  } catch (error) {
    // Without room the WAL grows as it always can; a full disk must not keep anybody from reading the store.
    if (!(error instanceof EngineError && error.code === "disk-full")) throw error;
  } finally {
    lock.release();
  }
}
