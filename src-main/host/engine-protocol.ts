/**
 * Messages between a host and its engine worker. Requests carry an id and are answered exactly once with a `Result`;
 * events flow one way, in order.
 */
import type { HostEvent, RequestName } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";

/** Requests that the worker answers; `app.*` belongs to the host's own thread. */
export type EngineRequestName = Exclude<RequestName, `app.${string}`>;

export type ToEngine = { readonly id: number; readonly name: EngineRequestName; readonly input: unknown } | { readonly shutdown: true };

export type FromEngine = { readonly id: number; readonly result: Result<unknown> } | { readonly event: HostEvent };
