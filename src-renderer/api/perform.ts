/**
 * Acts: requests that change the store. Each names itself in a toast that can undo it, and each failure is shown with
 * what is untouched; nothing is asked beforehand and nothing fails silently.
 */
import type { RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { VerbResult } from "#shared/views.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { showError, showToast } from "../ui/toasts.ts";
import type { Api } from "./api.ts";
import { toErrorView } from "./api-error.ts";

type VerbName = { [K in RequestName]: RequestOutput<K> extends VerbResult ? K : never }[RequestName];

/** Runs a verb and shows a toast that names it, with Undo. Throws `ApiError`: for dialogs that show it in place. */
export async function performVerb<K extends VerbName>(api: Api, name: K, input: RequestInput<K>): Promise<RequestOutput<K>> {
  const result = await api.request(name, input);
  announce(api, result as VerbResult);
  return result;
}

/** As `performVerb`, but failures become an error toast with Retry; answers null then. */
export async function performOrReport<K extends VerbName>(api: Api, name: K, input: RequestInput<K>): Promise<RequestOutput<K> | null> {
  try {
    return await performVerb(api, name, input);
  } catch (error) {
    const view = toErrorView(error);
    // A guard that the user set up may be passed by the user, at once and undoably; nothing else takes `force`.
    if (view.code === "protected") showError(view, () => void performOrReport(api, name, { ...input, force: true }), "Do it anyway");
    else showError(view, view.retryable ? () => void performOrReport(api, name, input) : null);
    return null;
  }
}

/** Requests of one act on many branches that are on their way at once; the store commits them together. */
const PARALLEL_MAX = 32;
/** Between two words about how far many have come. */
const PROGRESS_MS = 1_000;

export interface ManyOptions {
  /** Called with how many are done, some of them at a time. */
  readonly onProgress?: (done: number) => void;
  /** Those that are on their way end, and no more are sent. */
  readonly signal?: AbortSignal;
}

/** One act on many objects: one toast, one Undo. Stops at the first failure and says how far it came; answers what was done. */
export async function performMany<K extends VerbName>(
  api: Api,
  name: K,
  inputs: readonly RequestInput<K>[],
  describe: (count: number) => string,
  { onProgress, signal }: ManyOptions = {},
): Promise<readonly RequestInput<K>[]> {
  const operations: number[] = [];
  const done: RequestInput<K>[] = [];
  const failure = await inParts(
    inputs,
    async (input) => {
      const { operation } = (await api.request(name, input)) as VerbResult;
      return () => {
        if (!operation) return;
        operations.push(operation.id);
        done.push(input);
      };
    },
    signal,
    () => onProgress?.(done.length),
  );
  if (failure) showError(failure, null);
  if (operations.length > 0) {
    showToast({ text: describe(operations.length), tone: "plain", action: { label: "Undo", run: () => void undoMany(api, operations) } });
  }
  return done;
}

/** Many are undone as fast as they were done; what takes longer than a moment says how far it is, and can be stopped. */
async function undoMany(api: Api, operations: readonly number[]): Promise<void> {
  const total = formatPlural(operations.length, "operation");
  const stop = new AbortController();
  let undone = 0;
  let toldAt = performance.now();
  const failure = await inParts(
    operations.toReversed(),
    async (operation) => {
      await api.request("operation.undo", { operation });
      return () => {
        undone += 1;
      };
    },
    stop.signal,
    () => {
      if (performance.now() - toldAt < PROGRESS_MS || undone === operations.length) return;
      toldAt = performance.now();
      const action = { label: "Stop", run: () => stop.abort() };
      showToast({ text: `Undoing ${total}: ${formatCount(undone)} done`, tone: "plain", action });
    },
  );
  if (failure) showError(failure, null);
  if (undone === 0) return;
  const rest = operations.slice(0, operations.length - undone);
  showToast({
    text: `Undone: ${rest.length > 0 ? `${formatCount(undone)} of ` : ""}${total}`,
    tone: "plain",
    ...(stop.signal.aborted && rest.length > 0 ? { action: { label: "Undo the rest", run: () => void undoMany(api, rest) } } : {}),
  });
}

/**
 * Runs all of one part at once and then those of the next, and ends with the part in which one fails. What a run answers
 * is called in the order of `items`. Answers the first failure.
 */
async function inParts<T>(
  items: readonly T[],
  run: (item: T) => Promise<() => void>,
  signal: AbortSignal | undefined,
  onProgress: () => void,
): Promise<ErrorView | null> {
  for (let from = 0; from < items.length; from += PARALLEL_MAX) {
    if (signal?.aborted) break;
    const answers = await Promise.allSettled(items.slice(from, from + PARALLEL_MAX).map(run));
    for (const answer of answers) if (answer.status === "fulfilled") answer.value();
    onProgress();
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed) return toErrorView(failed.reason);
  }
  return null;
}

/** For requests that are no verbs (reveal, cancel, …): failures become an error toast. */
export async function requestOrReport<K extends RequestName>(api: Api, name: K, input: RequestInput<K>): Promise<RequestOutput<K> | null> {
  try {
    return await api.request(name, input);
  } catch (error) {
    showError(toErrorView(error), () => void requestOrReport(api, name, input));
    return null;
  }
}

function announce(api: Api, result: VerbResult): void {
  const operation = result.operation;
  const warning = result.warnings.length > 0 ? result.warnings.join(" ") : null;
  if (!operation) {
    showToast({ text: warning ?? "Nothing had to be changed", tone: warning ? "warn" : "plain" });
    return;
  }
  const undoable = operation.state === "done" && operation.kind !== "undo" && operation.kind !== "purge";
  showToast({
    text: operation.summary,
    detail: warning,
    tone: warning ? "warn" : "plain",
    ...(undoable ? { action: { label: "Undo", shortcut: "Mod+Z", run: () => void undoOperation(api, operation.id) } } : {}),
  });
}

/** Undoes one operation, or the user's own last one. When later ones stand in the way it offers to undo those too. */
export async function undoOperation(api: Api, operation: number | null, chain = false): Promise<void> {
  try {
    const result = await api.request("operation.undo", { ...(operation === null ? {} : { operation }), ...(chain ? { chain } : {}) });
    const count = result.undone.length;
    showToast({
      text: count > 1 ? `Undone: ${formatPlural(count, "operation")}` : (result.operation?.summary ?? "Undone"),
      detail: result.warnings.length > 0 ? result.warnings.join(" ") : null,
      tone: "plain",
      action: { label: "Redo", shortcut: "Mod+Shift+Z", run: () => void redoOperation(api) },
    });
  } catch (error) {
    const view = toErrorView(error);
    if (view.code === "nothing-to-undo") {
      showToast({ text: view.message, tone: "plain" });
      return;
    }
    const blocked = view.code === "undo-blocked" && !chain && operation !== null;
    const count = view.details.operations?.length ?? 0;
    showError(
      view,
      blocked ? () => void undoOperation(api, operation, true) : null,
      blocked ? `Undo ${count > 0 ? count + 1 : "all"} operations` : undefined,
    );
  }
}

export async function redoOperation(api: Api): Promise<void> {
  try {
    const result = await api.request("operation.redo", {});
    announce(api, result);
  } catch (error) {
    const view = toErrorView(error);
    if (view.code === "nothing-to-undo") showToast({ text: view.message, tone: "plain" });
    else showError(view, null);
  }
}
