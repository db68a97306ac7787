import Database from "better-sqlite3";
import type { ErrorCode } from "#shared/error-codes.ts";
import { EngineError } from "../io/errors.ts";

/** Longest prefix first. Anything else that SQLite says is a bug in our own SQL and stays what it is. */
const CODES: readonly (readonly [prefix: string, code: ErrorCode, found: string])[] = [
  ["SQLITE_CORRUPT", "store-corrupt", "the file is damaged"],
  ["SQLITE_NOTADB", "store-corrupt", "the file is no SQLite database"],
  ["SQLITE_IOERR_SHORT_READ", "store-corrupt", "the file is shorter than it says"],
  ["SQLITE_FULL", "disk-full", "the disk is full"],
  ["SQLITE_READONLY", "store-read-only", "it cannot be written"],
  ["SQLITE_CANTOPEN", "permission-denied", "it cannot be opened"],
  ["SQLITE_PERM", "permission-denied", "access is denied"],
  ["SQLITE_BUSY", "store-busy", "another program holds it"],
  ["SQLITE_IOERR", "io-failed", "reading or writing failed"],
];

export const CORRUPT_HINT = "Repair the store, or restore catalog.db from a backup; segment files are not touched.";

/** What an error of the catalog's SQLite connection means to a user of the store. `doing`: "Reading", "Committing to" … */
export function toCatalogError(error: unknown, doing: string, path: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const known = CODES.find(([prefix]) => error.code.startsWith(prefix));
  if (!known) return error;
  const [, code, found] = known;
  return new EngineError(code, `${doing} the catalog ${path}: ${found} (${error.code}: ${error.message})`, {
    cause: error,
    retryable: code === "store-busy",
    details: { path, found: error.code },
    ...(code === "store-corrupt" ? { hint: CORRUPT_HINT } : {}),
  });
}

/** True when SQLite names a failure of the write itself: nothing of the transaction can have become valid. */
export function isFailedWrite(error: unknown): boolean {
  return error instanceof Database.SqliteError && (error.code === "SQLITE_FULL" || error.code.startsWith("SQLITE_BUSY"));
}
