import type { ErrorView } from "./error-codes.ts";

/** The envelope in which every answer crosses a process border, and what the CLI prints with `--json`. */
export type Result<T> = { readonly ok: true; readonly result: T } | { readonly ok: false; readonly error: ErrorView };
