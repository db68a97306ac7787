/**
 * Brings a copy of a source to rest: SQLite recovers its WAL or rolls back its journal, and what remains is one file whose
 * header says the truth about it. From then on its pages are the imported state.
 */
import Database from "better-sqlite3";
import { assert } from "#shared/assert.ts";
import { EngineError } from "../io/errors.ts";
import { judgeFile } from "./judge-file.ts";
import { databasePaths } from "./source-files.ts";
import type { SqliteHeader } from "../format/sqlite-header.ts";
import type { Disk } from "../io/disk.ts";

export interface RecoveredCopy {
  readonly header: SqliteHeader;
  readonly pageCount: number;
  /** The source had no byte: the copy is one page of an empty database. */
  readonly wasEmpty: boolean;
  /** Bytes behind the last page, left out of the copy. */
  readonly trailingBytes: number;
  /** The header's page count did not hold (a writer before SQLite 3.7) and was set from the file's size. */
  readonly countRepaired: boolean;
}

/**
 * `name` is what the user calls the file. Throws `not-sqlite`, `encrypted`, `truncated`, `unsupported`, `disk-full`.
 *
 * The caller has no descriptor open on the copy: SQLite's locks on it would be dropped with that descriptor.
 */
export function recoverCopy(disk: Disk, copy: string, name: string): RecoveredCopy {
  foldSideFiles(disk, copy, name);
  const header = judgeFile(disk, copy, name);
  if (header === null) {
    writeEmptyDatabase(copy);
    const made = judgeFile(disk, copy, name);
    if (made === null) throw new EngineError("io-failed", `Import of ${name}: writing an empty database to ${copy} left no byte there`);
    return { header: made, pageCount: made.pageCount, wasEmpty: true, trailingBytes: 0, countRepaired: false };
  }
  return settleSize(disk, copy, header);
}

/** Makes `file` (absent or without a byte) a database of one page without any table. */
export function writeEmptyDatabase(file: string): void {
  const database = new Database(file);
  try {
    // Like every copy, it is only read again before the power can go.
    database.pragma("synchronous = OFF");
    // Setting a pragma that stands in the header writes page 1.
    database.pragma("user_version = 0");
  } finally {
    database.close();
  }
}

/** The first read rolls a journal back or recovers a WAL, which is then folded in. Neither parses the schema. */
function foldSideFiles(disk: Disk, copy: string, name: string): void {
  const paths = databasePaths(copy);
  if (!disk.stat(paths.wal) && !disk.stat(paths.journal)) return;
  const database = new Database(copy, { fileMustExist: true });
  try {
    database.pragma("synchronous = OFF");
    database.pragma("schema_version");
    const [fold] = database.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[];
    assert(fold?.busy === 0, "nobody else uses the copy");
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    if (error.code.startsWith("SQLITE_FULL"))
      throw new EngineError("disk-full", `Import of ${name}: the disk was full while SQLite recovered the copy ${copy}`, { cause: error });
    if (error.code.startsWith("SQLITE_IOERR"))
      throw new EngineError("io-failed", `Import of ${name}: SQLite could not recover the copy ${copy}: ${error.message}`, {
        cause: error,
      });
    // No database at all, or a torn one: the header says what it is instead.
    judgeFile(disk, copy, name);
    throw new EngineError("not-sqlite", `Import of ${name}: SQLite refuses it: ${error.message}`, { cause: error });
  } finally {
    database.close();
  }
  for (const path of [paths.wal, paths.shm, paths.journal]) disk.remove(path);
}

function settleSize(disk: Disk, copy: string, header: SqliteHeader): RecoveredCopy {
  const file = disk.open(copy, "r+");
  try {
    const { size } = disk.statFile(file);
    const countRepaired = header.pageCount === 0;
    const pageCount = countRepaired ? Math.ceil(size / header.pageSize) : header.pageCount;
    if (size !== pageCount * header.pageSize) disk.truncate(file, pageCount * header.pageSize);
    if (countRepaired) writeCount(disk, file, pageCount, header.changeCounter);
    return { header, pageCount, wasEmpty: false, trailingBytes: Math.max(0, size - pageCount * header.pageSize), countRepaired };
  } finally {
    disk.close(file);
  }
}

/** The count holds when the change counter stands beside it a second time. */
function writeCount(disk: Disk, file: number, pageCount: number, changeCounter: number): void {
  const field = new Uint8Array(4);
  const view = new DataView(field.buffer);
  view.setUint32(0, pageCount);
  disk.write(file, field, 28);
  view.setUint32(0, changeCounter);
  disk.write(file, field, 92);
}
