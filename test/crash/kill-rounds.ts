/**
 * kill -9, a thousand times: a child runs every verb in a loop and says which operations were acknowledged; it is killed
 * at a fault point or at a random moment. Then everything acknowledged must be in the log, `verify` must be clean, every
 * checkout must be a sound database, and `gc` must leave no file that nobody knows. A program of its own, because it takes
 * half an hour: `npm run nightly` runs it.
 *
 *   node test/crash/kill-rounds.ts [FOLDER]     COPPICE_CRASH_ROUNDS (1,000), COPPICE_SEED
 *
 * FOLDER: where the stores are made, on the disk that is meant; a folder of its own inside it is removed at the end.
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { FAULT_POINTS } from "#engine/io/faults.ts";
import { createStore, openStore, type Store } from "#engine/store.ts";

const ROUNDS = Number(process.env["COPPICE_CRASH_ROUNDS"] ?? 1_000);
const SEED = Number(process.env["COPPICE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** Stores side by side, one for each of two cores, each made anew after so many rounds. */
const LINES = 2;
const ROUNDS_PER_STORE = 50;
const KILL_AFTER_MS = { least: 200, span: 1_500 };
const CHILD = join(import.meta.dirname, "verbs-child.ts");

interface Tally {
  rounds: number;
  killed: number;
  acknowledged: number;
  lost: number;
  problems: number;
  unsound: number;
  leaked: number;
  failures: string[];
}

/** True when nothing was lost, damaged or left behind, and every child died because it was killed. */
async function runRounds(folder: string): Promise<boolean> {
  console.log(`kill -9 in the middle of every verb, ${ROUNDS} rounds, seed ${SEED}, in ${folder}`);
  const tally: Tally = { rounds: 0, killed: 0, acknowledged: 0, lost: 0, problems: 0, unsound: 0, leaked: 0, failures: [] };
  let next = 0;
  const line = async (number: number): Promise<void> => {
    while (next < ROUNDS) {
      const first = next;
      next += ROUNDS_PER_STORE;
      await runStore(join(folder, `crash-${number}`), { first, end: Math.min(ROUNDS, first + ROUNDS_PER_STORE) }, tally);
    }
  };
  await Promise.all(Array.from({ length: LINES }, (_, number) => line(number)));
  console.log(`  ${tally.rounds} rounds, ${tally.killed} killed in a verb, ${tally.acknowledged} operations acknowledged`);
  for (const failure of tally.failures) console.log(`  ${failure}`);
  const bad = {
    "acknowledged operations lost": tally.lost,
    "problems found by verify": tally.problems,
    "checkouts that are no sound database": tally.unsound,
    "files left after gc": tally.leaked,
    "children that failed by themselves": tally.rounds - tally.killed,
  };
  for (const [what, count] of Object.entries(bad)) console.log(`  ${what.padEnd(40)} ${count}`);
  return tally.rounds === ROUNDS && tally.acknowledged > 0 && Object.values(bad).every((count) => count === 0);
}

async function runStore(spec: string, rounds: { readonly first: number; readonly end: number }, tally: Tally): Promise<void> {
  const store = await createStore(spec, { actor: "crash", ownProcess: true });
  await store.create({ database: "shop" });
  const { path } = await store.checkout({ database: "shop", branch: "main" });
  const client = new Database(path);
  client.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
  client.close();
  await store.checkpoint({ database: "shop", branch: "main", name: "start" });
  await store.close();
  for (let round = rounds.first; round < rounds.end; round += 1) await runRound(spec, round, tally);
  rmSync(spec, { recursive: true });
}

async function runRound(spec: string, round: number, tally: Tally): Promise<void> {
  const point = round % 2 === 0 ? FAULT_POINTS[(round / 2) % FAULT_POINTS.length] : undefined;
  const fault = point === undefined ? undefined : `${point}:kill:${1 + (Math.floor(round / 2 / FAULT_POINTS.length) % 3)}`;
  const killAfterMs = KILL_AFTER_MS.least + ((SEED + round * 7_919) % KILL_AFTER_MS.span);
  const { acknowledged, signal, errors } = await runUntilKilled(spec, round, fault, killAfterMs);
  tally.rounds += 1;
  tally.acknowledged += acknowledged.length;
  if (signal === "SIGKILL" && errors === "") tally.killed += 1;
  else tally.failures.push(`round ${round} (${fault ?? "random"}): ended by ${signal ?? "itself"}: ${errors.slice(0, 2_000)}`);
  const store = await openStore(spec, { actor: "check", ownProcess: true });
  try {
    await judge(store, acknowledged, `round ${round} (${fault ?? `${killAfterMs} ms`})`, tally);
  } finally {
    await store.close();
  }
}

function runUntilKilled(
  spec: string,
  round: number,
  fault: string | undefined,
  killAfterMs: number,
): Promise<{ acknowledged: number[]; signal: string | null; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CHILD, spec, String(round), String(SEED + round)], {
      env: { ...process.env, ...(fault === undefined ? {} : { COPPICE_FAULT: fault }) },
    });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    // At a fault point the child kills itself; a point that is not reached within a minute is a failure.
    const timer = setTimeout(() => child.kill(fault === undefined ? "SIGKILL" : "SIGTERM"), fault === undefined ? killAfterMs : 60_000);
    child.on("close", (_code, signal) => {
      clearTimeout(timer);
      resolve({ acknowledged: output.split("\n").slice(0, -1).map(Number), signal, errors });
    });
  });
}

async function judge(store: Store, acknowledged: readonly number[], about: string, tally: Tally): Promise<void> {
  const note = (count: number, what: string): number => {
    if (count > 0) tally.failures.push(`${about}: ${what}`);
    return count;
  };
  const present = new Set((await store.operations({ limit: 5_000 })).operations.map((operation) => operation.id));
  const lost = acknowledged.filter((id) => !present.has(id));
  tally.lost += note(lost.length, `lost ${lost.join()}`);
  // Files of the killed process that no operation names are garbage, not damage.
  const found = (await store.verify({})).problems.filter((problem) => !problem.problem.includes("gc removes it"));
  tally.problems += note(found.length, JSON.stringify(found));
  const checkouts = (await store.branches({ database: "shop" })).branches
    .map((branch) => branch.checkout)
    .filter(({ state }) => state !== "none" && state !== "missing");
  const unsound = checkouts.filter(({ path }) => !isSoundDatabase(path));
  tally.unsound += note(unsound.length, `not sound: ${unsound.map(({ path }) => path).join()}`);
  await store.gc({ dryRun: false });
  const left = (await store.verify({})).problems;
  const folders = readdirSync(join(store.path, "tmp")).filter((name) => !name.endsWith(".lock"));
  tally.leaked += note(left.length + Math.max(0, folders.length - 1), `left after gc: ${JSON.stringify(left)} ${folders.join()}`);
}

function isSoundDatabase(path: string): boolean {
  const database = new Database(path);
  try {
    return database.pragma("integrity_check", { simple: true }) === "ok";
  } catch {
    return false;
  } finally {
    database.close();
  }
}

const parent = process.argv[2] ?? tmpdir();
mkdirSync(parent, { recursive: true });
const folder = mkdtempSync(join(parent, "coppice-kill-rounds-"));
let isSound = false;
try {
  isSound = await runRounds(folder);
} finally {
  // What a failure left is what its cause is found by.
  if (isSound) rmSync(folder, { recursive: true, force: true });
  else console.log(`  kept: ${folder}`);
}
process.exit(isSound ? 0 : 1);
