import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import type { VersionNumber } from "#shared/ids.ts";
import { Lineages } from "#engine/branches/lineages.ts";
import { Catalog } from "#engine/catalog/catalog.ts";
import { systemRandomness } from "#engine/io/clock.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { LocalObjectStore } from "#engine/objects/local-object-store.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { materialise } from "#engine/segments/materialise.ts";
import { openStore, type Store } from "#engine/store.ts";
import { execute, makeShop, query, SHOP, temporaryFolder } from "../../support/stores.ts";

const NATIVE = loadNative();

interface Row {
  readonly key: number;
  readonly version: number;
  readonly level: number;
  readonly data: Buffer | string;
}

function withCatalog<T>(path: string, act: (catalog: Database.Database) => T): T {
  const catalog = new Database(join(path, "catalog.db"));
  try {
    return act(catalog);
  } finally {
    catalog.close();
  }
}

function rowsOf(path: string): Row[] {
  const sql = "SELECT key, (key / 16) & 268435455 AS version, key % 16 AS level, data FROM segments ORDER BY key";
  return withCatalog(path, (catalog) => catalog.prepare<[], Row>(sql).all());
}

const setData = (path: string, key: number, data: Buffer | string): void =>
  withCatalog(path, (catalog) => void catalog.prepare("UPDATE segments SET data = ? WHERE key = ?").run(data, key));

const fileOf = (path: string, { data }: Row): string => join(path, "segments", `${String(data)}-0.seg`);

/**
 * Reads versions whole, page by page, and against the newest; all of them unless told which. Returns how many had their
 * recorded checksum, and what was found damaged on the way.
 */
async function readAll(path: string, only?: readonly number[]): Promise<{ readonly checksums: number; readonly damaged: string[] }> {
  const catalog = Catalog.open(join(path, "catalog.db"), { disk: nodeDisk, native: NATIVE });
  const objects = new LocalObjectStore(nodeDisk, join(path, "segments"));
  const frames = new FrameCache(LIMITS.pageCacheBytes);
  const parts = { disk: nodeDisk, native: NATIVE, randomness: systemRandomness, objects, frames, temporaryFolder: join(path, "tmp") };
  const lineages = new Lineages(catalog, parts);
  const folder = temporaryFolder();
  let checksums = 0;
  try {
    const shop = catalog.databases.byName("shop");
    if (!shop) throw new Error("shop is there");
    const newest = shop.lastVersion as VersionNumber;
    for (const { number, checksum } of catalog.versions.page(shop.id, 0, 1_000)) {
      if (only && !only.includes(number)) continue;
      const order = {
        disk: nodeDisk,
        native: NATIVE,
        path: join(folder, `${number}`),
        journal: "wal",
        changeCounter: 1,
        checksum,
      } as const;
      const chain = await lineages.reader(shop.id, number);
      await materialise(chain, order);
      checksums += 1;
      const bytes = readFileSync(order.path);
      const page = new Uint8Array(chain.pageSize);
      for (let at = 2; at <= chain.pageCount; at += 3) {
        chain.readPages(at, page);
        expect(Buffer.compare(page, bytes.subarray((at - 1) * page.length, at * page.length))).toBe(0);
      }
      const differing = await lineages.differing(shop.id, number, newest);
      expect(differing.length > 0).toBe(number !== newest);
    }
    return { checksums, damaged: lineages.damaged.map(({ record }) => `v${record.to}.${record.level}`) };
  } finally {
    objects.close();
    catalog.close();
  }
}

/** Small changes, stored in the catalog, or larger ones, in files. */
async function makeMerged(kind: "inline" | "file"): Promise<{ readonly store: Store; readonly main: string; readonly versions: number }> {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  const bytes = kind === "inline" ? 20 : 700;
  execute(main, `INSERT INTO notes (text) SELECT hex(randomblob(${bytes})) FROM notes a, notes b LIMIT 400`);
  await store.checkpoint(SHOP);
  for (let turn = 0; turn < 9; turn += 1) {
    execute(
      main,
      `UPDATE notes SET text = hex(randomblob(${bytes})) WHERE id BETWEEN ${turn * 8} AND ${turn * 8 + (kind === "inline" ? 5 : 40)}`,
    );
    await store.checkpoint(SHOP);
  }
  await store.close();
  const merging = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 3 });
  await merging.gc({ dryRun: false });
  await merging.close();
  return { store, main, versions: rowsOf(store.path).filter(({ level }) => level === 0 || level === 15).length };
}

const isMerged = ({ level }: Row) => level > 0 && level < 15;

test("MERGE-17: a merged segment with any flipped byte is read around, in the catalog", async () => {
  const { store, versions } = await makeMerged("inline");
  const merged = rowsOf(store.path).filter((row) => isMerged(row) && typeof row.data !== "string");
  expect(merged.map(({ level }) => level)).toContain(2);
  expect((await readAll(store.path)).damaged).toEqual([]);
  for (const { key, version, level, data } of merged.filter(({ level: each }) => each === 2).concat(merged.slice(0, 1))) {
    for (let at = 0; at < data.length; at += Math.ceil(data.length / 30)) {
      const broken = Buffer.from(data as Buffer);
      broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
      setData(store.path, key, broken);
      expect(await readAll(store.path, [version]), `byte ${at} of ${data.length}`).toEqual({
        checksums: 1,
        damaged: [`v${version}.${level}`],
      });
    }
    for (const length of [0, 5, data.length - 1]) {
      setData(store.path, key, Buffer.from((data as Buffer).subarray(0, length)));
      expect((await readAll(store.path, [version])).damaged, `${length} bytes`).toEqual([`v${version}.${level}`]);
    }
    expect(await readAll(store.path)).toEqual({ checksums: versions, damaged: [`v${version}.${level}`] });
    setData(store.path, key, data);
  }
}, 120_000);

test("MERGE-17: a merged segment whose file is damaged, cut or gone is read around", async () => {
  const { store, versions } = await makeMerged("file");
  const [row] = rowsOf(store.path)
    .filter((each) => isMerged(each) && typeof each.data === "string")
    .toReversed();
  if (!row) throw new Error("a merged segment is in a file");
  const path = fileOf(store.path, row);
  const sound = readFileSync(path);
  const damaged = [`v${row.version}.${row.level}`];
  const look = () => readAll(store.path, [row.version]);
  for (let at = 0; at < sound.length; at += Math.ceil(sound.length / 20)) {
    const broken = Buffer.from(sound);
    broken[at] = (broken[at] ?? 0) ^ (1 << (at % 8));
    writeFileSync(path, broken);
    expect(await look(), `byte ${at} of ${sound.length}`).toEqual({ checksums: 1, damaged });
  }
  for (const length of [sound.length - 1, 100, 0]) {
    writeFileSync(path, sound);
    truncateSync(path, length);
    expect(await look(), `${length} bytes`).toEqual({ checksums: 1, damaged });
  }
  rmSync(path);
  expect(await readAll(store.path)).toEqual({ checksums: versions, damaged });
}, 120_000);

test("MERGE-17: all merged segments damaged at once are read around; one whose own parts are damaged too is refused", async () => {
  const { store, versions } = await makeMerged("inline");
  const rows = rowsOf(store.path);
  for (const { key, data } of rows.filter(isMerged)) setData(store.path, key, flip(data as Buffer));
  const { checksums, damaged } = await readAll(store.path);
  expect(checksums).toBe(versions);
  expect(damaged.length).toBeGreaterThan(3);
  const own = rows.find(({ version, level }) => version === 4 && level === 0);
  if (!own) throw new Error("v4 has a change of its own");
  setData(store.path, own.key, flip(own.data as Buffer));
  await expect(readAll(store.path)).rejects.toMatchObject({
    code: "segment-corrupt",
    details: { segment: "segment v4 from v3 (in the catalog)" },
  });
}, 60_000);

test("MERGE-17: a base that was written beside a version's own change is read around", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  execute(main, "UPDATE notes SET text = hex(randomblob(2000))");
  await store.checkpoint(SHOP);
  for (let turn = 1; turn <= 12; turn += 1) {
    execute(main, `UPDATE notes SET text = hex(randomblob(2000)) WHERE id % 5 = ${turn % 5}`);
    await store.checkpoint(SHOP);
  }
  await store.close();
  const merging = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 3 });
  await merging.gc({ dryRun: false });
  await merging.close();
  const rows = rowsOf(store.path);
  const base = rows.find(({ version, level }) => level === 15 && rows.some((row) => row.version === version && row.level === 0));
  if (!base) throw new Error("a base was written");
  const versions = rows.filter(({ level }) => level === 0).length + rows.filter((row) => row.level === 15 && row.version < 3).length;
  const path = fileOf(store.path, base);
  const sound = readFileSync(path);
  for (const damage of [() => writeFileSync(path, flip(sound)), () => truncateSync(path, 100), () => rmSync(path)]) {
    damage();
    expect(await readAll(store.path)).toEqual({ checksums: versions, damaged: [`v${base.version}.15`] });
  }
  const mending = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 3 });
  try {
    await mending.gc({ dryRun: false });
    expect((await mending.verify({})).problems).toEqual([]);
  } finally {
    await mending.close();
  }
}, 60_000);

test("MERGE-18: status and verify tell of a damaged merged segment, and gc makes it anew", async () => {
  const { store, main, versions } = await makeMerged("file");
  const before = rowsOf(store.path);
  const [row] = before.filter((each) => isMerged(each) && typeof each.data === "string").toReversed();
  if (!row) throw new Error("a merged segment is in a file");
  const path = fileOf(store.path, row);
  writeFileSync(path, flip(readFileSync(path)));
  const again = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 3 });
  try {
    expect((await again.status({})).warnings).toEqual([]);
    await again.rollback({ ...SHOP, to: "v3" });
    await again.rollback({ ...SHOP, to: `v${row.version}` });
    expect(query(main, "PRAGMA integrity_check")).toEqual([["ok"]]);
    expect((await again.status({})).warnings.join()).toMatch(
      /^The merged segment v\d+ from v\d+ \(.*\) is damaged\. What it says is read from others/,
    );
    const { problems } = await again.verify({});
    expect(problems.map(({ object }) => object)).toEqual([`shop v${row.version}`]);
    expect(problems[0]?.problem).toContain("nothing is lost");
    expect((await again.gc({ dryRun: true })).orphanFilesRemoved).toBe(0);
    expect((await again.verify({})).ok).toBe(false);
    const operations = again.lastOperation();
    await again.gc({ dryRun: false });
    expect((await again.verify({})).problems).toEqual([]);
    expect((await again.status({})).warnings).toEqual([]);
    expect(again.lastOperation()).toBe(operations);
  } finally {
    await again.close();
  }
  expect(rowsOf(store.path).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
  expect(await readAll(store.path)).toEqual({ checksums: versions, damaged: [] });
  expect(readdirSync(join(store.path, "segments"))).not.toContain(`${String(row.data)}-0.seg`);
}, 60_000);

test("MERGE-18: a damaged merged segment stays as long as what it was made of cannot be read", async () => {
  const { store } = await makeMerged("file");
  const rows = rowsOf(store.path);
  const highest = new Map(rows.map(({ version, level }) => [version, level]));
  const merged = rows.find((row) => row.level === 1 && highest.get(row.version) === 1 && typeof row.data === "string");
  const own = rows.find(({ version, level }) => version === (merged?.version ?? 0) && level === 0);
  if (!merged || !own) throw new Error("a version has both");
  const path = fileOf(store.path, merged);
  writeFileSync(path, flip(readFileSync(path)));
  const ownPath = fileOf(store.path, own);
  renameSync(ownPath, `${ownPath}.away`);
  const look = async (): Promise<string[]> => {
    const again = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 1_000 });
    await again.gc({ dryRun: false });
    await again.close();
    return rowsOf(store.path).map(({ key }) => String(key));
  };
  // Put back under its name below: gc takes what nothing names.
  const saved = readFileSync(`${ownPath}.away`);
  expect(await look()).toContain(String(merged.key));
  writeFileSync(ownPath, saved);
  expect(await look()).not.toContain(String(merged.key));
}, 60_000);

function flip(bytes: Buffer): Buffer {
  const broken = Buffer.from(bytes);
  const middle = Math.floor(bytes.length / 2);
  broken[middle] = (broken[middle] ?? 0) ^ 0x10;
  return broken;
}
