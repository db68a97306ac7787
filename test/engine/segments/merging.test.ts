import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, asyncProperty, constantFrom, integer } from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { BASE_LEVEL, type SegmentRecord } from "#engine/catalog/records.ts";
import { EngineError } from "#engine/io/errors.ts";
import { planMerges, type ChainLink, type PlannedMerge } from "#engine/segments/merge-plan.ts";
import { mergeSegments } from "#engine/segments/merge-segments.ts";
import { pagesDiffering } from "#engine/segments/pages-differing.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
import { writeBase } from "#engine/segments/write-base.ts";
import { editPage, makePage, makePages, makeRandom } from "../../support/random-pages.ts";
import { compareVersion, differencesOf, makeSegmentParts, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "merging-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Random = (below: number) => number;
const DATABASE = 1 as DatabaseId;
const v = (number: number): VersionNumber => number as VersionNumber;

/** Chains without bytes: what the planner sees. */
class Links {
  readonly #links = new Map<number, ChainLink[]>();

  add(to: number, from: number | null, level = from === null ? BASE_LEVEL : 0): void {
    const links = [...(this.#links.get(to) ?? []), { to: v(to), from: from === null ? null : v(from), level }];
    this.#links.set(
      to,
      links.toSorted((a, b) => b.level - a.level),
    );
  }

  chain(version: number): ChainLink[] {
    const chain: ChainLink[] = [];
    for (let next: number | null = version; next !== null;) {
      const link: ChainLink | undefined = this.#links.get(next)?.[0];
      if (!link) throw new Error(`nothing ends at ${next}`);
      chain.push(link);
      next = link.from;
    }
    return chain;
  }

  mergeAll(version: number, fanIn: number): PlannedMerge[] {
    const plan = planMerges(this.chain(version), fanIn);
    for (const { to, from, level } of plan) this.add(to, from, level);
    return plan;
  }
}

test("MERGE-1: after ten thousand versions a chain has at most 46 deltas, whenever it was merged", () => {
  const atOnce = new Links();
  const late = new Links();
  for (const links of [atOnce, late]) links.add(1, null);
  let longest = 0;
  for (let version = 2; version <= 10_001; version += 1) {
    for (const links of [atOnce, late]) links.add(version, version - 1);
    atOnce.mergeAll(version, LIMITS.mergeFanIn);
    longest = Math.max(longest, atOnce.chain(version).length - 1);
  }
  expect(longest).toBeLessThanOrEqual(46);
  const made = late.mergeAll(10_001, LIMITS.mergeFanIn);
  expect(made.length).toBe(625 + 39 + 2);
  expect(late.chain(10_001)).toEqual(atOnce.chain(10_001));
  expect(late.mergeAll(10_001, LIMITS.mergeFanIn)).toEqual([]);
});

test("MERGE-1: a merged segment covers exactly the segments before it, and branches share those of their ancestors", () => {
  const links = new Links();
  links.add(1, null);
  // Two branches apart from version 40 on.
  for (let version = 2; version <= 40; version += 1) links.add(version, version - 1);
  for (let version = 41; version <= 200; version += 1) links.add(version, version <= 42 ? 40 : version - 2);
  const plans = [...links.mergeAll(199, 4), ...links.mergeAll(200, 4)];
  for (const { to, from, level, covers } of plans) {
    expect(covers.map((each) => each.level)).toEqual([level - 1, level - 1, level - 1, level - 1]);
    expect({ from: covers[0]?.from, to: covers.at(-1)?.to }).toEqual({ from, to });
    for (const [index, each] of covers.slice(1).entries()) expect(each.from).toBe(covers[index]?.to);
  }
  const places = plans.map(({ to, level }) => `${to}.${level}`);
  expect(new Set(places).size).toBe(places.length);
  expect(plans.filter(({ to }) => to <= 40).length).toBe(9 + 2);
});

test("MERGE-2: no range reaches over a base", () => {
  const links = new Links();
  links.add(1, null);
  for (let version = 2; version <= 60; version += 1) {
    if (version === 30) links.add(version, null);
    else links.add(version, version - 1);
    links.mergeAll(version, 4);
  }
  const chain = links.chain(60);
  expect(chain.at(-1)).toMatchObject({ to: 30, level: BASE_LEVEL });
  // Thirty versions on the base: 1 × 16 + 3 × 4 + 2 × 1.
  expect(chain.map(({ level }) => level)).toEqual([0, 0, 1, 1, 1, 2, BASE_LEVEL]);
});

/** A history whose own changes stay beside the merged segments that `versions.records` has where there are some. */
class MergedHistory {
  readonly versions: SegmentVersions;
  readonly states = new Map<number, Pages>();
  readonly #all = new Map<string, SegmentRecord>();
  rewrites = 0;

  constructor(parts = makeSegmentParts(folder)) {
    this.versions = new SegmentVersions(folder, parts);
  }

  async add(from: number | null, pages: Pages): Promise<number> {
    const { versions } = this;
    const version = from === null ? await versions.addBase(sourceOf(pages)) : await versions.addDelta(from, pages);
    if (version === null) return from ?? 0;
    this.states.set(version, pages);
    const record = versions.records.get(version);
    if (record) this.#all.set(`${version}.${record.level}`, record);
    return version;
  }

  chain(version: number): SegmentRecord[] {
    const chain: SegmentRecord[] = [];
    for (let next: VersionNumber | null = v(version); next !== null;) {
      const record: SegmentRecord | undefined = this.versions.records.get(next);
      if (!record) throw new Error(`nothing ends at ${next}`);
      chain.push(record);
      next = record.from;
    }
    return chain;
  }

  async mergeAll(version: number, fanIn: number): Promise<number> {
    let made = 0;
    for (;;) {
      const plan = planMerges(this.chain(version), fanIn);
      if (plan.length === 0) return made;
      for (const merge of plan) {
        made += 1;
        // The rest of the plan was made for a chain that there is no more.
        if (!(await this.merge(merge))) break;
      }
    }
  }

  /** False when it became a base. */
  async merge({ to, from, level, covers }: PlannedMerge): Promise<boolean> {
    const { parts, records, written } = this.versions;
    const readers = [];
    for (const link of covers) {
      const record = this.#all.get(`${link.to}.${link.level}`);
      if (!record) throw new Error("what is merged is there");
      readers.push(await SegmentReader.open(parts.native, parts.objects, record));
    }
    const checksum = (version: number) => written.get(version)?.checksum ?? new Uint8Array(16);
    const order = {
      before: await this.versions.chain(from),
      beforeChecksum: checksum(from),
      covers: readers,
      checksum: checksum(to),
      level,
    };
    const merged = await mergeSegments(order, parts, () => Promise.resolve());
    if (merged === "rewrite") {
      this.rewrites += 1;
      const base = await writeBase(sourceOf(this.states.get(to) ?? []), parts);
      if (Buffer.compare(base.checksum, checksum(to)) !== 0) throw new Error(`a base of version ${to} has another checksum`);
      records.set(to, { ...base.segment, database: DATABASE, to, from: null });
      return false;
    }
    const record = { ...(await merged.publish()).segment, database: DATABASE, to, from };
    this.#all.set(`${to}.${level}`, record);
    records.set(to, record);
    return true;
  }
}

/** One step: few edits, now and then growth, a cut, or the state from before. */
function nextState(random: Random, pages: Pages, before: Pages): Pages {
  const pageSize = pages[0]?.length ?? 512;
  const fate = random(12);
  if (fate === 0 && pages.length > 3) return pages.slice(0, 1 + random(pages.length));
  if (fate === 1)
    return [...pages, ...Array.from({ length: 1 + random(20) }, (_, index) => makePage(random, pageSize, pages.length + index + 1))];
  if (fate === 2) return before;
  if (fate === 3) return pages.map((page, index) => (random(3) === 0 ? editPage(random, page, index + 1) : page));
  return Array.from({ length: 1 + random(3) }).reduce<Pages>((state) => {
    const at = random(state.length);
    return state.with(at, editPage(random, state[at] ?? new Uint8Array(pageSize), at + 1));
  }, pages);
}

async function growHistory(random: Random, steps: number, pageSize: number, fanIn: number): Promise<MergedHistory> {
  const history = new MergedHistory();
  let version = await history.add(null, makePages(random, pageSize, 1 + random(pageSize === 65_536 ? 12 : 60)));
  for (let step = 1; step < steps; step += 1) {
    const from = random(9) === 0 ? 1 + random(history.states.size) : version;
    const pages = history.states.get(from) ?? [];
    version = await history.add(from, nextState(random, pages, history.states.get(Math.max(1, from - 3)) ?? pages));
    if (random(3) > 0) await history.mergeAll(version, fanIn);
  }
  await history.mergeAll(version, fanIn);
  return history;
}

test(
  "MERGE-3: every version of a merged history of growing, shrinking branches is its model, at merge points and between",
  { timeout: 120_000 },
  async () => {
    await assert(
      asyncProperty(integer({ min: 1 }), constantFrom(512, 4096, 65_536), constantFrom(2, 4), async (seed, pageSize, fanIn) => {
        const random = makeRandom(seed);
        const history = await growHistory(random, pageSize === 65_536 ? 20 : 40, pageSize, fanIn);
        const merged = [...history.versions.records].filter(([, { level }]) => level > 0 && level < BASE_LEVEL);
        expect(merged.length + history.rewrites).toBeGreaterThan(0);
        for (const version of history.states.keys())
          expect(await compareVersion(history.versions, version, history.states.get(version) ?? []), `version ${version}`).toEqual([]);
      }),
      { numRuns: 8 },
    );
  },
);

test("MERGE-3: the pages that set two versions of a merged history apart are exactly those that differ", { timeout: 60_000 }, async () => {
  await assert(
    asyncProperty(integer({ min: 1 }), async (seed) => {
      const random = makeRandom(seed);
      const { versions, states } = await growHistory(random, 40, 512, 3);
      for (let check = 0; check < 30; check += 1) {
        const [held, wanted] = [1 + random(states.size), 1 + random(states.size)];
        const [before, after] = [states.get(held) ?? [], states.get(wanted) ?? []];
        const expected = differencesOf(before, after).filter((pageNumber) => pageNumber <= after.length);
        expect([...pagesDiffering(await versions.chain(held), await versions.chain(wanted))], `from ${held} to ${wanted}`).toEqual(
          expected,
        );
      }
    }),
    { numRuns: 8 },
  );
});

test("MERGE-4: a range that changes nothing in the end is merged to a segment without pages", async () => {
  const random = makeRandom(4);
  const history = new MergedHistory();
  const first = makePages(random, 512, 40);
  await history.add(null, first);
  const other = first.with(7, editPage(random, first[7] ?? new Uint8Array(512), 8));
  await history.add(1, other);
  await history.add(2, first);
  expect(await history.mergeAll(3, 2)).toBe(1);
  expect(history.versions.records.get(3)).toMatchObject({ level: 1, from: 1 });
  expect(history.versions.records.get(3)?.bytes).toBeLessThan(40);
  expect(await compareVersion(history.versions, 3, first)).toEqual([]);
  const grown = [...first, makePage(random, 512, 41)];
  await history.add(3, grown);
  expect(await compareVersion(history.versions, 4, grown)).toEqual([]);
});

function namesIn(root: string): string[] {
  return [...readdirSync(join(root, "segments")), ...readdirSync(join(root, "tmp"))];
}

test("MERGE-5: a merge that does not come to the recorded state checksum is refused and leaves nothing behind", async () => {
  const random = makeRandom(5);
  const noise = (): Uint8Array => Uint8Array.from({ length: 4096 }, () => random(256));
  const history = new MergedHistory();
  let pages: Pages = Array.from({ length: 60 }, noise);
  await history.add(null, pages);
  for (let version = 1; version <= 4; version += 1) {
    pages = pages.with(version, noise());
    await history.add(version, pages);
  }
  const written = history.versions.written.get(5);
  if (!written) throw new Error("version 5 was stored");
  history.versions.written.set(5, { ...written, checksum: Uint8Array.from(written.checksum, (byte, at) => (at === 3 ? byte ^ 1 : byte)) });
  const before = namesIn(folder);
  const error = await history.mergeAll(5, 4).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(EngineError);
  expect(error).toMatchObject({ code: "segment-corrupt" });
  expect(namesIn(folder)).toEqual(before);
});

test(
  "MERGE-6: pages beyond what memory is meant for pass through temporary files, which are gone afterwards",
  { timeout: 60_000 },
  async () => {
    const random = makeRandom(6);
    const history = new MergedHistory();
    const count = LIMITS.mergeMemoryBytes / 65_536 + 20;
    let pages: Pages = Array.from({ length: count }, (_, index) => makePage(random, 65_536, index + 1));
    await history.add(null, pages);
    for (let version = 1; version <= 4; version += 1) {
      pages = pages.map((page, index) => (index % 4 === version - 1 ? editPage(random, page, index + 1) : page));
      await history.add(version, pages);
    }
    expect(await history.mergeAll(5, 4)).toBe(1);
    expect(history.versions.records.get(5)).toMatchObject({ level: 1, from: 1 });
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    expect(await compareVersion(history.versions, 5, pages)).toEqual([]);
  },
);
