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

/** The shared clock's time in Unix milliseconds, without following it. */
export function readClock(): number {
  if (listeners.size === 0) now = Date.now();
  return now;
}

/** The start of the current step of `everyMs`: the same value until the next one. */
export function useClockStep(everyMs: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(readClock() / everyMs)) * everyMs;
}

/** The time now. Re-renders once every `everyMs` (default a second). */
export function useNow(everyMs: number = TICK_MS): number {
  useClockStep(everyMs);
  return readClock();
}
