import { formatBytes } from "#shared/units.ts";
import type { JobView } from "#shared/views.ts";
import { Button } from "./button.tsx";
import { formatCount, formatCountdown } from "./format.ts";
import { useNow } from "./now.ts";

function formatAmount(value: number, unit: JobView["unit"]): string {
  return unit === "bytes" ? formatBytes(value) : formatCount(value);
}

/** "1,310 of 2,118 pages · 3 s left", "37 % · 3 s left". The time left appears once a tenth is done: before that it would be a guess. */
export function describeProgress(job: JobView, now: number): string {
  if (job.state !== "running") return { cancelling: "Cancelling…", done: "Done", cancelled: "Cancelled", failed: "Failed" }[job.state];
  const unit = job.unit === "bytes" ? "" : ` ${job.unit}`;
  // A phase that does not count says only its name.
  if (job.total === null || job.total === 0) return job.done === 0 ? "" : `${formatAmount(job.done, job.unit)}${unit}`;
  const part = job.done / job.total;
  const elapsedMs = now - job.startedAt;
  const left = part >= 0.1 && part < 1 && elapsedMs > 1_000 ? ` · ${formatCountdown((elapsedMs / part) * (1 - part))} left` : "";
  if (job.unit === "percent") return `${formatCount(job.done)} %${left}`;
  return `${formatAmount(job.done, job.unit)} of ${formatAmount(job.total, job.unit)}${unit}${left}`;
}

/** A running job: what, how far, Cancel. */
export function JobRow({ job, onCancel }: { readonly job: JobView; readonly onCancel: () => void }) {
  const now = useNow();
  const percent = job.total ? Math.min(100, (job.done / job.total) * 100) : null;
  return (
    <div className="flex min-h-9 items-center gap-3 text-xs">
      <div className="min-w-0 flex-1">
        <div className="name-cut text-sm">{job.title}</div>
        <div className="name-cut text-ink-3">{job.phase}</div>
      </div>
      <div
        role="progressbar"
        aria-label={job.title}
        {...(percent === null ? {} : { "aria-valuenow": Math.round(percent), "aria-valuemin": 0, "aria-valuemax": 100 })}
        className="h-1 w-32 shrink-0 overflow-hidden rounded-xs bg-selected-quiet"
      >
        <div className="h-full bg-accent" style={{ width: `${percent ?? 35}%` }} />
      </div>
      <span className="shrink-0 text-ink-2 tabular-nums">{describeProgress(job, now)}</span>
      {job.cancellable && (job.state === "running" || job.state === "cancelling") ? (
        <Button size="sm" disabled={job.state === "cancelling"} onClick={onCancel}>
          Cancel
        </Button>
      ) : null}
    </div>
  );
}
