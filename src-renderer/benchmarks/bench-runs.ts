/**
 * The runs of the open store: the list, and the samples of those that were looked at. New samples arrive up to ten times
 * a second; they are gathered and put in once a frame, so that a fast run costs the screen no more than a slow one.
 */
import type { BenchRun, BenchRunHead, BenchUpdate } from "#shared/bench-views.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { appState } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";
import { forgetBenchRuns, isActive } from "./bench-view.ts";

/** Where no frame is drawn (a tab in the background), samples are put in by the clock. */
const FLUSH_AFTER_MS = 250;

export interface BenchRunsState {
  /** Newest first; null before the first answer. */
  readonly heads: readonly BenchRunHead[] | null;
  readonly headsError: ErrorView | null;
  readonly runs: ReadonlyMap<string, BenchRun>;
  readonly errors: ReadonlyMap<string, ErrorView>;
}

const EMPTY: BenchRunsState = { heads: null, headsError: null, runs: new Map(), errors: new Map() };

export const benchRuns = createStore<BenchRunsState>(EMPTY);

export function useBenchRuns<S>(select: (state: BenchRunsState) => S): S {
  return useStore(benchRuns, select);
}

export function findActiveRun(state: BenchRunsState): BenchRunHead | null {
  return state.heads?.find(isActive) ?? null;
}

/**
 * The run with what came since; null when samples in between are missing and the run must be read anew. An update that
 * waited while a newer answer was read takes nothing away from it. Pure.
 */
export function mergeUpdate(run: BenchRun, update: BenchUpdate): BenchRun | null {
  const parts = new Map(update.series.map((part) => [part.id, part]));
  const known = new Set(run.series.map((series) => series.id));
  if (update.series.some((part) => !known.has(part.id))) return null;
  let gap = false;
  const series = run.series.map((old) => {
    const part = parts.get(old.id);
    if (!part) return old;
    if (part.from > old.samples.length) gap = true;
    const fresh = part.samples.slice(Math.max(0, old.samples.length - part.from));
    const { errors, timeouts, error, skipped } = part;
    return { ...old, errors, timeouts, error, skipped, samples: fresh.length === 0 ? old.samples : [...old.samples, ...fresh] };
  });
  return gap ? null : { ...run, state: update.state, progress: update.progress, series };
}

/** A fresh answer may be older than what events brought meanwhile: the longer samples stay. Pure. */
export function mergeAnswer(old: BenchRun | undefined, answer: BenchRun): BenchRun {
  if (!old || !isActive(answer)) return answer;
  const before = new Map(old.series.map((series) => [series.id, series]));
  const series = answer.series.map((fresh) => {
    const known = before.get(fresh.id);
    return known && known.samples.length > fresh.samples.length ? { ...fresh, samples: known.samples } : fresh;
  });
  return isActive(old) ? { ...answer, series } : { ...answer, series, state: old.state };
}

function patchHeads(heads: BenchRunsState["heads"], id: string, part: Partial<BenchRunHead>): BenchRunsState["heads"] {
  return heads?.map((head) => (head.id === id ? { ...head, ...part } : head)) ?? null;
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  return new Map([...map].filter(([other]) => other !== key));
}

/** Goes up when the store changes: answers that belong to the one before are dropped. */
let generation = 0;
const loading = new Map<string, number>();
let turn = 0;
let waiting: BenchUpdate[] = [];
let scheduled = false;

export async function loadBenchHeads(api: Api): Promise<void> {
  const mine = generation;
  try {
    const heads = await api.request("bench.runs", {});
    if (mine !== generation) return;
    benchRuns.set((state) => ({ ...state, heads, headsError: null }));
  } catch (error) {
    if (mine === generation) benchRuns.set((state) => ({ ...state, headsError: toErrorView(error) }));
  }
}

/** Reads a run with all its samples; updates that arrive meanwhile wait for it. */
export async function loadBenchRun(api: Api, id: string): Promise<void> {
  const mine = generation;
  turn += 1;
  const myTurn = turn;
  loading.set(id, myTurn);
  try {
    const answer = await api.request("bench.run", { run: id });
    if (mine !== generation || loading.get(id) !== myTurn) return;
    loading.delete(id);
    benchRuns.set((state) => {
      const run = mergeAnswer(state.runs.get(id), answer);
      const head: Partial<BenchRunHead> = { state: run.state, endedAt: run.endedAt };
      return {
        ...state,
        runs: new Map(state.runs).set(id, run),
        errors: without(state.errors, id),
        heads: patchHeads(state.heads, id, head),
      };
    });
    flush(api);
  } catch (error) {
    if (mine !== generation || loading.get(id) !== myTurn) return;
    loading.delete(id);
    waiting = waiting.filter((update) => update.run !== id);
    benchRuns.set((state) => ({ ...state, errors: new Map(state.errors).set(id, toErrorView(error)) }));
  }
}

/** Takes a run out of the list, after the host removed it. */
export function dropBenchRun(id: string): void {
  benchRuns.set((state) => ({
    ...state,
    heads: state.heads?.filter((head) => head.id !== id) ?? null,
    runs: without(state.runs, id),
    errors: without(state.errors, id),
  }));
}

/** Puts a run that was just started at the top of the list. */
export function addBenchHead(head: BenchRunHead): void {
  benchRuns.set((state) => ({ ...state, heads: [head, ...(state.heads ?? []).filter((other) => other.id !== head.id)] }));
}

/** Puts in what has gathered, in one change of the state. */
function flush(api: Api): void {
  const updates = waiting.filter((update) => !loading.has(update.run));
  if (updates.length === 0) return;
  waiting = waiting.filter((update) => loading.has(update.run));
  const state = benchRuns.get();
  const runs = new Map(state.runs);
  let { heads } = state;
  const reload = new Set<string>();
  for (const update of updates) {
    const run = runs.get(update.run);
    const merged = run ? mergeUpdate(run, update) : null;
    if (merged) runs.set(update.run, merged);
    else if (run) reload.add(update.run);
    // Facts come with a step's end; tables, times and failures with the run's.
    if (run && (run.progress.stepIndex !== update.progress.stepIndex || !isActive(update))) reload.add(update.run);
    if (heads?.find((head) => head.id === update.run)?.state !== update.state)
      heads = patchHeads(heads, update.run, { state: update.state });
  }
  benchRuns.set({ ...state, runs, heads });
  for (const id of reload) void loadBenchRun(api, id);
}

function schedule(api: Api): void {
  if (scheduled) return;
  scheduled = true;
  let done = false;
  const run = () => {
    if (done) return;
    done = true;
    scheduled = false;
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    flush(api);
  };
  const timer = setTimeout(run, FLUSH_AFTER_MS);
  const frame = requestAnimationFrame(run);
}

function receive(api: Api, update: BenchUpdate): void {
  const { heads, runs } = benchRuns.get();
  const head = heads?.find((each) => each.id === update.run);
  // Started elsewhere (the command line, another window), or ended: the list has more to say.
  if (!head || (isActive(head) && !isActive(update))) void loadBenchHeads(api);
  // A run that nobody looked at is read when somebody does.
  if (!runs.has(update.run) && !loading.has(update.run)) {
    if (head && head.state !== update.state)
      benchRuns.set((state) => ({ ...state, heads: patchHeads(state.heads, update.run, { state: update.state }) }));
    return;
  }
  waiting.push(update);
  schedule(api);
}

function reloadAll(api: Api): void {
  const { heads, runs } = benchRuns.get();
  if (heads === null) return;
  void loadBenchHeads(api);
  for (const run of runs.values()) if (isActive(run)) void loadBenchRun(api, run.id);
}

function forgetAll(): void {
  generation += 1;
  loading.clear();
  waiting = [];
  benchRuns.set(EMPTY);
}

const storeUid = (): string | null => appState.get().hello?.store?.uid ?? null;

/** Follows the host's events and the open store until the returned function is called. */
export function followBenchRuns(api: Api): () => void {
  let store = storeUid();
  const stopEvents = api.onEvent((event) => {
    if (event.type === "bench") receive(api, event.update);
    if (event.type === "connection" && event.state === "open") reloadAll(api);
  });
  const stopState = appState.subscribe(() => {
    if (storeUid() === store) return;
    store = storeUid();
    forgetAll();
    forgetBenchRuns();
  });
  return () => {
    stopEvents();
    stopState();
    forgetAll();
  };
}
