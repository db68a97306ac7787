/** Several processes on one store at once: each acknowledged operation is there, exactly once. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "#engine/store.ts";
import { execute, makeShop, query, SHOP } from "../support/stores.ts";

const cwd = join(import.meta.dirname, "../..");

function runScript(spec: string, body: string): Promise<{ code: number | null; lines: string[]; errors: string }> {
  const script = `
    import { openStore } from ${JSON.stringify(import.meta.resolve("#engine/store.ts"))};
    import Database from "better-sqlite3";
    const store = await openStore(${JSON.stringify(spec)}, { actor: "p" + process.pid, ownProcess: true });
    ${body}
    await store.close();`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd });
    let output = "";
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.on("close", (code) => resolve({ code, lines: output.split("\n").filter(Boolean), errors }));
  });
}

test("RACE-1: eight processes fork, checkpoint, destroy and undo on one store; nothing is lost or doubled", async () => {
  const { store } = await makeShop();
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, process) =>
      runScript(
        store.path,
        `for (let turn = 0; turn < 12; turn += 1) {
          const name = "p${process}-" + turn;
          console.log((await store.fork({ database: "shop", branch: "main", newBranch: name })).operation.id);
          const { path } = await store.checkout({ database: "shop", branch: name });
          const database = new Database(path);
          database.prepare("INSERT INTO notes (text) VALUES (?)").run(name);
          database.close();
          console.log((await store.checkpoint({ database: "shop", branch: name, name: "done" })).operation.id);
          if (turn % 3 === 0) console.log((await store.destroy({ database: "shop", branch: name })).operation.id);
          if (turn % 6 === 0) console.log((await store.undo({})).operation.id);
        }`,
      ),
    ),
  );
  for (const { code, errors } of results) expect({ code, errors }).toEqual({ code: 0, errors: "" });
  const acknowledged = results.flatMap(({ lines }) => lines.map(Number));
  expect(new Set(acknowledged).size).toBe(acknowledged.length);
  const { operations } = await store.operations({ limit: 5000 });
  const present = new Set(operations.map((operation) => operation.id));
  expect(acknowledged.filter((id) => !present.has(id))).toEqual([]);
  expect(present.size).toBe(acknowledged.length + 1);
  expect((await store.branches({ database: "shop" })).total).toBe(1 + 8 * (12 - 4 + 2));
  expect((await store.verify({})).problems).toEqual([]);
}, 180_000);

test("RACE-2: two processes checkpoint and roll back one branch; the loser is refused or retried, no row is lost", async () => {
  const { store, main } = await makeShop();
  const body = `
    for (let turn = 0; turn < 15; turn += 1) {
      try {
        const { path } = await store.checkout({ database: "shop", branch: "main" });
        const database = new Database(path, { timeout: 5000 });
        database.prepare("INSERT INTO notes (text) VALUES (?)").run(process.pid + ":" + turn);
        database.close();
        console.log(process.pid + ":" + turn);
        await store.checkpoint({ database: "shop", branch: "main", waitMs: 5000 });
      } catch (error) {
        if (!["stale-precondition", "checkout-busy", "checkout-stale"].includes(error.code)) throw error;
      }
    }`;
  const results = await Promise.all([runScript(store.path, body), runScript(store.path, body)]);
  for (const { code, errors } of results) expect({ code, errors }).toEqual({ code: 0, errors: "" });
  await store.checkout(SHOP);
  await store.checkpoint({ ...SHOP, name: "all" });
  const rows = new Set(query(main, "SELECT text FROM notes WHERE text LIKE '%:%'").map((row) => (row as string[])[0]));
  expect(results.flatMap(({ lines }) => lines).filter((text) => !rows.has(text))).toEqual([]);
  expect((await store.verify({})).problems).toEqual([]);
}, 120_000);

test("RACE-3: a gc in another process takes no file of a checkpoint that is under way", async () => {
  const { store, main } = await makeShop();
  const collector = runScript(
    store.path,
    `for (let turn = 0; turn < 40; turn += 1) await store.gc({ dryRun: false, purgeAllTrash: true });`,
  );
  for (let turn = 0; turn < 15; turn += 1) {
    execute(main, "INSERT INTO notes (text) SELECT hex(randomblob(300)) FROM notes LIMIT 200");
    await store.checkpoint(SHOP);
  }
  const { code, errors } = await collector;
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  const again = await openStore(store.path, { ownProcess: true });
  expect((await again.verify({})).problems).toEqual([]);
  await again.close();
}, 120_000);

test("RACE-4: a gc gets its turn although another process goes on forking", async () => {
  const { store } = await makeShop();
  const forker = runScript(
    store.path,
    `for (let turn = 0; turn < 200; turn += 1) {
      await store.fork({ database: "shop", branch: "main", newBranch: "f" + turn });
      await new Promise((wake) => setTimeout(wake, 5));
    }`,
  );
  for (let turn = 0; turn < 20; turn += 1) {
    await store.fork({ ...SHOP, newBranch: "going" });
    await store.destroy({ database: "shop", branch: "going" });
    expect((await store.gc({ dryRun: false, purgeAllTrash: true })).purged).toEqual(["shop@going"]);
  }
  expect(await forker).toMatchObject({ code: 0, errors: "" });
}, 60_000);
