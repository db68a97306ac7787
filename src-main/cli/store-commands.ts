import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { LIMITS } from "#shared/limits.ts";
import { formatBytes, parseBytes } from "#shared/units.ts";
import type { CacheView, DoctorView, GcReport, RepairReport, StoreView, VerifyReport } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store-api.ts";
import { collectWords } from "./arguments.ts";
import type { Cli, LongWork } from "./cli.ts";
import { findTrashed } from "./find-trashed.ts";
import { findStoreSpec, requireStoreSpec, STORE_FOLDER } from "./locate-store.ts";
import { formatAgo, formatCount, formatFacts, formatTable, plural } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export function addStoreCommands(program: Command, cli: () => Cli): void {
  program
    .command("init")
    .description(`make a store: in ${STORE_FOLDER} of this folder, or in a folder of its own`)
    .argument("[folder]", "a new or empty folder")
    .action((folder: string | undefined) => init(cli(), folder));
  program
    .command("status")
    .description("what the store is and holds")
    .action(() => cli().ask((store) => store.status({}), showStatus));
  program
    .command("cache")
    .description("files that are kept to save time: what they take, and what they may")
    .option("--budget <size>", "what files that wait to become files of branches may take, e.g. 500MB; 0 for none, default for the default")
    .option("--clear", "remove all of them; what is needed is made again")
    .action(({ budget, clear }: { budget?: string; clear?: boolean }) => {
      const budgetBytes = budget === undefined ? {} : { budgetBytes: parseBudget(budget) };
      return cli().ask((store, work) => store.cache({ ...budgetBytes, clear: clear ?? false }, work), showCaches);
    });
  program
    .command("gc")
    .description("purge trash whose time has come and free what nothing needs; ends undo for what it strands")
    .option("--dry-run", "say what would be freed and change nothing")
    .option("--all-trash", "purge the whole trash now")
    .option("--purge <target>", "purge this branch (DB@BRANCH) or database (DB) of the trash now; can be given several times", collectWords)
    .action((options: GcOptions) => cli().ask((store, work) => runGc(store, work, options), showGc));
  program
    .command("verify")
    .description("read every version and check it against its checksum")
    .action(() => verify(cli()));
  program
    .command("repair")
    .description("give a store whose catalog is lost or damaged a new one, made of its segments and checkouts; deletes nothing")
    .action(() => repair(cli()));
  program
    .command("doctor")
    .description("what Coppice found on this machine, and who holds files of the store")
    .action(() => doctor(cli()));
  program
    .command("demo")
    .description("make (once) a store with a demo database and twenty branches, and print where it is")
    .action(() => demo(cli()));
  program
    .command("serve")
    .description("open the screens in a browser of this computer; Ctrl-C ends")
    .option("--port <n>", "a port instead of a free one")
    .action(({ port }: { port?: string }) => serve(cli(), port));
}

interface GcOptions {
  readonly dryRun?: boolean;
  readonly allTrash?: boolean;
  readonly purge?: readonly string[];
}

async function runGc(store: Store, work: LongWork, { dryRun = false, allTrash, purge = [] }: GcOptions): Promise<GcReport> {
  const trash = purge.length === 0 ? [] : await store.trash({});
  const named = purge.map((word) => findTrashed(trash, word, undefined)).map(({ kind, id }) => ({ kind, id }));
  return store.gc({ dryRun, purgeAllTrash: allTrash, purge: named }, work);
}

async function init(cli: Cli, folder: string | undefined): Promise<void> {
  if (folder !== undefined && cli.options.store !== undefined)
    throw new EngineError("bad-argument", "Two stores to make: leave out --store or the folder");
  const spec = folder ?? cli.options.store ?? (process.env["COPPICE_STORE"] || STORE_FOLDER);
  const { createStore } = await import("#engine/store.ts");
  const store = await createStore(spec, { actor: cli.options.actor, ownProcess: true });
  try {
    cli.terminal.result(await store.status({}), cli.terminal.looks.quiet ? "" : `Made a store in ${store.path}`);
  } finally {
    await store.close();
  }
}

async function verify(cli: Cli): Promise<void> {
  await cli.ask(async (store, work) => {
    const report = await store.verify({}, work);
    if (!report.ok) cli.exitCode = 1;
    return report;
  }, showVerify);
}

async function repair(cli: Cli): Promise<void> {
  const spec = requireStoreSpec(cli.options.store);
  const { repairStore } = await import("#engine/store.ts");
  const report = await cli.cancellable((work) => repairStore(spec, { actor: cli.options.actor, ownProcess: true }, work));
  for (const { object, problem } of report.problems) cli.terminal.warn(`${object}: ${problem}`);
  cli.terminal.result(report, showRepair(report));
}

function showRepair(report: RepairReport): string {
  if (!report.repaired) return `${report.reason}: nothing was done`;
  const lines = report.databases.map(
    ({ name, versions, branches, files }) =>
      `${name}: ${plural(versions, "version")}, ${plural(branches, "branch", "branches")}, ${plural(files, "file")} kept as they are`,
  );
  const kept = report.catalogKept === null ? [] : [`The damaged catalog is kept as ${report.catalogKept}`];
  const found = lines.length > 0 ? lines : ["There was nothing to put into it: the store is empty"];
  return [`Made a new catalog (${report.reason})`, ...found, ...kept].join("\n");
}

/** Works without a store too: then it is about the machine. */
async function doctor(cli: Cli): Promise<void> {
  const spec = findStoreSpec(cli.options.store);
  const { diagnose } = await import("#engine/upkeep/doctor.ts");
  const look = async (store: Store | null) => {
    const view = await diagnose(store);
    if (view.problems.length > 0) cli.exitCode = 1;
    return view;
  };
  if (spec !== null) return cli.ask(look, showDoctor);
  const view = await look(null);
  cli.terminal.result(view, showDoctor(view, cli.terminal));
}

async function demo(cli: Cli): Promise<void> {
  const { openDemo } = await import("./demo.ts");
  const store = await openDemo();
  try {
    cli.terminal.result(await store.status({}), store.path);
  } finally {
    await store.close();
  }
}

async function serve(cli: Cli, port: string | undefined): Promise<void> {
  if (cli.terminal.looks.json) throw new EngineError("bad-argument", "serve runs until it is ended: it has no JSON result");
  const { PACKAGE_FOLDER } = await import("#host/program.ts");
  const { runProgram } = await import("./run-program.ts");
  const program = join(PACKAGE_FOLDER, "out", "main", "web.js");
  if (!existsSync(program))
    throw new EngineError("file-not-found", "The screens are not built", {
      hint: "Run npm start or npm run build first",
      details: { path: program },
    });
  const spec = findStoreSpec(cli.options.store);
  const args = [
    ...(spec === null ? [] : ["--store", spec.includes("://") ? spec : resolve(spec)]),
    ...(port === undefined ? [] : ["--port", port]),
  ];
  cli.exitCode = await runProgram([process.execPath, program, ...args], { env: {}, stdoutFree: false });
}

function showStatus(store: StoreView, terminal: Terminal): string {
  for (const warning of store.warnings) terminal.warn(warning);
  return formatFacts(terminal, [
    ["store", store.path],
    ["databases", formatCount(store.databases)],
    ["branches", formatCount(store.branches)],
    ["in the trash", formatCount(store.trashed)],
    ["operations", formatCount(store.lastOperation)],
    ["last durable", store.durableAt === null ? "" : `${new Date(store.durableAt).toISOString()} (${formatAgo(store.durableAt)})`],
    ["created", new Date(store.createdAt).toISOString()],
    ["identity", store.uid],
    ["format", String(store.formatVersion)],
  ]);
}

function parseBudget(text: string): number | null {
  if (text === "default") return null;
  const bytes = parseBytes(text);
  if (bytes !== null && bytes <= LIMITS.readyBudgetMax) return bytes;
  throw new EngineError("bad-argument", `--budget "${text}" is no size`, { hint: "Write a size like 500MB or 2GiB, 0, or default" });
}

function showCaches(view: CacheView, terminal: Terminal): string {
  const table = formatTable(
    terminal,
    [{ title: "CACHE" }, { title: "FILES", align: "right" }, { title: "SIZE", align: "right" }],
    view.caches.map(({ name, files, bytes }) => [name, formatCount(files), formatBytes(bytes)]),
  );
  const facts = formatFacts(terminal, [
    ["budget of ready files", `${formatBytes(view.budgetBytes)}${view.budgetIsDefault ? " (default)" : ""}`],
    ["freed", view.freedBytes > 0 ? formatBytes(view.freedBytes) : ""],
  ]);
  return `${table}\n\n${facts}`;
}

function showGc(report: GcReport, terminal: Terminal): string {
  const stranded = report.strandedOperations;
  return formatFacts(terminal, [
    [report.dryRun ? "would free" : "freed", formatBytes(Math.max(0, report.bytesFreed))],
    ["purged", report.purged.join(", ")],
    ["versions", formatCount(report.versionsRemoved)],
    ["segments", formatCount(report.segmentsRemoved)],
    ["files of branches", formatCount(report.checkoutsRemoved)],
    ["orphans", formatCount(report.orphanFilesRemoved)],
    ["no longer undoable", stranded.length > 0 ? `operation ${stranded.join(", ")}` : ""],
  ]);
}

function showVerify(report: VerifyReport): string {
  const read = `${plural(report.versions, "version")}, ${plural(report.segments, "segment")}, ${plural(report.pages, "page")} (${formatBytes(report.bytesRead)}), ${plural(report.checkouts, "file of a branch", "files of branches")}`;
  if (report.ok) return `Everything is as it was written: ${read}`;
  return [
    `${plural(report.problems.length, "problem")} in ${read}`,
    ...report.problems.map(({ object, problem }) => `${object}: ${problem}`),
  ].join("\n");
}

function showDoctor(view: DoctorView, terminal: Terminal): string {
  const { store } = view;
  return [
    formatFacts(terminal, [
      ["program", view.program],
      ["node", view.node],
      ["sqlite", view.sqlite],
      ["platform", view.platform],
      ["addon", view.addonProblem === null ? view.addon : `${view.addon}: ${view.addonProblem}`],
      ["store", store?.path ?? "none"],
      [
        "filesystem",
        store
          ? `${store.filesystem}, reflink ${yesOrNo(store.reflink)}, network ${yesOrNo(store.network)}, writable ${yesOrNo(store.writable)}`
          : "",
      ],
      ...view.facilities.map(({ name, using }) => [name, using] as const),
    ]),
    ...view.holders.flatMap(({ target, holders }) =>
      holders.map(({ pid, program, access }) => `${target}: ${program ?? "a process"} (pid ${pid}, ${access})`),
    ),
    ...view.problems.map((problem) => `problem: ${problem}`),
  ].join("\n");
}

function yesOrNo(is: boolean): string {
  return is ? "yes" : "no";
}
