/** Figures in words: three significant digits with the unit that fits, and what the cells of a table say. */
import { medianOf, statisticOf } from "./bench-statistics.ts";
import type { BenchCell, BenchFact, BenchReference, BenchRun, BenchSeries, BenchTable, BenchUnit } from "./bench-views.ts";

/** Units of one kind, ascending, by how many of the first one they are. */
const TIMES = [
  ["µs", 0.001],
  ["ms", 1],
  ["s", 1_000],
  ["min", 60_000],
  ["h", 3_600_000],
] as const;
const SIZES = [
  ["B", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
  ["TiB", 1024 ** 4],
] as const;
const NONE = "–";

/** 0.01234 ms → "12.3 µs"; 6,089 bytes → "5.95 KiB"; 12,345.6 a second → "12,300 /s". Null: a dash. */
export function formatFigure(value: number | null, unit: BenchUnit | "text"): string {
  if (value === null || !Number.isFinite(value)) return NONE;
  switch (unit) {
    case "ms":
      return value === 0 ? "0 ms" : scale(value, TIMES);
    case "bytes":
      return scale(value, SIZES);
    case "per-second":
      return `${digits(value)} /s`;
    case "ratio":
      return `${digits(value)} ×`;
    default:
      return Number.isInteger(value) ? group(String(value)) : digits(value);
  }
}

/** The same with a sign, for differences. */
export function formatDifference(value: number, unit: BenchUnit): string {
  return value === 0 ? formatFigure(0, unit) : `${value > 0 ? "+" : "−"}${formatFigure(Math.abs(value), unit)}`;
}

/** "+12.3 %". `before` 0: a dash. */
export function formatChange(before: number, after: number): string {
  if (before === after) return "0 %";
  if (before === 0) return NONE;
  const percent = (after / before - 1) * 100;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(1)} %`;
}

/** In the largest unit of which there is one after rounding: 999.9 µs is 1.00 ms. */
function scale(value: number, units: readonly (readonly [name: string, size: number])[]): string {
  const rounded = Math.abs(Number(value.toPrecision(3)));
  const at = Math.max(
    0,
    units.findLastIndex(([, size]) => rounded >= size),
  );
  const [name, size] = units[at] ?? ["", 1];
  const found = value / size;
  // Whole bytes are exact. 1,023.7 KiB would be 1,020 KiB by three digits: nearly a MiB says more with four.
  if (size === 1 && name === "B") return `${Number.isInteger(found) ? found : digits(found)} ${name}`;
  return `${Math.abs(found) >= 1000 ? group(found.toFixed(0)) : digits(found)} ${name}`;
}

/** Three significant digits, thousands grouped, never an exponent. */
function digits(value: number): string {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(3)))));
  return group(Number(value.toPrecision(3)).toFixed(Math.min(20, Math.max(0, 2 - size))));
}

function group(number: string): string {
  const [whole = "", fraction] = number.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

export interface GoalOutcome {
  /** Median of the series, or its ratio to the limit's. */
  readonly value: number;
  readonly met: boolean;
  /** "≤ 2.00 ×". */
  readonly goal: string;
}

/** Null when the series has no goal, or nothing to judge it by. */
export function judgeGoal(series: BenchSeries, run: Pick<BenchRun, "series">): GoalOutcome | null {
  if (!series.goal) return null;
  const { of, most, least } = series.goal;
  const value = of === "median" ? medianOf(series.samples) : ratioOf(run, series.id, series.limit ?? "");
  if (value === null) return null;
  const unit = of === "ratio" ? "ratio" : series.unit;
  return {
    value,
    met: value <= (most ?? Infinity) && value >= (least ?? -Infinity),
    goal: [
      ...(least === undefined ? [] : [`≥ ${formatFigure(least, unit)}`]),
      ...(most === undefined ? [] : [`≤ ${formatFigure(most, unit)}`]),
    ].join(", "),
  };
}

/** Medians of both: subject / limit. Null when either has no samples, or the limit is 0. */
export function ratioOf(run: Pick<BenchRun, "series">, subject: string, limit: string): number | null {
  const [above, below] = [subject, limit].map((id) => medianOf(findSeries(run, id)?.samples ?? []));
  return above === null || above === undefined || !below ? null : above / below;
}

export function findSeries(run: Pick<BenchRun, "series">, id: string): BenchSeries | undefined {
  return run.series.find((series) => series.id === id);
}

export interface CellText {
  readonly text: string;
  /** What it is: measured here, published by others, a reason why there is nothing, or plain text. */
  readonly kind: "figure" | "reference" | "reason" | "text";
  /** Raw, in its unit; null for text. */
  readonly value: number | null;
}

/** What a cell of a run's table says. Ids that lead nowhere, as in files of other versions, give a dash. */
export function readCell(cell: BenchCell, run: BenchRun, references: readonly BenchReference[]): CellText {
  if ("text" in cell) return { text: cell.text, kind: "text", value: null };
  if ("reference" in cell) {
    const found = references.find(({ id }) => id === cell.reference);
    return { text: found ? formatFigure(found.value, found.unit) : NONE, kind: "reference", value: found?.value ?? null };
  }
  if ("fact" in cell) return readFact(run.facts.find(({ step, label }) => step === cell.step && label === cell.fact));
  if ("ratioOf" in cell) {
    const value = ratioOf(run, cell.ratioOf, cell.to);
    return value === null ? reasonOf(run, cell.ratioOf) : { text: formatFigure(value, "ratio"), kind: "figure", value };
  }
  const series = findSeries(run, cell.series);
  const value = statisticOf(series?.samples ?? [], cell.statistic);
  if (!series || value === null || series.samples.length === 0) return readMissing(cell, series, run);
  return { text: formatFigure(value, cell.statistic === "n" ? "count" : series.unit), kind: "figure", value };
}

/** A p99 of few samples is their maximum, marked as that. */
function readMissing(
  cell: { readonly series: string; readonly statistic: string },
  series: BenchSeries | undefined,
  run: BenchRun,
): CellText {
  const max = cell.statistic === "p99" && series ? statisticOf(series.samples, "max") : null;
  if (series && max !== null) return { text: `max ${formatFigure(max, series.unit)}`, kind: "figure", value: max };
  return reasonOf(run, cell.series);
}

function readFact(fact: BenchFact | undefined): CellText {
  if (!fact) return { text: NONE, kind: "reason", value: null };
  if (typeof fact.value === "string") return { text: fact.value, kind: "text", value: null };
  return { text: formatFigure(fact.value, fact.unit), kind: "figure", value: fact.value };
}

function reasonOf(run: BenchRun, id: string): CellText {
  const series = findSeries(run, id);
  const text = series?.skipped !== null && series ? "skipped" : series && series.errors + series.timeouts > 0 ? "failed" : NONE;
  return { text, kind: "reason", value: null };
}

/** Every cell of a table, row by row. */
export function readTable(
  table: BenchTable,
  run: BenchRun,
  references: readonly BenchReference[],
): readonly { readonly label: string; readonly cells: readonly CellText[] }[] {
  return table.rows.map(({ label, cells }) => ({ label, cells: cells.map((cell) => readCell(cell, run, references)) }));
}

/** What a reader has to know before quoting a figure of the run. */
export function caveatsOf(run: BenchRun): string[] {
  const { machine } = run;
  const broken = run.series.filter((series) => series.errors + series.timeouts > 0).length;
  return [
    ...(run.size === "quick" ? ["Size quick proves that everything works; its figures are no claim."] : []),
    ...(run.state === "partial" ? ["The run was stopped: series are shorter than planned, or empty."] : []),
    ...(run.state === "running" || run.state === "stopping" ? ["The run has not ended: figures will change."] : []),
    ...(run.state === "failed" ? ["The run failed."] : []),
    ...(run.failure === null ? [] : [run.failure]),
    ...(broken > 0 ? [`${broken} series met errors or timeouts. Those are counted and are no samples.`] : []),
    ...(machine.addon === "missing" ? ["The native addon was not loaded: these are figures of the slower paths."] : []),
    ...(/^(?:tmpfs|ramfs)$/.test(machine.filesystem) ? [`${machine.filesystem} is memory: durability costs nothing there.`] : []),
    ...(machine.load > machine.cores / 2 ? [`The machine was busy when the run began (load ${machine.load.toFixed(1)}).`] : []),
  ];
}
