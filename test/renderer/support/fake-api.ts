/**
 * An in-memory host behind the same bridge that the desktop's preload offers (`window.coppice`), so that the screens run
 * with their own client code. A request without a handler fails the test by name.
 */
import type { ErrorCode, ErrorDetails, ErrorView } from "#shared/error-codes.ts";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";

export type FakeHandlers = { [K in RequestName]?: (input: RequestInput<K>) => RequestOutput<K> | Promise<RequestOutput<K>> };

/** Thrown by a handler: the request fails with this error. */
export class FakeFailure extends Error {
  readonly view: ErrorView;
  constructor(code: ErrorCode, message: string, rest: Partial<Omit<ErrorView, "code" | "message">> & { details?: ErrorDetails } = {}) {
    super(message);
    this.view = { code, message, hint: null, untouched: null, retryable: false, details: {}, ...rest };
  }
}

export interface FakeApi {
  /** Every request so far, oldest first. */
  readonly calls: readonly { readonly name: RequestName; readonly input: unknown }[];
  /** Inputs of the requests of one name. */
  inputsOf<K extends RequestName>(name: K): RequestInput<K>[];
  /** Adds or replaces handlers. */
  handle(handlers: FakeHandlers): void;
  emit(event: HostEvent): void;
}

/** Installs the bridge; call it before the client is created. `handlers` answer the requests. */
export function installFakeApi(handlers: FakeHandlers): FakeApi {
  const calls: { name: RequestName; input: unknown }[] = [];
  const listeners = new Set<(event: HostEvent) => void>();
  const table: Record<string, ((input: never) => unknown) | undefined> = { ...handlers };
  const request = async (name: RequestName, input: unknown): Promise<Result<unknown>> => {
    calls.push({ name, input });
    const handler = table[name];
    if (!handler) return { ok: false, error: new FakeFailure("internal", `the test has no handler for ${name}`).view };
    try {
      return { ok: true, result: await handler(input as never) };
    } catch (error) {
      if (error instanceof FakeFailure) return { ok: false, error: error.view };
      throw error;
    }
  };
  const bridge = {
    request,
    onEvent: (listener: (event: HostEvent) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    platform: "linux",
    pathForFile: (file: File) => `/home/you/${file.name}`,
  };
  Object.assign(window, { coppice: bridge });
  return {
    calls,
    inputsOf: <K extends RequestName>(name: K) => calls.filter((call) => call.name === name).map((call) => call.input as RequestInput<K>),
    handle: (more) => Object.assign(table, more),
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
}
