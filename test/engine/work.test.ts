/** How much work verbs may do: counted, so that it is the same on every machine. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createStore, type Store } from "#engine/store.ts";
import { execute, makeNotes, SHOP, temporaryFolder } from "../support/stores.ts";
import { NO_WORK, WorkCounter, type Work } from "../support/work-counter.ts";

const PAGE_BYTES = 4096;
/** About 1.2 MB: a chain of many frames, and more than a reader may take when one page changed. */
const ROWS = 40_000;
const DATABASE_BYTES_MIN = 1_000_000;

interface Shop {
  readonly store: Store;
  readonly counter: WorkCounter;
  /** Path of the checkout of main. */
  readonly main: string;
}

async function makeShop(rows = ROWS): Promise<Shop> {
  const folder = temporaryFolder();
  const counter = new WorkCounter();
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true }, counter.ports);
  onTestFinished(() => store.close());
  await store.create({ database: "shop", from: makeNotes(join(folder, "notes.db"), rows) });
  const { path } = await store.checkout({ ...SHOP });
  return { store, counter, main: path };
}

/** What was done apart from the catalog's statements. */
function besideCatalog({
  commits,
  lazyCommits,
  statements,
  rows,
  ...rest
}: Work): Omit<Work, "commits" | "lazyCommits" | "statements" | "rows"> {
  expect([commits, lazyCommits, statements, rows].every((count) => count >= 0)).toBe(true);
  return rest;
}

const NOTHING_BESIDE = besideCatalog(NO_WORK);

test("WORK-1: a fork is one durable commit, touches no file, and costs the same among thousands", async () => {
  const { store, counter } = await makeShop();
  await store.checkpoint({ ...SHOP, name: "start" });
  const forks: Work[] = [];
  for (const name of ["a", "b"]) forks.push(await counter.of(() => store.fork({ ...SHOP, newBranch: name })));
  forks.push(await counter.of(() => store.fork({ ...SHOP, newBranch: "c", at: "start" })));
  await store.fork({ ...SHOP, newBranch: "many", count: 3_000 });
  forks.push(await counter.of(() => store.fork({ ...SHOP, newBranch: "d" })));
  expect(counter.touched(store.path)).toEqual([]);
  for (const work of forks) {
    expect(work).toMatchObject({ commits: 1, lazyCommits: 0 });
    expect(besideCatalog(work)).toEqual(NOTHING_BESIDE);
    expect(work.statements).toBeLessThan(50);
    expect(work.rows).toBeLessThan(50);
  }
  expect(forks[3]).toEqual(forks[1]);
  const hundred = await counter.of(() => store.fork({ ...SHOP, newBranch: "hundred", count: 100 }));
  expect(hundred.commits).toBe(1);
  expect(besideCatalog(hundred)).toEqual(NOTHING_BESIDE);
});

test("WORK-1: forks that are asked for together share commits", async () => {
  const { store, counter } = await makeShop(100);
  const work = await counter.of(() =>
    Promise.all(Array.from({ length: 64 }, (_, index) => store.fork({ ...SHOP, newBranch: `f-${index}` }))),
  );
  expect(work.commits).toBeLessThanOrEqual(2);
});

test("WORK-2: a checkout that is clean is found so without opening a file, and nothing is committed", async () => {
  const { store, counter } = await makeShop();
  const work = await counter.of(() => store.checkout({ ...SHOP }));
  expect(work).toMatchObject({ commits: 0, lazyCommits: 0 });
  expect(besideCatalog(work)).toEqual(NOTHING_BESIDE);
  expect(counter.touched(store.path)).toEqual([]);
  expect(work.statements).toBeLessThan(25);
});

test("WORK-3: a checkpoint of one changed row is one durable commit, with its pages inside; it reads what changed", async () => {
  const { store, counter, main } = await makeShop();
  execute(main, "UPDATE notes SET text = 'one' WHERE id = 5");
  const first = await counter.of(() => store.checkpoint({ ...SHOP, name: "first" }));
  execute(main, "UPDATE notes SET text = 'two' WHERE id = 5");
  const second = await counter.of(() => store.checkpoint({ ...SHOP, name: "second" }));
  for (const work of [first, second]) {
    expect(work).toMatchObject({ commits: 1, lazyCommits: 0, syncs: 0, filesCreated: 0, filesRenamed: 0, bytesWritten: 0 });
    // A frame below it may be needed to encode against: never the whole database.
    expect(work.bytesRead).toBeLessThan(DATABASE_BYTES_MIN / 10);
    expect(work.pagesHashed).toBeLessThanOrEqual(64);
    expect(work.framesDecoded).toBeLessThanOrEqual(2);
  }
});

test("WORK-3: a checkpoint of nothing new decodes and hashes no page", async () => {
  const { store, counter } = await makeShop();
  const work = await counter.of(() => store.checkpoint({ ...SHOP, name: "again" }));
  expect(work).toMatchObject({ syncs: 0, filesCreated: 0, bytesWritten: 0, pagesHashed: 0, framesDecoded: 0 });
  expect(work.commits).toBeLessThanOrEqual(1);
  expect(work.bytesRead).toBeLessThan(PAGE_BYTES);
});

test("WORK-4: rollback, undo and promotion are one durable commit and a patch of the pages that differ; no segment is written", async () => {
  const { store, counter, main } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "other" });
  execute(main, "UPDATE notes SET text = 'one' WHERE id = 5");
  await store.checkpoint({ ...SHOP, name: "one" });
  const moves = [
    await counter.of(() => store.rollback({ ...SHOP, to: "v1" })),
    await counter.of(() => store.undo({})),
    await counter.of(() => store.promote({ database: "shop", source: "other", onto: "main" })),
  ];
  for (const work of moves) {
    expect(work).toMatchObject({ commits: 1, syncs: 0, filesCreated: 1, filesCloned: 0, filesCopied: 0 });
    // Pages of the patch, once in its WAL and once in the file, where page 1 is among them.
    expect(work.bytesWritten).toBeLessThan(10 * PAGE_BYTES);
    expect(work.bytesRead).toBeLessThan(DATABASE_BYTES_MIN / 10);
  }
  expect(counter.touched(store.path).filter((path) => path.startsWith("segments/"))).toEqual([]);
});

test("WORK-4: without a file there is nothing but the commit", async () => {
  const { store, counter } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  await store.fork({ ...SHOP, newBranch: "b" });
  const acts = [
    () => store.rollback({ database: "shop", branch: "a", to: "v1" }),
    () => store.promote({ database: "shop", source: "b", onto: "a" }),
    () => store.protect({ database: "shop", branch: "a", protected: true }),
    () => store.destroy({ database: "shop", branch: "b" }),
    () => store.undo({}),
  ];
  for (const act of acts) {
    const work = await counter.of(act);
    expect(work.commits).toBeLessThanOrEqual(1);
    expect(besideCatalog(work)).toEqual(NOTHING_BESIDE);
    expect(counter.touched(store.path)).toEqual([]);
  }
});

test("WORK-5: one page of a list, the state of the store and the last operation cost the same whatever there is", async () => {
  const { store, counter } = await makeShop(100);
  await store.fork({ ...SHOP, newBranch: "few", count: 200 });
  const ask = async () => [
    await counter.of(() => store.branches({ database: "shop", limit: 50 })),
    await counter.of(() => store.status({})),
    await counter.of(() => store.operations({ limit: 50 })),
    await counter.of(() => store.lastOperation()),
  ];
  const few = await ask();
  await store.fork({ ...SHOP, newBranch: "many", count: 5_000 });
  const many = await ask();
  expect(many[0]).toEqual(few[0]);
  expect(many[1]).toEqual(few[1]);
  expect(many[3]).toEqual(few[3]);
  // A row may bring a few of what hangs on it: never the list.
  expect(many[0]?.rows).toBeLessThan(50 * 8);
  expect(many[1]?.rows).toBeLessThan(20);
  expect(many[2]?.rows).toBeLessThan(50 * 8);
  expect(many[3]).toEqual({ ...NO_WORK, statements: 1, rows: 1 });
});

test("WORK-6: an open store that nobody asks anything does nothing", async () => {
  const { store, counter } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  // What a verb left to be done afterwards is done first.
  let settled: Work;
  let looks = 0;
  do {
    settled = await counter.of(() => sleep(250));
    looks += 1;
  } while (looks < 40 && JSON.stringify(settled) !== JSON.stringify(NO_WORK));
  expect(await counter.of(() => sleep(1_000))).toEqual(NO_WORK);
});

test("WORK-7: the first checkout of a fork is the clean file of its parent: no page is decoded", async () => {
  const { store, counter } = await makeShop();
  await store.fork({ ...SHOP, newBranch: "a" });
  const work = await counter.of(() => store.checkout({ database: "shop", branch: "a" }));
  expect(work).toMatchObject({ commits: 0, framesDecoded: 0, pagesHashed: 0, syncs: 0 });
  expect(work.bytesWritten).toBeLessThanOrEqual(PAGE_BYTES);
});
