/** SQLite connections of the process that runs SQL for others: opened for one job, closed after it. */
import Database from "better-sqlite3";
import type { ErrorCode } from "#shared/error-codes.ts";
import { EngineError } from "../io/errors.ts";
import { nodeDisk } from "../io/node-disk.ts";
import type { TextEncoding } from "../format/sqlite-header.ts";
import type { Opening } from "./query-protocol.ts";

export interface OpenedFile {
  readonly database: Database.Database;
  readonly encoding: TextEncoding;
}

const CODES: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ["SQLITE_CORRUPT", "database-corrupt"],
  ["SQLITE_NOTADB", "database-corrupt"],
  ["SQLITE_IOERR_SHORT_READ", "database-corrupt"],
  ["SQLITE_FULL", "disk-full"],
  ["SQLITE_CANTOPEN", "file-not-found"],
  ["SQLITE_PERM", "permission-denied"],
  ["SQLITE_BUSY", "checkout-busy"],
  ["SQLITE_PROTOCOL", "checkout-busy"],
  ["SQLITE_IOERR", "io-failed"],
];

const MAPPED_BYTES_MAX = 1024 ** 3;

/**
 * A connection that can write, and does not, leaves a file in WAL mode as it found it: SQLite makes the `-wal` and `-shm`
 * files and removes them again. One that cannot write leaves them there. Where the WAL holds something it is the other
 * way round: the first would move it into the file when it is closed, under whoever looks at the file for changes.
 */
function opensReadOnly({ path, isShared }: Opening): boolean {
  return !isShared || (nodeDisk.stat(`${path}-wal`)?.size ?? 0) > 0;
}

/**
 * Runs `act` on the file. Statements are compiled as any program of SQLite's would: triggers are not recursive. Foreign
 * keys are enforced, as they are in the programs that people edit with. SQLite's defensive mode is on and extensions
 * cannot be loaded. What SQLite says becomes an `EngineError`: `sql-failed` and those of `CODES`.
 */
export async function withDatabase<T>(opening: Opening, mode: "read" | "write", act: (file: OpenedFile) => T | Promise<T>): Promise<T> {
  let database: Database.Database | null = null;
  try {
    const readonly = mode === "read" && opensReadOnly(opening);
    database = openFile(opening, readonly);
    if (mode === "read") database.pragma("query_only = ON");
    // Read through the page cache of the system, without copying: only where nobody can cut the file short meanwhile.
    if (!opening.isShared || opening.isScratch) database.pragma(`mmap_size = ${MAPPED_BYTES_MAX}`);
    database.pragma("recursive_triggers = OFF");
    const encoding = database.pragma("encoding", { simple: true }) as TextEncoding;
    return await act({ database, encoding });
  } catch (error) {
    throw toSqlError(error, opening.path);
  } finally {
    if (database?.inTransaction) database.exec("ROLLBACK");
    database?.close();
  }
}

function openFile({ path, busyMs }: Opening, readonly: boolean): Database.Database {
  try {
    return new Database(path, { fileMustExist: true, readonly, timeout: busyMs });
  } catch (error) {
    // Caches are cleared with their folders, and of a missing folder better-sqlite3 tells in a way of its own.
    if (nodeDisk.stat(path) !== null) throw error;
    throw new EngineError("file-not-found", `Cannot open ${path}: no such file`, { cause: error, details: { path } });
  }
}

/** Everything else comes back as it is. */
export function toSqlError(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const [, code] = CODES.find(([prefix]) => error.code.startsWith(prefix)) ?? [];
  return new EngineError(code ?? "sql-failed", error.message, {
    cause: error,
    retryable: code === "checkout-busy",
    details: { path, found: error.code },
  });
}
