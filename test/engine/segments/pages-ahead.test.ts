import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import type { ChainReader } from "#engine/segments/chain-reader.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { BasePageFinder, type PageDonor } from "#engine/segments/pages-ahead.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
import { makeSegmentParts, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";

const PAGE = 4096;
/** 150 frames of 16 pages. */
const COUNT = 2400;
/** One page of every frame. */
const SCATTERED = Uint32Array.from({ length: COUNT / 16 }, (_, frame) => frame * 16 + 1 + (frame % 16));

function somePages(): Uint8Array[] {
  return Array.from({ length: COUNT }, (_, page) => {
    const bytes = new Uint8Array(PAGE).fill(page % 251);
    for (let at = 0; at < PAGE; at += 3) bytes[at] = ((at + page) * 2_654_435_761) >>> 21;
    bytes.fill(0, 18, 20);
    bytes.fill(0, 24, 28);
    bytes.fill(0, 92, 100);
    return bytes;
  });
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pages-ahead-"));
});
afterEach(() => {
  SegmentReader.prototype.decodeFrame = decodeFrame;
  SegmentReader.prototype.decodeRun = decodeRun;
  rmSync(folder, { recursive: true });
});

const { decodeFrame, decodeRun } = SegmentReader.prototype;

/** Frames decoded from here on: one by one, and in runs. */
function countFrames(): { single: number; runs: number } {
  const count = { single: 0, runs: 0 };
  SegmentReader.prototype.decodeFrame = function (this: SegmentReader, ...input) {
    count.single += 1;
    return decodeFrame.apply(this, input);
  };
  SegmentReader.prototype.decodeRun = function (this: SegmentReader, ...input) {
    count.runs += input[0].length;
    return decodeRun.apply(this, input);
  };
  return count;
}

/** A base, and a version on it in which the scattered pages differ; with memory for no frame. */
async function makeVersions(): Promise<{ base: ChainReader; newer: ChainReader; before: Pages; after: Pages }> {
  const versions = new SegmentVersions(folder, makeSegmentParts(folder, { frames: new FrameCache(0) }));
  const before = somePages();
  const first = await versions.addBase(sourceOf(before));
  const after = before.map((page, index) =>
    SCATTERED.includes(index + 1) ? page.map((byte, at) => (at === 2000 ? byte ^ 1 : byte)) : page,
  );
  const second = await versions.addDelta(first, after, [...SCATTERED]);
  if (second === null) throw new Error("something changed");
  return { base: await versions.chain(first), newer: await versions.chain(second), before, after };
}

function expectPages(chain: ChainReader, pages: Pages, ahead?: Parameters<ChainReader["readScattered"]>[2]): void {
  const bytes = new Uint8Array(SCATTERED.length * PAGE);
  chain.readScattered(SCATTERED, bytes, ahead);
  expect(Buffer.compare(bytes, Buffer.concat([...SCATTERED].map((number) => pages[number - 1] ?? new Uint8Array(0))))).toBe(0);
}

function donorOf(read: PageDonor["read"]): PageDonor {
  return { path: "a file", read };
}

test("DIFF-22: what two versions need of their base is decoded once, in runs, and both read from it", async () => {
  const { base, newer, before, after } = await makeVersions();
  const count = countFrames();
  const finder = new BasePageFinder();
  for (let round = 1; round <= 3; round += 1) {
    const inHand = await finder.find([base, newer].flatMap((chain) => chain.needs(SCATTERED)));
    expect(count.runs).toBe(round * SCATTERED.length);
    count.single = 0;
    expectPages(base, before, inHand.pages);
    expect(count.single).toBe(0);
    expectPages(newer, after, inHand.pages);
    // Those of the changes alone, in which up to 32 pages share a frame.
    expect(count.single).toBe(Math.ceil(SCATTERED.length / LIMITS.framePagesMax));
    inHand.release();
  }
});

test("DIFF-22: more than is decoded at once, and nothing at all, are read all the same", async () => {
  const { base, before } = await makeVersions();
  const all = Uint32Array.from(before, (_, index) => index + 1);
  const many = await new BasePageFinder().find(base.needs(all));
  const bytes = new Uint8Array(COUNT * PAGE);
  base.readScattered(all, bytes, many.pages);
  expect(Buffer.compare(bytes, Buffer.concat(before))).toBe(0);
  expect((await new BasePageFinder().find([])).pages.size).toBe(0);
});

test("DIFF-22: a damaged frame is told by the read that needs it, by name, and no other is", async () => {
  const { base, newer, before, after } = await makeVersions();
  const name = readdirSync(join(folder, "segments")).find((file) => readFileSync(join(folder, "segments", file)).length > 1_000_000) ?? "";
  const path = join(folder, "segments", name);
  const sound = readFileSync(path);
  const finder = new BasePageFinder();
  for (const at of [1_000, Math.floor(sound.length / 2)]) {
    const damaged = Buffer.from(sound);
    damaged[at] = (damaged[at] ?? 0) ^ 0x40;
    writeFileSync(path, damaged);
    const inHand = await finder.find(newer.needs(SCATTERED));
    expect(() => expectPages(newer, after, inHand.pages)).toThrow(expect.objectContaining({ code: "segment-corrupt" }));
    inHand.release();
  }
  writeFileSync(path, sound);
  expectPages(base, before, (await finder.find(base.needs(SCATTERED))).pages);
});

test("DIFF-23: pages that a file has as they are stored are not decoded, whatever else is in that file", async () => {
  const { base, newer, before, after } = await makeVersions();
  const pageOf = (number: number): Uint8Array => before[number - 1] ?? new Uint8Array(PAGE);
  const count = countFrames();
  const read = async (donor: PageDonor["read"], decoded: number) => {
    count.runs = 0;
    const inHand = await new BasePageFinder(() => [donorOf(donor)]).find([...newer.needs(SCATTERED), ...base.needs(SCATTERED)]);
    expect(count.runs).toBe(decoded);
    expectPages(newer, after, inHand.pages);
    expectPages(base, before, inHand.pages);
  };
  const all = (numbers: Uint32Array) => Buffer.concat([...numbers].map(pageOf));
  await read(async (numbers) => all(numbers), 0);
  // A client has written every third page meanwhile, and the journal mode into the first one.
  const third = SCATTERED.filter((_, index) => index % 3 === 0);
  await read(
    async (numbers) => Buffer.concat([...numbers].map((number) => (third.includes(number) ? new Uint8Array(PAGE) : pageOf(number)))),
    third.length,
  );
  await read(async (numbers) => all(numbers).map((byte, at) => (at === 18 || at === 26 || at === 95 ? 2 : byte)), 0);
  for (const useless of [
    async () => null,
    async () => new Uint8Array(0),
    async (numbers: Uint32Array) => all(numbers).subarray(1),
    async (numbers: Uint32Array) => new Uint8Array(numbers.length * PAGE),
    async () => Promise.reject(new Error("the keeper is gone")),
  ])
    await read(useless, SCATTERED.length);
});

test("DIFF-23: a file that has next to nothing of what is needed is asked once, and none is asked for a few pages", async () => {
  const { base } = await makeVersions();
  let asked = 0;
  const finder = new BasePageFinder(() => [
    donorOf(async (numbers) => {
      asked += 1;
      return new Uint8Array(numbers.length * PAGE);
    }),
  ]);
  (await finder.find(base.needs(SCATTERED.subarray(0, 20)))).release();
  expect(asked).toBe(0);
  for (let round = 0; round < 3; round += 1) (await finder.find(base.needs(SCATTERED))).release();
  expect(asked).toBe(1);
});
