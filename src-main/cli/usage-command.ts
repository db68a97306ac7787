/** `coppice usage`: what a store, a database or a branch takes, and what would be freed if some branches went. */
import type { Command } from "commander";
import { formatTarget, nameProblem } from "#shared/ids.ts";
import { compileNamePattern, exampleOfPattern, type NamePattern } from "#shared/name-pattern.ts";
import { formatBytes } from "#shared/units.ts";
import type { BranchUsageView, FreedView, UsagePart, UsagePartName, UsageRow, UsageView } from "#shared/usage-views.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store-api.ts";
import { allBranches } from "./all-branches.ts";
import { collectWords, parseNamedBranch, parseDatabaseName, type BranchTarget } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { formatCount, formatFacts, formatTable, plural, type Column } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** Branches that are listed, unless all are asked for. */
const ROWS_SHOWN = 40;

type Target = { readonly database: string; readonly branch: string | null };

interface UsageOptions {
  readonly free?: readonly string[];
  readonly all?: boolean;
}

export function addUsageCommand(program: Command, cli: () => Cli): void {
  program
    .command("usage")
    .description("what the store takes on its disk, and which branches need it")
    .argument("[target]", "only this database (DB), or the checkpoints of one branch (DB@BRANCH)", parseTarget)
    .option(
      "--free <pattern>",
      "what would be freed if these branches went: NAME or 'attempt-*', DB@NAME without a target; with commas, or several times",
      collectWords,
    )
    .option("--all", `all branches, not only the first ${ROWS_SHOWN}`)
    .action((target: Target | undefined, options: UsageOptions) => showUsage(cli(), target, options));
}

function parseTarget(text: string): Target {
  return text.includes("@") ? parseNamedBranch(text) : { database: parseDatabaseName(text), branch: null };
}

async function showUsage(cli: Cli, target: Target | undefined, { free, all = false }: UsageOptions): Promise<void> {
  if (free) {
    if (target && target.branch !== null)
      throw new EngineError("bad-argument", "--free asks about branches of a database, not of a branch", {
        hint: `Write usage ${target.database} --free ${target.branch}`,
      });
    const patterns = free.flatMap((words) => words.split(",")).map((word) => parsePattern(word, target?.database));
    return cli.ask(async (store, work) => {
      const branches = await findBranches(store, patterns);
      return { ...(await store.freed({ branches }, work)), branches };
    }, showFreed);
  }
  const branch = target?.branch ?? null;
  if (target && branch !== null)
    return cli.ask((store, work) => store.branchUsage({ database: target.database, branch }, work), showBranch);
  return cli.ask(
    (store, work) => store.usage({ database: target?.database }, work),
    (view, terminal) => showStore(view, terminal, all ? Infinity : ROWS_SHOWN),
  );
}

interface Pattern {
  readonly word: string;
  readonly database: string;
  /** Of whole names of branches. */
  readonly matcher: NamePattern;
}

function parsePattern(word: string, database: string | undefined): Pattern {
  const [first = "", second, ...rest] = word.split("@");
  const [of, branch] = second === undefined ? [database ?? "", first] : [first, second];
  const problem = nameProblem("database", of) ?? nameProblem("branch", exampleOfPattern(branch));
  if (problem !== null || rest.length > 0 || (second !== undefined && database !== undefined && of !== database))
    throw new EngineError("bad-target", `"${word}": ${of === "" ? "of which database?" : (problem ?? "another database is meant")}`, {
      hint: "Write usage DB --free NAME, or --free DB@NAME; 'attempt-*' means all that begin so",
    });
  return { word, database: of, matcher: compileNamePattern(branch) };
}

/** Each pattern means at least one branch. */
async function findBranches(store: Store, patterns: readonly Pattern[]): Promise<BranchTarget[]> {
  const found = new Map<string, BranchTarget>();
  for (const { word, database, matcher } of patterns) {
    const { branches } = await allBranches(store, database);
    const names = branches.map(({ name }) => name).filter((name) => matcher.test(name));
    if (names.length === 0) throw new EngineError("branch-not-found", `Database "${database}" has no branch "${word}"`);
    for (const branch of names) found.set(`${database}@${branch}`, { database, branch });
  }
  return [...found.values()];
}

const ROW_COLUMNS: readonly Column[] = [
  { title: "BRANCH" },
  { title: "LOGICAL", align: "right" },
  { title: "UNIQUE", align: "right" },
  { title: "SHARED", align: "right" },
  { title: "FILE", align: "right" },
  { title: "SHARED WITH" },
];

function rowCells(row: UsageRow): string[] {
  return [
    `${formatTarget(row)}${row.isProtected ? " (protected)" : ""}`,
    formatBytes(row.logicalBytes),
    formatBytes(row.uniqueBytes),
    formatBytes(row.sharedBytes),
    row.fileBytes > 0 ? formatBytes(row.fileBytes) : "",
    formatRelatives(row),
  ];
}

function formatRelatives({ sharedWith: { branch, others } }: UsageRow): string {
  if (branch === null) return "";
  return others > 0 ? `${branch}, ${plural(others, "other")}` : branch;
}

const PART_TITLES: { readonly [K in UsagePartName]: string } = {
  unique: "unique to one branch",
  shared: "shared",
  history: "kept for undo only",
  trash: "trash",
  garbage: "garbage",
  files: "files of branches",
  caches: "caches",
  temporary: "temporary",
  kept: "put aside, benchmarks",
  catalog: "catalog",
};

function showStore(usage: UsageView, terminal: Terminal, rowsMax: number): string {
  const rows = usage.rows.slice(0, rowsMax);
  const more = usage.rows.length - rows.length;
  const table = formatTable(terminal, ROW_COLUMNS, rows.map(rowCells));
  const parts = formatTable(
    terminal,
    [{ title: "WHAT" }, { title: "COUNT", align: "right" }, { title: "STORED", align: "right" }, { title: "ON DISK", align: "right" }],
    [
      ...usage.parts.map((part) => [PART_TITLES[part.name], countOf(part), formatBytes(part.storedBytes), formatKnown(part.physicalBytes)]),
      [
        usage.database === null ? "the whole store" : `all of ${usage.database}`,
        "",
        formatBytes(usage.storedBytes),
        formatKnown(usage.physicalBytes),
      ],
    ],
  );
  const caches = formatFacts(
    terminal,
    usage.caches.map(({ name, bytes }) => [name, formatBytes(bytes)]),
  );
  const hint = more > 0 ? [`… and ${plural(more, "branch", "branches")} more: --all`] : [];
  return [...(table === "" ? [] : [[table, ...hint].join("\n")]), parts, caches].join("\n\n");
}

function countOf({ count, unit }: UsagePart): string {
  const one = { branches: "branch", versions: "version", segments: "segment", files: "file" }[unit];
  return plural(count, one, unit);
}

function formatKnown(bytes: number | null): string {
  return bytes === null ? "unknown" : formatBytes(bytes);
}

function showBranch({ row, checkpoints }: BranchUsageView, terminal: Terminal): string {
  const table = formatTable(
    terminal,
    [
      { title: "CHECKPOINT" },
      { title: "VERSION", align: "right" },
      { title: "UNIQUE", align: "right" },
      { title: "SHARED", align: "right" },
    ],
    checkpoints.map(({ name, version, uniqueBytes, sharedBytes }) => [
      name,
      `v${version}`,
      formatBytes(uniqueBytes),
      formatBytes(sharedBytes),
    ]),
  );
  const facts = formatTable(terminal, ROW_COLUMNS, [rowCells(row)]);
  return table === "" ? facts : `${facts}\n\n${table}`;
}

function showFreed(freed: FreedView & { readonly branches: readonly BranchTarget[] }, terminal: Terminal): string {
  return formatFacts(terminal, [
    ["branches", formatCount(freed.branches.length)],
    ["would free", formatBytes(freed.bytes)],
    ["of versions", formatBytes(freed.segmentBytes)],
    ["  needed by one of them", formatBytes(freed.uniqueBytes)],
    ["  needed by several of them", formatBytes(freed.amongThemBytes)],
    ["of files", formatBytes(freed.fileBytes)],
    ["kept as ready files", freed.readyBytes > 0 ? formatBytes(freed.readyBytes) : ""],
    ["protected", freed.protected.join(", ")],
  ]);
}
