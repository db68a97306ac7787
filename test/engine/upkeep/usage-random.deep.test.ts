/** Random stores, and what usage says of them against what comes of doing it. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { OperationId, VersionNumber } from "#shared/ids.ts";
import { Catalog } from "#engine/catalog/catalog.ts";
import { versionsOf } from "#engine/catalog/claims.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { createStore, EngineError, openStore, type Store } from "#engine/store.ts";
import { freeByDoing, reachedBytes, segmentBytes, walkFolder } from "../../support/usage-model.ts";
import { makeNotes, temporaryFolder } from "../../support/stores.ts";

const ROUNDS = Number(process.env["COPPICE_USAGE_ROUNDS"] ?? 4);
const SEED = Number(process.env["COPPICE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** Mulberry32. */
function randomness(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const MERGING = { mergeFanIn: 3 };
const NAMES = ["main", "a", "b", "c", "d", "e"];
const DATABASES = ["shop", "shop", "shop", "other"];

/** A write of a few hundred bytes to many kilobytes that do not compress: inline segments and files. */
function write(path: string, random: (below: number) => number): void {
  const database = new Database(path);
  try {
    const update = database.prepare("UPDATE notes SET text = hex(randomblob(?)) WHERE id = ?");
    for (let row = 0; row <= random(4); row += 1) update.run(random(3) === 0 ? 30_000 : 100, 1 + random(100));
  } finally {
    database.close();
  }
}

async function step(store: Store, random: (below: number) => number): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const database = pick(DATABASES);
  const { branches } = await store.branches({ database });
  const on = { database, branch: pick(branches).name };
  const force = true;
  switch (random(20)) {
    case 0:
    case 1:
    case 2:
      await store.fork({ ...on, newBranch: pick(NAMES), withUnsaved: random(2) === 0 });
      return;
    case 3:
    case 4:
      await store.fork({ ...on, newBranch: pick(NAMES), at: `v${1 + random(branches.length * 4)}` });
      return;
    case 5:
    case 6:
      await store.rollback({ ...on, to: `v${1 + random(branches.length * 4)}`, force });
      return;
    case 7:
      await store.promote({ database, source: on.branch, onto: pick(branches).name, force });
      return;
    case 8:
      if (on.branch !== "main") await store.destroy({ ...on, force });
      return;
    case 9:
      await store.undo({ database });
      return;
    case 10:
      await store.redo({ database });
      return;
    case 11:
      await store.protect({ ...on, protected: random(2) === 0 });
      return;
    case 12:
      await store.deleteCheckpoint({ ...on, name: `c${random(20)}` });
      return;
    case 13:
      if (random(4) === 0) await store.gc({ dryRun: false, purgeAllTrash: random(2) === 0 });
      return;
    default: {
      const { path } = await store.checkout(on);
      write(path, random);
      if (random(4) > 0) await store.checkpoint({ ...on, ...(random(2) === 0 ? {} : { name: `c${random(20)}` }) });
    }
  }
}

/** Nobody undoes what made the databases: it was somebody else. */
async function randomStore(random: (below: number) => number): Promise<Store> {
  const folder = temporaryFolder();
  const ports = MERGING;
  const made = await createStore(join(folder, "store"), { actor: "maker", ownProcess: true }, ports);
  await made.create({ database: "shop", from: makeNotes(join(folder, "notes.db")) });
  await made.create({ database: "other", from: makeNotes(join(folder, "more.db"), 2_000) });
  await made.close();
  const store = await openStore(made.path, { actor: "anna", ownProcess: true }, ports);
  onTestFinished(() => store.close());
  for (let steps = 50 + random(80); steps > 0; steps -= 1)
    await step(store, random).catch((error: unknown) => {
      if (!(error instanceof EngineError)) throw error;
    });
  // Merges what is due: segments that came meanwhile would be no mistake of usage's.
  await store.gc({ dryRun: false });
  return store;
}

test(`USAGE-3: of random stores, each branch's bytes are what comes of purging it, and of walking up from its refs (seed ${SEED})`, async () => {
  const random = randomness(SEED);
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = await randomStore(random);
    const folder = temporaryFolder();
    const view = await store.usage({});
    let inUse = 0;
    for (const [index, row] of view.rows.entries()) {
      const branch = { database: row.database, branch: row.branch };
      expect(await store.freed({ branches: [branch] }), JSON.stringify(branch)).toMatchObject({
        segmentBytes: row.uniqueBytes,
        uniqueBytes: row.uniqueBytes,
        amongThemBytes: 0,
      });
      expect(row.uniqueBytes, JSON.stringify(branch)).toBe(await freeByDoing(store, join(folder, `${index}`), [branch], MERGING));
      // What undo alone keeps goes with the branch too, but is nothing that its refs stand on.
      const own = reachedBytes(store.path, branch) - row.sharedBytes;
      expect(own).toBeGreaterThanOrEqual(0);
      expect(own).toBeLessThanOrEqual(row.uniqueBytes);
      inUse += own;
    }
    const [live, all, total] = [reachedBytes(store.path, "live"), reachedBytes(store.path, "all"), segmentBytes(store.path)];
    expect(view.parts.slice(0, 5).map(({ name, storedBytes }) => [name, storedBytes])).toEqual([
      ["unique", inUse],
      ["shared", live - inUse],
      ["history", total - all],
      ["trash", all - live],
      ["garbage", 0],
    ]);
    await store.close();
  }
}, 600_000);

test(`USAGE-4: of random stores, a selection frees what was predicted (seed ${SEED})`, async () => {
  const random = randomness(SEED + 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = await randomStore(random);
    const folder = temporaryFolder();
    const { rows } = await store.usage({});
    for (let selection = 0; selection < 4; selection += 1) {
      const branches = rows.filter(() => random(2) === 0).map(({ database, branch }) => ({ database, branch }));
      const freed = await store.freed({ branches });
      expect(freed.segmentBytes, JSON.stringify(branches)).toBe(await freeByDoing(store, join(folder, `${selection}`), branches, MERGING));
      expect(freed.uniqueBytes + freed.amongThemBytes).toBe(freed.segmentBytes);
      expect(freed.amongThemBytes).toBeGreaterThanOrEqual(0);
    }
    expect((await store.usage({})).storedBytes).toBe(walkFolder(store.path).bytes);
    expect((await store.verify({})).problems).toEqual([]);
    await store.close();
  }
}, 600_000);

test(`GARBAGE-6: of random stores, a purge leaves whatever can still be undone or redone its versions (seed ${SEED})`, async () => {
  const random = randomness(SEED + 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = await randomStore(random);
    const { rows } = await store.usage({});
    for (const { database, branch } of rows) if (random(3) === 0) await store.destroy({ database, branch, force: true });
    const purge = (await store.trash({})).filter(() => random(2) === 0).map(({ kind, id }) => ({ kind, id }));
    const { strandedOperations } = await store.gc({ dryRun: false, purge });
    expectUndoable(store, new Set(strandedOperations));
    while (await goes(store.undo({})));
    while (random(8) > 0 && (await goes(store.redo({}))));
    expect((await store.verify({})).problems).toEqual([]);
    await store.close();
  }
}, 600_000);

/** False when it was refused, as it may be: nothing is left, or an operation stands on it, perhaps one that is permanent. */
async function goes(act: Promise<unknown>): Promise<boolean> {
  const code = await act.then(
    () => "done",
    (error: unknown) => (error instanceof EngineError ? error.code : String(error)),
  );
  expect(["done", "nothing-to-undo", "undo-blocked", "name-taken"]).toContain(code);
  return code === "done";
}

/** Every operation that no purge made permanent finds all that its undo or redo needs. */
function expectUndoable(store: Store, stranded: ReadonlySet<number>): void {
  const catalog = Catalog.open(join(store.path, "catalog.db"), { disk: nodeDisk, native: loadNative() });
  try {
    expect(checkIntegrity(catalog)).toEqual([]);
    for (const operation of catalog.operations.forwards({}, 0 as OperationId)) {
      if (stranded.has(operation.id)) expect(operation.state).toBe("permanent");
      const { database } = operation;
      if (operation.state === "permanent" || operation.reverses !== null || database === null) continue;
      for (const version of versionsOf(operation))
        expect(catalog.versions.byNumber(database, version as VersionNumber), `v${version} of operation ${operation.id}`).not.toBeNull();
      for (const move of operation.moves)
        if ("branch" in move) expect(catalog.branches.byId(move.branch), `branch of operation ${operation.id}`).not.toBeNull();
    }
  } finally {
    catalog.close();
  }
}
