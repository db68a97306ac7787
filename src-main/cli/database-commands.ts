import type { Command } from "commander";
import { resolve } from "node:path";
import { matchesBranch, parentIds, parseBranchFilter, type BranchFilter } from "#shared/branch-filter.ts";
import { formatBytes, formatDuration } from "#shared/units.ts";
import type { BranchView, CreateResult, DatabaseView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { allBranches } from "./all-branches.ts";
import { parseDatabaseName } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { formatAgo, formatCount, formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export function addDatabaseCommands(program: Command, cli: () => Cli): void {
  program
    .command("create")
    .description("make a database: an empty one, or from a SQLite file, which stays as it is")
    .argument("<database>", "name of the new database", parseDatabaseName)
    .option("--from <file>", "the SQLite file to import; it may be in use")
    .action((database: string, { from }: { from?: string }) =>
      cli().act((store, work) => store.create({ database, from: from === undefined ? undefined : resolve(from) }, work), describeImport),
    );
  program
    .command("ls")
    .description("list databases, or the branches of one")
    .argument("[database]", "list this database's branches", parseDatabaseName)
    .option("--filter <text>", "only branches that match, e.g. 'is:leaf status:pass age:>7d ttl:<1h name:fix/*'", parseFilter)
    .action((database: string | undefined, { filter }: { filter?: BranchFilter }) => list(cli(), database, filter));
  program
    .command("drop")
    .description("move a whole database to the trash")
    .argument("<database>", "the database", parseDatabaseName)
    .option("--force", "also when branches of it are protected")
    .action((database: string, { force }: { force?: boolean }) => cli().act((store) => store.drop({ database, force })));
}

function describeImport({ report, storedBytes, database }: CreateResult): string[] {
  if (!report) return [];
  const facts = `${formatCount(report.pageCount)} pages of ${report.pageSize} bytes, ${report.encoding}, ${report.tables} tables; ${formatBytes(report.sourceBytes)} became ${formatBytes(storedBytes)}`;
  const checks = report.checks.filter(({ severity }) => severity !== "ok");
  return [
    `${database.name}: ${facts}`,
    ...checks.map(({ severity, check, found, action }) => `${severity}: ${check}: ${found}. ${action}`),
  ];
}

function parseFilter(text: string): BranchFilter {
  const filter = parseBranchFilter(text);
  if (typeof filter === "string") throw new EngineError("bad-argument", `--filter: ${filter}`);
  return filter;
}

async function list(cli: Cli, database: string | undefined, filter: BranchFilter | undefined): Promise<void> {
  if (database !== undefined) return listBranches(cli, database, filter);
  if (filter) throw new EngineError("bad-argument", "--filter is about branches: name a database");
  return cli.ask((store) => store.databases({}), showDatabases, "No databases yet. Make one: coppice create NAME --from FILE");
}

async function listBranches(cli: Cli, database: string, filter: BranchFilter | undefined): Promise<void> {
  const { branches, total, lastOperation } = await cli.withStore((store) => allBranches(store, database));
  const context = { now: Date.now(), parents: parentIds(branches) };
  const shown = filter ? branches.filter((branch) => matchesBranch(filter, branch, context)) : branches;
  cli.terminal.result({ branches: shown, total, lastOperation }, showBranches(shown, cli.terminal));
  if (filter) cli.terminal.note(`${formatCount(shown.length)} of ${formatCount(total)} branches`);
}

function showDatabases(databases: readonly DatabaseView[], terminal: Terminal): string {
  return formatTable(
    terminal,
    [
      { title: "DATABASE" },
      { title: "BRANCHES", align: "right" },
      { title: "VERSIONS", align: "right" },
      { title: "SIZE", align: "right" },
      { title: "STORED", align: "right" },
      { title: "CREATED", align: "right" },
      { title: "FROM" },
    ],
    databases.map((each) => [
      each.name,
      formatCount(each.branches),
      formatCount(each.versions),
      formatBytes(each.pageSize * each.pageCount),
      formatBytes(each.storedBytes),
      formatAgo(each.createdAt),
      each.source ?? "",
    ]),
  );
}

function showBranches(branches: readonly BranchView[], terminal: Terminal): string {
  return formatTable(
    terminal,
    [
      { title: "BRANCH" },
      { title: "HEAD" },
      { title: "CHANGED", align: "right" },
      { title: "BY" },
      { title: "FORKED FROM" },
      { title: "FILE" },
      { title: "EXPIRES" },
      { title: "LOCK" },
      { title: "META" },
    ],
    branches.map((branch) => [
      branch.name,
      branch.headCheckpoint === null ? `v${branch.head}` : `v${branch.head} ${branch.headCheckpoint}`,
      formatAgo(branch.headAt),
      branch.headActor,
      describeFork(branch),
      describeFile(branch, terminal),
      branch.expiresAt === null ? "" : `in ${formatDuration(Math.max(0, branch.expiresAt - Date.now()))}`,
      branch.protected ? "protected" : "",
      describeMeta(branch),
    ]),
  );
}

function describeFork({ forkedFrom }: BranchView): string {
  return forkedFrom ? `${forkedFrom.branch ?? "(gone)"}@${forkedFrom.checkpoint ?? `v${forkedFrom.version}`}` : "";
}

function describeFile({ checkout: { state } }: BranchView, terminal: Terminal): string {
  switch (state) {
    case "none":
      return "";
    case "clean":
      return state;
    case "unsaved":
    case "stale":
      return terminal.paint("yellow", state);
    case "conflict":
    case "missing":
      return terminal.paint("red", state);
  }
}

function describeMeta({ meta }: BranchView): string {
  return Object.entries(meta)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
