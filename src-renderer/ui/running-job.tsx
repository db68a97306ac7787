import { useState } from "react";
import { requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { JobRow } from "./job-row.tsx";
import { Skeleton } from "./states.tsx";

/**
 * Progress and Cancel of the request that is under way; mount it when that is sent, unmount it when it is answered. Its
 * job is the first running one that was not there at the start: clocks of two machines need not agree for that. Until the
 * host announces it, which it does only for work that takes a while, there is nothing to cancel. `quiet`: something else
 * says meanwhile that work is going on.
 */
export function RunningJob({ quiet = false }: { readonly quiet?: boolean }) {
  const api = useApi();
  const jobs = (useRequest("job.list", {}).data ?? []).filter((job) => job.state === "running" || job.state === "cancelling");
  const [before] = useState(() => new Set(jobs.map((job) => job.id)));
  const job = jobs.find((each) => !before.has(each.id));
  if (!job) return quiet ? null : <Skeleton lines={1} />;
  return <JobRow job={job} onCancel={() => void requestOrReport(api, "job.cancel", { id: job.id })} />;
}
