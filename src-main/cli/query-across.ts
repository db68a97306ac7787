import { alignResults, type AlignedResult, type Alignment } from "#shared/query-compare.ts";
import { LIMITS } from "#shared/limits.ts";
import { exampleOfPattern } from "#shared/name-pattern.ts";
import type { AcrossResultView, AcrossTargetView, DataValue } from "#shared/query-views.ts";
import { csvLine, isNumber } from "#shared/row-text.ts";
import { nameProblem } from "#shared/ids.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseMoment } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { shownCell } from "./query-cells.ts";
import { rowTable } from "./query-table.ts";
import { formatTable, plural } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface AcrossOptions {
  readonly on: readonly string[];
  readonly csv?: boolean;
  readonly limit?: number;
}

interface Asked {
  readonly database: string;
  readonly patterns: string[];
  readonly at: string | undefined;
}

/** Results in order of the targets, once all are there; those that failed are said, and the program ends with 1. */
export async function queryAcross(cli: Cli, sql: string, options: AcrossOptions): Promise<void> {
  const asked = parsePatterns(options.on);
  if (options.csv && cli.terminal.looks.json) throw new EngineError("bad-argument", "--csv and --json exclude each other");
  if (options.limit !== undefined && options.limit > LIMITS.pageRowsMax)
    throw new EngineError("bad-argument", `--limit is at most ${LIMITS.pageRowsMax} for each state`);
  let targets: readonly AcrossTargetView[] = [];
  const results: AcrossResultView[] = [];
  await cli.withStore(async (store, work) => {
    work.phase("Asking");
    await store.askAcross(
      { ...asked, sql, limit: options.limit },
      { targets: (found) => (targets = found), results: (found) => void results.push(...found) },
      work,
    );
  });
  const alignment = alignResults(results);
  if (results.some(({ error }) => error !== null)) cli.exitCode = 1;
  if (cli.terminal.looks.json) {
    const rows = alignment.results.map(({ result, isSame }) => ({ ...result, label: targets[result.target]?.label, isSame }));
    return cli.terminal.result({ columns: alignment.columns, results: rows }, "");
  }
  sayFailures(cli.terminal, targets, alignment);
  if (options.csv) await printCsv(cli.terminal, targets, alignment);
  else printTables(cli.terminal, targets, alignment);
}

/** All of one database and one moment, as the contract has it. */
function parsePatterns(words: readonly string[]): Asked {
  const parsed = words.map((word) => {
    const [database = "", pattern = "*", at, ...rest] = word.split("@");
    const problem = nameProblem("database", database) ?? nameProblem("branch", exampleOfPattern(pattern));
    if (problem !== null || rest.length > 0)
      throw new EngineError("bad-target", `"${word}": ${problem ?? "too many '@'"}`, { hint: "Write DB@PATTERN, e.g. 'shop@attempt-*'" });
    return { database, pattern, at: at === undefined ? undefined : parseMoment(at) };
  });
  const [first] = parsed;
  if (!first) throw new EngineError("bad-argument", "--on names no branches");
  if (parsed.some(({ database, at }) => database !== first.database || at !== first.at))
    throw new EngineError("bad-argument", "All --on are about one database, and one moment of it");
  return { database: first.database, patterns: parsed.map(({ pattern }) => pattern), at: first.at };
}

function sayFailures(terminal: Terminal, targets: readonly AcrossTargetView[], { results }: Alignment): void {
  for (const { result } of results) if (result.error) terminal.warn(`${targets[result.target]?.label}: ${result.error.message}`);
}

const MARKS = { true: "=", false: "≠", null: "" } as const;

function markOf({ result, isSame }: AlignedResult): string {
  return result.target === 0 ? "" : MARKS[`${isSame}`];
}

/** One table when no state has more than one row, else one a state. Each says whether it equals the first. */
function printTables(terminal: Terminal, targets: readonly AcrossTargetView[], alignment: Alignment): void {
  const answered = alignment.results.filter(({ result }) => result.error === null);
  if (answered.length === 0) return;
  if (answered.every(({ result }) => result.rows.length <= 1)) terminal.line(oneTable(terminal, targets, alignment.columns, answered));
  else
    for (const each of answered) {
      const { label } = targets[each.result.target] ?? { label: "" };
      terminal.line(terminal.paint("bold", `${label} ${markOf(each)}`.trim()));
      // What equals the first need not be said again.
      if (each.isSame !== true || each.result.target === 0) terminal.line(rowTable(terminal, each.result.columns, each.result.rows));
      if (each.result.truncated) terminal.note(`${label} has more rows: --limit shows up to ${LIMITS.pageRowsMax}`);
    }
  const others = answered.filter(({ result, isSame }) => result.target !== 0 && isSame === false).length;
  if (answered[0]?.result.target === 0)
    terminal.note(`${others} of ${plural(answered.length - 1, "state")} differ from ${targets[0]?.label}`);
}

function oneTable(
  terminal: Terminal,
  targets: readonly AcrossTargetView[],
  columns: readonly string[],
  results: readonly AlignedResult[],
): string {
  const cells = results.map(({ result, positions }) =>
    positions.map((position): DataValue | undefined => (position === null ? undefined : result.rows[0]?.[position])),
  );
  const heads = columns.map((title, index) => ({
    title,
    ...(cells.every((row) => row[index] == null || isNumber(row[index])) ? { align: "right" as const } : {}),
  }));
  return formatTable(
    terminal,
    [{ title: "STATE" }, { title: "", isKept: false }, ...heads.map((head) => ({ ...head, isKept: true }))],
    results.map((each, index) => [
      targets[each.result.target]?.label ?? "",
      markOf(each),
      ...(cells[index] ?? []).map((value) => (value === undefined ? "" : shownCell(value))),
    ]),
  );
}

/** A line a row: the state, whether it equals the first one (1, 0, or nothing), then the columns of all. */
async function printCsv(terminal: Terminal, targets: readonly AcrossTargetView[], { columns, results }: Alignment): Promise<void> {
  await terminal.write(csvLine(["state", "same", ...columns]));
  for (const { result, positions, isSame } of results)
    for (const row of result.rows) {
      const cells = positions.map((position) => (position === null ? null : (row[position] ?? null)));
      await terminal.write(csvLine([targets[result.target]?.label ?? "", isSame === null ? null : Number(isSame), ...cells]));
    }
}
