/** Running scripts: what is sent, what came of it, how it is stopped and undone. */
import type { RequestInput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { StatementView } from "#shared/query-views.ts";
import { splitSql, type SqlStatement } from "#shared/split-sql.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { performVerb } from "../api/perform.ts";
import { appState } from "../app-state.ts";
import { formatPlural } from "../ui/format.ts";
import { showError, showToast } from "../ui/toasts.ts";
import { dataSession, noteWrite, placeInput, placeText } from "./data-session.ts";
import {
  activeScript,
  changeResult,
  changeWork,
  remember,
  sqlSession,
  workOf,
  type PastRun,
  type RunningSql,
  type SentSql,
  type SqlResult,
} from "./sql-session.ts";

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** Rows of a statement that are asked for at first; more are had with a press. */
const FIRST_ROWS = LIMITS.queryRows;

/** Where the cursor of each script is: of no interest to anything that is drawn. */
const selections = new Map<string, TextRange>();

export function noteSelection(script: string, range: TextRange): void {
  selections.set(script, range);
}

/** What is selected, else the statement at the cursor; null where there is none. */
export function chosenPart(text: string, { from, to }: TextRange): TextRange | null {
  if (from !== to) return text.slice(from, to).trim() === "" ? null : { from, to };
  const statement = statementAt(splitSql(text), from);
  return statement && { from: statement.start, to: statement.end };
}

/** The one that the cursor is in, or stands behind; before the first one, that. */
export function statementAt(statements: readonly SqlStatement[], cursor: number): SqlStatement | null {
  return statements.findLast(({ start }) => start <= cursor) ?? statements[0] ?? null;
}

/** "chosen": the selection, or the statement at the cursor. */
export function runActive(api: Api, part: "chosen" | "all", what: SentSql["what"] = "run"): void {
  const { place } = dataSession.get();
  const script = activeScript(sqlSession.get());
  // A state of another database than the one that is open is none.
  if (place === null || place.database !== appState.get().database) return;
  const range =
    part === "all" ? { from: 0, to: script.text.length } : chosenPart(script.text, selections.get(script.id) ?? { from: 0, to: 0 });
  if (range === null || script.text.slice(range.from, range.to).trim() === "") return;
  const sql = script.text.slice(range.from, range.to);
  const before = script.text.slice(0, range.from);
  const line = before.split("\n").length;
  const column = before.length - before.lastIndexOf("\n") - 1;
  void runSql(api, script.id, { place, sql, offset: range.from, line, column, what, force: false });
}

/** Does nothing while the script runs. A branch may be written to: what its file holds is kept first. */
export async function runSql(api: Api, script: string, sent: SentSql): Promise<void> {
  if (workOf(script).running) return;
  const running: RunningSql = { sent, job: crypto.randomUUID(), startedAt: performance.now(), isStopping: false };
  // What failed is no longer about the script; rows stay until others take their place.
  const { result: before } = workOf(script);
  changeWork(script, { running, result: before?.view?.isComplete ? before : null });
  const result = await send(api, running);
  if (workOf(script).running?.job !== running.job) return;
  changeWork(script, { running: null, result });
  if (sent.what === "run") remember(pastRun(result));
  if (result.view?.before != null) noteWrite();
  announce(api, script, result);
}

async function send(api: Api, { sent, job, startedAt }: RunningSql): Promise<SqlResult> {
  const none = { sent, view: null, error: null, isStopped: false, shown: 0, isUndone: false, isLoadingMore: false };
  try {
    const view = await api.request("query.run", runInput(sent, job));
    const failed = view.statements.findIndex(({ error }) => error !== null);
    const withRows = view.statements.findLastIndex(({ columns }) => columns !== null);
    return { ...none, view, shown: failed >= 0 ? failed : Math.max(0, withRows), elapsedMs: performance.now() - startedAt };
  } catch (thrown) {
    const error = toErrorView(thrown);
    const isStopped = error.code === "cancelled";
    return { ...none, error: isStopped ? null : error, isStopped, elapsedMs: performance.now() - startedAt };
  }
}

function runInput({ place, sql, what, force }: SentSql, job: string): RequestInput<"query.run"> {
  return {
    ...placeInput(place),
    sql,
    limit: FIRST_ROWS,
    job,
    ...(what === "plan" ? { plan: true } : place.at === null ? { write: true } : {}),
    ...(force ? { force } : {}),
  };
}

function pastRun({ sent, view, isStopped, elapsedMs }: SqlResult): PastRun {
  const isDone = view?.isComplete === true;
  return {
    at: Date.now(),
    place: sent.place,
    sql: sent.sql,
    outcome: isStopped ? "stopped" : isDone ? "done" : "failed",
    rows: view?.statements.reduce((sum, { rows }) => sum + rows.length, 0) ?? 0,
    changes: view?.changes ?? 0,
    elapsedMs,
  };
}

/** What can be undone: a script of which something took effect. */
export function canUndo({ view, isUndone, sent }: SqlResult): boolean {
  return view !== null && view.before !== null && !isUndone && sent.what === "run" && (view.isComplete || view.transaction === "own");
}

function announce(api: Api, script: string, result: SqlResult): void {
  if (!canUndo(result) || !result.view) return;
  showToast({
    text: `Changed ${formatPlural(result.view.changes, "row")} on ${placeText(result.sent.place)}`,
    tone: "plain",
    action: { label: "Undo", run: () => void undoRun(api, script, result) },
  });
}

/** Brings the branch back to what its file held before; what it holds now is kept too. */
export async function undoRun(api: Api, script: string, result: SqlResult, force = result.sent.force): Promise<void> {
  const { view, sent } = result;
  if (view?.before == null) return;
  const { database, branch } = sent.place;
  try {
    await performVerb(api, "branch.rollback", { database, branch, to: `v${view.before}`, ...(force ? { force } : {}) });
    noteWrite();
    if (workOf(script).result?.view === view) changeResult(script, { isUndone: true });
  } catch (thrown) {
    const error = toErrorView(thrown);
    const again = (forced: boolean) => () => void undoRun(api, script, result, forced);
    if (error.code === "protected") showError(error, again(true), "Undo it anyway");
    else showError(error, error.retryable ? again(force) : null);
  }
}

/** Acknowledged at once; the answer comes when the process that runs it is gone. */
export async function stopRun(api: Api, script: string): Promise<void> {
  const { running } = workOf(script);
  if (!running || running.isStopping) return;
  changeWork(script, { running: { ...running, isStopping: true } });
  try {
    await api.request("job.cancel", { id: running.job });
  } catch (thrown) {
    const error = toErrorView(thrown);
    // It has answered meanwhile: then there is no such job.
    if (error.code !== "bad-argument") showError(error, () => void stopRun(api, script));
    const now = workOf(script).running;
    if (now?.job === running.job) changeWork(script, { running: { ...now, isStopping: false } });
  }
}

/** SQL of one statement of a result. */
export function statementSql({ sent }: SqlResult, statement: StatementView): string {
  return sent.sql.slice(statement.start, statement.end);
}

/** A statement that only read can be run once more. */
export function canRepeat({ view, sent }: SqlResult): boolean {
  return view !== null && view.transaction === "read" && sent.what === "run";
}

/** As many rows of a statement as one answer can have, by running it once more. */
export async function loadMore(api: Api, script: string): Promise<void> {
  const { result } = workOf(script);
  const statement = result?.view?.statements[result.shown];
  if (!result?.view || !statement || result.isLoadingMore || !canRepeat(result)) return;
  const { view, shown } = result;
  changeResult(script, { isLoadingMore: true });
  try {
    const again = await api.request("query.run", {
      ...placeInput(result.sent.place),
      sql: statementSql(result, statement),
      limit: LIMITS.pageRowsMax,
    });
    const [found] = again.statements;
    if (workOf(script).result?.view !== view || !found) return;
    const statements = view.statements.with(shown, { ...found, start: statement.start, end: statement.end });
    changeResult(script, { view: { ...view, statements }, isLoadingMore: false });
  } catch (thrown) {
    const error = toErrorView(thrown);
    if (error.code !== "cancelled") showError(error, error.retryable ? () => void loadMore(api, script) : null);
    if (workOf(script).result?.view === view) changeResult(script, { isLoadingMore: false });
  }
}

/** Line and column, from 1, in the script as it was sent, of a character of what was sent. */
export function lineAndColumn({ sql, line, column }: SentSql, position: number): { readonly line: number; readonly column: number } {
  const before = sql.slice(0, position).split("\n");
  const inLine = (before.at(-1)?.length ?? 0) + 1;
  return { line: line + before.length - 1, column: before.length === 1 ? column + inLine : inLine };
}
