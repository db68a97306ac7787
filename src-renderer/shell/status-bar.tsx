import { CircleCheck, CloudOff, GitBranch, HardDrive, LoaderCircle } from "lucide-react";
import { formatBytes } from "#shared/units.ts";
import type { JobView } from "#shared/views.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { requestOrReport } from "../api/perform.ts";
import { useAppState } from "../app-state.ts";
import { useFocusedBranch } from "../branches/branch-list.ts";
import { runCommand } from "../commands/commands.ts";
import { FileBadge } from "../ui/badge.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatPlural } from "../ui/format.ts";
import { JobRow } from "../ui/job-row.tsx";
import { Popover } from "../ui/popover.tsx";

function isActive(job: JobView): boolean {
  return job.state === "running" || job.state === "cancelling";
}

function RunningJobs() {
  const api = useApi();
  const jobs = (useRequest("job.list", {}).data ?? []).filter(isActive);
  const first = jobs[0];
  if (!first) return null;
  const percent = first.total ? ` ${Math.floor((first.done / first.total) * 100)} %` : "";
  return (
    <Popover
      label="Running jobs"
      side="top"
      align="end"
      trigger={
        <button type="button" className="flex items-center gap-1.5 rounded-sm px-1 tabular-nums hover:bg-selected-quiet">
          <LoaderCircle size={14} aria-hidden className="animate-[turn_1s_linear_infinite]" />
          {formatPlural(jobs.length, "job")} · {first.title}
          {percent}
        </button>
      }
    >
      <div className="flex w-120 max-w-full flex-col gap-1">
        {jobs.map((job) => (
          <JobRow key={job.id} job={job} onCancel={() => void requestOrReport(api, "job.cancel", { id: job.id })} />
        ))}
      </div>
    </Popover>
  );
}

/** Unsaved changes lead to what they are. */
function UnsavedPill({ state }: { readonly state: "unsaved" | "conflict" | "missing" }) {
  const api = useApi();
  if (state === "missing") return <FileBadge state={state} />;
  return (
    <button type="button" title="See what is not saved" className="flex rounded-sm" onClick={() => runCommand(api, "branch.diff-unsaved")}>
      <FileBadge state={state} />
    </button>
  );
}

export function StatusBar() {
  const hello = useAppState((state) => state.hello);
  const connection = useAppState((state) => state.connection);
  const branch = useFocusedBranch();
  const hasStore = hello?.store != null;
  const store = useRequest("store.status", {}, { enabled: hasStore }).data ?? hello?.store;
  const name = store?.path.split("/").filter(Boolean).at(-1);
  const file = branch?.checkout;
  return (
    <footer
      data-pane="status"
      className="flex h-6 shrink-0 items-center gap-4 border-t border-line bg-surface px-3 text-xs whitespace-nowrap text-ink-2"
    >
      <span title={store?.path} className="flex min-w-0 items-center gap-1.5">
        <HardDrive size={14} aria-hidden className="shrink-0" />
        <span className="name-cut">{hasStore ? name : "No store open"}</span>
      </span>
      {hasStore && branch ? (
        <span className="flex min-w-0 items-center gap-1.5">
          <GitBranch size={14} aria-hidden className="shrink-0" />
          <b className="name-cut font-medium text-ink">{branch.name}</b>
        </span>
      ) : null}
      {hasStore && file && (file.state === "unsaved" || file.state === "conflict" || file.state === "missing") ? (
        <UnsavedPill state={file.state} />
      ) : null}
      {hasStore && file && file.walBytes > 0 ? <span className="tabular-nums">WAL {formatBytes(file.walBytes)}</span> : null}
      <span className="ml-auto flex items-center gap-4">
        {connection === "lost" ? (
          <span role="alert" className="flex items-center gap-1.5 font-medium text-bad">
            <CloudOff size={14} aria-hidden />
            Not connected, trying again…
          </span>
        ) : null}
        {hasStore ? <RunningJobs /> : null}
        {hasStore && store?.durableAt ? (
          <span className="flex items-center gap-1.5" title="When the last operation was safely on the disk">
            <CircleCheck size={14} aria-hidden />
            Durable <RelativeTime at={store.durableAt} suffix=" ago" />
          </span>
        ) : null}
      </span>
    </footer>
  );
}
