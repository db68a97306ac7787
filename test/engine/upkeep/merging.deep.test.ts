/** Long histories and large pages, made through the engine's parts: a client and its file would take minutes. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { BranchId, DatabaseId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { Lineages } from "#engine/branches/lineages.ts";
import { WritersGate } from "#engine/branches/writers-gate.ts";
import { Catalog } from "#engine/catalog/catalog.ts";
import { checkIntegrity } from "#engine/catalog/integrity.ts";
import { BASE_LEVEL, type NewVersion, type OperationDraft } from "#engine/catalog/records.ts";
import { systemRandomness } from "#engine/io/clock.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { ProcessLock } from "#engine/io/process-lock.ts";
import { LocalObjectStore } from "#engine/objects/local-object-store.ts";
import { encodeDelta } from "#engine/segments/encode-delta.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { mergeSegments } from "#engine/segments/merge-segments.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
import { writeBase, type WrittenVersion } from "#engine/segments/write-base.ts";
import { openStore } from "#engine/store.ts";
import { Activity } from "#engine/upkeep/activity.ts";
import { Merger } from "#engine/upkeep/merger.ts";
import { editPage, makePage, makeRandom } from "../../support/random-pages.ts";
import { SegmentVersions, sourceOf } from "../../support/segment-versions.ts";

const VERSIONS = Number(process.env["COPPICE_MERGE_VERSIONS"] ?? 10_000);
const MEGABYTES = Number(process.env["COPPICE_MERGE_MEGABYTES"] ?? 20);
const PAGE_SIZE = 4096;
const MAIN = 1 as BranchId;

interface World {
  readonly root: string;
  readonly catalog: Catalog;
  readonly lineages: Lineages;
  readonly merger: Merger;
  readonly segments: ConstructorParameters<typeof Lineages>[1];
}

function makeWorld(fanIn: number): World {
  const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "coppice-merging-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const ports = { disk: nodeDisk, native: loadNative() };
  for (const name of ["segments", "tmp/test"]) nodeDisk.makeDirectory(join(root, name));
  Catalog.create(join(root, "catalog.db"), ports, { uid: systemRandomness.bytes(16), at: 0 });
  const catalog = Catalog.open(join(root, "catalog.db"), ports);
  const segments = {
    ...ports,
    randomness: systemRandomness,
    objects: new LocalObjectStore(nodeDisk, join(root, "segments")),
    frames: new FrameCache(LIMITS.pageCacheBytes),
    temporaryFolder: join(root, "tmp/test"),
  };
  const lineages = new Lineages(catalog, segments);
  const writers = new WritersGate(() => ProcessLock.open(join(root, "writers.lock"), ports));
  return { root, catalog, lineages, segments, merger: new Merger({ catalog, segments, lineages, writers }, new Activity(), fanIn) };
}

let time = Date.UTC(2026, 10, 30);
function draft(rest: Partial<OperationDraft> & Pick<OperationDraft, "kind">): OperationDraft {
  time += 1000;
  return { uid: systemRandomness.bytes(16), at: time, actor: "ada", database: null, branch: null, moves: [], ...rest };
}

function newVersion(written: WrittenVersion, parent: VersionNumber | null): NewVersion {
  return {
    ...written,
    parent,
    kind: parent === null ? "import" : "checkpoint",
    branch: parent === null ? null : MAIN,
    message: null,
    meta: {},
  };
}

async function importPages(world: World, pages: readonly Uint8Array[]): Promise<WrittenVersion> {
  const source = {
    pageSize: PAGE_SIZE,
    pageCount: pages.length,
    readPages: (first: number, buffer: Uint8Array) => {
      for (let at = 0; at < buffer.length / PAGE_SIZE; at += 1)
        buffer.set(pages[first - 1 + at] ?? new Uint8Array(PAGE_SIZE), at * PAGE_SIZE);
    },
  };
  const base = await writeBase(source, world.segments);
  await world.catalog.commit(
    draft({
      kind: "create-database",
      newDatabase: { uid: systemRandomness.bytes(16), name: "big", journal: "wal", source: null },
      versions: [newVersion(base, null)],
      newBranches: { names: ["main"], head: { new: 0 }, parent: null, forkVersion: null, ttlMs: null, meta: {} },
    }),
  );
  return base;
}

async function* onePage(pageNumber: number, bytes: Uint8Array) {
  yield { numbers: Uint32Array.of(pageNumber), bytes };
}

async function checkpointPage(
  world: World,
  head: VersionNumber,
  checksum: Uint8Array,
  pageNumber: number,
  page: Uint8Array,
): Promise<WrittenVersion> {
  const database = 1 as DatabaseId;
  const previous = await world.lineages.reader(database, head);
  const change = {
    previous,
    previousChecksum: checksum,
    pageSize: PAGE_SIZE,
    pageCount: previous.pageCount,
    pages: onePage(pageNumber, page),
  };
  const written = await encodeDelta(change, world.segments);
  if (!written) throw new Error("the page changed");
  await world.catalog.commit(
    draft({
      kind: "checkpoint",
      database,
      branch: MAIN,
      versions: [newVersion(written, head)],
      moves: [{ ref: "head", branch: MAIN, before: head, after: { new: 0 } }],
    }),
  );
  world.merger.note(database, (head + 1) as VersionNumber, head);
  return written;
}

test("MERGE-16: ten thousand checkpoints leave chains of at most 46 deltas, write little more than themselves, and verify", async () => {
  const world = makeWorld(Number(process.env["COPPICE_MERGE_FAN_IN"] ?? LIMITS.mergeFanIn));
  const random = makeRandom(1_600);
  const pages = Array.from({ length: (MEGABYTES * 1024 * 1024) / PAGE_SIZE }, (_, index) => makePage(random, PAGE_SIZE, index + 1));
  let { checksum } = await importPages(world, pages);
  const startedAt = performance.now();
  for (let head = 1; head <= VERSIONS; head += 1) {
    // Two of three changes are to some hot pages, as in a database that is used.
    const pageNumber = 1 + (head % 3 === 0 ? random(pages.length) : random(20));
    const old = pages[pageNumber - 1] ?? new Uint8Array(PAGE_SIZE);
    let page = old;
    while (Buffer.compare(page, old) === 0) page = editPage(random, old, pageNumber);
    pages[pageNumber - 1] = page;
    ({ checksum } = await checkpointPage(world, head as VersionNumber, checksum, pageNumber, page));
  }
  await world.merger.settled();
  expect(world.merger.problem).toBeNull();
  const seconds = (performance.now() - startedAt) / 1000;
  const { versions } = world.catalog;
  const database = 1 as DatabaseId;
  const levels = new Map<number, { count: number; bytes: number }>();
  for (const { level, bytes } of versions.segments(database)) {
    const sum = levels.get(level) ?? { count: 0, bytes: 0 };
    levels.set(level, { count: sum.count + 1, bytes: sum.bytes + bytes });
  }
  const figures = [...levels]
    .toSorted(([a], [b]) => a - b)
    .map(([level, { count, bytes }]) => `level ${level}: ${count} of ${bytes} bytes`);
  const longest = Array.from({ length: 300 }, (_, index) => VERSIONS + 1 - index).reduce(
    (most, version) => Math.max(most, versions.chain(database, version as VersionNumber).length),
    0,
  );
  const openedAt = performance.now();
  const chain = await world.lineages.openDetached(database, (VERSIONS + 1) as VersionNumber, new FrameCache(LIMITS.pageCacheBytes));
  const opened = performance.now() - openedAt;
  const wrong = pages.flatMap((page, index) => {
    const found = new Uint8Array(PAGE_SIZE);
    chain.readPages(index + 1, found);
    return Buffer.compare(found, page) === 0 ? [] : [index + 1];
  });
  console.log(
    `${VERSIONS} versions in ${seconds.toFixed(1)} s; ${figures.join("; ")}; longest chain ${longest}; newest opened in ${opened.toFixed(1)} ms`,
  );
  expect(wrong).toEqual([]);
  expect(longest - 1).toBeLessThanOrEqual(46);
  const bytesOf = (level: number) => levels.get(level)?.bytes ?? 0;
  expect(bytesOf(1) + bytesOf(2) + bytesOf(3)).toBeLessThan(2 * bytesOf(0));
  expect(bytesOf(BASE_LEVEL)).toBeGreaterThan(0);
  expect(checkIntegrity(world.catalog)).toEqual([]);
  world.catalog.close();
  const store = await openStore(world.root, { ownProcess: true });
  const verifiedAt = performance.now();
  const report = await store.verify({});
  console.log(`verified ${report.segments} segments in ${((performance.now() - verifiedAt) / 1000).toFixed(1)} s`);
  expect(report.problems).toEqual([]);
  await store.close();
}, 600_000);

function tail(count: number): number[] {
  return Array.from({ length: count }, (_, index) => 16_381 + index);
}

test("MERGE-3: ranges that grow and shrink over the lock page are merged, with pages of 64 KiB", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coppice-lock-page-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const size = 65_536;
  const versions = new SegmentVersions(folder);
  const random = makeRandom(64);
  // A gigabyte of the same page, and pages of their own around the one at 1 GiB, which is number 16,385.
  const filler = makePage(random, size, 9);
  const page = (number: number): Uint8Array => makePage(random, size, number);
  const first = Array.from({ length: 16_380 }, (_, index) => (index < 3 ? page(index + 1) : filler));
  const grown = [...first, ...Array.from({ length: 10 }, (_, index) => page(16_381 + index))];
  const edited = grown.with(4, page(5)).with(16_383, page(16_384)).with(16_385, page(16_386));
  const cut = edited.slice(0, 16_383);
  const again = [...cut, ...Array.from({ length: 5 }, (_, index) => page(16_384 + index))];
  await versions.addBase(sourceOf(first));
  await versions.addDelta(1, grown, tail(10));
  await versions.addDelta(2, edited, [5, 16_384, 16_386]);
  await versions.addDelta(3, cut, []);
  await versions.addDelta(4, again, tail(8));
  const own = new Map(versions.records);
  for (const [from, to, state] of [
    [1, 3, edited],
    [1, 5, again],
    [3, 5, again],
  ] as const) {
    const { parts, written } = versions;
    const covers = [];
    for (let version = from + 1; version <= to; version += 1) {
      const record = own.get(version);
      if (record) covers.push(await SegmentReader.open(parts.native, parts.objects, record));
    }
    const checksum = (version: number): Uint8Array => written.get(version)?.checksum ?? new Uint8Array(0);
    const order = { before: await versions.chain(from), beforeChecksum: checksum(from), covers, checksum: checksum(to), level: 1 };
    const merged = await mergeSegments(order, parts, () => Promise.resolve());
    if (merged === "rewrite") throw new Error("few pages changed");
    versions.records.set(to, {
      ...(await merged.publish()).segment,
      database: 1 as DatabaseId,
      to: to as VersionNumber,
      from: from as VersionNumber,
    });
    const chain = await versions.chain(to);
    expect(chain.segments.length).toBe(from === 3 ? 3 : 2);
    expect(chain.pageCount).toBe(state.length);
    for (const number of [1, 5, 6, ...tail(state.length - 16_380)]) {
      const found = new Uint8Array(size);
      chain.readPages(number, found);
      const expected = number === 16_385 ? new Uint8Array(size) : (state[number - 1] ?? new Uint8Array(0));
      expect(Buffer.compare(found, expected), `page ${number} of v${to}`).toBe(0);
    }
  }
}, 300_000);
