/**
 * Names and targets. `DB`, `DB@BRANCH`, `DB@BRANCH@CHECKPOINT`, `DB@BRANCH@v12`: the grammar shared by the CLI, the
 * screens and the library.
 */
import { LIMITS } from "./limits.ts";

declare const brand: unique symbol;
type Brand<T, B extends string> = T & { readonly [brand]: B };

/** Catalog row numbers: unique inside one store, never shown to users as identity. */
export type DatabaseId = Brand<number, "DatabaseId">;
export type BranchId = Brand<number, "BranchId">;
/** 1, 2, 3 … inside one database. */
export type VersionNumber = Brand<number, "VersionNumber">;
/** Position in the store's operation log. */
export type OperationId = Brand<number, "OperationId">;
/** Milliseconds since 1970-01-01 UTC. */
export type UnixMs = number;

export type NameKind = "database" | "branch" | "checkpoint";

const SEGMENT = /^[a-z0-9_][a-z0-9._-]*$/;
const RESERVED_ENDINGS = [".db", ".db-wal", ".db-shm", ".db-journal"];

/** Returns null when `name` is allowed, else one sentence that says why not. */
export function nameProblem(kind: NameKind, name: string): string | null {
  if (name.length === 0) return "A name cannot be empty";
  if (name.length > LIMITS.nameCharsMax) return `A name has at most ${LIMITS.nameCharsMax} characters`;
  if (/\s/.test(name)) return `Spaces are not allowed. Try ${name.trim().toLowerCase().replace(/\s+/g, "-")}`;
  if (/[A-Z]/.test(name)) return `Upper case is not allowed. Try ${name.toLowerCase()}`;
  if (name.includes("/") && kind !== "branch") return "Only branch names have folders";
  if (name.includes("..")) return "A name cannot contain '..'";
  for (const segment of name.split("/")) {
    if (segment.length === 0) return "A folder name cannot be empty";
    if (!SEGMENT.test(segment)) return "Use a-z, 0-9, '-', '_' and '.'; do not start with '.' or '-'";
    if (RESERVED_ENDINGS.some((ending) => segment.endsWith(ending))) return "A name cannot end like a SQLite file";
  }
  if (kind === "checkpoint" && /^v\d+$/.test(name)) return "Names like v12 are version numbers";
  return null;
}

/** What a user points at: a branch head, a checkpoint, a version number or a moment. */
export type At =
  | { readonly kind: "head" }
  | { readonly kind: "checkpoint"; readonly name: string }
  | { readonly kind: "version"; readonly number: VersionNumber }
  | { readonly kind: "time"; readonly at: UnixMs };

export interface Target {
  readonly database: string;
  readonly branch: string;
  readonly at: At;
}

/** `CHECKPOINT`, `v12` or an ISO time (the only form with a capital T). Null when it is none of them. */
export function parseAt(text: string): At | null {
  const version = /^v([1-9]\d{0,9})$/.exec(text);
  if (version) return { kind: "version", number: Number(version[1]) as VersionNumber };
  if (/^\d{4}-\d{2}-\d{2}T/.test(text)) {
    const at = Date.parse(text);
    return Number.isNaN(at) ? null : { kind: "time", at };
  }
  return nameProblem("checkpoint", text) === null ? { kind: "checkpoint", name: text } : null;
}

/** Parses `DB[@BRANCH[@AT]]`; `DB` alone means `DB@main`. Returns a sentence when the text is no target. */
export function parseTarget(text: string): Target | string {
  const parts = text.split("@");
  if (parts.length > 3) return `"${text}" has too many '@'. Write DB@BRANCH or DB@BRANCH@CHECKPOINT`;
  const [database = "", branch = "main", atText] = parts;
  const problem = nameProblem("database", database) ?? nameProblem("branch", branch);
  if (problem) return `"${text}": ${problem}`;
  if (atText === undefined) return { database, branch, at: { kind: "head" } };
  const at = parseAt(atText);
  return at ? { database, branch, at } : `"${atText}" is no checkpoint name, version (v12) or time (2026-11-30T12:00:00Z)`;
}

export function formatTarget(target: { database: string; branch: string }): string {
  return `${target.database}@${target.branch}`;
}
