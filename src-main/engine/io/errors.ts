import type { ErrorCode, ErrorDetails, ErrorView } from "#shared/error-codes.ts";

export interface EngineErrorOptions {
  /** What the user can do. */
  readonly hint?: string;
  /** A sentence about what is still as it was: "shop@main and its file are unchanged." */
  readonly untouched?: string;
  readonly retryable?: boolean;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/** An expected failure. The message names the operation, the object, and what was found against what was expected. */
export class EngineError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | null;
  readonly untouched: string | null;
  readonly retryable: boolean;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: EngineErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "EngineError";
    this.code = code;
    this.hint = options.hint ?? null;
    this.untouched = options.untouched ?? null;
    this.retryable = options.retryable ?? false;
    this.details = options.details ?? {};
  }

  /** The same error with what a caller further up knows. */
  with(options: Pick<EngineErrorOptions, "hint" | "untouched">): EngineError {
    return new EngineError(this.code, this.message, {
      hint: options.hint ?? this.hint ?? undefined,
      untouched: options.untouched ?? this.untouched ?? undefined,
      retryable: this.retryable,
      details: this.details,
      cause: this.cause,
    });
  }
}

/** The same error with what is still as it was, where nobody further down said so. */
export function withUntouched(error: unknown, untouched: string): unknown {
  return error instanceof EngineError && error.untouched === null ? error.with({ untouched }) : error;
}

/** What crosses a process border. Anything that is no `EngineError` is a bug and says so. */
export function toErrorView(error: unknown): ErrorView {
  if (error instanceof EngineError) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined;
    return {
      code: error.code,
      message: error.message,
      hint: error.hint,
      untouched: error.untouched,
      retryable: error.retryable,
      details: cause && !error.details.cause ? { ...error.details, cause } : error.details,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: "internal",
    message,
    hint: "This is a bug in Coppice. Please report it with the details.",
    untouched: null,
    retryable: false,
    details: error instanceof Error && error.stack ? { cause: error.stack } : {},
  };
}

/** The other direction: an envelope received from a worker or child becomes an error again. */
export function fromErrorView(view: ErrorView): EngineError {
  return new EngineError(view.code, view.message, {
    hint: view.hint ?? undefined,
    untouched: view.untouched ?? undefined,
    retryable: view.retryable,
    details: view.details,
  });
}
