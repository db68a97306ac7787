/**
 * `node bench/diff/figures.ts PART FOLDER [SOURCE]`: prints what comparisons cost on the disk of FOLDER, as a Markdown table.
 * PART: scattered, unrelated, many. SOURCE: a database of 1 GB as `makeSourceDatabase` makes it; made there when it is not
 * given. Takes some minutes and 8 GB.
 *
 * Each figure is the median of five, taken in a process of its own. *Cold*: new processes, and what the system held of the
 * files was given back before. *Warm*: the same process again. Other programs, which take long: cold once, warm three times.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadNative } from "#engine/io/load-native.ts";
import { openStore } from "#engine/store.ts";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { makeSourceDatabase } from "../runner/source-database.ts";
import {
  measureAttach,
  measureDiff,
  measureFirstRows,
  measureSqldiff,
  type DiffOrder,
  type FilesOrder,
  type FirstRowsOrder,
  type Measured,
} from "./measure-diff.ts";
import { branchOf, DATABASE, makeManyRowsStore, makeScatteredStore, makeUnrelatedStore } from "./states.ts";

type Case =
  | { readonly kind: "diff"; readonly order: DiffOrder }
  | { readonly kind: "attach"; readonly order: FilesOrder }
  | { readonly kind: "sqldiff"; readonly order: FilesOrder }
  | { readonly kind: "first rows"; readonly order: FirstRowsOrder };

type Found = Measured & { readonly peakBytes: number };

const ROUNDS = 5;
const OURS = { cold: ROUNDS, warm: ROUNDS };
const OTHERS = { cold: 1, warm: 3 };
const SCATTERED = [100, 10_000];
const UNRELATED_MEGABYTES = 100;
const MANY_ROWS = 10_000_000;
const CANCEL_AFTER_MS = 3_000;

if (process.argv[2] === "case") console.log(JSON.stringify(await measureCase(JSON.parse(process.argv[3] ?? "") as Case)));
else await printFigures(process.argv[2] ?? "", resolve(process.argv[3] ?? "."), process.argv[4] ?? null);

async function measureCase(one: Case): Promise<Found | null> {
  if (one.kind === "sqldiff") return measureSqldiff(one.order);
  const found = await measureHere(one);
  return { ...found, peakBytes: process.resourceUsage().maxRSS * 1024 };
}

function measureHere(one: Exclude<Case, { readonly kind: "sqldiff" }>): Promise<Measured> {
  if (one.kind === "diff") return measureDiff(one.order);
  return one.kind === "attach" ? measureAttach(one.order) : measureFirstRows(one.order);
}

async function printFigures(part: string, folder: string, given: string | null): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const source = given ?? join(folder, "source.db");
  if (part === "scattered" && !existsSync(source)) await makeSourceDatabase(source, { megabytes: 1024, seed: 1 }, async () => {});
  console.log("| | cold, ms | warm, ms | most memory, MiB | found |\n|---|---|---|---|---|");
  if (part === "scattered") return printScattered(folder, source);
  if (part === "many") return printMany(folder);
  const { store, files } = await makeUnrelatedStore(folder, UNRELATED_MEGABYTES);
  const what = `two unrelated databases of ${UNRELATED_MEGABYTES} MB`;
  const sides = { left: stateOf("main", "one"), right: stateOf("main", "two") };
  const ours = print(`${what}: Coppice`, { kind: "diff", order: { store, ...sides, rounds: 1 } }, [store]);
  printOthers(what, files[0], files[1], ours);
}

async function printScattered(folder: string, source: string): Promise<void> {
  const path = await makeScatteredStore(folder, source, SCATTERED);
  const orderOf = (rows: number) => ({ store: path, left: stateOf("main"), right: stateOf(branchOf(rows)), rounds: 1 });
  await checkOutMain(path);
  for (const rows of SCATTERED)
    print(`${rows} rows of 1 GB: Coppice, a file of main there`, { kind: "diff", order: orderOf(rows) }, [path]);
  rmSync(join(path, "checkouts"), { recursive: true });
  for (const rows of SCATTERED) {
    const ours = print(`${rows} rows of 1 GB: Coppice, no file of the database`, { kind: "diff", order: orderOf(rows) }, [path]);
    printOthers(`${rows} rows of 1 GB`, source, join(folder, `${branchOf(rows)}.db`), ours);
  }
}

async function checkOutMain(path: string): Promise<void> {
  const store = await openStore(path, { ownProcess: true });
  await store.checkout({ database: DATABASE, branch: "main" });
  await store.close();
}

async function printMany(folder: string): Promise<void> {
  const store = await makeManyRowsStore(folder, MANY_ROWS);
  const first: Case = { kind: "first rows", order: { store, database: DATABASE, table: "big", rounds: 1 } };
  print(`first 100 of ${MANY_ROWS} rows`, first, [store]);
  const sides = { left: stateOf("main"), right: stateOf("changed") };
  const cancelled = run({ kind: "diff", order: { store, ...sides, rounds: ROUNDS, cancelAfterMs: CANCEL_AFTER_MS } });
  if (cancelled)
    printLine(
      `${MANY_ROWS} changed rows, cancelled after ${CANCEL_AFTER_MS} ms: until it has stopped`,
      null,
      median(cancelled.cancelMs),
      cancelled,
    );
  const whole = run({ kind: "diff", order: { store, ...sides, rounds: 1 } });
  if (whole) printLine(`${MANY_ROWS} changed rows, all of them read`, median(whole.ms), null, whole);
}

function stateOf(branch: string, database = DATABASE): DiffSideInput {
  return { kind: "state", database, branch };
}

/** Others, and how many times as long they take as ours. */
function printOthers(what: string, left: string, right: string, ours: number): void {
  for (const kind of ["sqldiff", "attach"] as const) {
    const name = kind === "sqldiff" ? "sqldiff --primarykey" : "SQL over ATTACH";
    const theirs = print(`${what}: ${name}`, { kind, order: { left, right, rounds: 1 } }, [left, right], OTHERS);
    console.log(`| ${what}: ${name} against Coppice | | ${(theirs / ours).toFixed(1)} × | | |`);
  }
}

/** Milliseconds of the warm median. */
function print(what: string, cold: Case, files: readonly string[], times = OURS): number {
  const colds = Array.from({ length: times.cold }, () => {
    for (const file of files) giveBack(file);
    return run(cold);
  });
  const warm = run({ ...cold, order: { ...cold.order, rounds: times.warm + 1 } } as Case);
  if (!warm) {
    console.log(`| ${what} | not installed | | | |`);
    return Number.NaN;
  }
  const middle = median(warm.ms.slice(1));
  printLine(what, median(colds.flatMap((one) => one?.ms ?? [])), middle, warm);
  return middle;
}

function printLine(what: string, cold: number | null, warm: number | null, { rows, changedPages, peakBytes }: Found): void {
  const found = [...(rows > 0 ? [`${rows} rows`] : []), ...(changedPages === null ? [] : [`${changedPages} pages`])].join(", ");
  console.log(`| ${what} | ${cold?.toFixed(0) ?? ""} | ${warm?.toFixed(0) ?? ""} | ${(peakBytes / 2 ** 20).toFixed(0)} | ${found} |`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function run(order: Case): Found | null {
  const { status, stdout, stderr } = spawnSync(process.execPath, [import.meta.filename, "case", JSON.stringify(order)], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${JSON.stringify(order)} failed: ${stderr}`);
  return JSON.parse(stdout) as Found | null;
}

/** Tells the system to forget what it holds of a file, or of all files in a folder. */
function giveBack(path: string): void {
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path)) giveBack(join(path, name));
    return;
  }
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
    const { size } = statSync(path);
    if (size > 0) loadNative().wontRead(file, 0, size);
  } finally {
    closeSync(file);
  }
}
