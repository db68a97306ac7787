/** A run as files: Markdown as published pages have it, CSV of every raw sample, JSON of the run itself. */
import { caveatsOf, formatFigure, judgeGoal, readTable } from "./bench-figures.ts";
import { summarise } from "./bench-statistics.ts";
import type { BenchReference, BenchRun, BenchSeries, BenchTable, MachineCard } from "./bench-views.ts";
import { formatBytes, formatDuration } from "./units.ts";

/** RFC 4180: one line a sample, in the order in which they were taken. */
export function toCsv(run: BenchRun): string {
  const lines = [["run", "suite", "size", "seed", "step", "series", "title", "unit", "sample", "value"]];
  for (const series of run.series) {
    for (const [index, value] of series.samples.entries()) {
      const about = [
        run.id,
        run.suite,
        run.size,
        String(run.seed),
        series.step,
        series.id,
        `${series.group}: ${series.title}`,
        series.unit,
      ];
      lines.push([...about, String(index + 1), String(value)]);
    }
  }
  return `${lines.map((cells) => cells.map(quote).join(",")).join("\r\n")}\r\n`;
}

/**
 * What `coppice bench --compare` and the screen read again. What says which run it is comes first and the samples last, so
 * that a list of runs need not read them.
 */
export function toJson({ facts, tables, series, ...head }: BenchRun): string {
  return `${JSON.stringify({ ...head, facts, tables, series })}\n`;
}

export function toMarkdown(run: BenchRun, references: readonly BenchReference[]): string {
  const parts = [
    `# ${escapeMarkdown(run.title)}, size ${run.size}`,
    introduce(run),
    ...caveatsOf(run).map((caveat) => `> ${escapeMarkdown(caveat)}`),
    ...run.tables.map((table) => markdownTable(table, run, references)),
    `## Series\n\n${seriesTable(run)}`,
    ...markdownFacts(run),
    ...markdownReasons(run),
    ...markdownReferences(run, references),
    `## Machine\n\n${machineRows([run])}`,
    `## Again\n\n${fence(run.command)}`,
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Name for a file of the run: "coppice-cow-S-20261130T235932Z". */
export function reportName(run: Pick<BenchRun, "id" | "suite" | "size">): string {
  return `coppice-${run.suite}-${run.size}-${/^\d{8}T\d{6}Z/.exec(run.id)?.[0] ?? "run"}`;
}

function introduce(run: BenchRun): string {
  const took = run.endedAt === null ? "" : `, took ${formatDuration(run.endedAt - run.startedAt)}`;
  const options = Object.entries(run.options).map(([id, value]) => `${id} = ${value}`);
  return escapeMarkdown(
    `Run ${run.id} of ${new Date(run.startedAt).toISOString()}: ${run.state}${took}. ${[`Seed ${run.seed}`, ...options].join(", ")}.`,
  );
}

function markdownTable(table: BenchTable, run: BenchRun, references: readonly BenchReference[]): string {
  const rows = readTable(table, run, references).map(({ label, cells }) => [
    label,
    // Published elsewhere: never to be taken for a figure of this machine.
    ...cells.map(({ text, kind }) => (kind === "reference" && text !== "–" ? `${text} (published)` : text)),
  ]);
  return [
    `## ${escapeMarkdown(table.title)}`,
    formatMarkdownTable(table.columns, rows),
    ...(table.note === null ? [] : [escapeMarkdown(table.note)]),
  ].join("\n\n");
}

const SERIES_COLUMNS = ["series", "n", "min", "median", "p95", "p99", "max", "errors", "goal"];

function seriesTable(run: BenchRun): string {
  const measured = run.series.filter((series) => series.samples.length > 0);
  if (measured.length === 0) return "Nothing was measured.";
  return formatMarkdownTable(
    SERIES_COLUMNS,
    measured.map((series) => [`${series.group}: ${series.title}`, ...seriesFigures(series, run)]),
  );
}

/** n, min, median, p95, p99, max, errors with timeouts, goal: as texts. p99 is a dash below n = 100. */
export function seriesFigures(series: BenchSeries, run: Pick<BenchRun, "series">): string[] {
  const summary = summarise(series.samples);
  const outcome = judgeGoal(series, run);
  const figure = (value: number | null | undefined) => formatFigure(value ?? null, series.unit);
  const { errors, timeouts } = series;
  return [
    String(summary?.n ?? 0),
    figure(summary?.min),
    figure(summary?.p50),
    figure(summary?.p95),
    figure(summary?.p99),
    figure(summary?.max),
    `${errors}${timeouts > 0 ? ` + ${timeouts} timed out` : ""}`,
    outcome
      ? `${formatFigure(outcome.value, series.goal?.of === "ratio" ? "ratio" : series.unit)} (${outcome.goal}): ${outcome.met ? "met" : "missed"}`
      : "",
  ];
}

function markdownFacts(run: BenchRun): string[] {
  if (run.facts.length === 0) return [];
  const rows = run.facts.map(({ step, label, value, unit }) => [
    step,
    label,
    typeof value === "string" ? value : formatFigure(value, unit),
  ]);
  return [`## Facts\n\n${formatMarkdownTable(["step", "fact", "value"], rows)}`];
}

/** Why series have no samples, and the first error of those that met any. */
function markdownReasons(run: BenchRun): string[] {
  const rows = run.series.flatMap((series) => {
    const reason = reasonFor(series);
    return reason === null ? [] : [[`${series.group}: ${series.title}`, reason]];
  });
  return rows.length === 0 ? [] : [`## Skipped and failed\n\n${formatMarkdownTable(["series", "why"], rows)}`];
}

/** Null when the series went well. */
export function reasonFor(series: BenchSeries): string | null {
  if (series.skipped !== null) return `skipped: ${series.skipped}`;
  return series.errors + series.timeouts > 0 ? `${series.errors} errors, ${series.timeouts} timeouts; first: ${series.error}` : null;
}

/** Ids of every published figure that the run's series and tables name. */
export function referencesOf(run: BenchRun): Set<string> {
  const inTables = run.tables.flatMap((table) =>
    table.rows.flatMap(({ cells }) => cells.flatMap((cell) => ("reference" in cell ? [cell.reference] : []))),
  );
  return new Set([...inTables, ...run.series.flatMap((series) => series.references)]);
}

function markdownReferences(run: BenchRun, references: readonly BenchReference[]): string[] {
  const named = referencesOf(run);
  const used = references.filter(({ id }) => named.has(id));
  if (used.length === 0) return [];
  const rows = used.map(({ label, value, unit, statistic, source, date, hardware, note }) => [
    label,
    `${formatFigure(value, unit)} (${statistic})`,
    source,
    date ?? "unknown",
    hardware,
    note ?? "",
  ]);
  const table = formatMarkdownTable(["figure", "value", "source", "date", "hardware", "note"], rows);
  return [`## Published figures\n\nTaken by others, on different machines: for orientation, not for comparison.\n\n${table}`];
}

/** One column a run. */
export function machineRows(runs: readonly { readonly machine: MachineCard }[]): string {
  const facts: readonly (readonly [string, (machine: MachineCard) => string])[] = [
    ["processor", ({ processor, cores }) => `${processor}, ${cores} cores`],
    ["memory", ({ memoryBytes }) => formatBytes(memoryBytes)],
    ["system", ({ system }) => system],
    ["filesystem", ({ filesystem, reflink }) => `${filesystem}, ${reflink ? "with" : "without"} reflinks`],
    ["durable append of 300 B", ({ appendMs }) => formatFigure(appendMs, "ms")],
    ["load before", ({ load }) => load.toFixed(2)],
    ["program", ({ program, addon }) => `${program}, addon ${addon}`],
    ["Node, SQLite", ({ node, sqlite }) => `${node}, ${sqlite}`],
  ];
  return formatMarkdownTable(
    ["", ...runs.map((_, index) => (runs.length === 1 ? "this run" : `run ${index + 1}`))],
    facts.map(([name, read]) => [name, ...runs.map(({ machine }) => read(machine))]),
  );
}

/** Cells are one line of plain text, whatever they hold. */
export function formatMarkdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = `| ${columns.map((_, index) => (index === 0 ? "---" : "--:")).join(" | ")} |`;
  return [markdownRow(columns), rule, ...rows.map((cells) => markdownRow(columns.map((_, index) => cells[index] ?? "")))].join("\n");
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map(escapeMarkdown).join(" | ")} |`;
}

/** Messages of systems and names of files are text in Markdown, never markup. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\|`*_<>[\]]/g, String.raw`\$&`).replace(/\s*[\r\n]+\s*/g, " ");
}

/** A code block that its text cannot end. */
export function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return `${ticks}sh\n${text}\n${ticks}`;
}

function quote(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
