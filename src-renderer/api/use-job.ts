import type { JobView } from "#shared/views.ts";
import { useRequest } from "./queries.ts";

/**
 * The job behind a request that this window sent at `since` (Unix ms; null: none is under way): the newest running one
 * that began after it. Null until the host announces it, which it does only for work that takes a while.
 */
export function useJobSince(since: number | null): JobView | null {
  const jobs = useRequest("job.list", {});
  if (since === null) return null;
  const running = (jobs.data ?? []).filter((job) => (job.state === "running" || job.state === "cancelling") && job.startedAt >= since);
  return running.at(-1) ?? null;
}
