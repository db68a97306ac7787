import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import type { UsagePartName, UsageView } from "#shared/usage-views.ts";
import { createStore, EngineError, openStore, type Store } from "#engine/store.ts";
import { execute, makeNotes, makeShop, SHOP, temporaryFolder, withClient } from "../../support/stores.ts";
import { segmentBytes, walkFolder } from "../../support/usage-model.ts";
import { WorkCounter } from "../../support/work-counter.ts";

const partOf = (view: UsageView, name: UsagePartName) => {
  const part = view.parts.find((each) => each.name === name);
  if (!part) throw new Error(`no part ${name}`);
  return part;
};
const on = (branch: string) => ({ database: "shop", branch });

async function codeOf(act: Promise<unknown>): Promise<string> {
  return act.then(
    () => "no error",
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );
}

/** Writes so many bytes that do not compress into one row, and checkpoints. */
async function change(store: Store, branch: string, bytes: number, name?: string): Promise<void> {
  const { path } = await store.checkout(on(branch));
  withClient(path, (database) => database.prepare("UPDATE notes SET text = hex(randomblob(?)) WHERE id = 7").run(bytes));
  await store.checkpoint({ ...on(branch), ...(name === undefined ? {} : { name }) });
}

function expectWhole(store: Store, view: UsageView): void {
  const { bytes, allocated } = walkFolder(store.path);
  expect(view.storedBytes).toBe(bytes);
  expect(view.parts.reduce((sum, { storedBytes }) => sum + storedBytes, 0)).toBe(bytes);
  expect(view.parts.reduce((sum, { physicalBytes }) => sum + (physicalBytes ?? 0), 0)).toBe(view.physicalBytes);
  expect(view.physicalBytes).toBeLessThanOrEqual(allocated);
  const segments = view.parts.slice(0, 5).reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  expect(view.parts.slice(0, 5).map(({ name }) => name)).toEqual(["unique", "shared", "history", "trash", "garbage"]);
  expect(segments - partOf(view, "garbage").storedBytes).toBeLessThanOrEqual(segmentBytes(store.path));
}

test("USAGE-1: parts add up to the sizes of all files, whatever lies in the folder", async () => {
  const { store, folder } = await makeShop();
  expectWhole(store, await store.usage({}));
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 20_000) });
  await store.fork({ ...SHOP, newBranch: "a", count: 3 });
  await change(store, "a-1", 40_000);
  await change(store, "a-2", 50);
  await store.fork({ ...on("a-1"), newBranch: "deep" });
  await change(store, "a-3", 30_000);
  execute((await store.checkout(on("a-3"))).path, "DELETE FROM notes WHERE id > 9");
  await store.rollback({ ...on("a-3"), to: "v1" });
  await store.destroy(on("a-2"));
  await store.openCheckpoint({ ...SHOP, at: "v1" });
  await store.drop({ database: "big" });
  await store.cache({ budgetBytes: 10 * 1024 ** 2 });
  // What a crash left, what somebody put there, what other parts of the program keep.
  writeFileSync(join(store.path, "segments", `${"ab".repeat(16)}-0.seg`), "left by a crash");
  writeFileSync(join(store.path, "README.txt"), "a stranger");
  for (const path of ["kept/old/checkouts", "benchmarks", "tmp/gone", "checkouts/shop/stray", "cache/changes", "deep/er"])
    mkdirSync(join(store.path, path), { recursive: true });
  for (const path of [
    "kept/old/checkouts/a.db",
    "benchmarks/run.json",
    "tmp/gone/x.db",
    "checkouts/shop/stray/y.db",
    "cache/changes/z",
    "deep/er/f",
  ])
    writeFileSync(join(store.path, path), path.repeat(100));
  const view = await store.usage({});
  expectWhole(store, view);
  expect(view.parts.filter(({ storedBytes }) => storedBytes === 0)).toEqual([]);
  expect(partOf(view, "garbage")).toMatchObject({ count: 1, unit: "segments", storedBytes: 15 });
  expect(partOf(view, "kept")).toMatchObject({ count: 2, unit: "files" });
  // A database in the trash is there with its branch.
  expect(partOf(view, "trash")).toMatchObject({ count: 2, unit: "branches" });
  expect(view.rows.map(({ branch }) => branch).toSorted()).toEqual(["a-1", "a-3", "deep", "main"]);
  expect(view.caches.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(partOf(view, "caches").storedBytes);
  await store.gc({ dryRun: false, purgeAllTrash: true });
  const purged = await store.usage({});
  expectWhole(store, purged);
  expect([partOf(purged, "trash"), partOf(purged, "garbage")].map(({ count, storedBytes }) => [count, storedBytes])).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

test("USAGE-1: an empty store takes what its catalog takes, and asks about nothing", async () => {
  const store = await createStore(join(temporaryFolder(), "store"), { ownProcess: true });
  onTestFinished(() => store.close());
  const view = await store.usage({});
  expectWhole(store, view);
  expect({ rows: view.rows, logical: view.logicalBytes }).toEqual({ rows: [], logical: 0 });
  expect(await store.freed({ branches: [] })).toEqual({
    bytes: 0,
    segmentBytes: 0,
    fileBytes: 0,
    readyBytes: 0,
    uniqueBytes: 0,
    amongThemBytes: 0,
    protected: [],
  });
});

test("USAGE-3: a branch's file, its size, protection and what only undo keeps are told apart", async () => {
  const { store, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  await change(store, "a", 40_000);
  await store.protect({ ...on("a"), protected: true });
  const before = (await store.usage({})).rows.find(({ branch }) => branch === "a");
  const { path } = await store.checkout(on("a"));
  execute(path, "DELETE FROM notes");
  const size = (ending: string): number => (readdirSync(join(path, "..")).includes(`a.db${ending}`) ? statSync(path + ending).size : 0);
  // Saved beside the head: nobody refers to it but undo.
  await store.rollback({ ...on("a"), to: "v1", force: true });
  const view = await store.usage({});
  const [row, mainRow] = ["a", "main"].map((name) => view.rows.find(({ branch }) => branch === name));
  expect(row).toMatchObject({ database: "shop", isProtected: true, logicalBytes: statSync(main).size, fileBytes: size("") + size("-wal") });
  expect(row?.uniqueBytes).toBeGreaterThan(before?.uniqueBytes ?? NaN);
  expect(row?.uniqueBytes).toBe(partOf(view, "unique").storedBytes + partOf(view, "history").storedBytes);
  expect(mainRow).toMatchObject({ uniqueBytes: 0, sharedBytes: partOf(view, "shared").storedBytes, isProtected: false });
});

test("USAGE-4: what is predicted is what the folder shrinks by, files with it", async () => {
  const { store } = await makeShop();
  await store.cache({ budgetBytes: 0, clear: true });
  await store.fork({ ...SHOP, newBranch: "a", count: 5 });
  const branches = [1, 2, 3, 4].map((number) => on(`a-${number}`));
  for (const { branch } of branches) for (let times = 0; times < 3; times += 1) await change(store, branch, 200_000);
  // Both stand on what a-1 has: freed only together.
  await store.promote({ database: "shop", source: "a-1", onto: "a-2" });
  execute((await store.checkout(on("a-3"))).path, "UPDATE notes SET text = hex(randomblob(40000)) WHERE id = 3");
  await store.protect({ ...on("a-4"), protected: true });
  await store.gc({ dryRun: false });
  const freed = await store.freed({ branches: [...branches, on("a-1")] });
  expect(freed.protected).toEqual(["shop@a-4"]);
  expect(freed.amongThemBytes).toBeGreaterThan(0);
  expect(freed.bytes).toBe(freed.segmentBytes + freed.fileBytes);
  const [folder, segments] = [walkFolder(store.path).bytes, segmentBytes(store.path)];
  for (const place of branches) await store.destroy({ ...place, force: true });
  const purge = (await store.trash({})).map(({ kind, id }) => ({ kind, id }));
  await store.gc({ dryRun: false, purge });
  expect(segments - segmentBytes(store.path)).toBe(freed.segmentBytes);
  const shrunk = folder - walkFolder(store.path).bytes;
  expect(Math.abs(shrunk - freed.bytes) / freed.bytes).toBeLessThan(0.01);
  expect(await codeOf(store.freed({ branches: [on("gone")] }))).toBe("branch-not-found");
  expect(await codeOf(store.freed({ branches: [{ database: "none", branch: "main" }] }))).toBe("database-not-found");
});

test("USAGE-4: files that will be kept ready for the next branch are not promised", async () => {
  const { store, main } = await makeShop();
  await store.cache({ clear: true });
  await store.fork({ ...SHOP, newBranch: "a", count: 6 });
  for (let number = 1; number <= 6; number += 1) await store.checkout(on(`a-${number}`));
  const branches = [1, 2, 3, 4, 5, 6].map((number) => on(`a-${number}`));
  const mainBytes = statSync(main).size;
  for (const budgetBytes of [100 * 1024 ** 2, statSync(store.checkoutPath("shop", "a-1")).size]) {
    await store.cache({ budgetBytes });
    const { fileBytes, readyBytes } = await store.freed({ branches });
    const sizes = walkFolder(join(store.path, "checkouts")).bytes;
    expect(fileBytes + readyBytes).toBe(sizes - mainBytes);
    const before = walkFolder(join(store.path, "checkouts")).bytes + walkFolder(join(store.path, "cache")).bytes;
    for (const place of branches) await store.destroy(place);
    const after = walkFolder(join(store.path, "checkouts")).bytes + walkFolder(join(store.path, "cache")).bytes;
    expect(before - after).toBe(fileBytes);
    for (const { id } of await store.trash({})) await store.restore({ kind: "branch", id });
    for (const place of branches) await store.checkout(place);
  }
});

test("USAGE-5: a checkpoint's unique bytes are what goes once it is deleted and the undo window is over", async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const { store } = await makeShop({}, { clock });
  for (const [name, bytes] of [["one", 40_000] as const, ["two", 60_000] as const, ["three", 50_000] as const])
    await change(store, "main", bytes, name);
  await store.rollback({ ...SHOP, to: "v1" });
  await change(store, "main", 100, "side");
  const { row, checkpoints } = await store.branchUsage(SHOP);
  expect(checkpoints.map(({ name }) => name)).toEqual(["side", "three", "two", "one"]);
  const [side, three, two, one] = checkpoints;
  // The head stands on it; those below the last of their line carry it.
  expect([side?.uniqueBytes, two?.uniqueBytes, one?.uniqueBytes]).toEqual([0, 0, 0]);
  expect(three?.uniqueBytes).toBeGreaterThan(45_000);
  expect([two?.sharedBytes, one?.sharedBytes].map((bytes) => (bytes ?? 0) > 35_000)).toEqual([true, true]);
  expect(row).toMatchObject({ branch: "main", uniqueBytes: (await store.usage({})).rows[0]?.uniqueBytes });
  await store.deleteCheckpoint({ ...SHOP, name: "three" });
  const before = segmentBytes(store.path);
  await store.gc({ dryRun: false });
  expect(segmentBytes(store.path)).toBe(before);
  // So long a step looks like a jump of the clock, which is given a day.
  now += LIMITS.undoWindowMs + 1_000;
  await store.gc({ dryRun: true });
  now += LIMITS.clockJumpMs + 1_000;
  await store.gc({ dryRun: false });
  expect(before - segmentBytes(store.path)).toBe(three?.uniqueBytes);
  expect(await codeOf(store.branchUsage(on("gone")))).toBe("branch-not-found");
});

test("USAGE-6: of one database, what is its own", async () => {
  const { store, folder } = await makeShop();
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 20_000) });
  await store.checkout({ database: "big", branch: "main" });
  await store.openCheckpoint({ ...SHOP, at: "v1" });
  await store.fork({ ...SHOP, newBranch: "a" });
  await change(store, "a", 30_000);
  await store.checkout(on("a"));
  await store.destroy(on("a"));
  const [whole, shop, big] = [await store.usage({}), await store.usage({ database: "shop" }), await store.usage({ database: "big" })];
  for (const name of ["unique", "shared", "history", "trash", "garbage", "files", "caches"] as const)
    expect([name, partOf(shop, name).storedBytes + partOf(big, name).storedBytes]).toEqual([name, partOf(whole, name).storedBytes]);
  for (const name of ["temporary", "kept", "catalog"] as const)
    expect(
      [partOf(shop, name), partOf(big, name)].map(({ count, storedBytes, physicalBytes }) => [count, storedBytes, physicalBytes]),
    ).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  expect([shop.database, big.database, whole.database]).toEqual(["shop", "big", null]);
  expect([...shop.rows, ...big.rows].length).toBe(whole.rows.length);
  expect(shop.storedBytes + big.storedBytes).toBe(
    whole.storedBytes - partOf(whole, "catalog").storedBytes - partOf(whole, "temporary").storedBytes,
  );
  expect(await codeOf(store.usage({ database: "none" }))).toBe("database-not-found");
});

test("USAGE-7: as many questions for a thousand branches as for ten, and nothing is changed", async () => {
  const counter = new WorkCounter();
  const { store } = await makeShop({}, counter.ports);
  const ask = async (): Promise<number> => {
    const before = segmentBytes(store.path);
    const branches = (await store.usage({})).rows.map(({ database, branch }) => ({ database, branch }));
    const { statements } = await counter.of(async () => {
      await store.usage({});
      await store.usage({ database: "shop" });
      await store.branchUsage(SHOP);
      await store.freed({ branches });
    });
    expect(segmentBytes(store.path)).toBe(before);
    return statements;
  };
  await store.fork({ ...SHOP, newBranch: "few", count: 9 });
  const few = await ask();
  await store.fork({ ...SHOP, newBranch: "many", count: 990 });
  expect(await ask()).toBe(few);
  const last = store.lastOperation();
  const abort = new AbortController();
  abort.abort();
  for (const act of [
    store.usage({}, { signal: abort.signal }),
    store.branchUsage(SHOP, { signal: abort.signal }),
    store.freed({ branches: [SHOP] }, { signal: abort.signal }),
  ])
    expect(await codeOf(act)).toBe("cancelled");
  expect(store.lastOperation()).toBe(last);
});

test("USAGE-8: whom a branch shares with", async () => {
  const { store } = await makeShop();
  const relatives = async (): Promise<unknown> =>
    Object.fromEntries((await store.usage({})).rows.map(({ branch, sharedWith }) => [branch, [sharedWith.branch, sharedWith.others]]));
  expect(await relatives()).toEqual({ main: [null, 0] });
  await store.fork({ ...SHOP, newBranch: "child" });
  expect(await relatives()).toEqual({ main: ["child", 0], child: ["main", 0] });
  await change(store, "child", 100);
  await store.fork({ ...on("child"), newBranch: "grandchild" });
  expect(await relatives()).toEqual({ main: ["child", 1], child: ["main", 1], grandchild: ["child", 1] });
  // Its parent is in the trash: then it is somebody else.
  await store.destroy(on("child"));
  expect(await relatives()).toEqual({ main: ["grandchild", 0], grandchild: ["main", 0] });
  await store.create({ database: "other" });
  expect(await relatives()).toMatchObject({ grandchild: ["main", 0] });
});

test("GC-3: named entries of the trash are purged, others stay, and what is not there refuses", async () => {
  const { store, folder } = await makeShop();
  await store.create({ database: "big", from: makeNotes(join(folder, "big.db"), 1_000) });
  await store.fork({ ...SHOP, newBranch: "a", count: 3 });
  for (const number of [1, 2]) await store.destroy(on(`a-${number}`));
  await store.drop({ database: "big" });
  const idOf = async (name: string): Promise<number> => (await store.trash({})).find((entry) => entry.name === name)?.id ?? 0;
  const [one, big] = [await idOf("a-1"), await idOf("big")];
  const last = store.lastOperation();
  const live = { kind: "branch", id: one + 2 } as const;
  for (const wrong of [live, { kind: "database", id: 99 } as const]) {
    const purge = [{ kind: "branch", id: one } as const, wrong];
    expect(await codeOf(store.gc({ dryRun: false, purge }))).toBe(`${wrong.kind}-not-found`);
  }
  expect([store.lastOperation(), (await store.trash({})).length]).toEqual([last, 3]);
  const purge = [{ kind: "branch", id: one } as const, { kind: "database", id: big } as const];
  const dry = await store.gc({ dryRun: true, purge });
  const report = await store.gc({ dryRun: false, purge });
  expect(report.purged).toEqual(["big", "shop@a-1"]);
  expect([dry.purged, dry.versionsRemoved]).toEqual([report.purged, report.versionsRemoved]);
  expect((await store.trash({})).map(({ name }) => name)).toEqual(["a-2"]);
  expect((await store.verify({})).problems).toEqual([]);
});

test("USAGE-1: a store that is used meanwhile, or damaged, is measured all the same", async () => {
  const { store } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  await change(store, "a", 40_000);
  const other = await openStore(store.path, { ownProcess: true });
  try {
    const [view] = await Promise.all([store.usage({}), other.fork({ ...SHOP, newBranch: "b" })]);
    expect(view.rows.length).toBeGreaterThanOrEqual(2);
  } finally {
    await other.close();
  }
  const [name = ""] = readdirSync(join(store.path, "segments"));
  rmSync(join(store.path, "segments", name));
  appendFileSync(join(store.path, "settings.json"), " ");
  const view = await store.usage({});
  expect(view.storedBytes).toBe(walkFolder(store.path).bytes);
});
