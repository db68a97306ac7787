import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EngineError, type Store } from "#engine/store.ts";
import { execute, makeShop, query, SHOP } from "../../support/stores.ts";

const count = (path: string): number => Number((query(path, "SELECT count(*) FROM notes")[0] as number[])[0]);
const stateOf = async (store: Store, branch: string) => (await store.branch({ database: "shop", branch })).checkout.state;

async function codeOf(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => "no error",
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );
}

test("FORK-1: a fork writes one operation and no segment, wherever it starts", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 50");
  await store.checkpoint({ ...SHOP, name: "half" });
  const later = Date.now();
  const before = {
    operations: store.lastOperation(),
    segments: readdirSync(join(store.path, "segments")),
    versions: (await store.databases({}))[0]?.versions,
  };
  const at = ["half", "v1", new Date(later + 1000).toISOString()];
  for (const [index, point] of at.entries()) await store.fork({ ...SHOP, newBranch: `f${index}`, at: point });
  await store.fork({ ...SHOP, newBranch: "head" });
  expect(store.lastOperation()).toBe(before.operations + 4);
  expect(readdirSync(join(store.path, "segments"))).toEqual(before.segments);
  expect((await store.databases({}))[0]?.versions).toBe(before.versions);
  expect(
    await Promise.all(["f0", "f1", "f2", "head"].map(async (branch) => (await store.branch({ database: "shop", branch })).head)),
  ).toEqual([2, 1, 2, 2]);
  const { path } = await store.checkout({ database: "shop", branch: "f1" });
  expect(count(path)).toBe(100);
});

test("FORK-2: unsaved work stays out of a fork and is announced, or is taken along", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  const plain = await store.fork({ ...SHOP, newBranch: "plain" });
  expect(plain.warnings.join()).toContain("unsaved work");
  expect(count((await store.checkout({ database: "shop", branch: "plain" })).path)).toBe(100);
  const taken = await store.fork({ ...SHOP, newBranch: "with", withUnsaved: true });
  expect(taken.branch?.head).toBe(2);
  expect(count((await store.checkout({ database: "shop", branch: "with" })).path)).toBe(0);
  expect({ head: (await store.branch(SHOP)).head, state: await stateOf(store, "main") }).toEqual({ head: 2, state: "clean" });
  await store.undo({});
  expect({ head: (await store.branch(SHOP)).head, state: await stateOf(store, "main") }).toEqual({ head: 1, state: "unsaved" });
});

test("FORK-3: many branches in one operation, or none", async () => {
  const { store } = await makeShop();
  const before = store.lastOperation();
  const { branches } = await store.fork({ ...SHOP, newBranch: "attempt", count: 512 });
  expect({ first: branches[0], last: branches.at(-1), operations: store.lastOperation() - before }).toEqual({
    first: "attempt-001",
    last: "attempt-512",
    operations: 1,
  });
  await store.fork({ ...SHOP, newBranch: "try-2" });
  expect(await codeOf(store.fork({ ...SHOP, newBranch: "try", count: 3 }))).toBe("name-taken");
  expect((await store.branches({ database: "shop" })).total).toBe(1 + 512 + 1);
  await store.undo({ operation: before + 1 });
  expect((await store.branches({ database: "shop" })).total).toBe(2);
});

test("FORK-4: a child finds its ancestors' checkpoints, as far as its fork point", async () => {
  const { store, main } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "seed" });
  await store.fork({ ...SHOP, newBranch: "child" });
  execute(main, "DELETE FROM notes");
  await store.checkpoint({ ...SHOP, name: "later" });
  await store.fork({ database: "shop", branch: "child", newBranch: "grandchild", at: "seed" });
  expect((await store.branch({ database: "shop", branch: "grandchild" })).head).toBe(1);
  expect(await codeOf(store.fork({ database: "shop", branch: "child", newBranch: "x", at: "later" }))).toBe("checkpoint-not-found");
});

test("FORK-5: nothing is inherited, and limits are checked first", async () => {
  const { store } = await makeShop();
  await store.protect({ ...SHOP, protected: true });
  const { branch } = await store.fork({ ...SHOP, newBranch: "child" });
  expect({ ttl: branch?.ttlMs, protected: branch?.protected, meta: branch?.meta, checkpoints: branch?.checkpoints }).toEqual({
    ttl: null,
    protected: false,
    meta: {},
    checkpoints: 0,
  });
  const before = store.lastOperation();
  expect(await codeOf(store.fork({ ...SHOP, newBranch: "big", meta: { key: "x".repeat(600) } }))).toBe("bad-argument");
  expect(
    await codeOf(
      store.fork({ ...SHOP, newBranch: "many", meta: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, ""])) }),
    ),
  ).toBe("bad-argument");
  expect(store.lastOperation()).toBe(before);
});

test("CHECKPOINT-1: a checkpoint stores changed pages and leaves the file clean", async () => {
  const { store, main } = await makeShop();
  execute(main, "INSERT INTO notes (text) VALUES ('new')");
  expect(await stateOf(store, "main")).toBe("unsaved");
  const result = await store.checkpoint({ ...SHOP, name: "one", message: "one row", meta: { by: "test" } });
  expect(result).toMatchObject({ version: 2, name: "one" });
  expect(result.changedPages).toBeGreaterThan(0);
  expect(result.storedBytes).toBeLessThan(400);
  expect(await stateOf(store, "main")).toBe("clean");
  const [version] = (await store.history(SHOP)).versions;
  expect(version).toMatchObject({ number: 2, message: "one row", meta: { by: "test" }, actor: "anna", kind: "checkpoint", place: "head" });
});

test("CHECKPOINT-2: without a change only the name is put on the head", async () => {
  const { store } = await makeShop();
  const result = await store.checkpoint({ ...SHOP, name: "seed", message: "lost" });
  expect(result).toMatchObject({ version: 1, changedPages: 0 });
  expect(result.warnings.join()).toContain("not stored");
  expect((await store.checkpoint(SHOP)).operation).toBeNull();
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => each.name)).toEqual(["seed"]);
});

test("CHECKPOINT-3: a taken name is refused, or moved when asked, undoably", async () => {
  const { store, main } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "seed" });
  execute(main, "DELETE FROM notes");
  expect(await codeOf(store.checkpoint({ ...SHOP, name: "seed" }))).toBe("name-taken");
  expect(await stateOf(store, "main")).toBe("unsaved");
  await store.checkpoint({ ...SHOP, name: "seed", replace: true });
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => [each.name, each.version])).toEqual([["seed", 2]]);
  await store.undo({});
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => [each.name, each.version])).toEqual([["seed", 1]]);
});

/** A stock client in another process that holds a write transaction until it is told to end. */
async function holdWrite(path: string, mode: "write" | "open"): Promise<{ pid: number; end: () => Promise<void> }> {
  const script = `
    import Database from "better-sqlite3";
    const database = new Database(${JSON.stringify(path)});
    ${mode === "write" ? `database.exec("BEGIN IMMEDIATE; INSERT INTO notes (text) VALUES ('held')");` : `database.prepare("SELECT count(*) FROM notes").get();`}
    console.log("ready");
    process.stdin.once("data", () => { ${mode === "write" ? `database.exec("COMMIT");` : ""} database.close(); process.exit(0); });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: join(import.meta.dirname, "../../.."),
    stdio: ["pipe", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return {
    pid: child.pid ?? 0,
    end: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.stdin.write("end\n");
      }),
  };
}

test("CHECKPOINT-4: a writer in mid-transaction is named, nothing changes, and the retry saves its work", async () => {
  const { store, main } = await makeShop();
  const client = await holdWrite(main, "write");
  const before = store.lastOperation();
  const error: unknown = await store.checkpoint({ ...SHOP, name: "one", waitMs: 100 }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(EngineError);
  if (!(error instanceof EngineError)) return;
  expect({ code: error.code, retryable: error.retryable, untouched: error.untouched !== null }).toEqual({
    code: "checkout-busy",
    retryable: true,
    untouched: true,
  });
  expect(error.details.holders?.map((holder) => [holder.pid, holder.access])).toEqual([[client.pid, "writing"]]);
  expect(store.lastOperation()).toBe(before);
  await client.end();
  await store.checkpoint({ ...SHOP, name: "one" });
  expect(query(main, "SELECT text FROM notes WHERE text = 'held'")).toEqual([["held"]]);
  expect(await stateOf(store, "main")).toBe("clean");
});

test("CHECKPOINT-5: checkpoints are renamed and deleted, undoably", async () => {
  const { store } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "a" });
  await store.renameCheckpoint({ ...SHOP, name: "a", to: "b" });
  await store.deleteCheckpoint({ ...SHOP, name: "b" });
  expect((await store.branch(SHOP)).ownCheckpoints).toEqual([]);
  await store.undo({});
  await store.undo({});
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => each.name)).toEqual(["a"]);
  expect(await codeOf(store.deleteCheckpoint({ ...SHOP, name: "zzz" }))).toBe("checkpoint-not-found");
});

test("ROLLBACK-1: head and file go back, edits are kept as an autosave, undo brings both back", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id > 10");
  await store.checkpoint({ ...SHOP, name: "ten" });
  execute(main, "INSERT INTO notes (text) VALUES ('edit')");
  const result = await store.rollback({ ...SHOP, to: "v1" });
  expect(result).toMatchObject({ from: 2, to: 1, autosave: 3, warnings: [] });
  expect(count(main)).toBe(100);
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => each.name)).toEqual(["ten"]);
  await store.undo({});
  expect(count(main)).toBe(11);
  expect({ head: (await store.branch(SHOP)).head, state: await stateOf(store, "main") }).toEqual({ head: 2, state: "unsaved" });
});

test("ROLLBACK-2: one can roll forward again", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  await store.checkpoint({ ...SHOP, name: "empty" });
  await store.rollback({ ...SHOP, to: "v1" });
  await store.rollback({ ...SHOP, to: "empty" });
  expect(count(main)).toBe(0);
});

test("ROLLBACK-5: the empty database is a state like any other: to roll back to, to fork, to check out", async () => {
  const { store } = await makeShop();
  await store.create({ database: "new" });
  const main = { database: "new", branch: "main" };
  const { path } = await store.checkout(main);
  execute(path, "CREATE TABLE notes (id INTEGER PRIMARY KEY)");
  await store.checkpoint({ ...main, name: "table" });
  await store.fork({ ...main, at: "v1", newBranch: "empty" });
  const fork = await store.checkout({ database: "new", branch: "empty" });
  expect(query(fork.path, "SELECT count(*) FROM sqlite_schema")).toEqual([[0]]);
  expect((await store.rollback({ ...main, to: "v1" })).warnings).toEqual([]);
  expect(query(path, "SELECT count(*) FROM sqlite_schema")).toEqual([[0]]);
  await store.rollback({ ...main, to: "table" });
  expect(query(path, "SELECT count(*) FROM sqlite_schema")).toEqual([[1]]);
});

test("ROLLBACK-3: a file in use refuses before anything moves", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  await store.checkpoint(SHOP);
  const client = await holdWrite(main, "open");
  const before = store.lastOperation();
  const error: unknown = await store.rollback({ ...SHOP, to: "v1", waitMs: 100 }).catch((caught: unknown) => caught);
  expect(error instanceof EngineError && error.code).toBe("checkout-busy");
  expect(error instanceof EngineError && error.details.holders?.map((holder) => holder.pid)).toEqual([client.pid]);
  expect({ operations: store.lastOperation(), head: (await store.branch(SHOP)).head }).toEqual({ operations: before, head: 2 });
  await client.end();
  await store.rollback({ ...SHOP, to: "v1" });
  expect(count(main)).toBe(100);
});

test("ROLLBACK-4: a dry run changes nothing", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  const before = store.lastOperation();
  expect(await store.rollback({ ...SHOP, to: "v1", dryRun: true })).toMatchObject({ operation: null, from: 1, to: 1 });
  expect({ operations: store.lastOperation(), rows: count(main) }).toEqual({ operations: before, rows: 0 });
});

test("PROMOTE-1: the target takes the source's head and keeps what it has", async () => {
  const { store, main } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "seed" });
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path } = await store.checkout({ database: "shop", branch: "try" });
  execute(path, "DELETE FROM notes");
  await store.checkpoint({ database: "shop", branch: "try", name: "cleared" });
  const result = await store.promote({ database: "shop", source: "try", onto: "main" });
  expect(result).toMatchObject({ from: 1, to: 2 });
  expect(result.operation?.summary).toBe("Promoted try → main");
  expect(count(main)).toBe(0);
  expect((await store.branch(SHOP)).ownCheckpoints.map((each) => each.name)).toEqual(["seed"]);
  expect((await store.branch({ database: "shop", branch: "try" })).ownCheckpoints.map((each) => each.name)).toEqual(["cleared"]);
});

test("PROMOTE-2: not onto itself, and onto a protected branch only with force", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  await store.protect({ ...SHOP, protected: true });
  expect(await codeOf(store.promote({ database: "shop", source: "main", onto: "main" }))).toBe("bad-argument");
  expect(await codeOf(store.promote({ database: "shop", source: "try", onto: "main" }))).toBe("protected");
  await store.promote({ database: "shop", source: "try", onto: "main", force: true });
});

test("PROTECT-1: protection guards every verb that moves or removes, force overrides", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "kept" });
  const kept = { database: "shop", branch: "kept" };
  await store.protect({ ...kept, protected: true });
  expect(await codeOf(store.destroy(kept))).toBe("protected");
  expect(await codeOf(store.rollback({ ...kept, to: "v1" }))).toBe("protected");
  expect(await codeOf(store.rename({ ...kept, to: "other" }))).toBe("protected");
  expect(await codeOf(store.touch({ ...kept, ttlMs: 5000 }))).toBe("protected");
  expect(await codeOf(store.drop({ database: "shop" }))).toBe("protected");
  await store.touch({ ...kept, ttlMs: 3_600_000, force: true });
  await store.rename({ ...kept, to: "other", force: true });
  await store.destroy({ database: "shop", branch: "other", force: true });
  expect((await store.trash({})).map((entry) => entry.name)).toEqual(["other"]);
});

test("RENAME-1: the file moves with the name, unless it is in use", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes");
  const client = await holdWrite(main, "open");
  expect(await codeOf(store.rename({ ...SHOP, to: "trunk" }))).toBe("checkout-busy");
  await client.end();
  await store.rename({ ...SHOP, to: "deep/er/trunk" });
  const moved = store.checkoutPath("shop", "deep/er/trunk");
  expect({ old: existsSync(main), rows: count(moved), state: await stateOf(store, "deep/er/trunk") }).toEqual({
    old: false,
    rows: 0,
    state: "unsaved",
  });
  await store.renameDatabase({ database: "shop", to: "store" });
  expect(count(store.checkoutPath("store", "deep/er/trunk"))).toBe(0);
  await store.undo({});
  await store.undo({});
  expect(count(main)).toBe(0);
});

test("LINEAGE-1: lineage, versions left behind and autosaves are marked", async () => {
  const { store, main } = await makeShop();
  execute(main, "DELETE FROM notes WHERE id = 1");
  await store.checkpoint({ ...SHOP, name: "one" });
  execute(main, "DELETE FROM notes WHERE id = 2");
  await store.rollback({ ...SHOP, to: "v1" });
  await store.fork({ ...SHOP, newBranch: "child" });
  expect((await store.history(SHOP)).versions.map((row) => [row.number, row.place, row.inherited])).toEqual([
    [3, "side", false],
    [2, "ahead", false],
    [1, "head", false],
  ]);
  expect(
    (await store.history({ database: "shop", branch: "child" })).versions.map((row) => [row.number, row.place, row.inherited]),
  ).toEqual([[1, "head", true]]);
});

test("NAMES-1: unknown names are refused with the nearest ones", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "attempt-1" });
  await store.checkpoint({ ...SHOP, name: "seed" });
  const error: unknown = await store.branch({ database: "shop", branch: "atempt-1" }).catch((caught: unknown) => caught);
  expect(error instanceof EngineError && [error.code, error.details.choices]).toEqual(["branch-not-found", ["attempt-1"]]);
  expect(await codeOf(store.branch({ database: "sho", branch: "main" }))).toBe("database-not-found");
  expect(await codeOf(store.rollback({ ...SHOP, to: "sed" }))).toBe("checkpoint-not-found");
  expect(await codeOf(store.rollback({ ...SHOP, to: "v99" }))).toBe("version-not-found");
  expect(await codeOf(store.rollback({ ...SHOP, to: "No Such" }))).toBe("bad-target");
  expect(await codeOf(store.previewUndo({ operation: 4711 }))).toBe("operation-not-found");
  for (const name of ["../../out", "a/../b", ".hidden", "x.db-wal", "Upper", ""]) {
    expect(await codeOf(store.fork({ ...SHOP, newBranch: name })), name).toBe("bad-name");
    expect(await codeOf(store.create({ database: name })), name).toBe("bad-name");
  }
});
