import type { ErrorView } from "#shared/error-codes.ts";
import { createStore } from "../external-store.ts";

export interface ToastAction {
  readonly label: string;
  /** As in `commands.ts`, e.g. "Mod+Z". */
  readonly shortcut?: string;
  readonly run: () => void;
}
export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly detail: string | null;
  readonly tone: "plain" | "warn" | "error";
  readonly action: ToastAction | null;
  readonly error: ErrorView | null;
}

const SHOWN_MAX = 4;
const SHOWN_MS = 8_000;

export const toasts = createStore<{ readonly list: readonly Toast[] }>({ list: [] });
let lastId = 0;

/** A failure that is met again takes the place of its first report. */
function isReplaced(older: Toast, newer: Omit<Toast, "id">): boolean {
  if (older.error === null && newer.error === null) return true;
  return older.error !== null && newer.error !== null && older.error.code === newer.error.code && older.text === newer.text;
}

function push(toast: Omit<Toast, "id">): void {
  lastId += 1;
  const id = lastId;
  toasts.set(({ list }) => ({ list: [...list.filter((other) => !isReplaced(other, toast)).slice(1 - SHOWN_MAX), { ...toast, id }] }));
  if (!toast.error) setTimeout(() => dismissToast(id), SHOWN_MS);
}

export function dismissToast(id: number): void {
  toasts.set(({ list }) => ({ list: list.filter((toast) => toast.id !== id) }));
}

/** Names what was done. A newer act replaces the older toast; it leaves by itself. */
export function showToast(toast: {
  readonly text: string;
  readonly detail?: string | null;
  readonly tone: "plain" | "warn";
  readonly action?: ToastAction;
}): void {
  push({ text: toast.text, detail: toast.detail ?? null, tone: toast.tone, action: toast.action ?? null, error: null });
}

/** A failure stays until it is dismissed. `retry` labelled `retryLabel` (default "Retry"). */
export function showError(error: ErrorView, retry: (() => void) | null, retryLabel = "Retry"): void {
  push({ text: error.message, detail: null, tone: "error", action: retry ? { label: retryLabel, run: retry } : null, error });
}
