import { Square } from "lucide-react";
import { useMemo } from "react";
import type { BenchReference, BenchRun, BenchSeries, BenchSuiteView } from "#shared/bench-views.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { percentDone } from "#shared/bench-live.ts";
import { summarise, throughputOf } from "#shared/bench-statistics.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import { useApi } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { formatCount, formatIso } from "../ui/format.ts";
import { useNow } from "../ui/now.ts";
import { ErrorPanel } from "../ui/states.tsx";
import { repeatRun, stopBenchmark } from "./bench-acts.ts";
import { isActive } from "./bench-view.ts";
import { endLine, progressLine, runTime, seriesName } from "./bench-words.ts";
import { splitFigure } from "./figures.ts";
import { Histogram } from "./histogram.tsx";
import { SampleStrip } from "./sample-strip.tsx";
import { StateBadge } from "./state-badge.tsx";

interface LivePanelProps {
  readonly run: BenchRun;
  readonly suite: BenchSuiteView;
  readonly series: BenchSeries | null;
  readonly references: readonly BenchReference[];
}

/** One series of a run, while it is measured and afterwards: figures, samples in order, distribution. */
export function LivePanel({ run, suite, series, references }: LivePanelProps) {
  const named = series?.references;
  const unit = series?.unit;
  const others = useMemo(
    () => references.filter((reference) => named?.includes(reference.id) && reference.unit === unit),
    [references, named, unit],
  );
  return (
    <section aria-label="Measurement" className="flex-none overflow-hidden rounded-lg border border-line bg-surface">
      <PanelHead run={run} suite={suite} series={series} />
      {run.failure === null ? null : <Failure run={run} failure={run.failure} />}
      {series ? (
        <>
          <Stats series={series} />
          {series.samples.length === 0 ? (
            // As tall as the charts: what is measured next must not make the page jump.
            <p className="grid min-h-84 place-items-center px-3 text-center text-xs text-ink-2">{whyEmpty(run, series)}</p>
          ) : (
            <>
              {series.samples.length > 1 ? <SampleStrip series={series} running={run.state === "running"} /> : null}
              <Histogram series={series} references={others} />
            </>
          )}
        </>
      ) : null}
    </section>
  );
}

function PanelHead({ run, suite, series }: Omit<LivePanelProps, "references">) {
  const api = useApi();
  const now = useNow(1_000);
  const active = isActive(run);
  const sizeLabel = suite.sizes.find((size) => size.id === run.size)?.label ?? run.size;
  return (
    <>
      <header className="flex h-10 items-center gap-2.5 px-3">
        <StateBadge state={run.state} />
        <h2 className="name-cut shrink-0 max-w-1/2 font-semibold">{series ? seriesName(series) : run.title}</h2>
        <span className="name-cut text-xs text-ink-2 tabular-nums" title={formatIso(run.startedAt)}>
          {active ? progressLine(run, series, now) : `run of ${runTime(run.startedAt, now)} · ${endLine(run, sizeLabel)}`}
        </span>
        {active ? (
          <Button
            size="sm"
            icon={Square}
            className="ml-auto"
            busy={run.state === "stopping" ? "Stopping…" : null}
            onClick={() => void stopBenchmark(api)}
          >
            Stop and keep partial
          </Button>
        ) : run.state === "partial" ? (
          <span className="ml-auto shrink-0 text-xs text-warn">Stopped: what was measured is kept</span>
        ) : null}
      </header>
      <div
        role="progressbar"
        aria-label={`Progress of ${run.title}`}
        aria-valuenow={active ? Math.floor(percentDone(run)) : 100}
        aria-valuemin={0}
        aria-valuemax={100}
        className={cx("h-0.5", active ? "bg-selected-quiet" : "invisible")}
      >
        <div className="h-full bg-accent" style={{ width: `${percentDone(run)}%` }} />
      </div>
    </>
  );
}

function Failure({ run, failure }: { readonly run: BenchRun; readonly failure: string }) {
  const api = useApi();
  const measured = run.series.some((series) => series.samples.length > 0);
  const error: ErrorView = {
    code: "internal",
    message: `${run.title} did not finish: ${failure}`,
    hint: null,
    untouched: `The store and its databases are unchanged. ${measured ? "What was measured before is kept below." : "Nothing was measured."}`,
    retryable: true,
    details: { name: run.id, cause: `${failure}\nRepeat with: ${run.command}` },
  };
  return (
    <div className="px-3 pb-3">
      <ErrorPanel error={error} onRetry={() => void repeatRun(api, run)} />
    </div>
  );
}

/** Why a series shows no samples. */
export function whyEmpty(run: BenchRun, series: BenchSeries): string {
  if (series.skipped !== null) return `Skipped: ${series.skipped}`;
  if (series.error !== null) return `Nothing was measured: ${series.error}`;
  if (isActive(run)) {
    if (series.step !== run.progress.step) return "Waiting for its turn.";
    const started = run.series.some((other) => other.step === series.step && other.samples.length > 0);
    return started ? "Still to come in this step." : `${run.progress.phase || "Preparing"}…`;
  }
  return run.state === "done" ? "Nothing was measured." : "The run ended before this was measured.";
}

interface Stat {
  readonly label: string;
  readonly text: string;
  readonly title?: string;
  readonly bad?: boolean;
}

function statsOf(series: BenchSeries): readonly Stat[] {
  const summary = summarise(series.samples);
  const figure = (value: number | null | undefined) => formatFigure(value ?? null, series.unit);
  const throughput = throughputOf(series);
  return [
    { label: "p50", text: figure(summary?.p50) },
    { label: "p95", text: figure(summary?.p95) },
    { label: "p99", text: figure(summary?.p99), title: summary?.p99 === null ? "Shown from 100 samples on" : "" },
    { label: "max", text: figure(summary?.max) },
    throughput === null
      ? { label: "Samples", text: formatCount(series.samples.length) }
      : { label: "Throughput", text: formatFigure(throughput, "per-second"), title: "Of one caller, from the mean" },
    { label: "Errors", text: formatCount(series.errors), title: series.error ?? "", bad: series.errors > 0 },
    { label: "Timeouts", text: formatCount(series.timeouts), bad: series.timeouts > 0 },
  ];
}

function Stats({ series }: { readonly series: BenchSeries }) {
  return (
    <dl className="grid grid-cols-7 border-b border-line tiny:grid-cols-4">
      {statsOf(series).map(({ label, text, title, bad }) => {
        const [figure, unit] = splitFigure(text);
        return (
          <div key={label} title={title} className="border-l border-line px-3 pt-1.5 pb-2 first:border-l-0">
            <dt className="text-2xs text-ink-3">{label}</dt>
            <dd className={cx("name-cut text-lg leading-6 font-medium tabular-nums", bad && "text-bad")}>
              {figure}
              <small className="ml-1 text-xs font-normal text-ink-3">{unit}</small>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
