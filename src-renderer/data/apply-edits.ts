/** Runs what was staged, as one transaction that takes effect as a whole or not at all. */
import type { ErrorView } from "#shared/error-codes.ts";
import { LIMITS } from "#shared/limits.ts";
import type { QueryRunView } from "#shared/query-views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { performOrReport } from "../api/perform.ts";
import { formatPlural } from "../ui/format.ts";
import { showToast } from "../ui/toasts.ts";
import { noteWrite, type DataPlace } from "./data-session.ts";
import { discardApplied, stagedOf, stagedStatements, type StagedStatement } from "./staged-edits.ts";

/** Null when all of it was applied; else what went wrong: nothing was applied then. */
export async function applyEdits(api: Api, place: DataPlace, force: boolean): Promise<ErrorView | null> {
  try {
    const staged = stagedOf(place);
    const statements = stagedStatements(staged);
    const sql = statements.map((statement) => statement.sql).join("\n");
    if (sql.length > LIMITS.querySqlCharsMax) return tooMuch(sql.length);
    const { database, branch } = place;
    const answer = await api.request("query.run", {
      database,
      branch,
      sql,
      write: true,
      expectChanges: statements.map(() => 1),
      ...(force ? { force } : {}),
    });
    const failed = failedStatement(answer, statements);
    if (failed) return failed;
    discardApplied(place, staged);
    noteWrite();
    announce(api, place, answer, statements.length);
    return null;
  } catch (error) {
    return error instanceof RangeError ? problem("bad-argument", `Not applied: ${error.message}`, null) : toErrorView(error);
  }
}

function failedStatement(answer: QueryRunView, statements: readonly StagedStatement[]): ErrorView | null {
  const failed = answer.statements.find(({ error }) => error !== null);
  if (!failed?.error) return answer.isComplete ? null : problem("sql-failed", "The changes could not be applied", null);
  let [start, found] = [0, statements[0]];
  for (const statement of statements) {
    if (start > failed.start) break;
    found = statement;
    start += statement.sql.length + 1;
  }
  const about = found && found.row !== "" ? `${found.table}, row ${found.row}` : `${found?.table ?? "The table"}, a new row`;
  // Refused by Coppice, not by SQLite: another number of rows was met than the one that was seen.
  if (failed.error.code === null && found?.kind !== "insert")
    return problem(
      "sql-failed",
      `${about} is no longer as it was when you changed it`,
      "Take back that change, and look at the row as it is now. A trigger that skips changes looks the same.",
    );
  return problem("sql-failed", `${about}: ${failed.error.message}`, null);
}

function problem(code: ErrorView["code"], message: string, hint: string | null): ErrorView {
  return { code, message, hint, untouched: "Nothing was applied.", retryable: true, details: {} };
}

function tooMuch(chars: number): ErrorView {
  return problem(
    "bad-argument",
    `The changes are ${chars} characters of SQL: at most ${LIMITS.querySqlCharsMax} run at once`,
    "Apply fewer at a time.",
  );
}

function announce(api: Api, { database, branch }: DataPlace, answer: QueryRunView, count: number): void {
  const { before } = answer;
  showToast({
    text: `Applied ${formatPlural(count, "change")} to ${branch}`,
    tone: "plain",
    ...(before === null ? {} : { action: { label: "Undo", run: () => void undoWrite(api, { database, branch }, before) } }),
  });
}

/** What the branch's file held before is a version: rolling back to it undoes what was written. */
async function undoWrite(api: Api, on: { readonly database: string; readonly branch: string }, before: number): Promise<void> {
  await performOrReport(api, "branch.rollback", { ...on, to: `v${before}` });
  noteWrite();
}
