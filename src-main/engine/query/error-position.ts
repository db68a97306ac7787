import type Database from "better-sqlite3";
import { sqlTokens, type SqlToken } from "#shared/split-sql.ts";

const NAMED =
  /^(?:no such (?:table|view|index|trigger|column|function|module|collation sequence|savepoint)|ambiguous column name|table \S+ has no column named|(?:table|view|index|trigger) (?=\S+ already exists)|unknown database)[: ]*([^\s]+)/;

/**
 * Where in `sql` an error of compiling it is, in characters; null where that cannot be told. A syntax error is at the
 * first token with which the text fails like that: SQLite's parser reads no further. Of a name the first place counts.
 */
export function errorPosition(database: Database.Database, sql: string, message: string): number | null {
  if (message === "incomplete input") return sql.length;
  const tokens = [...sqlTokens(sql)];
  if (/syntax error$|^unrecognized token/.test(message)) return tokens[firstFailing(database, sql, tokens, message)]?.start ?? null;
  const name = NAMED.exec(message)?.[1]?.split(".").at(-1)?.replace(/\(.*$/, "").toLowerCase();
  if (name === undefined) return null;
  return tokens.find((token) => plainText(sql, token).toLowerCase() === name)?.start ?? null;
}

function firstFailing(database: Database.Database, sql: string, tokens: readonly SqlToken[], message: string): number {
  let [low, high] = [0, tokens.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (failsLike(database, sql.slice(0, tokens[middle]?.end ?? 0), message)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function failsLike(database: Database.Database, sql: string, message: string): boolean {
  try {
    database.prepare(sql);
    return false;
  } catch (error) {
    return error instanceof Error && error.message === message;
  }
}

function plainText(sql: string, { kind, start, end }: SqlToken): string {
  return kind === "quoted" ? sql.slice(start + 1, end - 1) : sql.slice(start, end);
}
