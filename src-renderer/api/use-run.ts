import { useState } from "react";
import type { RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import { toErrorView } from "./api-error.ts";
import { useApi } from "./queries.ts";

export interface Run<K extends RequestName> {
  /** Sends the request; does nothing while one is under way. Answers null when it failed or was cancelled. */
  readonly start: (input: RequestInput<K>) => Promise<RequestOutput<K> | null>;
  readonly running: boolean;
  /** The last answer; kept while the next run is under way. */
  readonly result: RequestOutput<K> | null;
  readonly error: ErrorView | null;
}

/** A request that is started by a press and may take long: reports, sweeps. Nothing is cached. */
export function useRun<K extends RequestName>(name: K): Run<K> {
  const api = useApi();
  const [running, setRunning] = useState(false);
  const [result, setResult] = useState<RequestOutput<K> | null>(null);
  const [error, setError] = useState<ErrorView | null>(null);
  const start = async (input: RequestInput<K>) => {
    if (running) return null;
    setRunning(true);
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
      setRunning(false);
    }
  };
  return { start, running, result, error };
}
