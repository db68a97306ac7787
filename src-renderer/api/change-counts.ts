/**
 * What changed between versions, for the rows that are on the screen: they say which pair they show, and one request at a
 * time asks for all of them together. What the host has not counted yet is asked for again as long as it is shown.
 */
import { useEffect } from "react";
import type { ChangeCountsView } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import { createStore, useStore } from "../external-store.ts";
import type { Api } from "./api.ts";
import { useApi } from "./queries.ts";

export interface VersionPair {
  /** What the two versions are, whatever they are called: the same numbers mean others in a database that was made anew. */
  readonly identity: string;
  readonly database: string;
  /** Null: the version that `to` was made from. */
  readonly from: number | null;
  readonly to: number;
}

/** Rows come and go while a list is scrolled: only those that stay are asked for. */
const SETTLE_MS = 80;
/** Between two questions about what is pending; the host forgets it after `changeLeaseMs`. */
const AGAIN_MS = 300;
/** After a failed request, e.g. because the host was started anew. */
const RETRY_MS = 5_000;
const ANSWERS_MAX = 20_000;

interface Wanted {
  readonly api: Api;
  readonly pair: VersionPair;
  /** Rows that show it. */
  rows: number;
}

/** `answers` is changed in place, and never copied for a row of thousands: `round` tells that it was. */
const counts = createStore<{ readonly answers: Map<string, ChangeCountsView>; readonly round: number }>({ answers: new Map(), round: 0 });
const wanted = new Map<string, Wanted>();
let timer: ReturnType<typeof setTimeout> | undefined;
let isAsking = false;
/** Told apart by number: an answer about an older store is thrown away. */
let generation = 0;

/** Null: not known yet, or no pair. "pending": it takes a while. */
export function useChangeCounts(pair: VersionPair | null): ChangeCountsView | null {
  const api = useApi();
  const isAsked = pair !== null && pair.from !== pair.to;
  const key = isAsked ? keyOf(pair) : null;
  useEffect(() => {
    // The key says all that the pair does.
    if (key !== null && pair !== null) return want(api, key, pair);
    return undefined;
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a pair is made anew with each render
  }, [api, key]);
  const answer = useStore(counts, ({ answers }) => (key === null ? null : (answers.get(key) ?? null)));
  return pair !== null && !isAsked ? NO_CHANGES : answer;
}

/** When the store changes: nothing that is known is about the new one. */
export function resetChangeCounts(): void {
  generation += 1;
  counts.set(({ round }) => ({ answers: new Map(), round: round + 1 }));
  if (wanted.size > 0) askIn(SETTLE_MS);
}

function keyOf({ identity, database, from, to }: VersionPair): string {
  return `${database} ${identity} ${from} ${to}`;
}

/** Of a branch that was not moved since its fork, which is known without a question. */
const NO_CHANGES: ChangeCountsView = {
  from: 0,
  to: 0,
  state: "known",
  tables: [],
  moreTables: 0,
  inserted: 0,
  deleted: 0,
  updated: 0,
  schemaChanges: 0,
  problem: null,
};

function want(api: Api, key: string, pair: VersionPair): () => void {
  const known = wanted.get(key);
  // What failed is tried again when it is shown again.
  if (!known && counts.get().answers.get(key)?.state === "failed") counts.get().answers.delete(key);
  const entry = known ?? { api, pair, rows: 0 };
  entry.rows += 1;
  wanted.set(key, entry);
  if (!isFinal(key)) askIn(SETTLE_MS);
  return () => {
    entry.rows -= 1;
    if (entry.rows === 0 && wanted.get(key) === entry) wanted.delete(key);
  };
}

function isFinal(key: string): boolean {
  const state = counts.get().answers.get(key)?.state;
  return state === "known" || state === "failed";
}

function askIn(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void ask(), ms);
}

async function ask(): Promise<void> {
  if (isAsking) return;
  const open = [...wanted].filter(([key]) => !isFinal(key));
  const [first] = open;
  if (!first) return;
  const { api, pair } = first[1];
  const batch = open.filter(([, entry]) => entry.pair.database === pair.database).slice(0, LIMITS.changePairsMax);
  const mine = generation;
  isAsking = true;
  try {
    const pairs = batch.map(([, entry]) => ({ from: entry.pair.from, to: entry.pair.to }));
    const answers = await api.request("version.changes", { database: pair.database, pairs });
    if (mine === generation) keep(batch.map(([key], index) => [key, answers[index]]));
    const isWaiting = answers.some(({ state }) => state === "pending");
    askIn(isWaiting ? AGAIN_MS : 0);
  } catch {
    // The figures are an addition: what fails here fails visibly where the same host is asked for the list itself.
    askIn(RETRY_MS);
  } finally {
    isAsking = false;
  }
}

function keep(found: readonly (readonly [key: string, answer: ChangeCountsView | undefined])[]): void {
  const { answers, round } = counts.get();
  for (const [key, answer] of found) if (answer) answers.set(key, answer);
  for (const key of answers.keys()) {
    if (answers.size <= ANSWERS_MAX) break;
    if (!wanted.has(key)) answers.delete(key);
  }
  counts.set({ answers, round: round + 1 });
}
