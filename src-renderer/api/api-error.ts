import type { ErrorView } from "#shared/error-codes.ts";

/** An expected failure of a request, as the host described it. */
export class ApiError extends Error {
  readonly view: ErrorView;

  constructor(view: ErrorView) {
    super(view.message);
    this.name = "ApiError";
    this.view = view;
  }
}

/** Turns whatever was thrown into something that can be shown; what is no `ApiError` is a bug and says so. */
export function toErrorView(error: unknown): ErrorView {
  if (error instanceof ApiError) return error.view;
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message, hint: "This is a fault in Coppice.", untouched: null, retryable: true, details: {} };
}

/** Several lines of plain text for a bug report or a colleague. */
export function describeError(view: ErrorView): string {
  const holders = (view.details.holders ?? []).map((holder) => `${holder.program ?? "a process"} (pid ${holder.pid}, ${holder.access})`);
  const lines = [
    `${view.message} [${view.code}]`,
    view.untouched,
    view.hint,
    holders.length > 0 ? `Held by ${holders.join(", ")}` : null,
    view.details.path ? `Path: ${view.details.path}` : null,
    view.details.expected ? `Expected: ${view.details.expected}` : null,
    view.details.found ? `Found: ${view.details.found}` : null,
    view.details.cause ? `Cause: ${view.details.cause}` : null,
  ];
  return lines.filter((line) => line !== null).join("\n");
}
