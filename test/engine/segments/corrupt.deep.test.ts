import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { BASE_LEVEL, type SegmentRecord } from "#engine/catalog/records.ts";
import { EngineError } from "#engine/io/errors.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import { partName } from "#engine/segments/segment-parts.ts";
import { editPage, makePage, makePages, makeRandom } from "../../support/random-pages.ts";
import { differencesOf, readAll, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";

let folder: string;
let versions: SegmentVersions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "corrupt-"));
  versions = new SegmentVersions(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Version 1, a base, and version 2, a delta with old, new and dropped-in pages. */
async function makeTwo(random: (below: number) => number, count: number): Promise<Pages> {
  const first = makePages(random, 512, count);
  await versions.addBase(sourceOf(first));
  const second = [
    ...first.map((old, index) => (index % 3 === 0 ? editPage(random, old, index + 1) : old)),
    makePage(random, 512, count + 1),
  ];
  await versions.addDelta(1, second);
  return second;
}

/** The same with content that does not compress, so that both become files. */
async function makeTwoFiles(random: (below: number) => number): Promise<void> {
  const noise = (): Uint8Array => Uint8Array.from({ length: 512 }, () => random(256));
  const first = Array.from({ length: 150 }, noise);
  await versions.addBase(sourceOf(first));
  await versions.addDelta(
    1,
    first.map((page, index) => (index % 3 === 0 ? noise() : page)),
  );
}

/** Reads version 2 whole with an empty cache; the error when that fails. */
async function readCold(): Promise<Uint8Array[] | EngineError> {
  const cold = new SegmentVersions(folder, { ...versions.parts, frames: new FrameCache(100_000) });
  for (const [number, record] of versions.records) cold.records.set(number, record);
  try {
    return readAll(await cold.chain(2));
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

function replaceInline(version: number, bytes: Uint8Array): void {
  const record = versions.records.get(version);
  if (record) versions.records.set(version, { ...record, inline: bytes });
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}

test("SEG-8: every single flipped bit of a segment is found and named", async () => {
  await makeTwo(makeRandom(1), 12);
  for (const version of [1, 2]) {
    const bytes = versions.records.get(version)?.inline ?? new Uint8Array(0);
    expect(bytes.length).toBeGreaterThan(50);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      replaceInline(version, flip(bytes, bit));
      const result = await readCold();
      expect(result, `bit ${bit} of version ${version}`).toBeInstanceOf(EngineError);
      expect(result).toMatchObject({ code: "segment-corrupt", details: { segment: expect.stringContaining(`segment v${version}`) } });
    }
    replaceInline(version, bytes);
  }
});

test("SEG-8: flipped bits, cuts and additions in segment files are found and named", async () => {
  const random = makeRandom(2);
  await makeTwoFiles(random);
  for (const version of [1, 2]) {
    const record = versions.records.get(version);
    const path = join(folder, "segments", partName(record?.file ?? "", 0));
    const bytes = readFileSync(path);
    const damaged = [
      ...Array.from({ length: 300 }, () => flip(bytes, random(bytes.length * 8))),
      ...Array.from({ length: 40 }, () => bytes.subarray(0, random(bytes.length))),
      Buffer.concat([bytes, Buffer.of(0)]),
      Buffer.alloc(0),
      Buffer.alloc(bytes.length),
    ];
    for (const content of damaged) {
      versions.parts.objects.close();
      writeFileSync(path, content);
      expect(await readCold()).toMatchObject({
        code: "segment-corrupt",
        details: { segment: expect.stringContaining(record?.file ?? "?") },
      });
    }
    writeFileSync(path, bytes);
  }
  expect(await readCold()).not.toBeInstanceOf(EngineError);
});

/** Makes a mutated segment pass its own index checksum, so that what lies behind the check is tried as well. */
function forgeChecksum(bytes: Uint8Array): Uint8Array {
  if (bytes.length < 12) return bytes;
  const forged = Buffer.from(bytes);
  const length = forged.readUInt32LE(forged.length - 8);
  const start = Math.max(4, forged.length - 8 - length);
  forged.writeUInt32LE(crc32(forged.subarray(start, forged.length - 4), crc32(forged.subarray(0, 4))), forged.length - 4);
  return forged;
}

function mutate(random: (below: number) => number, bytes: Uint8Array): Uint8Array {
  const at = random(bytes.length);
  const length = random(Math.min(40, bytes.length - at) + 1);
  switch (random(6)) {
    case 0:
      return flip(bytes, random(bytes.length * 8));
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(Array.from({ length }, () => random(256))), bytes.subarray(at + length)]);
    default:
      return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, 0xff), bytes.subarray(at + length)]);
  }
}

test("SEG-9: thousands of mutations, checksums forged or not, give the right pages or a typed error", async () => {
  const seed = Number(process.env["COPPICE_SEED"] ?? Date.now() & 0x7fff_ffff);
  console.log(`COPPICE_SEED=${seed}`);
  const random = makeRandom(seed);
  const pages = await makeTwo(random, 20);
  let errors = 0;
  for (const version of [1, 2]) {
    const bytes = versions.records.get(version)?.inline ?? new Uint8Array(0);
    for (let round = 0; round < 3_000; round += 1) {
      let mutated = mutate(random, bytes);
      if (random(3) === 0) mutated = mutate(random, mutated.length > 0 ? mutated : bytes);
      replaceInline(version, random(4) === 0 ? mutated : forgeChecksum(mutated));
      const result = await readCold();
      if (result instanceof EngineError) errors += 1;
      const verdict = result instanceof EngineError ? result.code : differencesOf(result, pages);
      expect(["segment-corrupt", []]).toContainEqual(verdict);
    }
    replaceInline(version, bytes);
  }
  expect(errors).toBeGreaterThan(4_000);
});

test("SEG-10: a missing segment or part is named", async () => {
  const random = makeRandom(3);
  await makeTwoFiles(random);
  const record = versions.records.get(1) as SegmentRecord;
  await versions.parts.objects.remove(partName(record.file ?? "", 0));
  expect(await readCold()).toMatchObject({
    code: "segment-missing",
    details: { segment: expect.stringContaining("v1"), name: partName(record.file ?? "", 0) },
  });
  versions.records.delete(1);
  expect(await readCold()).toMatchObject({ code: "segment-missing", details: { segment: "v1" } });
});

test("SEG-11: a segment in another's place is not believed", async () => {
  const random = makeRandom(4);
  await makeTwo(random, 12);
  const base = versions.records.get(1) as SegmentRecord;
  const delta = versions.records.get(2) as SegmentRecord;
  const other = await versions.addBase(sourceOf(makePages(random, 512, 12)));
  const otherSize = await versions.addBase(sourceOf(makePages(random, 1024, 12)));
  const wrongBases = [versions.records.get(other), versions.records.get(otherSize), delta].map((record) => ({
    ...base,
    inline: record?.inline ?? null,
  }));
  for (const wrong of wrongBases) {
    versions.records.set(1, wrong);
    expect(await readCold()).toMatchObject({ code: "segment-corrupt" });
  }
  versions.records.set(1, base);
  const circles = [{ from: 2 }, { from: 3 }, { from: null }, { to: 1 }, { level: BASE_LEVEL }].map(
    (change) => ({ ...delta, ...change }) as SegmentRecord,
  );
  for (const wrong of circles) {
    versions.records.set(2, wrong);
    expect(await readCold()).toMatchObject({ code: "segment-corrupt" });
  }
});

test("SEG-12: a file whose state checksum is not the version's is not left behind", async () => {
  await makeTwo(makeRandom(5), 12);
  const written = versions.written.get(2);
  if (written) versions.written.set(2, { ...written, checksum: Uint8Array.from(written.checksum).fill(9, 3, 4) });
  await expect(versions.writeOut(2)).rejects.toMatchObject({
    code: "segment-corrupt",
    details: { expected: expect.stringContaining("09") },
  });
  expect(versions.parts.disk.list(folder)).toEqual(["segments", "tmp"]);
  const delta = versions.records.get(2) as SegmentRecord;
  replaceInline(2, flip(delta.inline ?? new Uint8Array(0), 60));
  await expect(versions.writeOut(2)).rejects.toMatchObject({ code: "segment-corrupt" });
  const base = versions.records.get(1) as SegmentRecord;
  replaceInline(1, flip(base.inline ?? new Uint8Array(0), 60));
  await expect(versions.writeOut(1)).rejects.toMatchObject({ code: "segment-corrupt" });
  expect(versions.parts.disk.list(folder)).toEqual(["segments", "tmp"]);
});

test("SEG-11: records of one database do not read frames cached for another", async () => {
  const random = makeRandom(6);
  await makeTwo(random, 12);
  readAll(await versions.chain(2));
  const twin = new SegmentVersions(folder, versions.parts);
  const pages = makePages(random, 512, 12);
  await twin.addBase(sourceOf(pages));
  expect(twin.records.get(1)).toMatchObject({ database: 1 as DatabaseId, to: 1 as VersionNumber });
  expect(differencesOf(readAll(await twin.chain(1)), pages)).toEqual([]);
});
