import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeShare, KINDS, makeBlocks } from "#bench/write-amplification/blocks.ts";
import { describeCrossover } from "#bench/write-amplification/steps.ts";
import { missingCounters, writtenBytes } from "#bench/write-amplification/written-bytes.ts";
import { inspectFilesystem } from "#engine/io/filesystem.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const PAGE = 4096;
const pause = async () => undefined;

/** Numbers of the pages in which two files differ. */
function pagesApart(a: Buffer, b: Buffer): number {
  let count = 0;
  for (let at = 0; at < Math.max(a.length, b.length); at += PAGE)
    if (!a.subarray(at, at + PAGE).equals(b.subarray(at, at + PAGE))) count += 1;
  return count;
}

test.each(KINDS)("SUITE-7: a share of the rows is that share of the pages (%s)", async (kind) => {
  const path = join(makeTemporaryFolder(), "blocks.db");
  const rows = await makeBlocks(path, { megabytes: 2, seed: 1 }, pause);
  expect(rows).toBe(512);
  // As a checkout is: the journal mode is in the header.
  changeShare(path, { kind, percent: 0.1, seed: 1 });
  const before = readFileSync(path);
  for (const [percent, expected] of [
    [10, 51],
    [50, 256],
    [100, 512],
  ] as const) {
    writeFileSync(path, before);
    changeShare(path, { kind, percent, seed: 2 });
    const apart = pagesApart(before, readFileSync(path));
    // And page 1, whose counter moves outside WAL mode.
    expect(apart).toBeGreaterThanOrEqual(expected);
    expect(apart).toBeLessThanOrEqual(expected + 1);
  }
});

test("SUITE-7: the crossover lies between two shares, on a straight line", () => {
  const points = [
    { percent: 10, value: 100 },
    { percent: 50, value: 500 },
    { percent: 100, value: 1_000 },
  ];
  expect(describeCrossover(points, 300)).toBe("from 30.0 % of the pages on");
  expect(describeCrossover(points, 100)).toBe("from 10 % of the pages on, or fewer");
  expect(describeCrossover(points, 2_000)).toBe("never: at 100 % of the pages it is 50.0 % of that");
});

test("SUITE-7: written bytes are the kernel's count of this process and its children; where there is none it says why", () => {
  expect(missingCounters("tmpfs")).toContain("memory");
  const folder = makeTemporaryFolder();
  const { type } = inspectFilesystem(folder, { disk: nodeDisk, native: loadNative() });
  if (missingCounters(type) !== null) return;
  const bytes = 8 * 1024 * 1024;
  const before = writtenBytes();
  writeFileSync(join(folder, "ours"), Buffer.alloc(bytes, "x"));
  expect(writtenBytes() - before).toBeGreaterThanOrEqual(bytes);
});
