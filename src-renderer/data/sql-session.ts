/**
 * Scripts of the SQL editor, what ran lately, and what runs now. Outside React, so that a query goes on while another screen
 * is shown. Scripts and what ran are kept between starts; results are not.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { QueryRunView } from "#shared/query-views.ts";
import { createStore, useStore } from "../external-store.ts";
import { placeKey, type DataPlace } from "./data-session.ts";

export interface SqlScript {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** What was run, newest first in the history. */
export interface PastRun {
  readonly at: number;
  readonly place: DataPlace;
  readonly sql: string;
  readonly outcome: "done" | "failed" | "stopped";
  /** Rows that it returned, and rows that it changed. */
  readonly rows: number;
  readonly changes: number;
  readonly elapsedMs: number;
}

/** A part of a script, as it was sent. */
export interface SentSql {
  readonly place: DataPlace;
  readonly sql: string;
  /** Characters of the script before it, and its first line, from 1, with the characters of that line before it. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly what: "run" | "plan";
  readonly force: boolean;
}

export interface RunningSql {
  readonly sent: SentSql;
  /** Name of its job. */
  readonly job: string;
  /** By `performance.now`. */
  readonly startedAt: number;
  readonly isStopping: boolean;
}

export interface SqlResult {
  readonly sent: SentSql;
  readonly elapsedMs: number;
  readonly view: QueryRunView | null;
  /** "stopped" is none. */
  readonly error: ErrorView | null;
  readonly isStopped: boolean;
  /** Which statement is shown. */
  readonly shown: number;
  /** It was brought back to what it was before. */
  readonly isUndone: boolean;
  /** More rows of the statement that is shown are on their way. */
  readonly isLoadingMore: boolean;
}

export interface ScriptWork {
  readonly running: RunningSql | null;
  readonly result: SqlResult | null;
}

export interface SqlSession {
  readonly scripts: readonly SqlScript[];
  readonly active: string;
  readonly history: readonly PastRun[];
  readonly work: ReadonlyMap<string, ScriptWork>;
  /** The part of the height that the editor has, in percent. */
  readonly split: number;
}

export const NO_WORK: ScriptWork = { running: null, result: null };
export const SPLIT = { default: 40, min: 15, max: 85 } as const;
const HISTORY_MAX = 200;
const HISTORY_SQL_CHARS_MAX = 4_000;
/** Characters of all kept scripts, as JSON; of the history. The host keeps 1 MiB for all screens together. */
const KEPT_SCRIPTS_CHARS_MAX = 600_000;
const KEPT_HISTORY_CHARS_MAX = 150_000;
const SCRIPTS_MAX = 100;
export const NAME_CHARS_MAX = 80;

function newScript(name: string, text = ""): SqlScript {
  return { id: crypto.randomUUID(), name, text };
}

function initialSession(): SqlSession {
  const first = newScript("Query 1");
  return { scripts: [first], active: first.id, history: [], work: new Map(), split: SPLIT.default };
}

export const sqlSession = createStore<SqlSession>(initialSession());

export function useSql<S>(select: (session: SqlSession) => S): S {
  return useStore(sqlSession, select);
}

export function activeScript(session: SqlSession): SqlScript {
  const [first] = session.scripts;
  const found = session.scripts.find(({ id }) => id === session.active) ?? first;
  // There is always one: closing the last one makes another.
  return found ?? newScript("Query 1");
}

function change(part: Partial<SqlSession>): void {
  sqlSession.set((session) => ({ ...session, ...part }));
}

function freeName(scripts: readonly SqlScript[]): string {
  const taken = new Set(scripts.map(({ name }) => name));
  for (let number = 1; ; number += 1) if (!taken.has(`Query ${number}`)) return `Query ${number}`;
}

/** Shows a new script; at most a hundred are open. */
export function openScript(text = ""): void {
  const { scripts } = sqlSession.get();
  const script = newScript(freeName(scripts), text);
  if (scripts.length < SCRIPTS_MAX) change({ scripts: [...scripts, script], active: script.id });
}

/** Into a script that holds nothing, else into a new one. */
export function bringBack(text: string): void {
  const current = activeScript(sqlSession.get());
  if (current.text.trim() === "") setScriptText(current.id, text);
  else openScript(text);
}

export function showScript(id: string): void {
  change({ active: id });
}

export function renameScript(id: string, name: string): void {
  const trimmed = name.trim().slice(0, NAME_CHARS_MAX);
  if (trimmed === "") return;
  change({ scripts: sqlSession.get().scripts.map((script) => (script.id === id ? { ...script, name: trimmed } : script)) });
}

export function setScriptText(id: string, text: string): void {
  change({ scripts: sqlSession.get().scripts.map((script) => (script.id === id && script.text !== text ? { ...script, text } : script)) });
}

/** Returns how to open it again, at its place. */
export function closeScript(id: string): () => void {
  const { scripts, active, work } = sqlSession.get();
  const at = scripts.findIndex((script) => script.id === id);
  const [closed] = scripts.slice(at, at + 1);
  if (!closed) return () => undefined;
  const rest = scripts.toSpliced(at, 1);
  const left = rest.length > 0 ? rest : [newScript("Query 1")];
  const next = active === id ? (left[Math.min(at, left.length - 1)]?.id ?? active) : active;
  const remaining = new Map(work);
  remaining.delete(id);
  change({ scripts: left, active: next, work: remaining });
  return () => {
    const now = sqlSession.get();
    const others = rest.length > 0 ? now.scripts : now.scripts.filter(({ id: other, text }) => other !== left[0]?.id || text !== "");
    change({ scripts: others.toSpliced(at, 0, closed), active: id });
  };
}

export function setSplit(percent: number): void {
  change({ split: Math.min(SPLIT.max, Math.max(SPLIT.min, Math.round(percent))) });
}

export function workOf(id: string): ScriptWork {
  return sqlSession.get().work.get(id) ?? NO_WORK;
}

/** Does nothing for a script that was closed meanwhile. */
export function changeWork(id: string, part: Partial<ScriptWork>): void {
  const { scripts, work } = sqlSession.get();
  if (!scripts.some((script) => script.id === id)) return;
  change({ work: new Map(work).set(id, { ...workOf(id), ...part }) });
}

export function changeResult(id: string, part: Partial<SqlResult>): void {
  const { result } = workOf(id);
  if (result) changeWork(id, { result: { ...result, ...part } });
}

/** The same once more takes the place of the last one. */
export function remember(run: PastRun): void {
  const { history } = sqlSession.get();
  const [last] = history;
  const kept = { ...run, sql: run.sql.slice(0, HISTORY_SQL_CHARS_MAX) };
  const isSame = last?.sql === kept.sql && placeKey(last.place) === placeKey(kept.place);
  change({ history: [kept, ...(isSame ? history.slice(1) : history)].slice(0, HISTORY_MAX) });
}

export function forgetHistory(): void {
  change({ history: [] });
}

/** When the store changes: results are of the other one. */
export function resetSqlWork(): void {
  change({ work: new Map() });
}

export type SqlLayout = Omit<SqlSession, "work">;

/** Scripts whose text would not be there after the next start, because all together are too long: the longest ones. */
export function unkeptScripts(scripts: readonly SqlScript[]): ReadonlySet<string> {
  const unkept = new Set<string>();
  // No character takes more than six in JSON.
  if (scripts.reduce((sum, script) => sum + script.text.length, 0) * 6 <= KEPT_SCRIPTS_CHARS_MAX) return unkept;
  let left = KEPT_SCRIPTS_CHARS_MAX;
  const sizes = scripts.map(({ id, text: body }) => ({ id, chars: JSON.stringify(body).length }));
  for (const { id, chars } of sizes.toSorted((a, b) => a.chars - b.chars)) {
    left -= chars;
    if (left < 0) unkept.add(id);
  }
  return unkept;
}

/** What is kept between starts. A script that is too long is left out, and says so on its tab. */
export function sqlLayout({ scripts, active, history, split }: SqlSession): SqlLayout {
  const unkept = unkeptScripts(scripts);
  let chars = 0;
  const recent = history.filter((run) => (chars += JSON.stringify(run).length) <= KEPT_HISTORY_CHARS_MAX);
  return { scripts: scripts.filter(({ id }) => !unkept.has(id)), active, history: recent, split };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

/** Tolerant: what cannot be read is dropped, script by script. */
export function parseSqlLayout(raw: unknown): SqlLayout {
  const initial = initialSession();
  if (!isRecord(raw)) return sqlLayout(initial);
  const scripts = (Array.isArray(raw["scripts"]) ? raw["scripts"] : []).flatMap((each: unknown): SqlScript[] => {
    const [id, name, body] = isRecord(each) ? [text(each["id"]), text(each["name"]), text(each["text"])] : [null, null, null];
    return id === null || name === null || body === null ? [] : [{ id, name: name.slice(0, NAME_CHARS_MAX), text: body }];
  });
  const history = (Array.isArray(raw["history"]) ? raw["history"] : []).flatMap((each: unknown) => parseRun(each) ?? []);
  const open = scripts.length > 0 ? scripts.slice(0, SCRIPTS_MAX) : initial.scripts;
  const active = open.find(({ id }) => id === raw["active"])?.id ?? open[0]?.id ?? initial.active;
  const split = typeof raw["split"] === "number" ? raw["split"] : initial.split;
  return { scripts: open, active, history: history.slice(0, HISTORY_MAX), split };
}

export function restoreSql({ split, ...kept }: SqlLayout): void {
  change(kept);
  setSplit(split);
}

function parseRun(raw: unknown): PastRun | null {
  if (!isRecord(raw) || !isRecord(raw["place"])) return null;
  const [sql, database, branch] = [text(raw["sql"]), text(raw["place"]["database"]), text(raw["place"]["branch"])];
  if (sql === null || database === null || branch === null) return null;
  const outcome = raw["outcome"] === "failed" || raw["outcome"] === "stopped" ? raw["outcome"] : "done";
  return {
    at: count(raw["at"]),
    place: { database, branch, at: text(raw["place"]["at"]) },
    sql,
    outcome,
    rows: count(raw["rows"]),
    changes: count(raw["changes"]),
    elapsedMs: count(raw["elapsedMs"]),
  };
}
