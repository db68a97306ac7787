import { findHolders } from "../io/holders.ts";
import { EngineError } from "../io/errors.ts";
import type { Disk } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import type { Holder } from "#shared/error-codes.ts";

/** What import and export need of the machine. */
export interface TransferIo {
  readonly disk: Disk;
  readonly native: Native;
}

/** A database file and what SQLite keeps beside it. */
export interface DatabasePaths {
  readonly main: string;
  readonly wal: string;
  readonly shm: string;
  readonly journal: string;
}

export function databasePaths(main: string): DatabasePaths {
  return { main, wal: `${main}-wal`, shm: `${main}-shm`, journal: `${main}-journal` };
}

/** Other processes that have the file or its side files open, as far as the system tells. */
export function otherHolders(paths: DatabasePaths): Holder[] {
  return findHolders([paths.main, paths.wal, paths.shm, paths.journal]).filter((holder) => holder.pid !== process.pid);
}

/** "sqlite3 (pid 4711, writing), node (pid 12, open)". */
export function holdersText(holders: readonly Holder[]): string {
  return holders.map((holder) => `${holder.program ?? "a program"} (pid ${holder.pid}, ${holder.access})`).join(", ");
}

/**
 * Resolves symbolic links, because SQLite keeps the side files beside the file that a link points to. Throws
 * `file-not-found`, `permission-denied`, or `not-sqlite` for anything that is no ordinary file (a pipe would block).
 */
export function locateSource(disk: Disk, file: string): DatabasePaths {
  const stat = disk.stat(file);
  if (!stat) throw new EngineError("file-not-found", `Import of ${file}: no such file`, { details: { path: file } });
  if (stat.kind !== "file") {
    const found = stat.kind === "directory" ? "a folder" : "a device or pipe";
    throw new EngineError("not-sqlite", `Import of ${file}: expected a database file, found ${found}`, {
      details: { path: file, expected: "a file", found },
    });
  }
  return databasePaths(disk.realPath(file));
}
