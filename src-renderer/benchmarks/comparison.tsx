import { Equal, TrendingDown, TrendingUp, TriangleAlert, type LucideIcon } from "lucide-react";
import { useMemo } from "react";
import type { BenchRun, BenchSeries, BenchSuiteView } from "#shared/bench-views.ts";
import { compareRuns, sayChange } from "#shared/bench-comparison.ts";
import { formatChange, formatFigure } from "#shared/bench-figures.ts";
import { medianOf, sayVerdict, type MedianChange, type Verdict } from "#shared/bench-statistics.ts";
import { Badge, type Tone } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { useNow } from "../ui/now.ts";
import { changeBenchView, isActive } from "./bench-view.ts";
import { namesakes, runTime, seriesName } from "./bench-words.ts";
import { useComparedRows, useThrottled, type ComparedRow } from "./compared-rows.ts";
import { Cell, Head, countLine } from "./measures.tsx";

/** Runs of one suite side by side, each against the oldest. */
export function Comparison({ runs, suite }: { readonly runs: readonly BenchRun[]; readonly suite: BenchSuiteView }) {
  const held = useThrottled(runs);
  const rows = useComparedRows(held);
  const now = useNow(60_000);
  // Only whether they may be compared: the figures come row by row.
  const warnings = useMemo(() => compareRuns(held.map((run) => ({ ...run, series: [] }))).warnings, [held]);
  const names = held.map((run) => runTime(run.startedAt, now));
  const reach = useMemo(() => widestChange(rows), [rows]);
  const timed = rows.every(({ series }) => series.unit === "ms" || series.unit === "per-second");
  const alike = useMemo(() => namesakes(rows.map((row) => row.series)), [rows]);
  const noteOf = ({ id, step, group, title }: BenchSeries): string | null =>
    alike.has(id) ? (suite.steps.find((each) => each.id === step)?.title ?? step) : group === title ? null : group;
  const later = held.slice(1);
  // Three runs and more have no room for whiskers: the interval is then said on pointing at the difference.
  const brief = later.length > 1;
  return (
    <section aria-label="Comparison" className="flex-none overflow-hidden rounded-lg border border-line bg-canvas">
      <header className="flex min-h-10 flex-wrap items-center gap-x-2.5 gap-y-1 bg-surface px-3 py-1">
        <h2 className="font-semibold">
          {names.length === 2 ? `${names[1]} against ${names[0]}` : `${later.length} runs against ${names[0]}`}
        </h2>
        <span className="name-cut text-xs text-ink-2">
          medians, 95 % bootstrap interval of the difference
          {new Set(held.map((run) => run.mark)).size === 1 ? "; same machine, filesystem and program" : ""}
        </span>
        <Button size="sm" className="ml-auto" onClick={() => changeBenchView({ compared: [] })}>
          End comparison
        </Button>
      </header>
      {warnings.length > 0 ? (
        <ul className="border-t border-line bg-warn-bg px-3 py-1.5 text-xs text-warn">
          {warnings.map((warning) => (
            <li key={warning} className="flex items-center gap-1.5">
              <TriangleAlert size={12} aria-hidden className="shrink-0" />
              {warning}
            </li>
          ))}
        </ul>
      ) : null}
      <div className="overflow-x-auto border-t border-line">
        <table aria-label="Comparison" className="w-full border-collapse text-xs">
          <thead className="bg-sunken text-2xs text-ink-3">
            <tr>
              <Head first>Measure</Head>
              <Head>n</Head>
              <Head>{names[0]}</Head>
              {later.map((run, index) => (
                <LaterHeads key={run.id} name={names[index + 1] ?? ""} timed={timed} brief={brief} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <ComparedLine key={row.series.id} row={row} note={noteOf(row.series)} runs={held} reach={reach} brief={brief} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function LaterHeads({ name, timed, brief }: { readonly name: string; readonly timed: boolean; readonly brief: boolean }) {
  return (
    <>
      <Head>{name}</Head>
      <Head>Delta</Head>
      {brief ? null : (
        <>
          <Head>
            <span className="inline-block w-33 text-center">{timed ? "faster\u2002 0 \u2002slower" : "better\u2002 0 \u2002worse"}</span>
          </Head>
          <Head>Interval</Head>
        </>
      )}
      <Head first>Verdict</Head>
    </>
  );
}

interface Percent {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Differences in percent of the base; null where that is 0. */
export function toPercent(change: MedianChange): Percent | null {
  if (change.before === 0) return null;
  const size = Math.abs(change.before) / 100;
  return { low: change.low / size, middle: change.difference / size, high: change.high / size };
}

const REACH_MAX = 100;

/** Percent that half the width of the whiskers stands for: the widest interval, 5 to 100. */
export function widestChange(rows: readonly ComparedRow[]): number {
  let most = 5;
  for (const change of rows.flatMap((row) => row.changes)) {
    const percent = change ? toPercent(change) : null;
    if (percent) most = Math.max(most, Math.abs(percent.low), Math.abs(percent.high));
  }
  return Math.min(most, REACH_MAX);
}

interface LineProps {
  readonly row: ComparedRow;
  /** Heading, or the step where another series is called the same. */
  readonly note: string | null;
  readonly runs: readonly BenchRun[];
  readonly reach: number;
  readonly brief: boolean;
}

function ComparedLine({ row, note, runs, reach, brief }: LineProps) {
  const { series, found, changes } = row;
  const counts = found.map((each) => (each && each.samples.length > 0 ? countLine(each) : "–"));
  return (
    <tr className="border-t border-line hover:bg-hover">
      <th scope="row" title={seriesName(series)} className="name-cut h-row w-full max-w-0 min-w-40 px-3 text-left text-sm font-normal">
        {series.title} {note === null ? null : <span className="text-xs text-ink-3">· {note}</span>}
      </th>
      <Cell title={counts.join(" against ")}>{new Set(counts).size === 1 ? counts[0] : counts.join(" → ")}</Cell>
      <Cell>{formatFigure(medianOf(found[0]?.samples ?? []), series.unit)}</Cell>
      {changes.map((change, index) => (
        <ChangeCells
          key={runs[index + 1]?.id}
          series={series}
          other={found[index + 1] ?? null}
          change={change}
          reach={reach}
          brief={brief}
          waiting={runs[index + 1] !== undefined && isActive(runs[index + 1] ?? { state: "done" })}
        />
      ))}
    </tr>
  );
}

interface ChangeProps {
  readonly series: BenchSeries;
  readonly other: BenchSeries | null;
  readonly change: MedianChange | null | undefined;
  readonly reach: number;
  readonly brief: boolean;
  /** The run is under way: what is missing comes. */
  readonly waiting: boolean;
}

function ChangeCells({ series, other, change, reach, brief, waiting }: ChangeProps) {
  const median = formatFigure(medianOf(other?.samples ?? []), series.unit);
  if (!change) {
    const why = change === undefined ? "…" : (other?.skipped ?? (waiting ? "queued" : "–"));
    return (
      <>
        <Cell strong>{median}</Cell>
        <Cell>{brief ? null : "–"}</Cell>
        <td colSpan={brief ? 1 : 3} className="h-row px-3 text-ink-3">
          {why}
        </td>
      </>
    );
  }
  const percent = toPercent(change);
  return (
    <>
      <Cell strong>{median}</Cell>
      <Cell title={sayChange(change, series.unit)}>{formatChange(change.before, change.after)}</Cell>
      {brief ? null : (
        <>
          <Cell>
            {percent ? <Whisker percent={percent} reach={reach} verdict={change.verdict} flip={series.better === "higher"} /> : "–"}
          </Cell>
          <Cell className="text-2xs">{percent ? `${signed(percent.low)} … ${signed(percent.high)} %` : "–"}</Cell>
        </>
      )}
      <td className="h-row px-3">
        <VerdictBadge verdict={change.verdict} series={series} />
      </td>
    </>
  );
}

function signed(percent: number): string {
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(1)}`;
}

const WHISKER_WIDTH = 132;
const INKS: Readonly<Record<Verdict, string>> = {
  better: "var(--ok)",
  worse: "var(--bad)",
  "within-noise": "var(--ink-3)",
  "too-few": "var(--ink-3)",
};

/** Left of the middle is better, whatever the unit. What reaches further than the table's scale ends at its edge. */
function Whisker(props: { readonly percent: Percent; readonly reach: number; readonly verdict: Verdict; readonly flip: boolean }) {
  const { percent, reach, verdict, flip } = props;
  const place = (value: number) => {
    const part = Math.max(-1, Math.min(1, ((flip ? -1 : 1) * value) / reach));
    return WHISKER_WIDTH / 2 + part * (WHISKER_WIDTH / 2 - 4);
  };
  const ink = INKS[verdict];
  return (
    <svg width={WHISKER_WIDTH} height={16} aria-hidden className="inline-block align-middle">
      <path d={`M${WHISKER_WIDTH / 2} 0V16`} stroke="var(--line-strong)" />
      <path d={`M${place(percent.low)} 8H${place(percent.high)}`} stroke={ink} strokeWidth={2} />
      <circle cx={place(percent.middle)} cy={8} r={3} fill={ink} />
    </svg>
  );
}

const VERDICTS: Readonly<Record<Verdict, { readonly tone: Tone; readonly icon: LucideIcon }>> = {
  better: { tone: "ok", icon: TrendingDown },
  worse: { tone: "bad", icon: TrendingUp },
  "within-noise": { tone: "busy", icon: Equal },
  "too-few": { tone: "busy", icon: Equal },
};

function VerdictBadge({ verdict, series }: { readonly verdict: Verdict; readonly series: BenchSeries }) {
  const { tone, icon } = VERDICTS[verdict];
  const word = sayVerdict(verdict, series);
  return (
    <Badge tone={tone} icon={icon}>
      {word.charAt(0).toUpperCase() + word.slice(1)}
    </Badge>
  );
}
