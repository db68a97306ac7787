import { QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import type { HostEvent, RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { JobView } from "#shared/views.ts";
import type { Api } from "./api.ts";
import type { ApiError } from "./api-error.ts";

const ApiContext = createContext<Api | null>(null);
export const ApiProvider = ApiContext.Provider;

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (!api) throw new Error("useApi outside ApiProvider");
  return api;
}

/** Answers stay valid until the host says that something moved: nothing is polled. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Infinity,
        gcTime: 60_000,
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
      },
    },
  });
}

/**
 * Reads through the cache. The key is `[name, input]`; host events refresh it. The old answer stays on the screen while
 * the new one is on its way, unless the input changed.
 */
export function useRequest<K extends RequestName>(
  name: K,
  input: RequestInput<K>,
  options: { readonly enabled?: boolean } = {},
): UseQueryResult<RequestOutput<K>, ApiError> {
  const api = useApi();
  return useQuery<RequestOutput<K>, ApiError>({
    queryKey: [name, input],
    queryFn: () => api.request(name, input),
    enabled: options.enabled ?? true,
  });
}

/**
 * Groups of requests whose answers change when the store does. `app.*` and reports (doctor, verify, inspect) do not; what
 * was measured (`usage.*`) follows at a pace of its own.
 */
const STORE_READS = new Set<RequestName>([
  "store.status",
  "database.list",
  "branch.get",
  "branch.history",
  "trash.list",
  "operation.list",
  "operation.preview",
  "data.schema",
]);
const CHECKOUT_READS = new Set<RequestName>(["branch.get", "branch.history", "data.schema"]);

/** Reads that are under way, and whether the store moved since they were sent. */
const underWay = new WeakMap<QueryClient, Map<RequestName, boolean>>();

/**
 * Reads anew what is on the screen. Of each request one round at a time: a store at work says several times a second that
 * it moved, and a host that still answers would be asked faster than it can.
 */
function invalidate(client: QueryClient, names: Iterable<RequestName>): void {
  const rounds = underWay.get(client) ?? new Map<RequestName, boolean>();
  underWay.set(client, rounds);
  for (const name of names) {
    if (rounds.has(name)) {
      rounds.set(name, true);
      continue;
    }
    rounds.set(name, false);
    void client.invalidateQueries({ predicate: (query) => query.queryKey[0] === name }).finally(() => {
      const moved = rounds.get(name) ?? false;
      rounds.delete(name);
      if (moved) invalidate(client, [name]);
    });
  }
}

/** One running job list in the cache, kept current by events instead of asking again. */
export function mergeJob(jobs: readonly JobView[] | undefined, job: JobView): readonly JobView[] {
  const others = (jobs ?? []).filter((other) => other.id !== job.id);
  return [...others, job].toSorted((a, b) => a.startedAt - b.startedAt);
}

export function applyHostEvent(client: QueryClient, event: HostEvent): void {
  if (event.type === "store-changed") invalidate(client, STORE_READS);
  if (event.type === "checkouts-changed") invalidate(client, CHECKOUT_READS);
  if (event.type === "job") client.setQueryData<readonly JobView[]>(["job.list", {}], (jobs) => mergeJob(jobs, event.job));
  if (event.type === "connection" && event.state === "open") void client.invalidateQueries();
}
