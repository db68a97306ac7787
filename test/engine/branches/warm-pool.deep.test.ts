import { linkSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { createStore, openStore, type OpenOptions, type Store, type StorePorts } from "#engine/store.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";
import { startScript } from "../../support/run-script.ts";
import { execute, makeNotes, makeShop, query, SHOP, temporaryFolder } from "../../support/stores.ts";

const MAKES_READY: OpenOptions = { actor: "anna", ownProcess: true };

function makeReadyShop(ports: StorePorts = {}): ReturnType<typeof makeShop> {
  return makeShop({}, { makesReady: true, ...ports });
}

function readyFolder(store: Store): string {
  const folder = join(store.path, "cache", "ready");
  return join(folder, readdirSync(folder)[0] ?? "");
}

const readyBytes = async (store: Store): Promise<number> => (await store.cache({})).caches[0]?.bytes ?? 0;
const readyFiles = async (store: Store): Promise<number> => (await store.cache({})).caches[0]?.files ?? 0;

async function untilReady(store: Store, files: number = LIMITS.readyCopies): Promise<void> {
  await expect.poll(() => readyFiles(store), { timeout: 10_000 }).toBe(files);
}

async function forkAndOpen(store: Store, newBranch: string): Promise<{ path: string; checkout: string }> {
  await store.fork({ ...SHOP, newBranch });
  return store.checkout({ database: "shop", branch: newBranch });
}

test("POOL-1: where files are asked for, others are made ready, and the next checkout takes one and patches it", async () => {
  const { store, main } = await makeReadyShop();
  await untilReady(store);
  const same = await forkAndOpen(store, "same");
  expect(same.checkout).toBe("from the warm pool");
  expect(query(same.path, "SELECT count(*), max(text) FROM notes")).toEqual([[100, "note 99"]]);
  expect(query(same.path, "PRAGMA journal_mode")).toEqual([["wal"]]);
  execute(main, "UPDATE notes SET text = 'changed' WHERE id = 7");
  await store.checkpoint({ ...SHOP, name: "changed" });
  const near = await forkAndOpen(store, "near");
  expect(near.checkout).toMatch(/^from the warm pool, patched \d+ pages?$/);
  expect(query(near.path, "SELECT text FROM notes WHERE id = 7")).toEqual([["changed"]]);
  expect(query(near.path, "PRAGMA integrity_check")).toEqual([["ok"]]);
  expect((await store.branch({ database: "shop", branch: "near" })).checkout.state).toBe("clean");
  expect(await store.cache({})).toMatchObject({ hits: 2, misses: 1 });
  await untilReady(store);
  expect((await store.verify({})).problems).toEqual([]);
});

test("POOL-2: a ready file that somebody wrote to, another boot left, or that is no ready file is not used and goes", async () => {
  const { store } = await makeReadyShop();
  await untilReady(store);
  const folder = readyFolder(store);
  const [touched = "", replaced = "", foreign = ""] = readdirSync(folder).map((name) => join(folder, name));
  execute(touched, "UPDATE notes SET text = 'not ours'");
  const { atime, mtime } = statSync(replaced);
  writeFileSync(`${replaced}.new`, readFileSync(replaced));
  nodeDisk.rename(`${replaced}.new`, replaced);
  utimesSync(replaced, atime, mtime);
  nodeDisk.rename(foreign, foreign.replace(/\.[0-9a-f]+\.db$/, ".000000000000.db"));
  writeFileSync(join(folder, "v1.db"), "half a file");
  const { checkout, path } = await forkAndOpen(store, "try");
  expect(checkout).toBe("copied");
  expect(query(path, "SELECT text FROM notes WHERE id = 1")).toEqual([["note 1"]]);
  for (const stray of [touched, replaced, "v1.db"]) expect(readdirSync(folder)).not.toContain(stray.slice(folder.length + 1));
  await untilReady(store);
});

test("POOL-3: of processes that want the same ready file, one has it", async () => {
  const { store } = await makeReadyShop();
  await untilReady(store);
  await store.fork({ ...SHOP, newBranch: "b", count: 8 });
  // The files that were ready are all there is from here on.
  await store.close();
  const scripts = [1, 2, 3, 4].map((turn) =>
    startScript(`
      import { openStore } from "#engine/store.ts";
      const store = await openStore(${JSON.stringify(store.path)}, { actor: "a", ownProcess: true });
      for (const name of ["b-${turn}", "b-${turn + 4}"]) console.log((await store.checkout({ database: "shop", branch: name })).checkout);
      await store.close();`),
  );
  const texts = await Promise.all(scripts.flatMap((script) => [script.nextLine(), script.nextLine()]));
  expect(texts.filter((text) => text === "from the warm pool").length).toBe(LIMITS.readyCopies);
  expect(new Set(texts)).toEqual(new Set(["from the warm pool", "copied"]));
  for (const script of scripts) expect(await script.end()).toBe(0);
  const again = await openStore(store.path, MAKES_READY);
  onTestFinished(() => again.close());
  const { branches } = await again.branches({ database: "shop" });
  for (const { checkout } of branches.filter(({ name }) => name.startsWith("b-")))
    expect(query(checkout.path, "SELECT count(*) FROM notes")).toEqual([[100]]);
});

test("POOL-4: ready files stay within the store's budget, which outlives the program; the oldest go first", async () => {
  const { store } = await makeReadyShop();
  await untilReady(store);
  const size = (await readyBytes(store)) / LIMITS.readyCopies;
  const [oldest = ""] = readdirSync(readyFolder(store)).toSorted(
    (a, b) => statSync(join(readyFolder(store), a)).ctimeMs - statSync(join(readyFolder(store), b)).ctimeMs,
  );
  expect(await store.cache({ budgetBytes: size * 2 + 1 })).toMatchObject({
    budgetBytes: size * 2 + 1,
    budgetIsDefault: false,
    freedBytes: size,
  });
  expect(readdirSync(readyFolder(store))).not.toContain(oldest);
  expect((await forkAndOpen(store, "one")).checkout).toBe("from the warm pool");
  await untilReady(store, 2);
  await store.close();
  const again = await openStore(store.path, MAKES_READY, { makesReady: true });
  onTestFinished(() => again.close());
  expect(await again.cache({ budgetBytes: 0 })).toMatchObject({ budgetBytes: 0, freedBytes: size * 2 });
  expect((await forkAndOpen(again, "two")).checkout).toBe("copied");
  expect(await readyFiles(again)).toBe(0);
  writeFileSync(join(store.path, "settings.json"), "{ damaged");
  expect(await again.cache({})).toMatchObject({ budgetIsDefault: true });
  expect(await again.cache({ budgetBytes: 5 })).toMatchObject({ budgetBytes: 5, budgetIsDefault: false });
  expect(await again.cache({ budgetBytes: null })).toMatchObject({ budgetIsDefault: true });
});

test("POOL-5: files are not made ready where little is free, and what fails there fails no verb", async () => {
  const scarce = { ...nodeDisk, freeBytes: () => LIMITS.readyFloorBytes };
  const { store } = await makeReadyShop({ disk: scarce });
  const fork = await forkAndOpen(store, "try");
  expect(fork.checkout).toBe("copied");
  await store.close();
  expect(await readyFiles(await reopen(store))).toBe(0);

  const full = new FaultyDisk(nodeDisk);
  const other = await makeReadyShop({ disk: full.disk });
  await untilReady(other.store);
  const { path } = await forkAndOpen(other.store, "one");
  full.fail({ on: "space", from: 1, code: "disk-full" });
  await new Promise((resolve) => setTimeout(resolve, LIMITS.readyDelayMs * 5));
  full.fail(null);
  expect(query(path, "SELECT count(*) FROM notes")).toEqual([[100]]);
  expect((await forkAndOpen(other.store, "two")).checkout).toBe("from the warm pool");
  await untilReady(other.store);
});

test("POOL-5: ready files give way to a file that would not fit otherwise", async () => {
  const faulty = new FaultyDisk(nodeDisk);
  const { store } = await makeReadyShop({ disk: faulty.disk });
  await untilReady(store);
  const before = readyFolder(store);
  execute(store.checkoutPath("shop", "main"), "PRAGMA journal_mode = DELETE; PRAGMA page_size = 1024; VACUUM");
  await store.checkpoint({ ...SHOP, name: "other-pages" });
  await store.fork({ ...SHOP, newBranch: "try" });
  faulty.fail({ on: "copy", from: 1, times: 1, code: "disk-full" });
  const { checkout, path } = await store.checkout({ database: "shop", branch: "try" });
  faulty.fail(null);
  expect(checkout).toBe("copied");
  expect(nodeDisk.list(before)).toEqual([]);
  expect(query(path, "PRAGMA page_size")).toEqual([[1024]]);
});

test("POOL-6: a closed store ends what is being made ready at once; a program that ends soon makes nothing ready", async () => {
  const folder = temporaryFolder();
  const store = await createStore(join(folder, "store"), MAKES_READY, { makesReady: true });
  await store.create({ database: "shop", from: makeNotes(join(folder, "notes.db"), 60_000) });
  await store.checkout(SHOP);
  await store.close();
  const again = await reopen(store);
  expect(readdirSync(join(store.path, "tmp")).filter((name) => !name.endsWith(".lock"))).toEqual([]);
  const left = await readyFiles(again);
  await again.fork({ ...SHOP, newBranch: "try" });
  await again.checkout({ database: "shop", branch: "try" });
  await new Promise((resolve) => setTimeout(resolve, LIMITS.readyDelayMs * 3));
  expect(await readyFiles(again)).toBe(Math.max(0, left - 1));
});

test("POOL-7: usage and cache say what caches take; cleared, they are made again", async () => {
  const { store } = await makeReadyShop();
  await untilReady(store);
  const { path } = await store.openCheckpoint({ ...SHOP, at: "v1" });
  const { caches } = await store.usage({});
  expect(caches).toEqual([
    { name: "ready files", files: LIMITS.readyCopies, bytes: await readyBytes(store) },
    { name: "read-only files", files: 1, bytes: statSync(path).size },
    { name: "shadows", files: expect.any(Number), bytes: expect.any(Number) },
    { name: "change counts", files: 0, bytes: 0 },
  ]);
  const cleared = await store.cache({ clear: true });
  expect(cleared.caches.every(({ files, bytes }) => files === 0 && bytes === 0)).toBe(true);
  expect(cleared.freedBytes).toBe(caches.reduce((sum, { bytes }) => sum + bytes, 0));
  expect((await store.openCheckpoint({ ...SHOP, at: "v1" })).path).toBe(path);
  await forkAndOpen(store, "try");
  await untilReady(store);
});

test.for(["xfs", "btrfs"] as const)(
  "POOL-8: where blocks are shared (%s), one ready file is cloned again and again",
  async (kind, { skip }) => {
    const mounted = mountLoopFilesystem(kind, 512);
    if ("missing" in mounted) return skip(mounted.missing);
    const store = await createStore(join(mounted.folder, "store"), MAKES_READY, { makesReady: true });
    onTestFinished(() => store.close());
    await store.create({ database: "shop", from: makeNotes(join(temporaryFolder(), "notes.db"), 60_000) });
    const { path } = await store.checkout(SHOP);
    expect(statSync(path).size).toBeGreaterThan(LIMITS.warmCopyBytesMax);
    await untilReady(store, 1);
    const [name] = readdirSync(readyFolder(store));
    for (const newBranch of ["one", "two", "three"]) {
      const made = await forkAndOpen(store, newBranch);
      expect(made.checkout).toBe("cloned from the warm pool");
      expect(query(made.path, "SELECT count(*) FROM notes")).toEqual([[60_000]]);
      execute(made.path, `DELETE FROM notes WHERE id > ${newBranch.length}`);
    }
    expect(readdirSync(readyFolder(store))).toEqual([name]);
    await store.close();
    expect((await (await reopen(store)).verify({})).problems).toEqual([]);
  },
);

async function reopen(store: Store): Promise<Store> {
  const again = await openStore(store.path, MAKES_READY);
  onTestFinished(() => again.close());
  return again;
}

test("POOL-9: the file of a destroyed branch serves the next one, and undo gives it back with its unsaved work", async () => {
  const { store } = await makeShop();
  const first = await forkAndOpen(store, "first");
  execute(first.path, "UPDATE notes SET text = 'unsaved' WHERE id = 5");
  const destroyed = await store.destroy({ database: "shop", branch: "first" });
  expect([statSync(first.path, { throwIfNoEntry: false }), await readyFiles(store)]).toEqual([undefined, 1]);
  const second = await forkAndOpen(store, "second");
  expect(second.checkout).toMatch(/^from the warm pool, patched \d+ pages?$/);
  expect(query(second.path, "SELECT text FROM notes WHERE id = 5")).toEqual([["note 5"]]);
  expect(query(second.path, "PRAGMA integrity_check")).toEqual([["ok"]]);
  expect((await store.branch({ database: "shop", branch: "second" })).checkout.state).toBe("clean");
  await store.undo({ operation: destroyed.operation?.id });
  expect(query(first.path, "SELECT text FROM notes WHERE id = 5")).toEqual([["unsaved"]]);
  expect((await store.verify({})).problems).toEqual([]);
});

test("POOL-9: a file that has another name as well is not kept", async () => {
  const { store, folder } = await makeShop();
  const { path } = await forkAndOpen(store, "linked");
  linkSync(path, join(folder, "mine.db"));
  await store.destroy({ database: "shop", branch: "linked" });
  expect(await readyFiles(store)).toBe(0);
  expect(query(join(folder, "mine.db"), "SELECT count(*) FROM notes")).toEqual([[100]]);
});

test("POOL-10: no ready file is open in this process while somebody may take it", async () => {
  const opened: string[] = [];
  const disk = new Proxy(nodeDisk, {
    get: (target, name: keyof typeof nodeDisk) =>
      name === "open"
        ? (path: string, flags: "r" | "r+" | "w+" | "wx+", mode?: number) => {
            opened.push(path);
            return target.open(path, flags, mode);
          }
        : target[name],
  });
  const { store } = await makeReadyShop({ disk });
  await untilReady(store);
  for (const name of ["a", "b"]) expect((await forkAndOpen(store, name)).checkout).toBe("from the warm pool");
  await untilReady(store);
  expect(opened.filter((path) => path.includes("source.db")).length).toBeGreaterThan(0);
  expect(opened.filter((path) => path.includes(join("cache", "ready")))).toEqual([]);
});

test.for(["xfs", "btrfs"] as const)(
  "POOL-11: where blocks are shared (%s), of several ready files one is taken, and the last is cloned unless it is in too many pieces",
  async (kind, { skip }) => {
    const mounted = mountLoopFilesystem(kind, 512);
    if ("missing" in mounted) return skip(mounted.missing);
    let extents: number | null = null;
    const native = { ...loadNative(), extentCount: () => extents };
    const store = await createStore(join(mounted.folder, "store"), MAKES_READY, { native, makesReady: false });
    onTestFinished(() => store.close());
    await store.create({ database: "shop", from: makeNotes(join(temporaryFolder(), "notes.db"), 60_000) });
    for (const newBranch of ["one", "two"]) await forkAndOpen(store, newBranch);
    for (const branch of ["one", "two"]) await store.destroy({ database: "shop", branch });
    expect(await readyFiles(store)).toBe(2);
    expect((await forkAndOpen(store, "three")).checkout).toMatch(/^from the warm pool/);
    expect(await readyFiles(store)).toBe(1);
    expect((await forkAndOpen(store, "four")).checkout).toMatch(/^cloned from the warm pool/);
    expect(await readyFiles(store)).toBe(1);
    extents = 1_000;
    const five = await forkAndOpen(store, "five");
    expect(five.checkout).toMatch(/^from the warm pool/);
    // It was cloned before, and kept from others meanwhile.
    expect(statSync(five.path).mode & 0o777).toBe(0o644);
    expect(await readyFiles(store)).toBe(0);
    expect((await store.verify({})).problems).toEqual([]);
  },
);

test("POOL-12: making a file ready gives way to verbs, and gets on all the same", async () => {
  const folder = temporaryFolder();
  const store = await createStore(join(folder, "store"), MAKES_READY, { makesReady: true });
  onTestFinished(() => store.close());
  await store.create({ database: "shop", from: makeNotes(join(folder, "notes.db"), 1_500_000) });
  await store.checkout(SHOP);
  const start = performance.now();
  while (performance.now() - start < 300) await store.touch(SHOP);
  // A stride of 2 MiB each time it has waited, and the one before.
  const bytesMax = (2 + (performance.now() - start) / LIMITS.giveWayMs) * 2 * 2 ** 20;
  expect(await readyFiles(store)).toBe(0);
  const temporary = join(store.path, "tmp");
  const unfinished = readdirSync(temporary, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("ready.db"));
  expect(unfinished.map((name) => statSync(join(temporary, name)).size <= bytesMax)).toEqual([true]);
  await untilReady(store, 1);
});
