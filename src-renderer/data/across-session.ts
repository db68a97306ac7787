/**
 * One query put to many branches: which ones, the SQL, and results as they come in. Outside React, so that it goes on while
 * another screen is shown. What is asked is kept between starts; results are not.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { AcrossResultView, AcrossTargetView } from "#shared/query-views.ts";
import type { RequestInput } from "#shared/contract.ts";
import { compileNamePattern } from "#shared/name-pattern.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { showScreen } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";
import { showDataTab } from "./data-session.ts";

/** What is asked. */
export interface AcrossAsk {
  readonly by: "pattern" | "list";
  /** Patterns with * and ?, between commas or blanks. */
  readonly patterns: string;
  /** Names of branches that were selected elsewhere. */
  readonly branches: readonly string[];
  /** Checkpoint name, v12 or a time; empty for branches as they are now. */
  readonly at: string;
  readonly sql: string;
}

export interface AcrossQuestion {
  readonly database: string;
  readonly sql: string;
  readonly targets: readonly AcrossTargetView[];
  readonly results: readonly AcrossResultView[];
  readonly phase: "asking" | "running" | "done" | "stopped" | "failed";
  readonly error: ErrorView | null;
  readonly startedAt: number;
  readonly elapsedMs: number;
}

export type AcrossShow = "all" | "differ" | "same" | "failed";

export interface AcrossSession {
  readonly ask: AcrossAsk;
  readonly question: AcrossQuestion | null;
  /** Position of the target that others are compared with. */
  readonly reference: number;
  readonly show: AcrossShow;
  /** One line for all states with equal results. */
  readonly isGrouped: boolean;
  /** Position of the target that is shown beside the reference. */
  readonly focused: number | null;
}

const SQL_CHARS_MAX = 100_000;
const LIST_CHARS_MAX = 50_000;
const INITIAL: AcrossSession = {
  ask: { by: "pattern", patterns: "*", branches: [], at: "", sql: "" },
  question: null,
  reference: 0,
  show: "all",
  isGrouped: false,
  focused: null,
};

export const acrossSession = createStore<AcrossSession>(INITIAL);

export function useAcross<S>(select: (session: AcrossSession) => S): S {
  return useStore(acrossSession, select);
}

function change(part: Partial<AcrossSession>): void {
  acrossSession.set((session) => ({ ...session, ...part }));
}

function changeQuestion(part: Partial<AcrossQuestion>): void {
  acrossSession.set((session) => (session.question ? { ...session, question: { ...session.question, ...part } } : session));
}

export function changeAsk(part: Partial<AcrossAsk>): void {
  change({ ask: { ...acrossSession.get().ask, ...part } });
}

export function chooseReference(target: number): void {
  change({ reference: target, focused: null });
}

export function showAcross(part: Partial<Pick<AcrossSession, "show" | "isGrouped" | "focused">>): void {
  change(part);
}

/** Patterns that stand in a text. */
function splitPatterns(patterns: string): string[] {
  return patterns.split(/[\s,;]+/).filter((pattern) => pattern !== "");
}

/** As the engine matches: `*` for anything, folders included, `?` for one character. */
export function matchPatterns(patterns: string): (name: string) => boolean {
  const compiled = splitPatterns(patterns).map(compileNamePattern);
  return (name) => compiled.some(({ test }) => test(name));
}

/** Told apart by number: an answer that belongs to an older question is thrown away. */
let generation = 0;
let openId: string | null = null;

/** Puts the question; the one before is closed. Rows of each state: `limit`, or as many as the host gives. */
export async function askAcross(api: Api, database: string, limit?: number): Promise<void> {
  const mine = forget(api);
  const { ask } = acrossSession.get();
  const { sql } = ask;
  const question: AcrossQuestion = {
    database,
    sql,
    targets: [],
    results: [],
    phase: "asking",
    error: null,
    startedAt: performance.now(),
    elapsedMs: 0,
  };
  change({ question, reference: 0, focused: null, show: "all" });
  try {
    const { id, targets } = await api.request("query.across", askInput(ask, database, limit));
    if (mine !== generation) {
      await api.request("query.close", { id });
      return;
    }
    openId = id;
    changeQuestion({ targets, phase: "running" });
    change({ reference: firstReference(targets) });
    await collect(api, mine, id);
  } catch (thrown) {
    if (mine !== generation) return;
    const error = toErrorView(thrown);
    const elapsedMs = performance.now() - question.startedAt;
    changeQuestion(error.code === "cancelled" ? { phase: "stopped", elapsedMs } : { phase: "failed", error, elapsedMs });
  }
}

/** What others are compared with until somebody chooses: main where it was asked, else the first one. */
function firstReference(targets: readonly AcrossTargetView[]): number {
  return Math.max(
    0,
    targets.findIndex(({ branch }) => branch === "main"),
  );
}

function askInput(
  { by, patterns, branches, at, sql }: AcrossAsk,
  database: string,
  limit: number | undefined,
): RequestInput<"query.across"> {
  return {
    database,
    ...(by === "pattern" ? { patterns: splitPatterns(patterns) } : { targets: branches.map((branch) => ({ branch })) }),
    ...(at.trim() === "" ? {} : { at: at.trim() }),
    sql,
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Asks until all have answered: the host holds no more than a bounded amount that nobody has asked for. */
async function collect(api: Api, mine: number, id: string): Promise<void> {
  for (;;) {
    const { results, isComplete } = await api.request("query.results", { id });
    if (mine !== generation) return;
    const { question } = acrossSession.get();
    if (!question) return;
    changeQuestion({
      results: [...question.results, ...results],
      elapsedMs: performance.now() - question.startedAt,
      ...(isComplete ? { phase: "done" } : {}),
    });
    if (!isComplete) continue;
    close(api);
    return;
  }
}

export function isUnderWay(question: AcrossQuestion | null): boolean {
  return question?.phase === "asking" || question?.phase === "running";
}

/** What has come in stays, and is called a part. Answers whether there was something to stop. */
export function stopAcross(api: Api): boolean {
  const { question } = acrossSession.get();
  if (!question || !isUnderWay(question)) return false;
  forget(api);
  changeQuestion({ phase: "stopped", elapsedMs: performance.now() - question.startedAt });
  return true;
}

/** Lets go of what is open; returns the number of the question that comes next. */
function forget(api: Api): number {
  generation += 1;
  close(api);
  return generation;
}

function close(api: Api): void {
  const id = openId;
  openId = null;
  // A host that has forgotten it already has closed it.
  if (id !== null) api.request("query.close", { id }).catch(() => null);
}

/** When the store or the database changes: results are of the other one. What is asked stays, but not who. */
export function resetAcrossResults(): void {
  generation += 1;
  openId = null;
  change({ question: null, reference: 0, focused: null });
  changeAsk({ branches: [], by: "pattern" });
}

/** As after the first start; for tests. */
export function resetAcross(): void {
  generation += 1;
  openId = null;
  acrossSession.set(INITIAL);
}

/** What is kept between starts: a query or a list that is very long is not. */
export function acrossLayout({ ask }: AcrossSession): AcrossAsk {
  const isLong = ask.branches.reduce((sum, name) => sum + name.length, 0) > LIST_CHARS_MAX;
  return { ...ask, sql: ask.sql.slice(0, SQL_CHARS_MAX), ...(isLong ? { branches: [], by: "pattern" as const } : {}) };
}

function text(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

/** Tolerant: what cannot be read is as after the first start. */
export function parseAcrossLayout(raw: unknown): AcrossAsk {
  if (typeof raw !== "object" || raw === null) return INITIAL.ask;
  const fields: Partial<Record<keyof AcrossAsk, unknown>> = raw;
  return {
    by: fields.by === "list" ? "list" : "pattern",
    patterns: text(fields.patterns, INITIAL.ask.patterns),
    branches: Array.isArray(fields.branches) ? fields.branches.filter((name) => typeof name === "string") : [],
    at: text(fields.at, ""),
    sql: text(fields.sql, ""),
  };
}

export function restoreAcross(ask: AcrossAsk): void {
  change({ ask });
}

/** Shows the screen with these branches chosen; asks nothing yet. */
export function openAcross(branches: readonly string[]): void {
  changeAsk({ by: "list", branches });
  showDataTab("across");
  showScreen("data");
}
