import { Check, LoaderCircle, TriangleAlert, X } from "lucide-react";
import { memo, useMemo, type KeyboardEvent, type ReactNode } from "react";
import type { BenchReference, BenchRun, BenchSeries, BenchSuiteView } from "#shared/bench-views.ts";
import { caveatsOf, formatFigure, judgeGoal, ratioOf } from "#shared/bench-figures.ts";
import { summarise } from "#shared/bench-statistics.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { formatCount } from "../ui/format.ts";
import { changeBenchView, isActive } from "./bench-view.ts";
import { namesakes } from "./bench-words.ts";
import { describeReference } from "./chart-plan.ts";
import { whyEmpty } from "./live-panel.tsx";

interface MeasuresProps {
  readonly run: BenchRun;
  readonly shown: BenchSeries | null;
  /** The user chose what the charts show; else they follow what is measured. */
  readonly picked: boolean;
  readonly references: readonly BenchReference[];
  readonly suite: BenchSuiteView;
}

/** Every series of the run. The chosen one is in the charts. */
export function Measures({ run, shown, picked, references, suite }: MeasuresProps) {
  const groups = useMemo(() => groupSeries(run.series), [run.series]);
  const ids = run.series.map((series) => series.id).join("\n");
  // What series there are does not change while samples come.
  // oxlint-disable-next-line react/exhaustive-deps
  const alike = useMemo(() => namesakes(run.series), [ids]);
  const byId = useMemo(() => new Map(references.map((reference) => [reference.id, reference])), [references]);
  const caveats = caveatsOf(run).join(" ");
  return (
    <section aria-label="Measures" className="flex-none overflow-hidden rounded-lg border border-line bg-canvas">
      <header className="flex min-h-10 items-center gap-2.5 border-b border-line bg-surface px-3">
        <h2 className="font-semibold">Measures</h2>
        <span className="name-cut text-xs text-ink-2" title={caveats}>
          {caveats === "" ? "press one to see its samples" : caveats}
        </span>
        {picked && isActive(run) ? (
          <Button size="sm" className="ml-auto" onClick={() => changeBenchView({ series: null })}>
            Follow what is measured
          </Button>
        ) : null}
      </header>
      <div className="overflow-x-auto">
        <table aria-label="Measures" className="w-full border-collapse text-xs">
          <thead className="bg-sunken text-2xs text-ink-3">
            <tr>
              <Head first>Measure</Head>
              <Head>n</Head>
              <Head>p50</Head>
              <Head>p95</Head>
              <Head>p99</Head>
              <Head>max</Head>
              <Head>Errors</Head>
              <Head title="Of the medians: this one to what the disk or memory can do at best">To the limit</Head>
              <Head title="Published by others, on a different machine">Published</Head>
            </tr>
          </thead>
          {groups.map(({ group, series }) => (
            <tbody key={group}>
              {groups.length > 1 || group !== "" ? (
                <tr>
                  <th scope="rowgroup" colSpan={9} className="h-6 border-t border-line px-3 text-left text-2xs font-semibold text-ink-2">
                    {group}
                  </th>
                </tr>
              ) : null}
              {series.map((each) => (
                <SeriesRow
                  key={each.id}
                  series={each}
                  note={alike.has(each.id) ? (suite.steps.find((step) => step.id === each.step)?.title ?? each.step) : null}
                  why={each.samples.length === 0 ? whyEmpty(run, each) : null}
                  measuring={isMeasuring(run, each)}
                  limit={each.limit === null ? null : ratioOf(run, each.id, each.limit)}
                  {...goalOf(each, run)}
                  selected={each.id === shown?.id}
                  published={byId.get(each.references[0] ?? "")}
                />
              ))}
            </tbody>
          ))}
        </table>
      </div>
    </section>
  );
}

function isMeasuring(run: BenchRun, { step, samples, planned }: BenchSeries): boolean {
  return isActive(run) && step === run.progress.step && samples.length > 0 && (planned === 0 || samples.length < planned);
}

/** Up and Down choose the series above and below, and take the keyboard there. */
function stepSeries(event: KeyboardEvent<HTMLButtonElement>): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const buttons = [...(event.currentTarget.closest("table")?.querySelectorAll<HTMLElement>("[data-series]") ?? [])];
  const next = buttons[buttons.indexOf(event.currentTarget) + by];
  if (!next) return;
  next.focus();
  changeBenchView({ series: next.dataset["series"] ?? null });
}

export function groupSeries(
  series: readonly BenchSeries[],
): readonly { readonly group: string; readonly series: readonly BenchSeries[] }[] {
  const groups = new Map<string, BenchSeries[]>();
  for (const each of series) groups.set(each.group, [...(groups.get(each.group) ?? []), each]);
  return [...groups].map(([group, members]) => ({ group, series: members }));
}

export function Head(props: { readonly first?: boolean; readonly title?: string; readonly children: ReactNode }) {
  return (
    <th
      scope="col"
      title={props.title}
      className={cx("h-row px-3 font-medium whitespace-nowrap", props.first ? "text-left" : "text-right")}
    >
      {props.children}
    </th>
  );
}

export function Cell(props: {
  readonly strong?: boolean;
  readonly bad?: boolean;
  readonly title?: string | undefined;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <td
      title={props.title}
      className={cx(
        "h-row px-3 text-right whitespace-nowrap tabular-nums",
        props.bad ? "text-bad" : props.strong ? "font-medium" : "text-ink-2",
        props.className,
      )}
    >
      {props.children}
    </td>
  );
}

interface SeriesRowProps {
  readonly series: BenchSeries;
  /** Its step, where another series is called the same. */
  readonly note: string | null;
  /** Why it has no samples. */
  readonly why: string | null;
  readonly measuring: boolean;
  readonly limit: number | null;
  /** "≤ 2.00 ×"; null when there is none, or nothing to judge it by yet. */
  readonly goal: string | null;
  readonly met: boolean;
  readonly selected: boolean;
  readonly published: BenchReference | undefined;
}

const SeriesRow = memo(function SeriesRow(props: SeriesRowProps) {
  const { series, why, measuring, selected, published } = props;
  const summary = summarise(series.samples);
  const figure = (value: number | null | undefined) => formatFigure(value ?? null, series.unit);
  const failed = series.errors + series.timeouts;
  return (
    <tr className={cx("border-t border-line", selected ? "bg-selected" : "hover:bg-hover")}>
      <th scope="row" className="w-full max-w-0 min-w-40 p-0 text-left font-normal">
        <button
          type="button"
          data-series={series.id}
          aria-pressed={selected}
          tabIndex={selected ? 0 : -1}
          onKeyDown={stepSeries}
          onClick={() => changeBenchView({ series: series.id })}
          className="name-cut flex h-row w-full items-center gap-1.5 px-3 text-left text-sm focus-visible:-outline-offset-2"
        >
          <span className="name-cut">{series.title}</span>
          {props.note === null ? null : <span className="name-cut shrink-9 text-xs text-ink-3"> · {props.note}</span>}
          {measuring ? (
            <LoaderCircle size={12} aria-label="being measured" className="shrink-0 animate-[turn_1s_linear_infinite] text-accent" />
          ) : null}
        </button>
      </th>
      {why === null ? (
        <>
          <Cell>{countLine(series)}</Cell>
          <Cell strong>{figure(summary?.p50)}</Cell>
          <Cell>{figure(summary?.p95)}</Cell>
          <Cell title={summary?.p99 === null ? "Shown from 100 samples on" : undefined}>{figure(summary?.p99)}</Cell>
          <Cell>{figure(summary?.max)}</Cell>
        </>
      ) : (
        <td colSpan={5} title={why} className="name-cut h-row max-w-0 px-3 text-right text-ink-3">
          {why}
        </td>
      )}
      <Cell title={series.error ?? undefined} bad={failed > 0}>
        {failed > 0 ? (
          <span className="inline-flex items-center gap-1">
            <TriangleAlert size={12} aria-hidden />
            {formatCount(failed)}
          </span>
        ) : (
          "0"
        )}
      </Cell>
      <Cell>
        <Limit ratio={props.limit} goal={props.goal} met={props.met} />
      </Cell>
      <Cell title={published ? describeReference(published) : undefined} className="italic">
        {published ? formatFigure(published.value, published.unit) : "–"}
      </Cell>
    </tr>
  );
});

/** "137 / 200" as long as some are missing. */
export function countLine(series: Pick<BenchSeries, "samples" | "planned">): string {
  const taken = formatCount(series.samples.length);
  return series.planned > series.samples.length ? `${taken} / ${formatCount(series.planned)}` : taken;
}

/** Plain values, so that a row that says the same is not drawn again. */
function goalOf(series: BenchSeries, run: BenchRun): Pick<SeriesRowProps, "goal" | "met"> {
  const outcome = series.goal === null ? null : judgeGoal(series, run);
  return { goal: outcome?.goal ?? null, met: outcome?.met ?? false };
}

function Limit({ ratio, goal, met }: { readonly ratio: number | null } & Pick<SeriesRowProps, "goal" | "met">) {
  const text = ratio === null ? null : formatFigure(ratio, "ratio");
  if (goal === null) return text ?? "–";
  return (
    <span className="inline-flex items-center gap-1.5">
      {text}
      <Badge tone={met ? "ok" : "bad"} icon={met ? Check : X} title={`Goal: ${goal}`}>
        {met ? "Goal met" : "Goal missed"}
      </Badge>
    </span>
  );
}
