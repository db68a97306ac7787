import { ListChecks } from "lucide-react";
import type { ReactNode } from "react";
import type { JobView } from "#shared/views.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { JobRow } from "../ui/job-row.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { toErrorView } from "../api/api-error.ts";

export function JobList({ tabs, onShowOperations }: { readonly tabs: ReactNode; readonly onShowOperations: () => void }) {
  const api = useApi();
  const request = useRequest("job.list", {});
  const jobs = request.data ?? [];
  const running = jobs.filter((job) => job.state === "running" || job.state === "cancelling");
  const ended = jobs.filter((job) => job.state !== "running" && job.state !== "cancelling").toReversed();
  const cancel = (job: JobView) => void requestOrReport(api, "job.cancel", { id: job.id });
  return (
    <>
      <header data-pane="toolbar" className="flex h-11 flex-none items-center gap-2 border-b border-line px-3">
        <h1 className="font-semibold">Activity</h1>
        {tabs}
      </header>
      {request.isError ? (
        <div className="p-4">
          <ErrorPanel error={toErrorView(request.error)} onRetry={() => void request.refetch()} />
        </div>
      ) : request.isPending ? (
        <Skeleton lines={3} className="p-4" />
      ) : jobs.length === 0 ? (
        <EmptyState
          icon={ListChecks}
          text="No job is running. Imports, exports and checks that take longer than a moment appear here."
          action={<Button onClick={onShowOperations}>Show operations</Button>}
        />
      ) : (
        <div data-pane="main" className="min-h-0 flex-1 overflow-y-auto p-4">
          <JobGroup title="Running" jobs={running} onCancel={cancel} />
          <JobGroup title="Ended lately" jobs={ended} onCancel={cancel} />
        </div>
      )}
    </>
  );
}

function JobGroup({
  title,
  jobs,
  onCancel,
}: {
  readonly title: string;
  readonly jobs: readonly JobView[];
  readonly onCancel: (job: JobView) => void;
}) {
  if (jobs.length === 0) return null;
  return (
    <section aria-label={title} className="mb-4 max-w-200">
      <h2 className="mb-1 text-2xs font-semibold text-ink-2">{title}</h2>
      <ul className="rounded-lg border border-line">
        {jobs.map((job) => (
          <li key={job.id} className="border-t border-line px-3 py-1 first:border-t-0">
            <JobRow job={job} onCancel={() => onCancel(job)} />
          </li>
        ))}
      </ul>
    </section>
  );
}
