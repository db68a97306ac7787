/**
 * `node bench/query/figures.ts FOLDER [ROUNDS]`: prints what one query put to 201 branches takes, beside opening them one after
 * another: checking each out, opening its file with the same SQLite, asking the same and closing it. The database is
 * BranchBench's of 17 MiB; each branch has a version of its own, no file, and is asked for the first time. Medians of five;
 * takes a minute or two and 8 GB.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { medianOf } from "#shared/bench-statistics.ts";
import type { DataValue } from "#shared/query-views.ts";
import { createStore, openStore, type Store } from "#engine/store.ts";
import { generate } from "../branchbench/generate.ts";
import { SCALES } from "../branchbench/schema.ts";
import { time } from "../suite.ts";

const BRANCHES = 201;
const ROUNDS = Number(process.argv[3] ?? 5);
const DATABASE = "orders";
const ORDERS_CHANGED = 40;
const QUERIES = {
  "one district, by its key": "SELECT count(*), sum(o_lines) FROM orders WHERE o_w_id = 3 AND o_d_id = 4",
  "a whole table": "SELECT count(*), sum(ol_amount) FROM order_line",
} as const;

const folder = resolve(process.argv[2] ?? ".", "query-figures");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
try {
  await printFigures();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function printFigures(): Promise<void> {
  const path = await makeBranches();
  console.log(
    `| ${BRANCHES} branches, ms | at once | one after another | at once, with files | plain files, one after another | part of it |`,
  );
  console.log("|---|---|---|---|---|---|");
  for (const [what, sql] of Object.entries(QUERIES)) {
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(path, `${what.length}-${round}`, sql));
    const middle = (pick: (round: Round) => number): number => medianOf(rounds.map(pick)) ?? Number.NaN;
    const [atOnce, inTurn] = [middle((round) => round.atOnceMs), middle((round) => round.inTurnMs)];
    const [withFiles, plain] = [middle((round) => round.withFilesMs), middle((round) => round.plainMs)];
    const figures = [atOnce, inTurn, withFiles, plain].map((ms) => ms.toFixed(0)).join(" | ");
    console.log(`| ${what} | ${figures} | 1/${(inTurn / atOnce).toFixed(1)} |`);
  }
}

/** main and 200 others, each with orders of its own and none with a file: they are forks of one that is written to. */
async function makeBranches(): Promise<string> {
  const source = join(folder, "source.db");
  await generate(source, { scale: SCALES.S, seed: 1 }, () => Promise.resolve());
  const path = join(folder, "store");
  const store = await createStore(path, { ownProcess: true });
  try {
    await store.create({ database: DATABASE, from: source });
    await store.fork({ database: DATABASE, branch: "main", newBranch: "work" });
    const { path: file } = await store.checkout({ database: DATABASE, branch: "work" });
    for (let number = 0; number < BRANCHES; number += 1) {
      const database = new Database(file);
      database.prepare("UPDATE orders SET o_lines = o_lines + 1 WHERE o_id % ? = 0 AND o_w_id = 3").run(ORDERS_CHANGED);
      database.close();
      await store.checkpoint({ database: DATABASE, branch: "work", name: `state-${number}` });
      await store.fork({ database: DATABASE, branch: "work", newBranch: `seed/${number}` });
    }
  } finally {
    await store.close();
  }
  return path;
}

interface Round {
  readonly atOnceMs: number;
  readonly inTurnMs: number;
  readonly withFilesMs: number;
  readonly plainMs: number;
}

/** On forks of this round's own, each store opened anew: nothing is ready. */
async function measureRound(path: string, round: string, sql: string): Promise<Round> {
  const withStore = async <T>(act: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(path, { ownProcess: true });
    try {
      return await act(store);
    } finally {
      await store.close();
    }
  };
  const names = Array.from({ length: BRANCHES }, (_, number) => `round-${round}/${number}`);
  await withStore(async (store) => {
    for (const [number, newBranch] of names.entries()) await store.fork({ database: DATABASE, branch: `seed/${number}`, newBranch });
  });
  const ask = (store: Store): Promise<Answers> => askAtOnce(store, `round-${round}/*`, sql);
  const measure = async (act: (store: Store) => Promise<Answers>): Promise<{ readonly ms: number; readonly answers: Answers }> =>
    withStore(async (store) => {
      let answers: Answers = new Map();
      const ms = await time(async () => {
        answers = await act(store);
      });
      return { ms, answers };
    });
  const atOnce = await measure(ask);
  const inTurn = await measure((store) => askInTurn(store, names, sql));
  const withFiles = await measure(ask);
  const plain = await measure(async (store) => {
    const answers: Answers = new Map();
    for (const name of names) answers.set(name, readFile(store.checkoutPath(DATABASE, name), sql));
    return answers;
  });
  for (const { answers } of [inTurn, withFiles, plain]) refuseOthers(atOnce.answers, answers);
  await withStore(async (store) => {
    for (const branch of names) await store.destroy({ database: DATABASE, branch });
    await store.gc({ dryRun: false, purgeAllTrash: true });
  });
  return { atOnceMs: atOnce.ms, inTurnMs: inTurn.ms, withFilesMs: withFiles.ms, plainMs: plain.ms };
}

/** By branch, the rows as JSON. */
type Answers = Map<string, string>;

async function askAtOnce(store: Store, pattern: string, sql: string): Promise<Answers> {
  const answers: Answers = new Map();
  let names: readonly string[] = [];
  await store.askAcross(
    { database: DATABASE, patterns: [pattern], sql },
    {
      targets: (targets) => (names = targets.map(({ branch }) => branch)),
      results: (results) => {
        for (const { target, rows, error } of results) answers.set(names[target] ?? "", error ? error.message : textOf(rows));
      },
    },
  );
  return answers;
}

async function askInTurn(store: Store, names: readonly string[], sql: string): Promise<Answers> {
  const answers: Answers = new Map();
  for (const branch of names) {
    const { path } = await store.checkout({ database: DATABASE, branch });
    answers.set(branch, readFile(path, sql));
  }
  return answers;
}

function readFile(path: string, sql: string): string {
  const database = new Database(path, { readonly: true });
  try {
    return textOf(database.prepare(sql).raw().all() as DataValue[][]);
  } finally {
    database.close();
  }
}

/** Numbers alike, whether they come as themselves or as text. */
function textOf(rows: readonly (readonly DataValue[])[]): string {
  return JSON.stringify(
    rows.map((row) => row.map((value) => (typeof value === "object" && value && "real" in value ? Number(value.real) : value))),
  );
}

function refuseOthers(expected: Answers, found: Answers): void {
  const wrong = [...expected].find(([name, text]) => found.get(name) !== text);
  if (expected.size !== BRANCHES || found.size !== BRANCHES || wrong)
    throw new Error(`The answers differ: ${wrong?.[0] ?? "one is missing"}`);
}
