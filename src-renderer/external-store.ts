import { useSyncExternalStore } from "react";

/** State that lives outside React, so that commands, keyboard and host events reach it without a component. */
export interface ExternalStore<T> {
  get(): T;
  set(change: T | ((current: T) => T)): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T extends object>(initial: T): ExternalStore<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(change) {
      const next = typeof change === "function" ? change(current) : change;
      if (Object.is(next, current)) return;
      current = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Re-renders when the selected part changes. `select` must return the same reference while nothing changed. */
export function useStore<T extends object, S>(store: ExternalStore<T>, select: (state: T) => S): S {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
