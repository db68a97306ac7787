/** `query`: SQL on a branch or an earlier state, and one query put to many of them. */
import { text as readAll } from "node:stream/consumers";
import type { Command } from "commander";
import type { DataValue, SqlProblem } from "#shared/query-views.ts";
import { csvLine } from "#shared/row-text.ts";
import type { Store } from "#engine/store-api.ts";
import { EngineError } from "#engine/io/errors.ts";
import { collectWords, parseCount, parseState, parseTime, type StateTarget } from "./arguments.ts";
import type { Cli, LongWork } from "./cli.ts";
import { queryAcross } from "./query-across.ts";
import { rowTable } from "./query-table.ts";
import { plural } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { printWholeJson } from "./whole-json.ts";

interface QueryOptions {
  readonly on?: readonly string[];
  readonly write?: boolean;
  readonly force?: boolean;
  readonly plan?: boolean;
  readonly csv?: boolean;
  readonly limit?: number;
  readonly wait?: number;
}

/** Rows shown of each statement unless --limit says otherwise. */
const ROWS = 1_000;

export function addQueryCommand(program: Command, cli: () => Cli): void {
  program
    .command("query")
    .description("run SQL on a branch or an earlier state of it, or with --on one query on many: read-only unless --write is given")
    .usage("<target> <sql> [options]\n       coppice query --on <pattern> <sql> [options]")
    .argument("<words...>", "DB[@BRANCH[@AT]] and the SQL; - reads it from standard input")
    .option("--on <pattern>", "DB@PATTERN[@AT], e.g. 'shop@attempt-*': all branches named so; can be given several times", collectWords)
    .option("--write", "the SQL may write: what the branch holds is kept as a version first")
    .option("--force", "write although the branch is protected")
    .option("--plan", "run nothing: tell how SQLite would")
    .option("--csv", "the rows as CSV, all of them")
    .option("--limit <n>", `at most so many rows of each statement (shown on a terminal: ${ROWS})`, parseCount(Number.MAX_SAFE_INTEGER))
    .option("--wait <time>", "how long to wait for a program that uses the file", parseTime)
    .action(async (words: string[], options: QueryOptions) => {
      const last = words.at(-1) ?? "";
      const sql = last === "-" ? await readAll(process.stdin) : last;
      if (options.on) return queryAcross(cli(), sql, refuseTarget(words, options));
      if (words.length === 2) return query(cli(), parseState(words[0] ?? ""), sql, options);
      throw new EngineError("bad-argument", words.length < 2 ? "Missing argument 'sql'" : `Too many arguments: "${words[2]}"`, {
        hint: "Write coppice query DB@BRANCH 'SELECT …', the SQL in quotes",
      });
    });
}

function refuseTarget(words: readonly string[], options: QueryOptions): QueryOptions & { readonly on: readonly string[] } {
  if (words.length > 1) throw new EngineError("bad-argument", `Either a target or --on, not both: "${words[0]}"`);
  for (const name of ["write", "force", "plan"] as const)
    if (options[name]) throw new EngineError("bad-argument", `--${name} is about one branch: it does not go with --on`);
  return { ...options, on: options.on ?? [] };
}

async function query(cli: Cli, target: StateTarget, sql: string, options: QueryOptions): Promise<void> {
  if (options.csv && cli.terminal.looks.json) throw new EngineError("bad-argument", "--csv and --json exclude each other");
  await cli.withStore(async (store, work) => {
    const ask = { target, sql, options };
    if (cli.terminal.looks.json) return printJson(cli.terminal, store, ask, work);
    const printer = options.csv ? new CsvPrinter(cli.terminal) : new TablePrinter(cli.terminal);
    const { source, before, outcome } = await run(store, ask, printer, options.csv ? null : ROWS, work);
    for (const note of outcome.notes) cli.terminal.note(note);
    if (before !== null)
      cli.terminal.note(
        `${plural(outcome.changes, "row")} changed. Before that it was v${before}: coppice rollback ${source.label} --to v${before} brings it back`,
      );
  });
}

interface Ask {
  readonly target: StateTarget;
  readonly sql: string;
  readonly options: QueryOptions;
}

/** What a statement found, as it comes. */
interface Printer {
  statement(columns: readonly string[] | null): void;
  rows(rows: readonly (readonly DataValue[])[]): void | Promise<void>;
  end(about: { readonly truncated: boolean; readonly changes: number; readonly note: string | null; readonly durationMs: number }): void;
}

/** Throws `sql-failed` for the statement that failed, after what the ones before it found has been printed. */
async function run(store: Store, { target, sql, options }: Ask, printer: Printer, rowsMax: number | null, work: LongWork) {
  const { write, force, plan, wait: waitMs, limit = rowsMax } = options;
  let problem: SqlProblem | null = null;
  work.phase("Running");
  const ran = await store.streamQuery(
    { ...target, sql, write, force, plan, waitMs },
    limit,
    async (event) => {
      if (event.kind === "statement") printer.statement(event.columns);
      else if (event.kind === "rows") await printer.rows(event.rows);
      else {
        problem = event.error;
        if (event.error === null) printer.end(event);
      }
    },
    work,
  );
  if (problem !== null) throw sqlFailed(problem, sql, ran);
  return ran;
}

function sqlFailed(problem: SqlProblem, sql: string, ran: Awaited<ReturnType<typeof run>>): EngineError {
  const { before, outcome } = ran;
  const untouched =
    outcome.transaction !== "own"
      ? "Nothing was changed."
      : `${plural(outcome.changes, "row")} had been changed before. What the file held then is v${before}.`;
  return new EngineError("sql-failed", problem.message, {
    untouched,
    ...(problem.position === null ? {} : { hint: describePlace(sql, problem.position) }),
    details: { found: problem.code ?? "refused" },
  });
}

/** "line 2, column 8: near SELEC 2". */
function describePlace(sql: string, position: number): string {
  const before = sql.slice(0, position).split("\n");
  const rest = sql.slice(position).split("\n")[0] ?? "";
  const place = `Line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  return rest === "" ? `${place}: at the end` : `${place}: ${rest.slice(0, 60)}`;
}

class TablePrinter implements Printer {
  readonly #terminal: Terminal;
  #columns: readonly string[] | null = null;
  #rows: (readonly DataValue[])[] = [];
  #tables = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  statement(columns: readonly string[] | null): void {
    this.#columns = columns;
    this.#rows = [];
  }

  rows(rows: readonly (readonly DataValue[])[]): void {
    this.#rows.push(...rows);
  }

  end({ truncated, note }: Parameters<Printer["end"]>[0]): void {
    if (this.#columns === null) return;
    if (this.#tables > 0) this.#terminal.line("");
    this.#tables += 1;
    this.#terminal.line(rowTable(this.#terminal, this.#columns, this.#rows));
    if (truncated) this.#terminal.note(`There are more rows than these ${plural(this.#rows.length, "row")}: --limit shows more`);
    if (note !== null) this.#terminal.note(note);
  }
}

class CsvPrinter implements Printer {
  readonly #terminal: Terminal;
  #tables = 0;
  #header: string | null = null;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  statement(columns: readonly string[] | null): void {
    this.#header = columns && `${this.#tables > 0 ? "\r\n" : ""}${csvLine(columns)}`;
    if (columns) this.#tables += 1;
  }

  async rows(rows: readonly (readonly DataValue[])[]): Promise<void> {
    await this.#terminal.write(this.#takeHeader() + rows.map(csvLine).join(""));
  }

  end({ note }: Parameters<Printer["end"]>[0]): void {
    const header = this.#takeHeader();
    if (header !== "") void this.#terminal.write(header);
    if (note !== null) this.#terminal.note(note);
  }

  #takeHeader(): string {
    const header = this.#header ?? "";
    this.#header = null;
    return header;
  }
}

function printJson(terminal: Terminal, store: Store, ask: Ask, work: LongWork): Promise<void> {
  return printWholeJson(terminal, async (put) => {
    let [statements, rows] = [0, 0];
    put('{"statements":[');
    const printer: Printer = {
      statement: (columns) => {
        put(`${statements > 0 ? "," : ""}{"columns":${JSON.stringify(columns)},"rows":[`);
        statements += 1;
        rows = 0;
      },
      rows: (found) => {
        put(`${rows > 0 ? "," : ""}${found.map((row) => JSON.stringify(row)).join(",")}`);
        rows += found.length;
      },
      end: ({ truncated, changes, durationMs, note }) => put(`],${JSON.stringify({ truncated, changes, durationMs, note }).slice(1)}`),
    };
    const { source, before, outcome } = await run(store, ask, printer, null, work);
    put(`],${JSON.stringify({ source, before, ...outcome }).slice(1)}`);
  });
}
