/**
 * What was measured of a store, kept while other screens are shown. Measuring ten thousand branches takes a second, so
 * that a store at work is measured again every few seconds and not with each of its operations.
 */
import type { HostEvent } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { UsageView } from "#shared/usage-views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { appState } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";
import { resetCheckpoints } from "./usage-checkpoints.ts";
import { resetUsageState, usageState } from "./usage-state.ts";

/** Several operations of one act share a measurement. */
const SETTLE_MS = 300;
const PAUSE_MS_MIN = 3_000;
const PAUSE_MS_MAX = 60_000;
/** Measuring takes at most this part of the time. */
const PAUSE_FACTOR = 5;

/** Name of a database; empty for the whole store. */
type Scope = string;

interface MeasureState {
  readonly views: ReadonlyMap<Scope, UsageView>;
  readonly measuring: ReadonlySet<Scope>;
  readonly errors: ReadonlyMap<Scope, ErrorView>;
  /** Stopped by the user before there was anything to show. */
  readonly stopped: ReadonlySet<Scope>;
}

const INITIAL: MeasureState = { views: new Map(), measuring: new Set(), errors: new Map(), stopped: new Set() };

const measureState = createStore<MeasureState>(INITIAL);

export function useMeasure<S>(select: (state: MeasureState) => S): S {
  return useStore(measureState, select);
}

/** What the screen is about: a store without databases has only itself. */
export function scopeOf(scope: "database" | "store", database: string | null): Scope {
  return scope === "store" ? "" : (database ?? "");
}

function currentScope(): Scope {
  return scopeOf(usageState.get().scope, appState.get().database);
}

function without<K>(set: ReadonlySet<K>, key: K): ReadonlySet<K> {
  return new Set([...set].filter((each) => each !== key));
}

let generation = 0;
const inFlight = new Map<Scope, Promise<void>>();
/** When each may be measured again unasked, by `performance.now()`. */
const rests = new Map<Scope, number>();

/** Measures now; joins in while the same is being measured. */
export function measure(api: Api, scope: Scope): Promise<void> {
  const flight = inFlight.get(scope) ?? start(api, scope);
  inFlight.set(scope, flight);
  return flight;
}

async function start(api: Api, scope: Scope): Promise<void> {
  const mine = generation;
  const startedAt = performance.now();
  measureState.set((state) => ({ ...state, measuring: new Set(state.measuring).add(scope), stopped: without(state.stopped, scope) }));
  let view: UsageView | null = null;
  let error: ErrorView | null = null;
  try {
    view = await api.request("usage.store", scope === "" ? {} : { database: scope });
  } catch (thrown) {
    error = toErrorView(thrown);
  }
  if (mine !== generation) return;
  const now = performance.now();
  inFlight.delete(scope);
  rests.set(scope, now + Math.min(Math.max((now - startedAt) * PAUSE_FACTOR, PAUSE_MS_MIN), PAUSE_MS_MAX));
  measureState.set((state) => {
    const errors = new Map(state.errors);
    errors.delete(scope);
    if (error && error.code !== "cancelled") errors.set(scope, error);
    return {
      views: view ? new Map(state.views).set(scope, view) : state.views,
      measuring: without(state.measuring, scope),
      errors,
      stopped: error?.code === "cancelled" ? new Set(state.stopped).add(scope) : state.stopped,
    };
  });
}

/** As things are now: what is being measured already may not know them. */
export async function measureAgain(api: Api): Promise<void> {
  await inFlight.get(currentScope());
  await measure(api, currentScope());
}

/** Keeps what is shown current until the returned function is called. */
export function followUsage(api: Api): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  let scope = currentScope();
  let wasMoving = false;

  const run = async () => {
    timer = undefined;
    const flight = inFlight.get(currentScope());
    if (!flight) return await measure(api, currentScope());
    await flight;
    schedule(0);
  };
  const schedule = (waitMs: number) => {
    // Ten thousand deletions are measured once, when they are done.
    if (ended || timer !== undefined || usageState.get().moving) return;
    timer = setTimeout(() => void run(), Math.max(waitMs, (rests.get(currentScope()) ?? 0) - performance.now()));
  };
  const show = () => {
    clearTimeout(timer);
    timer = undefined;
    scope = currentScope();
    if (measureState.get().views.has(scope)) schedule(0);
    else void measure(api, scope);
  };
  const followChoice = () => {
    const { moving } = usageState.get();
    if (wasMoving && !moving) void measureAgain(api);
    wasMoving = moving !== null;
    if (currentScope() !== scope) show();
  };
  const stops = [
    api.onEvent((event: HostEvent) => {
      if (event.type === "store-changed" || event.type === "checkouts-changed") schedule(SETTLE_MS);
      if (event.type === "connection" && event.state === "open") schedule(0);
    }),
    appState.subscribe(followChoice),
    usageState.subscribe(followChoice),
  ];
  show();
  return () => {
    ended = true;
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}

/** When the store changes: nothing that is shown is about the new one. */
export function resetUsage(): void {
  generation += 1;
  inFlight.clear();
  rests.clear();
  measureState.set(INITIAL);
  resetCheckpoints();
  resetUsageState();
}
