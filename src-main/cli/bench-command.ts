/** `bench`: measures on this machine, and puts runs side by side. What the screen shows, from the same code. */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { Argument, Option, type Command } from "commander";
import { BENCH_SIZES, BENCH_SUITES, type BenchRun } from "#shared/bench-views.ts";
import { EngineError } from "#engine/io/errors.ts";
import { parseCount } from "./arguments.ts";
import type { Cli } from "./cli.ts";
import { findStoreSpec } from "./locate-store.ts";

const EXTENSIONS = [".md", ".csv", ".json"];
const SEED_MAX = 2 ** 31 - 1;

export interface BenchOptions {
  readonly size: string;
  readonly option?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly seed?: number;
  readonly out?: readonly string[];
  readonly overwrite?: boolean;
  readonly compare?: readonly string[];
  readonly list?: boolean;
}

export function addBenchCommand(program: Command, cli: () => Cli): void {
  program
    .command("bench")
    .description("measure on this machine: one suite, with its limits beside it; or compare runs")
    .addArgument(new Argument("[suite]", "what to measure; --list says what each is about").choices(BENCH_SUITES))
    .addOption(new Option("--size <size>", "quick proves that it works, S to L are for figures").choices(BENCH_SIZES).default("quick"))
    .option("--option <key=value>", "a choice of the suite; repeatable", collectOption)
    .option("--folder <folder>", "measure on the disk of this folder (default: the store's, else the temporary folder's)")
    .option("--seed <n>", "other data and decisions than those of seed 1", parseCount(SEED_MAX))
    .option("--out <file>", "write a report: .md tables, .csv raw samples, .json the run; repeatable", collectFile)
    .option("--overwrite", "replace reports that are there")
    .option("--compare <run...>", "runs to compare: .json files, or names of kept runs; the first is the base")
    .option("--list", "list suites, and the runs that the store keeps")
    .action((suite: string | undefined, options: BenchOptions) => bench(cli(), suite, options));
}

/** Everything that can be refused is refused before anything is measured. */
async function bench(cli: Cli, suite: string | undefined, options: BenchOptions): Promise<void> {
  if (!options.list && suite === undefined && !options.compare)
    throw new EngineError("bad-argument", "Which suite?", { hint: `One of ${BENCH_SUITES.join(", ")}; see \`coppice bench --list\`` });
  if (options.list && (suite !== undefined || options.compare))
    throw new EngineError("bad-argument", "--list goes with neither a suite nor --compare");
  if (suite === undefined && options.compare?.length === 1)
    throw new EngineError("bad-argument", "One run cannot be compared with itself", { hint: "Name another, or a suite to run" });
  if (options.list && options.out) throw new EngineError("bad-argument", "--list makes no report");
  checkFiles(options, suite === undefined ? [".md", ".json"] : EXTENSIONS);
  const { listSuites, measure, compare, loadRun } = await import("./bench-work.ts");
  const store = await findStorePath(cli);
  if (options.list) return listSuites(cli, store);
  const earlier: BenchRun[] = (options.compare ?? []).map((name) => loadRun(name, store));
  if (suite === undefined) return compare(cli, earlier, options);
  return measure(cli, { suite, options, store, earlier });
}

/** Null when there is none. Throws `store-not-found` when one is named that is not there. */
async function findStorePath(cli: Cli): Promise<string | null> {
  const spec = findStoreSpec(cli.options.store);
  if (spec === null) return null;
  const { locateStore } = await import("#engine/branches/store-paths.ts");
  const path = locateStore(spec);
  if (existsSync(resolve(path, "catalog.db"))) return path;
  throw new EngineError("store-not-found", `There is no store in ${path}`, { untouched: "Nothing was measured.", details: { path } });
}

function collectOption(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new EngineError("bad-argument", `"${text}" is no option of a suite`, { hint: "Write KEY=VALUE" });
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

function collectFile(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

function checkFiles({ out = [], overwrite }: BenchOptions, extensions: readonly string[]): void {
  for (const file of out) {
    if (!extensions.includes(extname(file)))
      throw new EngineError("bad-argument", `"${file}": a report of this ends in ${extensions.join(", ")}`, { details: { path: file } });
    if (!overwrite && existsSync(file))
      throw new EngineError("file-exists", `${file} exists already`, {
        hint: "Name another file, or add --overwrite",
        untouched: "Nothing was measured; the file is as it was.",
        details: { path: file },
      });
  }
}
