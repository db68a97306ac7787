/** What people write on a command line, checked before anything is opened. */
import { LIMITS } from "#shared/limits.ts";
import { nameProblem, parseAt, parseTarget, type NameKind } from "#shared/ids.ts";
import { parseDuration } from "#shared/units.ts";
import { EngineError } from "#engine/io/errors.ts";

export interface BranchTarget {
  readonly database: string;
  readonly branch: string;
}

export interface StateTarget extends BranchTarget {
  /** As written; left out for the head. */
  readonly at: string | undefined;
}

/** `DB[@BRANCH[@AT]]`. */
export function parseState(text: string): StateTarget {
  const target = parseTarget(text);
  if (typeof target === "string") throw new EngineError("bad-target", target, { hint: "Write DB, DB@BRANCH or DB@BRANCH@CHECKPOINT" });
  return { database: target.database, branch: target.branch, at: target.at.kind === "head" ? undefined : text.split("@")[2] };
}

/** `DB[@BRANCH]`. */
export function parseBranch(text: string): BranchTarget {
  const { database, branch, at } = parseState(text);
  if (at !== undefined)
    throw new EngineError("bad-target", `"${text}": a branch is meant here, not a state of it`, { hint: `Write ${database}@${branch}` });
  return { database, branch };
}

/** `DB@BRANCH`: where main taken for granted would do harm. */
export function parseNamedBranch(text: string): BranchTarget {
  const target = parseBranch(text);
  if (text.includes("@")) return target;
  throw new EngineError("bad-target", `"${text}" names no branch`, { hint: `Write ${text}@BRANCH, or ${text}@main for its main branch` });
}

const parseName =
  (kind: NameKind) =>
  (text: string): string => {
    const problem = nameProblem(kind, text);
    if (problem) {
      const hint = kind !== "database" && text.includes("@") ? { hint: `Only the ${kind}'s name goes here, without DB@` } : {};
      throw new EngineError("bad-name", `"${text}": ${problem}`, { ...hint, details: { name: text } });
    }
    return text;
  };
export const parseDatabaseName = parseName("database");
export const parseBranchName = parseName("branch");
export const parseCheckpointName = parseName("checkpoint");

/** A checkpoint's name, `v12` or a time. */
export function parseMoment(text: string): string {
  if (parseAt(text) === null)
    throw new EngineError("bad-target", `"${text}" is no checkpoint name, version (v12) or time (2026-11-30T12:00:00Z)`);
  return text;
}

/** Milliseconds. */
export function parseTime(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new EngineError("bad-argument", `"${text}" is no duration`, { hint: "Write 90s, 2h, 1h30m or 7d" });
  return ms;
}

export function parseTtl(text: string): number {
  const ms = parseTime(text);
  if (ms >= LIMITS.ttlMsMin && ms <= LIMITS.ttlMsMax) return ms;
  throw new EngineError("bad-argument", `A TTL of ${text} is out of bounds`, { hint: "From 1s to 10 years" });
}

/** A TTL, or `none`: kept as the word, because an option's value cannot be null. */
export function parseTtlOrNone(text: string): number | "none" {
  return text === "none" ? "none" : parseTtl(text);
}

/** An option that can be given several times. */
export function collectWords(word: string, before: readonly string[] = []): string[] {
  return [...before, word];
}

/** Repeatable `KEY=VALUE`; the last of a key wins. */
export function collectMeta(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new EngineError("bad-argument", `"${text}" is no metadata`, { hint: "Write KEY=VALUE" });
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** A whole number from 1 to `max`. */
export const parseCount =
  (max: number) =>
  (text: string): number => {
    const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= max) return count;
    throw new EngineError("bad-argument", `"${text}" is no number from 1 to ${max}`);
  };
export const parseRows = parseCount(LIMITS.pageRowsMax);
export const parseOperation = parseCount(Number.MAX_SAFE_INTEGER);
