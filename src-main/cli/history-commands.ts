import type { Command } from "commander";
import type { RowHistoryView } from "#shared/diff-views.ts";
import { formatBytes } from "#shared/units.ts";
import type { HistoryRow, HistoryView, OperationView, UndoPreview, UndoResult } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseBranch, parseDatabaseName, parseOperation, parseRows, parseTime, type BranchTarget } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { rowText } from "./diff-row.ts";
import { formatAgo, formatCount, formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

const SIGNS = { insert: "+", delete: "-", update: "~" } as const;
/** Rows of `log` and `ops` unless --limit says otherwise. */
const ROWS = 50;

interface LogOptions {
  readonly limit: number;
  readonly row?: readonly string[];
  readonly changes?: boolean;
}

interface UndoOptions {
  readonly database?: string;
  readonly chain?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: number;
}

export function addHistoryCommands(program: Command, cli: () => Cli): void {
  program
    .command("log")
    .description("list the versions of a branch, the newest first; with --row those in which one row changed")
    .argument("<target>", "DB[@BRANCH]", parseBranch)
    .option("--limit <n>", "at most so many", parseRows, ROWS)
    .option("--row <table and key...>", "only versions that changed the row of TABLE with this KEY (a value for each of its columns)")
    .option("--changes", "count what each version changed in its tables")
    .action((target: BranchTarget, { limit, row, changes }: LogOptions) => {
      if (row && changes) throw new EngineError("bad-argument", "--row and --changes exclude each other");
      if (changes) return logChanges(cli(), target, limit);
      if (!row) return cli().ask((store) => store.history({ ...target, limit }), showHistory);
      const [table = "", ...key] = row;
      if (key.length === 0)
        throw new EngineError("bad-argument", "--row needs a table and the key of a row", { hint: "Write --row TABLE KEY" });
      return cli().ask(
        (store, work) => store.rowHistory({ ...target, table, key, limit }, work),
        showRowHistory,
        "The row was in no version",
      );
    });
  program
    .command("ops")
    .description("list the operations of the store, the newest first: each can be undone")
    .argument("[target]", "only of DB, or of DB@BRANCH")
    .option("--by <actor>", "only of this actor")
    .option("--limit <n>", "at most so many", parseRows, ROWS)
    .action((text: string | undefined, { by: actor, limit }: { by?: string; limit: number }) => {
      const scope = operationScope(text);
      return cli().ask((store) => store.operations({ ...scope, actor, limit }), showOperations, "No operations");
    });
  program
    .command("undo")
    .description("undo an operation: your last one, or the one named")
    .argument("[operation]", "its number in `coppice ops`", parseOperation)
    .option("--chain", "also undo the later operations that stand on it")
    .option("--dry-run", "say what would move and change nothing; needs the operation's number")
    .option("--database <name>", "your last one about this database", parseDatabaseName)
    .option("--wait <time>", "how long to wait for a program that uses a file", parseTime)
    .action((operation: number | undefined, options: UndoOptions) => undo(cli(), operation, options));
  program
    .command("redo")
    .description("do again what you undid last")
    .option("--database <name>", "only about this database", parseDatabaseName)
    .option("--wait <time>", "how long to wait for a program that uses a file", parseTime)
    .action(({ database, wait: waitMs }: UndoOptions) => cli().act((store, work) => store.redo({ database, waitMs }, work)));
}

async function logChanges(cli: Cli, target: BranchTarget, limit: number): Promise<void> {
  const { changesText, countHistory } = await import("./version-changes.ts");
  return cli.ask(
    async (store, work) => countHistory(store, target.database, await store.history({ ...target, limit }), work),
    (counted, terminal) =>
      showHistory(counted, terminal, { title: "CHANGES", cells: counted.versions.map(({ changes }) => changesText(changes)) }),
  );
}

function operationScope(text: string | undefined): { database?: string; branch?: string } {
  if (text === undefined) return {};
  const { database, branch } = parseBranch(text);
  return text.includes("@") ? { database, branch } : { database };
}

function undo(cli: Cli, operation: number | undefined, { database, chain, dryRun, wait: waitMs }: UndoOptions): Promise<void> {
  if (operation !== undefined && database !== undefined)
    throw new EngineError("bad-argument", "An operation's number says all: leave out --database");
  if (!dryRun) return cli.act((store, work) => store.undo({ operation, database, chain, waitMs }, work), describeUndone);
  if (operation === undefined)
    throw new EngineError("bad-argument", "--dry-run needs the operation's number", { hint: "`coppice ops` lists them" });
  return cli.ask((store) => store.previewUndo({ operation }), showPreview);
}

/** One undone operation is the sentence itself; a chain is listed. */
function describeUndone({ undone }: UndoResult): string[] {
  return undone.length > 1 ? undone.map(({ id, summary }) => `undone: ${id} ${summary}`) : [];
}

function showPreview({ operation, blockedBy, moves }: UndoPreview): string {
  const first = blockedBy.map(({ id, summary }) => `first: ${id} ${summary}`);
  return [`Would undo ${operation.id} ${operation.summary}`, ...first, ...moves].join("\n");
}

/** `more`: a column of its own, with a cell for each version. */
function showHistory(
  { versions, total }: HistoryView,
  terminal: Terminal,
  more: { readonly title: string; readonly cells: readonly string[] } = { title: "", cells: [] },
): string {
  const table = formatTable(
    terminal,
    [
      { title: "VERSION" },
      { title: "PLACE" },
      { title: "KIND" },
      { title: "MADE", align: "right" },
      { title: "BY" },
      { title: "PAGES", align: "right" },
      { title: "STORED", align: "right" },
      { title: more.title },
      { title: "CHECKPOINTS" },
      { title: "MESSAGE" },
    ],
    versions.map((row, index) => [
      `v${row.number}`,
      describePlace(row, terminal),
      row.kind,
      formatAgo(row.createdAt),
      row.actor,
      formatCount(row.changedPages),
      formatBytes(row.storedBytes),
      more.cells[index] ?? "",
      row.checkpoints.map(({ name }) => name).join(", "),
      row.message?.split("\n")[0] ?? "",
    ]),
  );
  if (versions.length < total) terminal.note(`${formatCount(versions.length)} of ${formatCount(total)} versions: --limit shows more`);
  return table;
}

function showRowHistory({ versions, columns, isComplete }: RowHistoryView, terminal: Terminal): string {
  const table = formatTable(
    terminal,
    [{ title: "VERSION" }, { title: "MADE", align: "right" }, { title: "BY" }, { title: "CHECKPOINTS" }, { title: "CHANGE" }],
    versions.map(({ version, createdAt, actor, checkpoints, change }) => [
      `v${version}`,
      formatAgo(createdAt),
      actor,
      checkpoints.join(", "),
      `${SIGNS[change.kind]} ${rowText(columns, change)}`,
    ]),
  );
  if (!isComplete) terminal.note("Older changes are not shown: --limit shows more");
  return table;
}

function describePlace({ place, inherited }: HistoryRow, terminal: Terminal): string {
  if (place === "head") return terminal.paint("green", place);
  if (place === "ancestor") return inherited ? "inherited" : "";
  return terminal.paint("yellow", place);
}

function showOperations(
  { operations, total }: { readonly operations: readonly OperationView[]; readonly total: number },
  terminal: Terminal,
): string {
  const table = formatTable(
    terminal,
    [
      { title: "OP", align: "right" },
      { title: "WHEN", align: "right" },
      { title: "BY" },
      { title: "DATABASE" },
      { title: "WHAT" },
      { title: "STATE" },
    ],
    operations.map((each) => [
      String(each.id),
      formatAgo(each.at),
      each.actor,
      each.database,
      each.summary,
      each.state === "done" ? "" : terminal.paint("dim", each.state),
    ]),
  );
  if (operations.length < total) terminal.note(`${formatCount(operations.length)} of ${formatCount(total)} operations: --limit shows more`);
  return table;
}
