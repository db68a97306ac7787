/** What the screen says about runs: names, progress, time left, the machine. */
import { percentDone } from "#shared/bench-live.ts";
import type { BenchProgress, BenchRun, BenchRunHead, BenchSeries, MachineCard } from "#shared/bench-views.ts";
import { formatBytes, formatDuration } from "#shared/units.ts";
import { formatCount } from "../ui/format.ts";
import { isActive } from "./bench-view.ts";

const pad = (value: number): string => String(value).padStart(2, "0");
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** "14:02:11" of today, "29 Nov 18:20" of other days: runs that follow each other within a minute are told apart. */
export function runTime(startedAt: number, now: number): string {
  const date = new Date(startedAt);
  const clock = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return `${clock}:${pad(date.getSeconds())}`;
  return `${DAY.format(date)} ${clock}`;
}

/** "about 2 s left"; empty while it would be a guess. */
export function timeLeft(run: BenchRun, now: number): string {
  const part = percentDone(run) / 100;
  const elapsedMs = now - run.startedAt;
  if (run.state !== "running" || part < 0.1 || part >= 1 || elapsedMs < 1_000) return "";
  return `about ${formatDuration(Math.max(1_000, Math.round((elapsedMs / part) * (1 - part))))} left`;
}

/** "step 3 of 6 · sample 137 of 200 · 5 s, about 2 s left". */
export function progressLine(run: BenchRun, series: BenchSeries | null, now: number): string {
  const { progress } = run;
  const step = `step ${Math.min(progress.stepIndex + 1, progress.stepCount)} of ${progress.stepCount}`;
  const phase = progress.phase === "" ? null : describePhase(progress);
  const samples =
    series && series.samples.length > 0 && series.step === progress.step
      ? `sample ${formatCount(series.samples.length)}${series.planned > 0 ? ` of ${formatCount(series.planned)}` : ""}`
      : null;
  const left = timeLeft(run, now);
  const elapsed = formatDuration(Math.max(0, now - run.startedAt));
  return [step, phase, samples, left === "" ? elapsed : `${elapsed}, ${left}`].filter((part) => part !== null).join(" · ");
}

function describePhase({ phase, done, total }: BenchProgress): string {
  return total === null || total === 0 ? phase : `${phase} ${formatCount(done)} of ${formatCount(total)}`;
}

/** "quick · took 12 s" of a run that ended. */
export function endLine(run: BenchRun, sizeLabel: string): string {
  const took = run.endedAt === null ? null : `took ${formatDuration(Math.max(0, run.endedAt - run.startedAt))}`;
  return [sizeLabel, ...Object.values(run.options), took].filter((part) => part !== null && part !== "").join(" · ");
}

export function stateWord(head: Pick<BenchRunHead, "state">): string {
  return { running: "Running", stopping: "Stopping", done: "Done", partial: "Partial", failed: "Failed" }[head.state];
}

/** Lines of the machine card. */
export function machineLines(machine: MachineCard): readonly string[] {
  return [
    `${machine.processor}, ${machine.cores} ${machine.cores === 1 ? "core" : "cores"}, ${formatBytes(machine.memoryBytes)}`,
    `${machine.system}, ${machine.filesystem}, ${machine.reflink ? "reflink" : "no reflink"}`,
    `SQLite ${machine.sqlite}, Node ${machine.node}`,
    `${machine.program}${machine.addon === "missing" ? ", without the addon" : ""}`,
  ];
}

/** Of the step that is under way: the first series that is not whole yet, a limit only when there is nothing else. */
function measuredNow(run: BenchRun, measured: readonly BenchSeries[]): BenchSeries | undefined {
  const limits = new Set(run.series.map((series) => series.limit));
  const ofStep = measured.filter((series) => series.step === run.progress.step);
  const open = ofStep.filter((series) => series.planned === 0 || series.samples.length < series.planned);
  return open.find((series) => !limits.has(series.id)) ?? ofStep.findLast((series) => !limits.has(series.id)) ?? ofStep[0];
}

/**
 * While a run goes on: the series that is measured, and while a step prepares itself the one that was measured before.
 * Afterwards the first that has a goal or a published figure beside it.
 */
export function currentSeries(run: BenchRun): BenchSeries | null {
  const measured = run.series.filter((series) => series.samples.length > 0);
  const notable = measured.find((series) => series.goal !== null || series.references.length > 0);
  const chosen = isActive(run) ? (measuredNow(run, measured) ?? measured.at(-1)) : (notable ?? measured[0]);
  return chosen ?? run.series.find((series) => series.skipped === null) ?? run.series[0] ?? null;
}

/** What the charts show: what the user picked, when this run has it. */
export function shownSeries(run: BenchRun, picked: string | null): BenchSeries | null {
  return run.series.find((series) => series.id === picked) ?? currentSeries(run);
}

/** Series of the same heading and title, as the limits of several steps are: ids of those whose step has to be said. */
export function namesakes(series: readonly BenchSeries[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { group, title } of series) counts.set(`${group}\n${title}`, (counts.get(`${group}\n${title}`) ?? 0) + 1);
  return new Set(series.filter(({ group, title }) => (counts.get(`${group}\n${title}`) ?? 0) > 1).map(({ id }) => id));
}

/** Heading and title in one, as long as the heading says something. */
export function seriesName(series: Pick<BenchSeries, "group" | "title">): string {
  return series.group === "" || series.group === series.title ? series.title : `${series.group}: ${series.title}`;
}
