import { useState } from "react";
import type { RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { JobView } from "#shared/views.ts";
import { toErrorView } from "./api-error.ts";
import { useApi } from "./queries.ts";
import { useJobSince } from "./use-job.ts";

export interface Run<K extends RequestName> {
  /** Sends the request; does nothing while one is under way. Answers null when it failed or was cancelled. */
  readonly start: (input: RequestInput<K>) => Promise<RequestOutput<K> | null>;
  readonly running: boolean;
  /** Its job in the host, once that is announced. */
  readonly job: JobView | null;
  /** The last answer; kept while the next run is under way. */
  readonly result: RequestOutput<K> | null;
  readonly error: ErrorView | null;
}

/** A request that is started by a press and may take long: reports, sweeps. Nothing is cached. */
export function useRun<K extends RequestName>(name: K): Run<K> {
  const api = useApi();
  const [since, setSince] = useState<number | null>(null);
  const [result, setResult] = useState<RequestOutput<K> | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const job = useJobSince(since);
  const start = async (input: RequestInput<K>) => {
    if (since !== null) return null;
    setSince(Date.now());
    setError(null);
    try {
      const output = await api.request(name, input);
      setResult(output);
      return output;
    } catch (thrown) {
      const view = toErrorView(thrown);
      setError(view.code === "cancelled" ? null : view);
      return null;
    } finally {
      setSince(null);
    }
  };
  return { start, running: since !== null, job, result, error };
}
