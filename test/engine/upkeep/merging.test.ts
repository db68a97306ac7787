import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { openStore, type Store, type StorePorts } from "#engine/store.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { execute, makeShop, query, SHOP } from "../../support/stores.ts";

const DAY = 24 * 3_600_000;

interface SegmentRow {
  readonly version: number;
  readonly level: number;
  readonly source: number | null;
  readonly file: string | null;
}

function lookAt<T>(store: Store, act: (catalog: Database.Database) => T): T {
  const catalog = new Database(join(store.path, "catalog.db"), { readonly: true });
  try {
    return act(catalog);
  } finally {
    catalog.close();
  }
}

function segmentsOf(store: Store): SegmentRow[] {
  const sql = `SELECT (key / 16) & 268435455 AS version, key % 16 AS level, from_version AS source,
    CASE WHEN typeof(data) = 'text' THEN data END AS file FROM segments ORDER BY key`;
  return lookAt(store, (catalog) => catalog.prepare<[], SegmentRow>(sql).all());
}

const mergedOf = (store: Store): SegmentRow[] => segmentsOf(store).filter(({ level }) => level > 0 && level < 15);
const settled = (store: Store, merged: number): Promise<void> =>
  vi.waitFor(() => expect(mergedOf(store).length).toBe(merged), { timeout: 20_000, interval: 20 });

/** Changes a row and makes a checkpoint of it, `count` times. */
async function checkpoints(store: Store, path: string, count: number, branch = "main"): Promise<void> {
  for (let turn = 1; turn <= count; turn += 1) {
    execute(
      path,
      `UPDATE notes SET text = text || ' ${turn}' WHERE id = ${1 + (turn % 50)}; INSERT INTO notes (text) VALUES ('new ${turn}')`,
    );
    await store.checkpoint({ database: "shop", branch });
  }
}

/** Content that does not compress, so that segments become files: first a new base, then changes of a fifth of it. */
async function noise(store: Store, path: string, count: number): Promise<void> {
  execute(path, "UPDATE notes SET text = hex(randomblob(2000))");
  await store.checkpoint(SHOP);
  for (let turn = 1; turn <= count; turn += 1) {
    execute(path, `UPDATE notes SET text = hex(randomblob(2000)) WHERE id % 5 = ${turn % 5}`);
    await store.checkpoint(SHOP);
  }
}

function filesOf(store: Store): string[] {
  return readdirSync(join(store.path, "segments"));
}

const FEW: StorePorts = { mergeFanIn: 3 };

async function contents(store: Store): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const version of (await store.history({ ...SHOP, limit: 500 })).versions) {
    const { path } = await store.openCheckpoint({ ...SHOP, at: `v${version.number}` });
    found.push({
      number: version.number,
      createdAt: version.createdAt,
      checksum: version.checksum,
      storedBytes: version.storedBytes,
      rows: query(path, "SELECT id, text FROM notes"),
    });
  }
  return found;
}

test("MERGE-7: checkpoints are merged in the background, and no version, time, checksum or size of its own changes", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  await checkpoints(store, main, 29);
  expect(mergedOf(store)).toEqual([]);
  const before = await contents(store);
  await store.close();
  const again = await openStore(store.path, { ownProcess: true }, FEW);
  try {
    await again.checkout(SHOP);
    execute(main, "DELETE FROM notes WHERE id = 3");
    await again.checkpoint(SHOP);
    // Thirty versions on the base: ten of level 1, three of level 2, one of level 3.
    await settled(again, 14);
    expect(mergedOf(again).filter(({ level }) => level === 3)).toMatchObject([{ version: 28, source: 1 }]);
    expect((await contents(again)).slice(1)).toEqual(before);
    const report = await again.verify({});
    expect({ problems: report.problems, segments: report.segments }).toEqual({ problems: [], segments: 31 + 14 });
    const { parts } = await again.usage({});
    const ofSegments = parts.filter(({ name }) => ["unique", "shared", "history", "trash", "garbage"].includes(name));
    expect(ofSegments.reduce((sum, { storedBytes }) => sum + storedBytes, 0)).toBe(
      lookAt(again, (catalog) => catalog.prepare("SELECT sum(coalesce(bytes, length(data))) FROM segments").pluck().get()),
    );
  } finally {
    await again.close();
  }
}, 60_000);

test("MERGE-7: branches share the merged segments of what they descend from, and get their own beyond", async () => {
  const { store, main } = await makeShop({}, FEW);
  await checkpoints(store, main, 10);
  await settled(store, 4);
  await store.fork({ ...SHOP, newBranch: "side" });
  const side = (await store.checkout({ database: "shop", branch: "side" })).path;
  await checkpoints(store, side, 8, "side");
  await checkpoints(store, main, 8);
  // Depth 18 on both: levels 1 and 2 at 12, 15 and 18, each branch its own.
  await settled(store, 4 + 2 * 4);
  expect((await store.verify({})).problems).toEqual([]);
  expect(query(side, "SELECT count(*) FROM notes")).toEqual([[118]]);
}, 60_000);

test("MERGE-8: nothing is read or written while nothing is committed", async () => {
  const counting = new FaultyDisk(nodeDisk);
  const { store, main } = await makeShop({}, { ...FEW, disk: counting.disk });
  await checkpoints(store, main, 9);
  await settled(store, 4);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const looks = () => lookAt(store, (catalog) => catalog.pragma("data_version", { simple: true }));
  const before = [...counting.counts];
  const wal = statSync(join(store.path, "catalog.db-wal")).mtimeMs;
  expect(looks()).toBeDefined();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect([...counting.counts]).toEqual(before);
  expect(statSync(join(store.path, "catalog.db-wal")).mtimeMs).toBe(wal);
}, 60_000);

test("MERGE-9: of two processes that merge the same ranges one adds each, and the other leaves nothing behind", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  await noise(store, main, 13);
  const [one, two] = [await openStore(store.path, { ownProcess: true }, FEW), await openStore(store.path, { ownProcess: true }, FEW)];
  try {
    // Collecting takes turns, what comes after it does not.
    await Promise.all([one.gc({ dryRun: false }), two.gc({ dryRun: false }), one.gc({ dryRun: false })]);
    // Most rows change: what is not merged became a base.
    expect(segmentsOf(one).filter(({ level }) => level > 0).length).toBeGreaterThan(3);
    const named = segmentsOf(one).flatMap(({ file }) => (file === null ? [] : [`${file}-0.seg`]));
    expect(named.length).toBeGreaterThan(5);
    expect(filesOf(one).toSorted()).toEqual(named.toSorted());
    expect((await two.verify({})).problems).toEqual([]);
  } finally {
    await one.close();
    await two.close();
  }
}, 60_000);

test("MERGE-10: a purge takes the merged segments of the versions it removes, and no other's chain suffers", async () => {
  let now = Date.UTC(2026, 10, 30);
  const { store, main } = await makeShop({}, { ...FEW, clock: { now: () => now } });
  await checkpoints(store, main, 7);
  await store.fork({ ...SHOP, newBranch: "gone" });
  await checkpoints(store, (await store.checkout({ database: "shop", branch: "gone" })).path, 12, "gone");
  await store.fork({ ...SHOP, newBranch: "stays" });
  const stays = (await store.checkout({ database: "shop", branch: "stays" })).path;
  await checkpoints(store, stays, 12, "stays");
  await settled(store, 2 + 2 * 6);
  const rows = query(stays, "SELECT id, text FROM notes");
  await store.destroy({ database: "shop", branch: "gone" });
  now += 30 * DAY;
  const report = await store.gc({ dryRun: false, purgeAllTrash: true });
  expect({ versions: report.versionsRemoved, segments: report.segmentsRemoved }).toEqual({ versions: 12, segments: 18 });
  expect(mergedOf(store).length).toBe(2 + 6);
  expect((await store.verify({})).problems).toEqual([]);
  const { path } = await store.openCheckpoint({ database: "shop", branch: "stays", at: "auto-32" });
  expect(query(path, "SELECT id, text FROM notes")).toEqual(rows);
}, 60_000);

test("MERGE-11: closing a store ends small merges, gives large ones up, and leaves nothing behind", async () => {
  const { store, main } = await makeShop({}, FEW);
  await checkpoints(store, main, 3);
  await store.close();
  expect(mergedOf(store).length).toBe(1);
  const again = await openStore(store.path, { ownProcess: true }, FEW);
  await again.checkout(SHOP);
  execute(main, "INSERT INTO notes (text) SELECT hex(randomblob(1000)) FROM notes a, notes b LIMIT 2000");
  await again.checkpoint(SHOP);
  for (let turn = 0; turn < 3; turn += 1) {
    execute(main, `UPDATE notes SET text = hex(randomblob(1000)) WHERE id % 7 = ${turn}`);
    await again.checkpoint(SHOP);
  }
  await again.close();
  expect(readdirSync(join(store.path, "tmp"))).toEqual([]);
  const named = segmentsOf(store).flatMap(({ file }) => (file === null ? [] : [`${file}-0.seg`]));
  expect(filesOf(store).toSorted()).toEqual(named.toSorted());
  // What was given up is made up for.
  const third = await openStore(store.path, { ownProcess: true }, FEW);
  await third.gc({ dryRun: false });
  expect(segmentsOf(third).filter(({ version, level }) => version === 8 && level > 0)).toHaveLength(1);
  expect((await third.verify({})).problems).toEqual([]);
  await third.close();
}, 60_000);

test("MERGE-12: a merge that fails fails no verb, is told by status, and is made up for", async () => {
  const faulty = new FaultyDisk(nodeDisk);
  const { store, main } = await makeShop({}, { ...FEW, disk: faulty.disk });
  await noise(store, main, 2);
  // The third checkpoint's own segment is written; the merge that it brings finds the disk full.
  execute(main, "UPDATE notes SET text = hex(randomblob(2000)) WHERE id % 5 = 3");
  await store.checkpoint(SHOP);
  faulty.fail({ on: "space", from: 1, code: "disk-full" });
  await vi.waitFor(async () => expect((await store.status({})).warnings.join()).toContain("Chains are not being merged"), {
    timeout: 10_000,
  });
  expect(mergedOf(store)).toEqual([]);
  await store.fork({ ...SHOP, newBranch: "works" });
  faulty.fail(null);
  await store.gc({ dryRun: false });
  expect(segmentsOf(store).filter(({ version, level }) => version === 5 && level > 0)).toHaveLength(1);
  expect((await store.status({})).warnings).toEqual([]);
  expect((await store.verify({})).problems).toEqual([]);
}, 60_000);

test("MERGE-13: once merged changes cost half of a base, a base is written beside the version's own change", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  await noise(store, main, 6);
  const before = await contents(store);
  await store.close();
  const again = await openStore(store.path, { ownProcess: true }, FEW);
  try {
    await again.gc({ dryRun: false });
    const levels = Map.groupBy(segmentsOf(again), ({ version }) => version);
    const rewritten = [...levels.values()].filter((segments) => segments.length > 1 && segments.at(-1)?.level === 15);
    // Three changes of a fifth each, twice.
    expect(rewritten.map((segments) => segments.map(({ version, level }) => ({ version, level })))).toEqual(
      [5, 8].map((version) => [0, 15].map((level) => ({ version, level }))),
    );
    expect(await contents(again)).toEqual(before);
    expect((await again.verify({})).problems).toEqual([]);
  } finally {
    await again.close();
  }
}, 60_000);

test("MERGE-14: gc merges what short-lived processes left, oldest first, and finds nothing to do the second time", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  await checkpoints(store, main, 40);
  await store.close();
  const again = await openStore(store.path, { ownProcess: true }, FEW);
  try {
    const before = lookAt(again, (catalog) => catalog.prepare("SELECT max(id) FROM operations").pluck().get());
    await again.gc({ dryRun: true });
    expect(mergedOf(again)).toEqual([]);
    await again.gc({ dryRun: false });
    // Depth 40: 13 of level 1, 4 of level 2, 1 of level 3. No operation was made.
    expect(mergedOf(again).length).toBe(18);
    expect(lookAt(again, (catalog) => catalog.prepare("SELECT max(id) FROM operations").pluck().get())).toBe(before);
    await again.gc({ dryRun: false });
    expect(mergedOf(again).length).toBe(18);
    expect((await again.verify({})).problems).toEqual([]);
  } finally {
    await again.close();
  }
}, 60_000);

test("MERGE-15: verify finds any flipped bit of a merged segment, in the catalog and in a file, and names its version", async () => {
  const { store, main } = await makeShop({}, FEW);
  await checkpoints(store, main, 9);
  await settled(store, 4);
  const [inline] = mergedOf(store).filter(({ level }) => level === 2);
  await store.close();
  const problems = async (): Promise<string> => {
    const again = await openStore(store.path, { ownProcess: true }, FEW);
    try {
      return (await again.verify({})).problems.map((problem) => `${problem.object}: ${problem.problem}`).join("\n");
    } finally {
      await again.close();
    }
  };
  expect(await problems()).toBe("");
  const key = (2 ** 28 + (inline?.version ?? 0)) * 16 + 2;
  const catalog = new Database(join(store.path, "catalog.db"));
  const data = catalog.prepare<[number], Buffer>("SELECT data FROM segments WHERE key = ?").pluck().get(key) ?? Buffer.alloc(0);
  expect(data.length).toBeGreaterThan(50);
  for (let at = 0; at < data.length; at += Math.ceil(data.length / 25)) {
    const broken = Buffer.from(data);
    broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
    catalog.prepare("UPDATE segments SET data = ? WHERE key = ?").run(broken, key);
    expect(await problems(), `byte ${at}`).toContain(`shop v${inline?.version}: `);
  }
  catalog.prepare("UPDATE segments SET data = ? WHERE key = ?").run(data, key);
  // One that is sound in itself, but of another range.
  catalog.prepare("UPDATE segments SET from_version = from_version + 1 WHERE key = ?").run(key);
  expect(await problems()).toContain(`shop v${inline?.version}: `);
  catalog.prepare("UPDATE segments SET from_version = from_version - 1 WHERE key = ?").run(key);
  catalog.close();
  expect(await problems()).toBe("");
}, 120_000);

test("MERGE-15: verify finds any flipped bit of a merged segment's file", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  execute(main, "INSERT INTO notes (text) SELECT hex(randomblob(500)) FROM notes a, notes b LIMIT 1500");
  await store.checkpoint(SHOP);
  for (let turn = 0; turn < 4; turn += 1) {
    execute(main, `UPDATE notes SET text = hex(randomblob(500)) WHERE id BETWEEN ${200 + turn * 20} AND ${250 + turn * 20}`);
    await store.checkpoint(SHOP);
  }
  await store.close();
  const again = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 2 });
  await again.gc({ dryRun: false });
  const merged = mergedOf(again).find(({ file }) => file !== null);
  await again.close();
  const path = join(store.path, "segments", `${merged?.file}-0.seg`);
  const sound = readFileSync(path);
  for (let at = 0; at < sound.length; at += Math.ceil(sound.length / 20)) {
    const broken = Buffer.from(sound);
    broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(path, broken);
    const look = await openStore(store.path, { ownProcess: true }, FEW);
    const problems = (await look.verify({})).problems;
    await look.close();
    expect(
      problems.map(({ object }) => object),
      `byte ${at}`,
    ).toContain(`shop v${merged?.version}`);
  }
}, 60_000);
