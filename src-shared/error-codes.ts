/**
 * The closed union of things that can go wrong and that a user can meet. Hosts print, show and transmit these; nothing
 * matches on message text. `exit` is the CLI's exit code: 1 failed, 2 usage, 3 conflict or refused, 4 not found.
 */
export const ERROR_CODES = {
  // usage
  "bad-argument": { exit: 2 },
  "bad-name": { exit: 2 },
  "bad-target": { exit: 2 },
  "bad-store-spec": { exit: 2 },
  // not found
  "store-not-found": { exit: 4 },
  "database-not-found": { exit: 4 },
  "branch-not-found": { exit: 4 },
  "checkpoint-not-found": { exit: 4 },
  "version-not-found": { exit: 4 },
  "operation-not-found": { exit: 4 },
  "file-not-found": { exit: 4 },
  // conflict or refused
  "name-taken": { exit: 3 },
  protected: { exit: 3 },
  "checkout-busy": { exit: 3 },
  "checkout-stale": { exit: 3 },
  "stale-precondition": { exit: 3 },
  "undo-blocked": { exit: 3 },
  "nothing-to-undo": { exit: 3 },
  "store-busy": { exit: 3 },
  "store-exists": { exit: 3 },
  "file-exists": { exit: 3 },
  "read-only": { exit: 3 },
  // inputs
  "not-sqlite": { exit: 1 },
  encrypted: { exit: 1 },
  truncated: { exit: 1 },
  "source-busy": { exit: 3 },
  "source-changed": { exit: 3 },
  // store state
  "store-newer": { exit: 1 },
  "store-read-only": { exit: 1 },
  "store-corrupt": { exit: 1 },
  "segment-corrupt": { exit: 1 },
  "segment-missing": { exit: 1 },
  "checkout-corrupt": { exit: 1 },
  "database-corrupt": { exit: 1 },
  "sql-failed": { exit: 1 },
  // machine
  "disk-full": { exit: 1 },
  "permission-denied": { exit: 1 },
  "io-failed": { exit: 1 },
  cancelled: { exit: 1 },
  unsupported: { exit: 1 },
  "worker-died": { exit: 1 },
  "outcome-unknown": { exit: 1 },
  internal: { exit: 1 },
} as const satisfies Record<string, { exit: 1 | 2 | 3 | 4 }>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A process that holds a file or a lock, as far as the operating system tells. */
export interface Holder {
  readonly pid: number;
  /** Program name, e.g. "sqlite3"; null where the system does not tell. */
  readonly program: string | null;
  readonly access: "reading" | "writing" | "open";
}

/** What an error carries across processes. `untouched` is a sentence about what is still as it was. */
export interface ErrorView {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
  readonly untouched: string | null;
  readonly retryable: boolean;
  readonly details: ErrorDetails;
}

export interface ErrorDetails {
  readonly holders?: readonly Holder[];
  readonly name?: string;
  readonly path?: string;
  readonly segment?: string;
  readonly expected?: string;
  readonly found?: string;
  /** Operations that must be undone first, newest first. */
  readonly operations?: readonly number[];
  /** What the caller can choose from, e.g. the nearest names or the ways out of a stale checkout. */
  readonly choices?: readonly string[];
  readonly cause?: string;
}
