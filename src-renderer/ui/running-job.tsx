import { useState } from "react";
import type { JobView } from "#shared/views.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { JobRow } from "./job-row.tsx";
import { Skeleton } from "./states.tsx";

/**
 * The job of the request that is under way, for what is mounted when that is sent: the first running one that was not
 * there at the start, because clocks of two machines need not agree. Null until the host announces it, which it does only
 * for work that takes a while.
 */
export function useStartedJob(): JobView | null {
  const jobs = (useRequest("job.list", {}).data ?? []).filter((job) => job.state === "running" || job.state === "cancelling");
  const [before] = useState(() => new Set(jobs.map((job) => job.id)));
  return jobs.find((each) => !before.has(each.id)) ?? null;
}

/**
 * Progress and Cancel of the request that is under way; mount it when that is sent, unmount it when it is answered. Until
 * its job is announced there is nothing to cancel. `quiet`: something else says meanwhile that work is going on.
 */
export function RunningJob({ quiet = false }: { readonly quiet?: boolean }) {
  const api = useApi();
  const job = useStartedJob();
  if (!job) return quiet ? null : <Skeleton lines={1} />;
  return <JobRow job={job} onCancel={() => void requestOrReport(api, "job.cancel", { id: job.id })} />;
}
