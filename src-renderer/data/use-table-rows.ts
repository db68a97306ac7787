import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { useStore } from "../external-store.ts";
import { dataWrites, placeInput, type DataPlace } from "./data-session.ts";
import { RowWindow, cancelJob, type TableQuery } from "./row-window.ts";

/** Rows of a table in an order and under filters; asked for anew when one of these changes. */
export function useTableRows({ place, table, order, filters }: TableQuery) {
  const api = useApi();
  const key = JSON.stringify([place, table, order, filters]);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the key holds all of it
  const rows = useMemo(() => new RowWindow(api, { place, table, order, filters }), [api, key]);
  useEffect(() => {
    void rows.open();
    return () => rows.close();
  }, [rows]);
  const state = useStore(rows.state, (current) => current);
  return { rows, state };
}

/** Calls back soon after what a branch's file holds may have changed, whoever changed it. Earlier states never do. */
export function useDataChanges(place: DataPlace, head: number | null, onChange: () => void): void {
  const api = useApi();
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  }, [onChange]);
  const { database, branch } = place;
  const isLive = place.at === null;
  useEffect(() => {
    if (!isLive) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(), SETTLE_MS);
    };
    const stops = [
      dataWrites.subscribe(schedule),
      api.onEvent((event) => {
        if (event.type === "connection" && event.state === "open") schedule();
        if (event.type === "checkouts-changed" && event.database === database && event.branches.includes(branch)) schedule();
      }),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [api, database, branch, isLive]);
  const known = useRef(head);
  useEffect(() => {
    if (known.current !== null && known.current !== head && isLive) latest.current();
    known.current = head;
  }, [head, isLive]);
}

/** Several writes of one program are read once. */
const SETTLE_MS = 100;

interface Counted {
  readonly state: "no" | "running" | "known" | "stopped" | "failed";
  readonly count: number;
  readonly error: ErrorView | null;
}

export interface RowCount extends Counted {
  readonly start: () => void;
  readonly stop: () => void;
}

const NOT_COUNTED: Counted = { state: "no", count: 0, error: null };

/** Counts all rows, after the first ones are here; can be stopped. `version` changes when what is counted has. */
export function useRowCount({ place, table, filters }: Omit<TableQuery, "order">, isWanted: boolean, version: number): RowCount {
  const api = useApi();
  const key = JSON.stringify([place, table, filters]);
  const [counted, setCounted] = useState<Counted & { readonly key: string }>({ key, ...NOT_COUNTED });
  const job = useRef<string | null>(null);
  const start = useCallback(() => {
    cancelJob(api, job.current);
    const id = crypto.randomUUID();
    job.current = id;
    setCounted((before) => (before.key === key && before.state === "known" ? before : { key, state: "running", count: 0, error: null }));
    api
      .request("data.count", { ...placeInput(place), table, ...(filters.length === 0 ? {} : { filters: [...filters] }), job: id })
      .then(({ count }) => job.current === id && setCounted({ key, state: "known", count, error: null }))
      .catch((error: unknown) => job.current === id && setCounted({ key, state: "failed", count: 0, error: toErrorView(error) }))
      .finally(() => {
        if (job.current === id) job.current = null;
      });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the key holds all of it
  }, [api, key]);
  useEffect(() => {
    if (isWanted) start();
    return () => {
      cancelJob(api, job.current);
      job.current = null;
    };
  }, [api, start, isWanted, version]);
  const stop = (): void => {
    cancelJob(api, job.current);
    job.current = null;
    setCounted({ key, state: "stopped", count: 0, error: null });
  };
  return { ...(counted.key === key ? counted : NOT_COUNTED), start, stop };
}
