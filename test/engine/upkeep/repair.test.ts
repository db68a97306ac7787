import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createStore, EngineError, openStore, repairStore, type Store } from "#engine/store.ts";
import { cli } from "../../cli/run-cli.ts";
import { startScript } from "../../support/run-script.ts";
import { dumpDatabase } from "../../support/dump.ts";
import { execute, makeNotes, makeShop, query, SHOP, temporaryFolder } from "../../support/stores.ts";

const OPTIONS = { actor: "anna", ownProcess: true } as const;
/** Rows whose text does not compress, so that their segments are files. */
const BULK = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
  INSERT INTO notes (text) SELECT hex(randomblob(200)) FROM n`;

async function reopen(path: string): Promise<Store> {
  const store = await openStore(path, OPTIONS);
  onTestFinished(() => store.close());
  return store;
}

async function exported(store: Store, branch: string, at?: string): Promise<string[]> {
  const file = join(temporaryFolder(), "exported.db");
  await store.export({ database: "shop", branch, at, file });
  return dumpDatabase(file);
}

function cancelAtCheckouts(phase: string): void {
  if (phase === "Looking at checkouts") throw new EngineError("cancelled", "Repair was cancelled");
}

/** A store of file segments: import, two checkpoints on main, one on a fork that has unsaved work. */
async function makeStore(): Promise<{ path: string; dumps: string[][]; work: string }> {
  const folder = temporaryFolder();
  const source = makeNotes(join(folder, "notes.db"));
  for (let times = 0; times < 4; times += 1) execute(source, BULK);
  const store = await createStore(join(folder, "store"), OPTIONS);
  onTestFinished(() => store.close());
  await store.create({ database: "shop", from: source });
  const { path: main } = await store.checkout(SHOP);
  const dumps = [await exported(store, "main")];
  for (let number = 0; number < 2; number += 1) {
    execute(main, BULK);
    await store.checkpoint({ ...SHOP, name: `step-${number}` });
    dumps.push(await exported(store, "main"));
  }
  await store.fork({ ...SHOP, newBranch: "fix/refunds", at: "step-0" });
  const { path: work } = await store.checkout({ database: "shop", branch: "fix/refunds" });
  execute(work, "UPDATE notes SET text = 'mine' WHERE id = 7");
  await store.close();
  return { path: store.path, dumps, work };
}

test("REPAIR-1: a store without its catalog gets versions from segments, and names and branches from checkouts", async () => {
  const { path, dumps, work } = await makeStore();
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(path, `catalog.db${ending}`), { force: true });
  const before = readFileSync(work);
  await expect(openStore(path)).rejects.toMatchObject({ code: "store-corrupt", hint: expect.stringContaining("Repair") });

  const report = await repairStore(path, OPTIONS);
  expect(report).toMatchObject({ repaired: true, reason: "There is no catalog", catalogKept: null, segmentsKept: 0, problems: [] });
  expect(report.databases).toEqual([{ name: "shop", versions: 3, branches: 2, files: 2 }]);
  expect(readFileSync(work).equals(before)).toBe(true);

  const store = await reopen(path);
  expect((await store.verify({})).problems).toEqual([]);
  for (const [index, dump] of dumps.entries()) expect(await exported(store, "main", `v${index + 1}`)).toEqual(dump);
  expect(await store.branch({ database: "shop", branch: "fix/refunds" })).toMatchObject({ head: 2, checkout: { state: "unsaved" } });
  const { version } = await store.checkpoint({ database: "shop", branch: "fix/refunds" });
  expect(version).toBe(4);
  expect(query((await store.checkout({ database: "shop", branch: "fix/refunds" })).path, "SELECT text FROM notes WHERE id = 7")).toEqual([
    ["mine"],
  ]);
  await store.gc({ dryRun: false });
  expect(await exported(store, "main")).toEqual(dumps[2]);
});

test("REPAIR-2: a damaged catalog is kept, and what fits nowhere is put aside and said", async () => {
  const { path, dumps } = await makeStore();
  const names = readdirSync(join(path, "segments"));
  truncateSync(join(path, "catalog.db"), 5000);
  rmSync(join(path, "catalog.db-wal"), { force: true });
  writeFileSync(join(path, "segments", `${"0".repeat(32)}-0.seg`), "no segment at all");
  writeFileSync(join(path, "segments", "note.txt"), "a stranger");
  rmSync(join(path, "checkouts"), { recursive: true });

  const report = await repairStore(path, OPTIONS);
  expect(report.databases).toEqual([{ name: "recovered-1", versions: 3, branches: 1, files: 0 }]);
  expect(report.problems.map(({ object }) => object).toSorted()).toEqual([`segments/${"0".repeat(32)}-0.seg`, "segments/note.txt"]);
  expect(readFileSync(join(path, "kept", "segments", "note.txt"), "utf8")).toBe("a stranger");
  expect(report.catalogKept === null ? 0 : readFileSync(report.catalogKept).length).toBe(5000);
  expect(readdirSync(join(path, "segments")).toSorted()).toEqual(names.toSorted());
  const store = await reopen(path);
  const file = join(temporaryFolder(), "exported.db");
  await store.export({ database: "recovered-1", branch: "main", file });
  expect(dumpDatabase(file)).toEqual(dumps[2]);
});

test("REPAIR-6: merged segments are put aside and are no problem; a store in which nothing is found becomes an empty one", async () => {
  const { path, dumps } = await makeStore();
  const own = readdirSync(join(path, "segments")).length;
  const merging = await openStore(path, OPTIONS, { mergeFanIn: 2 });
  await merging.gc({ dryRun: false });
  await merging.close();
  const merged = readdirSync(join(path, "segments")).length - own;
  expect(merged).toBeGreaterThan(0);
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(path, `catalog.db${ending}`), { force: true });
  const report = await repairStore(path, OPTIONS);
  expect(report).toMatchObject({ problems: [], segmentsKept: merged, databases: [{ name: "shop", versions: 3 }] });
  expect(await exported(await reopen(path), "main")).toEqual(dumps[2]);

  const empty = join(temporaryFolder(), "empty");
  await (await createStore(empty, OPTIONS)).close();
  for (const ending of ["", "-wal", "-shm"]) rmSync(join(empty, `catalog.db${ending}`), { force: true });
  const { out } = await cli("--store", empty, "repair");
  expect(out).toBe("Made a new catalog (There is no catalog)\nThere was nothing to put into it: the store is empty\n");
});

test("REPAIR-3: a database whose segments were all in the catalog comes back from its files", async () => {
  const { store, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "try" });
  const { path: other } = await store.checkout({ database: "shop", branch: "try" });
  execute(other, "DELETE FROM notes WHERE id > 10");
  await store.close();
  rmSync(join(store.path, "catalog.db"));
  rmSync(join(store.path, "catalog.db-wal"), { force: true });
  const before = [main, other].map((file) => query(file, "SELECT count(*) FROM notes"));
  const report = await repairStore(store.path, OPTIONS);
  expect(report.databases).toEqual([{ name: "shop", versions: 1, branches: 2, files: 2 }]);
  const again = await reopen(store.path);
  expect([main, other].map((file) => query(file, "SELECT count(*) FROM notes"))).toEqual(before);
  expect((await again.branch({ database: "shop", branch: "try" })).checkout.state).toBe("unsaved");
  expect((await again.checkpoint(SHOP)).operation?.summary ?? "nothing changed").toBe("nothing changed");
});

test("REPAIR-4: a sound store, a newer one, one that is open elsewhere and a folder that is none are left as they are", async () => {
  const { store, folder } = await makeShop();
  await store.close();
  expect(await repairStore(store.path, OPTIONS)).toMatchObject({ repaired: false, databases: [] });
  expect(existsSync(join(store.path, "kept"))).toBe(false);
  await expect(repairStore(folder)).rejects.toMatchObject({ code: "store-not-found" });

  truncateSync(join(store.path, "catalog.db"), 5000);
  rmSync(join(store.path, "catalog.db-wal"), { force: true });
  const file = JSON.stringify(join(store.path, "catalog.db"));
  const holder = startScript(`import { openSync } from "node:fs"; openSync(${file}); console.log("open"); setInterval(() => {}, 1000);`);
  onTestFinished(() => holder.kill());
  await holder.nextLine();
  await expect(repairStore(store.path, OPTIONS)).rejects.toMatchObject({ code: "store-busy" });
});

test("REPAIR-5: a repair that is cancelled puts the old catalog and every segment back", async () => {
  const { path } = await makeStore();
  truncateSync(join(path, "catalog.db"), 5000);
  rmSync(join(path, "catalog.db-wal"), { force: true });
  writeFileSync(join(path, "segments", "note.txt"), "a stranger");
  const names = readdirSync(join(path, "segments")).toSorted();
  await expect(repairStore(path, OPTIONS, { phase: cancelAtCheckouts })).rejects.toMatchObject({
    code: "cancelled",
    untouched: "The store is as it was.",
  });
  expect(readFileSync(join(path, "catalog.db")).length).toBe(5000);
  expect(readdirSync(join(path, "segments")).toSorted()).toEqual(names);
  expect((await repairStore(path, OPTIONS)).repaired).toBe(true);
});
