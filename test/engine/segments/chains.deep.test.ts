import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, constantFrom, integer } from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { VersionNumber } from "#shared/ids.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { pagesDiffering } from "#engine/segments/pages-differing.ts";
import { editPage, makePage, makePages, makeRandom } from "../../support/random-pages.ts";
import {
  compareVersion,
  differencesOf,
  makeSegmentParts,
  native,
  readAll,
  SegmentVersions,
  sourceOf,
  type Pages,
} from "../../support/segment-versions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "chains-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Random = (below: number) => number;

/** One step of a database's life: edits anywhere, now and then growth, a cut, or noise. */
function nextState(random: Random, pages: Pages): Pages {
  const pageSize = pages[0]?.length ?? 512;
  const next = pages.map((page, index) =>
    random(Math.max(2, Math.floor(pages.length / 6))) === 0 ? editPage(random, page, index + 1) : page,
  );
  const fate = random(10);
  if (fate === 0) return next.slice(0, 1 + random(next.length));
  if (fate <= 2)
    return [...next, ...Array.from({ length: 1 + random(40) }, (_, index) => makePage(random, pageSize, next.length + index + 1))];
  if (fate === 3) return next.map((page, index) => (random(2) === 0 ? makePage(random, pageSize, index + 1) : page));
  return next;
}

interface History {
  readonly versions: SegmentVersions;
  /** Versions in order, each made from the one before or an older one. */
  readonly states: Map<number, Pages>;
}

async function makeHistory(random: Random, steps: number, versions: SegmentVersions): Promise<History> {
  const pageSize = [512, 1024, 4096][random(3)] ?? 512;
  const first = makePages(random, pageSize, 1 + random(90));
  const states = new Map([[await versions.addBase(sourceOf(first)), first as Pages]]);
  for (let step = 1; step < steps; step += 1) {
    const newest = states.size;
    const from = random(5) === 0 ? 1 + random(newest) : newest;
    const pages = nextState(random, states.get(from) ?? []);
    const version = await versions.addDelta(from, pages);
    if (version !== null) states.set(version, pages);
  }
  return { versions, states };
}

test("CHAIN-1: any version of fifty, read in any order with a cache of any size, is its model", { timeout: 120_000 }, async () => {
  await assert(
    asyncProperty(integer({ min: 1 }), constantFrom(0, 40_000, 10_000_000), async (seed, cacheBytes) => {
      const random = makeRandom(seed);
      const parts = makeSegmentParts(folder, { frames: new FrameCache(cacheBytes) });
      const { versions, states } = await makeHistory(random, 50, new SegmentVersions(folder, parts));
      for (let check = 0; check < 8; check += 1) {
        const version = check === 0 ? states.size : 1 + random(states.size);
        expect(await compareVersion(versions, version, states.get(version) ?? []), `version ${version}`).toEqual([]);
      }
    }),
    { numRuns: 8 },
  );
});

test("CHAIN-2: the pages that set two versions apart are exactly those that differ", async () => {
  await assert(
    asyncProperty(integer({ min: 1 }), async (seed) => {
      const random = makeRandom(seed);
      const { versions, states } = await makeHistory(random, 20, new SegmentVersions(folder));
      for (let check = 0; check < 20; check += 1) {
        const [held, wanted] = [1 + random(states.size), 1 + random(states.size)];
        const [before, after] = [states.get(held) ?? [], states.get(wanted) ?? []];
        const expected = differencesOf(before, after).filter((pageNumber) => pageNumber <= after.length);
        expect([...pagesDiffering(await versions.chain(held), await versions.chain(wanted))], `from ${held} to ${wanted}`).toEqual(
          expected,
        );
      }
    }),
    { numRuns: 15 },
  );
});

test("CHAIN-2: two bases differ by their pages", async () => {
  const random = makeRandom(22);
  const versions = new SegmentVersions(folder);
  const first = makePages(random, 512, 30);
  const second = [
    ...first.slice(0, 20).map((page, index) => (index % 4 === 1 ? editPage(random, page, index + 1) : page)),
    ...makePages(random, 512, 40).slice(1),
  ];
  const [v1, v2] = [await versions.addBase(sourceOf(first)), await versions.addBase(sourceOf(second))];
  expect([...pagesDiffering(await versions.chain(v1), await versions.chain(v2))]).toEqual(differencesOf(first, second));
  expect([...pagesDiffering(await versions.chain(v2), await versions.chain(v1))]).toEqual(
    differencesOf(first, second).filter((pageNumber) => pageNumber <= 30),
  );
});

test("CHAIN-3: a merged segment stands in for the segments it covers", async () => {
  const random = makeRandom(33);
  const { versions, states } = await makeHistory(random, 1, new SegmentVersions(folder));
  for (let version = 1; version < 33; version += 1) states.set(version + 1, nextState(random, states.get(version) ?? []));
  for (let version = 2; version <= 33; version += 1) expect(await versions.addDelta(version - 1, states.get(version) ?? [])).toBe(version);
  for (const [from, to] of [
    [1, 17],
    [17, 33],
  ] as const) {
    const merged = await versions.encode(from, states.get(to) ?? []);
    if (!merged) throw new Error("nothing changed");
    const record = versions.records.get(to);
    if (record)
      versions.records.set(to, {
        ...record,
        ...merged.segment,
        level: merged.segment.level || 1,
        from: merged.segment.level ? null : (from as VersionNumber),
      });
  }
  expect((await versions.chain(33)).segments.length).toBeLessThanOrEqual(3);
  for (const version of [16, 17, 18, 30, 33])
    expect(await compareVersion(versions, version, states.get(version) ?? []), `version ${version}`).toEqual([]);
});

test("CHAIN-4: reading a page decodes its own frames only", async () => {
  const random = makeRandom(44);
  let hashed = 0;
  const counting = {
    ...native,
    hashPages: (pages: Uint8Array, pageSize: number) => ((hashed += pages.length / pageSize), native.hashPages(pages, pageSize)),
  };
  const versions = new SegmentVersions(folder, makeSegmentParts(folder, { native: counting }));
  const first = makePages(random, 512, 20_000);
  let version = await versions.addBase(sourceOf(first));
  let pages: Pages = first;
  for (let step = 0; step < 20; step += 1) {
    const changed = Array.from({ length: 64 }, (_, index) => 1 + index * 300 + step);
    const next = [...pages];
    for (const pageNumber of changed) next[pageNumber - 1] = editPage(random, pages[pageNumber - 1] ?? new Uint8Array(512), pageNumber);
    pages = next;
    version = (await versions.addDelta(version, pages, changed)) ?? 0;
  }
  const chain = await makeColdChain(versions, version);
  hashed = 0;
  const page = new Uint8Array(512);
  chain.readPages(9_020, page);
  expect(Buffer.compare(page, pages[9_019] ?? page)).toBe(0);
  // One delta frame of 32 pages at most, and the blocks of 128 pages that those are in.
  expect(hashed).toBeLessThanOrEqual(32 + 32 * 128);
  hashed = 0;
  chain.readPages(15_000, page);
  expect(hashed).toBeLessThanOrEqual(128);
});

async function makeColdChain(versions: SegmentVersions, version: number) {
  const cold = new SegmentVersions(versions.folder, { ...versions.parts, frames: new FrameCache(1_000_000) });
  for (const [number, record] of versions.records) cold.records.set(number, record);
  return cold.chain(version);
}

test("CHAIN-5: a chain of two thousand segments is read without recursion", { timeout: 120_000 }, async () => {
  const random = makeRandom(55);
  const versions = new SegmentVersions(folder, makeSegmentParts(folder, { frames: new FrameCache(100_000) }));
  let pages: Pages = makePages(random, 512, 6);
  let version = await versions.addBase(sourceOf(pages));
  for (let step = 0; step < 2_000; step += 1) {
    pages = pages.with(step % 2, editPage(random, pages[step % 2] ?? new Uint8Array(512), (step % 2) + 1));
    version = (await versions.addDelta(version, pages, [(step % 2) + 1])) ?? version;
  }
  const chain = await makeColdChain(versions, version);
  expect(chain.segments.length).toBeGreaterThan(1_900);
  expect(differencesOf(readAll(chain), pages)).toEqual([]);
  expect(await compareVersion(versions, version, pages)).toEqual([]);
});
