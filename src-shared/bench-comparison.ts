/** Runs side by side: the first one is what the others are compared with, series by series. */
import { formatChange, formatDifference, formatFigure } from "./bench-figures.ts";
import { escapeMarkdown, fence, formatMarkdownTable, machineRows } from "./bench-report.ts";
import { compareMedians, medianOf, sayVerdict, type MedianChange } from "./bench-statistics.ts";
import type { BenchRun, BenchSeries } from "./bench-views.ts";

export interface ComparedSeries {
  readonly series: Pick<BenchSeries, "id" | "group" | "title" | "unit" | "better">;
  /** In the order of the runs; null where a run has no samples of it. */
  readonly runs: readonly ({ readonly n: number; readonly median: number } | null)[];
  /** Of each later run against the first; null where either has no samples. */
  readonly changes: readonly (MedianChange | null)[];
}

export interface Comparison {
  readonly rows: readonly ComparedSeries[];
  /** Why the comparison may be unfair, for people. */
  readonly warnings: readonly string[];
}

/** Series that at least one run has samples of, in the order in which they first appear. */
export function compareRuns(runs: readonly BenchRun[]): Comparison {
  const [base, ...others] = runs;
  const about = new Map<string, BenchSeries>();
  for (const series of runs.flatMap((run) => run.series)) {
    if (series.samples.length > 0 && !about.has(series.id)) about.set(series.id, series);
  }
  const rows = [...about.values()].map(({ id, group, title, unit, better }) => ({
    series: { id, group, title, unit, better },
    runs: runs.map((run) => {
      const samples = samplesOf(run, id);
      const median = medianOf(samples);
      return median === null ? null : { n: samples.length, median };
    }),
    changes: others.map((run) => compareMedians(samplesOf(base, id), samplesOf(run, id), better)),
  }));
  return { rows, warnings: warn(runs) };
}

function samplesOf(run: BenchRun | undefined, id: string): readonly number[] {
  return run?.series.find((series) => series.id === id)?.samples ?? [];
}

function warn(runs: readonly BenchRun[]): string[] {
  const distinct = (read: (run: BenchRun) => string) => new Set(runs.map(read)).size > 1;
  return [
    ...(distinct(({ suite }) => suite) ? ["These are runs of different suites."] : []),
    ...(distinct(({ size, options, seed }) => JSON.stringify([size, Object.entries(options).toSorted(), seed]))
      ? ["Size, options or seed differ: other work was measured."]
      : []),
    ...(distinct(({ mark }) => mark) ? ["Machine, filesystem or program differ: this is no fair comparison of one change."] : []),
    ...(runs.some(({ state }) => state !== "done") ? ["Not every run is whole."] : []),
    ...(runs.some(({ size }) => size === "quick") ? ["Size quick proves that everything works; its figures are no claim."] : []),
  ];
}

/** "−1.23 ms (−12.0 %), 95 %: −1.50 ms to −0.900 ms". */
export function sayChange({ before, after, difference, low, high }: MedianChange, unit: BenchSeries["unit"]): string {
  return `${formatDifference(difference, unit)} (${formatChange(before, after)}), 95 %: ${formatDifference(low, unit)} to ${formatDifference(high, unit)}`;
}

export function comparisonToMarkdown(runs: readonly BenchRun[]): string {
  const { rows, warnings } = compareRuns(runs);
  const names = runs.map((_, index) => `run ${index + 1}`);
  const columns = [
    "series",
    ...names.map((name) => `${name}: median (n)`),
    ...names.slice(1).flatMap((name) => [`${name} − run 1`, "verdict"]),
  ];
  const cells = rows.map(({ series, runs: found, changes }) => [
    `${series.group}: ${series.title}`,
    ...found.map((each) => (each ? `${formatFigure(each.median, series.unit)} (${each.n})` : "–")),
    ...changes.flatMap((change) => (change ? [sayChange(change, series.unit), sayVerdict(change.verdict, series)] : ["–", ""])),
  ]);
  const list = runs.map(
    (run, index) =>
      `- run ${index + 1}: ${escapeMarkdown(`${run.title}, size ${run.size}, ${run.state}, ${new Date(run.startedAt).toISOString()}, ${run.id}`)}`,
  );
  return `${[
    "# Comparison of benchmark runs",
    list.join("\n"),
    ...warnings.map((warning) => `> ${escapeMarkdown(warning)}`),
    cells.length === 0 ? "No series has samples." : formatMarkdownTable(columns, cells),
    "Differences are of medians, with a 95 % bootstrap interval; an interval that holds 0 is within noise.",
    `## Machines\n\n${machineRows(runs)}`,
    `## Again\n\n${fence([...new Set(runs.map(({ command }) => command))].join("\n"))}`,
  ].join("\n\n")}\n`;
}
