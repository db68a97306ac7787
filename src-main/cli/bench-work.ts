/** What `bench` does once its arguments are sound. Apart from the command, so that other verbs do not load it. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, resolve } from "node:path";
import { compareRuns, comparisonToMarkdown, sayChange } from "#shared/bench-comparison.ts";
import { caveatsOf, formatFigure, readTable } from "#shared/bench-figures.ts";
import { applyUpdate, percentDone } from "#shared/bench-live.ts";
import { reasonFor, seriesFigures, toCsv, toJson, toMarkdown } from "#shared/bench-report.ts";
import { medianOf, sayVerdict } from "#shared/bench-statistics.ts";
import type { BenchRun, BenchRunHead, BenchSuiteView, BenchTable } from "#shared/bench-views.ts";
import { formatBytes, formatDuration } from "#shared/units.ts";
import { EngineError } from "#engine/io/errors.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { REFERENCES } from "#bench/references/published.ts";
import { BenchHistory, benchmarksFolder, readRunFile, writeWhole } from "#bench/runner/history.ts";
import { makeOrder, viewSuite } from "#bench/runner/order.ts";
import { runSuite } from "#bench/runner/run.ts";
import { loadSuite, loadSuites } from "#bench/suites.ts";
import type { BenchOptions } from "./bench-command.ts";
import type { Cli } from "./cli.ts";
import { formatAgo, formatFacts, formatTable, type Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";

interface Measurement {
  readonly suite: string;
  readonly options: BenchOptions;
  /** Folder of the store that was found: its disk is measured, and it keeps the run. */
  readonly store: string | null;
  /** To compare the new run with. */
  readonly earlier: readonly BenchRun[];
}

/** Runs a suite and prints it. Sets exit code 1 when it was stopped, failed or met errors: then it is no whole run. */
export async function measure(cli: Cli, { suite: id, options, store, earlier }: Measurement): Promise<void> {
  const suite = await loadSuite(id);
  if (!suite) throw new EngineError("unsupported", `The suite ${id} is not part of this program`);
  const order = makeOrder(suite, { size: options.size, options: options.option, seed: options.seed });
  const history = store === null ? null : new BenchHistory(benchmarksFolder(store));
  const folder = resolve(options.folder ?? history?.folder ?? tmpdir());
  if (options.folder === undefined) nodeDisk.makeDirectory(folder);
  const keeper = new Keeper(cli.terminal, history);
  const live = new LiveLine(cli.terminal);
  const run = await cli.cancellable(({ signal }) =>
    runSuite({
      suite,
      order,
      folder,
      signal,
      onStart: (started) => live.start(started),
      onUpdate: (update) => live.update(update),
      onStep: (step) => keeper.keep(step),
    }),
  );
  keeper.keep(run);
  writeReports(run, options, earlier);
  const compared = earlier.length > 0 ? `\n\n${showComparison(cli.terminal, [...earlier, run])}` : "";
  cli.terminal.result(run, `${showRun(cli.terminal, run)}${compared}`);
  for (const caveat of caveatsOf(run)) cli.terminal.warn(caveat);
  if (keeper.isKept) cli.terminal.note(`Kept as ${run.id}`);
  if (run.state === "partial") cli.terminal.note("coppice: the run was stopped; what was measured until then is above");
  if (run.state !== "done" || run.series.some(({ errors, timeouts }) => errors + timeouts > 0)) cli.exitCode = 1;
}

/** Keeps the run in the store after each step. A store that cannot be written costs the history, not the run. */
class Keeper {
  readonly #terminal: Terminal;
  #history: BenchHistory | null;
  isKept = false;

  constructor(terminal: Terminal, history: BenchHistory | null) {
    this.#terminal = terminal;
    this.#history = history;
  }

  keep(run: BenchRun): void {
    try {
      this.#history?.write(run);
      this.isKept = this.#history !== null;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#terminal.warn(`The store keeps no record of this run: ${error.message}`);
      this.#history = null;
    }
  }
}

/** The one line that is drawn over while a run goes on. */
class LiveLine {
  readonly #terminal: Terminal;
  #run: BenchRun | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  start(run: BenchRun): void {
    this.#run = run;
  }

  update(update: Parameters<typeof applyUpdate>[1]): void {
    if (!this.#run) return;
    this.#run = applyUpdate(this.#run, update);
    const { stepIndex, stepCount, phase, done, total } = this.#run.progress;
    const last = this.#run.series.find(({ id }) => id === update.series.at(-1)?.id);
    const count = total === null ? "" : `: ${done} of ${total}`;
    const median = last && last.samples.length > 0 ? `, ${last.title} ${formatFigure(medianOf(last.samples), last.unit)}` : "";
    this.#terminal.progress(`${Math.floor(percentDone(this.#run))} % (step ${stepIndex + 1} of ${stepCount}) ${phase}${count}${median}`);
  }
}

/** Compares runs that are there already. */
export function compare(cli: Cli, runs: readonly BenchRun[], options: BenchOptions): void {
  const { rows, warnings } = compareRuns(runs);
  for (const file of options.out ?? []) {
    const result = { runs: runs.map(({ id }) => id), rows, warnings };
    writeWhole(resolve(file), extname(file) === ".md" ? comparisonToMarkdown(runs) : `${JSON.stringify(result, null, 2)}\n`);
  }
  cli.terminal.result({ runs: runs.map(({ id }) => id), rows, warnings }, showComparison(cli.terminal, runs));
  for (const warning of warnings) cli.terminal.warn(warning);
}

/** A file, or the name of a run that the store keeps. Throws `file-not-found`, or `bad-argument` for what is no run. */
export function loadRun(name: string, store: string | null): BenchRun {
  const isFile = name.endsWith(".json") || existsSync(name);
  const run = isFile ? readRunFile(resolve(name)) : store === null ? null : new BenchHistory(benchmarksFolder(store)).read(name);
  if (run) return run;
  if (isFile && existsSync(name)) throw new EngineError("bad-argument", `${name} holds no benchmark run`, { details: { path: name } });
  throw new EngineError("file-not-found", `There is no benchmark run "${name}"`, {
    hint: "Name a .json file that --out wrote, or a run of `coppice bench --list`",
    details: { name },
  });
}

export async function listSuites(cli: Cli, store: string | null): Promise<void> {
  const suites = (await loadSuites()).map(viewSuite);
  const runs = store === null ? [] : new BenchHistory(benchmarksFolder(store)).heads();
  cli.terminal.result(
    { suites, runs },
    [...suites.map((suite) => showSuite(cli.terminal, suite)), showRuns(cli.terminal, runs)].filter(Boolean).join("\n\n"),
  );
}

function showSuite(terminal: Terminal, { id, title, about, sizes, options }: BenchSuiteView): string {
  return formatFacts(terminal, [
    [id, `${title}: ${about}`],
    ...sizes.map(
      (size) =>
        [`  ${size.id}`, `${size.label}; about ${formatDuration(size.seconds * 1000)}, ${formatBytes(size.diskBytes)} of disk`] as const,
    ),
    ...options.map((option) => [`  ${option.id}`, `${option.title}: ${option.values.map((value) => value.id).join(" | ")}`] as const),
  ]);
}

function showRuns(terminal: Terminal, runs: readonly BenchRunHead[]): string {
  return formatTable(
    terminal,
    [{ title: "RUN" }, { title: "SUITE" }, { title: "SIZE" }, { title: "STATE" }, { title: "STARTED" }],
    runs.map(({ id, suite, size, state, startedAt }) => [id, suite, size, state, formatAgo(startedAt)]),
  );
}

const SERIES: readonly Column[] = [
  { title: "SERIES" },
  ...["N", "MIN", "MEDIAN", "P95", "P99", "MAX", "ERRORS"].map((title) => ({ title, align: "right" as const })),
  { title: "GOAL" },
];

function showRun(terminal: Terminal, run: BenchRun): string {
  const took = run.endedAt === null ? "" : ` in ${formatDuration(run.endedAt - run.startedAt)}`;
  const measured = run.series.filter(({ samples }) => samples.length > 0);
  const reasons = run.series.flatMap((series) => {
    const reason = reasonFor(series);
    return reason === null ? [] : [`${series.group}: ${series.title}: ${reason}`];
  });
  const series = formatTable(
    terminal,
    SERIES,
    measured.map((each) => [`${each.group}: ${each.title}`, ...seriesFigures(each, run)]),
  );
  const facts = formatTable(
    terminal,
    [{ title: "STEP" }, { title: "FACT" }, { title: "VALUE", align: "right" }],
    run.facts.map(({ step, label, value, unit }) => [step, label, typeof value === "string" ? value : formatFigure(value, unit)]),
  );
  return [
    `${terminal.paint("bold", `${run.title}, size ${run.size}`)}: ${run.state}${took}\n${run.mark}\n${run.command}`,
    ...run.tables.map((table) => showTable(terminal, table, run)),
    series,
    facts,
    reasons.join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Published figures stand in brackets: they were taken elsewhere. */
function showTable(terminal: Terminal, table: BenchTable, run: BenchRun): string {
  const columns = table.columns.map((title, index) => (index === 0 ? { title } : { title, align: "right" as const }));
  const rows = readTable(table, run, REFERENCES).map(({ label, cells }) => [
    label,
    ...cells.map(({ text, kind }) => (kind === "reference" && text !== "–" ? `[${text}]` : text)),
  ]);
  const body = formatTable(terminal, columns, rows);
  return [terminal.paint("bold", table.title), body, ...(table.note === null ? [] : [terminal.paint("dim", table.note)])].join("\n");
}

function showComparison(terminal: Terminal, runs: readonly BenchRun[]): string {
  const { rows } = compareRuns(runs);
  const columns: Column[] = [
    { title: "SERIES" },
    ...runs.map((_, index) => ({ title: `RUN ${index + 1}`, align: "right" as const })),
    ...runs.slice(1).flatMap((_, index) => [{ title: `RUN ${index + 2} − RUN 1` }, { title: "VERDICT" }]),
  ];
  return formatTable(
    terminal,
    columns,
    rows.map(({ series, runs: found, changes }) => [
      `${series.group}: ${series.title}`,
      ...found.map((each) => (each ? `${formatFigure(each.median, series.unit)} (n ${each.n})` : "")),
      ...changes.flatMap((change) => (change ? [sayChange(change, series.unit), sayVerdict(change.verdict, series)] : ["", ""])),
    ]),
  );
}

function writeReports(run: BenchRun, { out = [] }: BenchOptions, earlier: readonly BenchRun[]): void {
  const compared = earlier.length > 0 ? `\n${comparisonToMarkdown([...earlier, run])}` : "";
  for (const file of out) {
    const kind = extname(file);
    writeWhole(resolve(file), kind === ".csv" ? toCsv(run) : kind === ".json" ? toJson(run) : `${toMarkdown(run, REFERENCES)}${compared}`);
  }
}
