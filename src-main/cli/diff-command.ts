import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { DiffSideInput, RowKind, SchemaChangeView, TableCounts } from "#shared/diff-views.ts";
import type { DiffFormat } from "#engine/diff/diff-text.ts";
import type { Diff, RowFilter } from "#engine/diff/open-diff.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseCount } from "./arguments.ts";
import type { Cli, LongWork } from "./cli.ts";
import { rowText } from "./diff-row.ts";
import { pairSides, parseSide } from "./diff-side.ts";
import { formatCount, formatTable, plural } from "./table.ts";
import type { Terminal } from "./terminal.ts";

interface DiffOptions {
  readonly summary?: boolean;
  readonly schema?: boolean;
  readonly sql?: boolean;
  readonly csv?: boolean;
  readonly markdown?: boolean;
  readonly table?: readonly string[];
  readonly kind?: readonly RowKind[];
  readonly columns?: readonly string[];
  readonly limit?: number;
  readonly exitCode?: boolean;
}

/** Rows shown of each table unless --limit says otherwise. */
const ROWS = 20;
const CELL_BYTES = 240;
const KINDS: readonly RowKind[] = ["insert", "delete", "update"];
const SIGNS = { insert: "+", delete: "-", update: "~" } as const;
const STYLES = { insert: "green", delete: "red", update: "yellow" } as const;

export function addDiffCommand(program: Command, cli: () => Cli): void {
  program
    .command("diff")
    .description("compare two states, or two SQLite files: schema, and rows that were inserted (+), deleted (-) or changed (~)")
    .argument("<left>", "what was: DB[@BRANCH[@AT]], DB@BRANCH@+ with unsaved work, or a file", parseSide)
    .argument("[right]", "what is; left out: the file of the branch as it is now", parseSide)
    .option("--summary", "only counts: which tables differ, and in how many rows")
    .option("--schema", "only the schema")
    .option("--sql", "a script that turns left into right")
    .option("--csv", "the rows of one table as CSV")
    .option("--markdown", "schema and rows as Markdown")
    .option("--table <name>", "only this table; can be given several times", (name: string, before: readonly string[] = []) => [
      ...before,
      name,
    ])
    .option("--kind <kinds>", "only rows that were insert,delete,update", parseKinds)
    .option("--columns <names>", "only these columns count: others may differ", parseNames)
    .option("--limit <n>", `at most so many rows of each table (shown on a terminal: ${ROWS})`, parseCount(Number.MAX_SAFE_INTEGER))
    .option("--exit-code", "end with 1 when something differs")
    .action((left: DiffSideInput, right: DiffSideInput | undefined, options: DiffOptions) => diff(cli(), pairSides(left, right), options));
}

function parseKinds(text: string): RowKind[] {
  return text.split(",").map((word) => {
    const kind = KINDS.find((each) => each === word.trim());
    if (kind) return kind;
    throw new EngineError("bad-argument", `"${word}" is no kind of change`, { hint: `Write some of ${KINDS.join(",")}` });
  });
}

function parseNames(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

async function diff(cli: Cli, sides: { left: DiffSideInput; right: DiffSideInput }, options: DiffOptions): Promise<void> {
  const forms = (["summary", "schema", "sql", "csv", "markdown"] as const).filter((name) => options[name]);
  if (forms.length > 1) throw new EngineError("bad-argument", `${forms.map((name) => `--${name}`).join(" and ")} exclude each other`);
  await cli.withStore(async (store, work) => {
    const opened = await store.diff(sides, work);
    try {
      await print(cli, opened, options, work);
      if (options.exitCode && !(await opened.isSame(work))) cli.exitCode = 1;
    } finally {
      opened.close();
    }
  });
}

function print(cli: Cli, opened: Diff, options: DiffOptions, work: LongWork): Promise<void> {
  const { json } = cli.terminal.looks;
  if (options.schema) return printSchema(cli, opened);
  if (options.summary) return printSummary(cli, opened, options, work);
  const format = options.sql ? "sql" : options.csv ? "csv" : options.markdown ? "markdown" : json ? "json" : null;
  if (!format) return printRows(cli.terminal, opened, options, work);
  return printText(cli, opened, { format, tables: options.table ?? null, filter: filterOf(options), limit: options.limit ?? null }, work);
}

function filterOf({ kind, columns }: DiffOptions): RowFilter {
  return { kinds: kind, columns };
}

async function printSchema(cli: Cli, opened: Diff): Promise<void> {
  const { left, right, schema } = opened.view;
  cli.terminal.result({ left, right, schema }, schema.flatMap((change) => schemaLines(change, cli.terminal, true)).join("\n"));
  if (schema.length === 0) cli.terminal.note(`${left.label} and ${right.label} have the same schema`);
}

function schemaLines({ type, name, change, formerName, left, right }: SchemaChangeView, terminal: Terminal, withSql: boolean): string[] {
  const sign = change === "added" ? "+" : change === "dropped" ? "-" : "~";
  const style = change === "added" ? "green" : change === "dropped" ? "red" : "yellow";
  const head = `${sign} ${type} ${name}: ${change}${formerName === null ? "" : ` from ${formerName}`}`;
  const values = type === "pragma" ? ` (${left} → ${right})` : "";
  if (!withSql || type === "pragma") return [terminal.paint(style, head + values)];
  const old = left === null ? [] : left.split("\n").map((line) => terminal.paint("red", `    - ${line}`));
  const now = right === null ? [] : right.split("\n").map((line) => terminal.paint("green", `    + ${line}`));
  return [terminal.paint(style, head), ...old, ...now];
}

async function printSummary(cli: Cli, opened: Diff, options: DiffOptions, work: LongWork): Promise<void> {
  const counts = await countRows(opened, options, work);
  const { view } = opened;
  const changed = counts.filter(
    ({ inserted, deleted, updated, notComparable }) => inserted + deleted + updated > 0 || notComparable !== null,
  );
  const table = formatTable(
    cli.terminal,
    [
      { title: "TABLE" },
      { title: "+", align: "right" },
      { title: "-", align: "right" },
      { title: "~", align: "right" },
      { title: "MATCHED BY" },
      { title: "NOTE" },
    ],
    changed.map(({ name, inserted, deleted, updated, notComparable }) => {
      const about = view.tables.find((each) => each.name === name);
      const note = notComparable ?? (about?.owner == null ? "" : `data of ${about.owner}`);
      return [
        name,
        formatCount(inserted),
        formatCount(deleted),
        formatCount(updated),
        notComparable === null ? (about?.matchedBy ?? "") : "",
        note,
      ];
    }),
  );
  const schema = view.schema.flatMap((change) => schemaLines(change, cli.terminal, false));
  cli.terminal.result({ ...view, counts }, [...schema, ...(table === "" ? [] : [table])].join("\n"));
  if (schema.length === 0 && changed.length === 0) noteSame(cli.terminal, opened);
}

async function countRows(opened: Diff, options: DiffOptions, work: LongWork): Promise<TableCounts[]> {
  const chosen = options.table && new Set(options.table.flatMap((name) => opened.table(name)?.view.name ?? []));
  const counts: TableCounts[] = [];
  for await (const each of opened.summary(work, filterOf(options), chosen ?? null)) {
    if (each.isComplete) counts.push(each);
    work.phase(`${each.name}: ${plural(each.inserted + each.deleted + each.updated, "row")} differ`);
    work.progress(0, 0);
  }
  return counts;
}

function noteSame(terminal: Terminal, { view }: Diff): void {
  const tables = view.tables.length + view.equalTables;
  terminal.note(`${view.left.label} and ${view.right.label} are identical: ${plural(tables, "table")}`);
}

/** For people: the schema, then some rows of each table. Written table by table, so that nothing waits for the last one. */
async function printRows(terminal: Terminal, opened: Diff, options: DiffOptions, work: LongWork): Promise<void> {
  const { viewChange } = await import("#engine/diff/open-diff.ts");
  const { view } = opened;
  const tables = options.table ? options.table.flatMap((name) => opened.table(name) ?? []) : opened.tables;
  const schema = options.table ? [] : view.schema.flatMap((change) => schemaLines(change, terminal, false));
  if (schema.length > 0) terminal.line(schema.join("\n"));
  let isSame = view.schema.length === 0;
  for (const table of tables) {
    if (table.view.notComparable !== null) continue;
    const limit = options.limit ?? ROWS;
    let count = 0;
    for await (const change of opened.changes(table, filterOf(options), work)) {
      if (count === 0) terminal.line(terminal.paint("bold", `${table.view.name} (matched by ${table.view.matchedBy})`));
      if (count === limit) {
        terminal.note(`${table.view.name}: more rows differ: --limit shows more, --summary counts them`);
        break;
      }
      count += 1;
      terminal.line(
        terminal.paint(STYLES[change.kind], `  ${SIGNS[change.kind]} ${rowText(table.view.columns, viewChange(change, CELL_BYTES))}`),
      );
    }
    isSame &&= count === 0;
  }
  for (const note of view.notes) terminal.note(note);
  if (isSame && !options.table && !options.kind && !options.columns) noteSame(terminal, opened);
}

/**
 * For programs: exact, never made visible. With --json it is put together in a file first, so that what is printed is one
 * whole object or one error.
 */
async function printText(cli: Cli, opened: Diff, format: DiffFormat, work: LongWork): Promise<void> {
  const { diffText } = await import("#engine/diff/diff-text.ts");
  if (!cli.terminal.looks.json) {
    for await (const piece of diffText(opened, format, work)) await cli.terminal.write(piece);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "coppice-diff-"));
  try {
    const path = join(folder, "result.json");
    const file = openSync(path, "wx", 0o600);
    try {
      writeSync(file, '{"ok":true,"result":');
      const wrap = format.format === "json" ? (piece: string) => piece : (piece: string) => JSON.stringify(piece).slice(1, -1);
      const quote = format.format === "json" ? "" : '"';
      writeSync(file, quote);
      for await (const piece of diffText(opened, format, work)) writeSync(file, wrap(piece));
      writeSync(file, `${quote}}\n`);
    } finally {
      closeSync(file);
    }
    await cli.terminal.copyOut(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
