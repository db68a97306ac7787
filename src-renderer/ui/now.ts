import { useSyncExternalStore } from "react";

/** One clock for the whole window, so that every age on the screen steps together. */
const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) now = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time now, rounded down to `everyMs` (default a second). Re-renders once a step. */
export function useNow(everyMs: number = TICK_MS): number {
  const step = useSyncExternalStore(subscribe, () => Math.floor((listeners.size === 0 ? Date.now() : now) / everyMs));
  return step * everyMs;
}
