import { getSystemErrorName } from "node:util";
import type { ErrorCode } from "#shared/error-codes.ts";
import { EngineError } from "./errors.ts";

interface Meaning {
  readonly code: ErrorCode;
  readonly words: string;
  readonly hint?: string;
}

const DISK_FULL_HINT = "Free some space, then try again.";
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOSPC: { code: "disk-full", words: "the disk is full", hint: DISK_FULL_HINT },
  EDQUOT: { code: "disk-full", words: "the disk quota is used up", hint: DISK_FULL_HINT },
  EROFS: { code: "store-read-only", words: "the disk is read-only" },
  EACCES: { code: "permission-denied", words: "permission denied" },
  EPERM: { code: "permission-denied", words: "not permitted" },
  ENOENT: { code: "file-not-found", words: "no such file or folder" },
  EEXIST: { code: "file-exists", words: "it exists already" },
};

/** The name of what the system answered, e.g. "ENOENT"; empty when `error` is no system error. */
export function systemErrorName(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  return "errno" in error && typeof error.errno === "number" ? getSystemErrorName(error.errno) : "";
}

/**
 * What the operating system refused, as an `EngineError`: "Cannot write /a/b: the disk is full". `object`: what the
 * operation was about, usually a path. Errors that are none of the system's come back as they are: they are bugs.
 */
export function toEngineError(operation: string, object: string, error: unknown): unknown {
  const name = systemErrorName(error);
  if (error instanceof EngineError || name === "" || name.startsWith("ERR_")) return error;
  const { code, words, hint } = MEANINGS[name] ?? { code: "io-failed" as const, words: error instanceof Error ? error.message : name };
  return new EngineError(code, `Cannot ${operation} ${object}: ${words}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { path: object, cause: name },
    cause: error,
  });
}
