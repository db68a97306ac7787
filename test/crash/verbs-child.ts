/**
 * Runs verbs in a loop on an existing store until it is killed. Each line on stdout is an acknowledged operation: its id
 * is printed only after the verb has returned, so whatever was printed must be there after the crash.
 */
import { writeSync } from "node:fs";
import Database from "better-sqlite3";
import { openStore } from "#engine/store.ts";

const [spec = "", roundText = "0", seedText = "1"] = process.argv.slice(2);
const round = Number(roundText);
let state = Number(seedText) >>> 0 || 1;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

// Few segments make a merged one, so that merging is met in a history of seconds; and files are made ready meanwhile.
const store = await openStore(spec, { actor: "crash", ownProcess: true }, { mergeFanIn: 2, makesReady: true });
const main = { database: "shop", branch: "main" };

function acknowledge(operation: { readonly id: number } | null): void {
  if (operation) writeSync(1, `${operation.id}\n`);
}

function write(path: string, rows: number): void {
  const database = new Database(path);
  database.exec("BEGIN");
  for (let row = 0; row < rows; row += 1)
    database.prepare("INSERT INTO notes (text) VALUES (?)").run(`round ${round} ${random(1e9)}`.padEnd(40 + random(600), "x"));
  database.exec("COMMIT");
  database.close();
}

for (let turn = 0; ; turn += 1) {
  const name = `b-${round}-${turn}`;
  const { path } = await store.checkout(main);
  write(path, 1 + random(300));
  acknowledge((await store.checkpoint({ ...main, name: `c-${round}-${turn}` })).operation);
  acknowledge((await store.fork({ ...main, newBranch: name })).operation);
  const branch = { database: "shop", branch: name };
  const checkout = await store.checkout(branch);
  write(checkout.path, 1 + random(20));
  if (random(2) === 0) acknowledge((await store.checkpoint(branch)).operation);
  write(path, 1 + random(20));
  acknowledge((await store.rollback({ ...main, to: `c-${round}-${turn}` })).operation);
  acknowledge((await store.promote({ database: "shop", source: name, onto: "main" })).operation);
  acknowledge((await store.undo({})).operation);
  acknowledge((await store.redo({})).operation);
  acknowledge((await store.destroy(branch)).operation);
  if (random(2) === 0) acknowledge((await store.undo({})).operation);
  acknowledge((await store.create({ database: `n-${round}-${turn}`, from: path })).operation);
  acknowledge((await store.drop({ database: `n-${round}-${turn}` })).operation);
  await store.gc({ dryRun: false, purgeAllTrash: random(2) === 0 });
}
