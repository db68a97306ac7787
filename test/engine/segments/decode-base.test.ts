import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compressDeltaFrame, decompressFrames } from "#engine/format/segment-frame.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { createFallback } from "#engine/io/native-fallback.ts";
import type { Native } from "#engine/io/native.ts";
import { decodeBase } from "#engine/segments/decode-base.ts";
import { SegmentReader } from "#engine/segments/segment-reader.ts";
import { makeSegmentParts, pagesOfFile, SegmentVersions, sourceOf } from "../../support/segment-versions.ts";

const NATIVES: readonly (readonly [string, Native])[] = [
  ["the addon", loadNative()],
  ["zlib", { ...loadNative(), decodeFrames: null }],
  ["no addon at all", createFallback("of a test")],
];
const PAGE = 4096;

/** Compresses a little, and no two frames alike. */
function somePages(count: number): Uint8Array {
  const bytes = new Uint8Array(count * PAGE);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 2_654_435_761) >>> (at % 3 === 0 ? 13 : 31);
  return bytes;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "decode-base-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(NATIVES)("a base decoded with %s", (_name, native) => {
  test.each([1, 15, 16, 17, 16 * 16 + 5, 700])("SEG-19: of %i pages comes back in order, with its hashes", async (count) => {
    const versions = new SegmentVersions(folder, makeSegmentParts(folder, { native }));
    const pages = somePages(count);
    const version = await versions.addBase(sourceOf(pagesOfFile(pages, PAGE)));
    const record = versions.records.get(version);
    if (!record) throw new Error("the base is recorded");
    const segment = await SegmentReader.open(native, versions.parts.objects, record);
    const expected = Buffer.concat(pagesOfFile(pages, PAGE));
    const hashes = native.hashPages(expected, PAGE);
    let next = 0;
    for await (const run of decodeBase(segment)) {
      expect(run.first).toBe(next);
      const end = next + run.pages.length / PAGE;
      expect(Buffer.compare(run.pages, expected.subarray(next * PAGE, end * PAGE))).toBe(0);
      expect(Buffer.compare(run.hashes, hashes.subarray(next * 16, end * 16))).toBe(0);
      next = end;
    }
    expect(next).toBe(count);
  });

  test("SEG-19: frames that are cut, longer than they should be, or garbage are told from sound ones", async () => {
    const raw = somePages(32);
    const frames = [raw.subarray(0, 16 * PAGE), raw.subarray(16 * PAGE)].map((bytes) => compressDeltaFrame(bytes, new Uint8Array(0)));
    const decode = async (stored: readonly Uint8Array[], rawBytes = raw.length): Promise<Uint8Array | null> => {
      const target = { pages: new Uint8Array(rawBytes), hashes: new Uint8Array((rawBytes / PAGE) * 16) };
      const input = {
        stored: Buffer.concat([new Uint8Array(4), ...stored]),
        frameBytes: Uint32Array.from(stored, ({ length }) => length),
        frameRawBytes: 16 * PAGE,
        pageSize: PAGE,
      };
      return (await decompressFrames(native, input, target)) ? target.pages : null;
    };
    const [first = raw, second = raw] = frames;
    expect(Buffer.compare((await decode([first, second])) ?? raw.subarray(1), raw)).toBe(0);
    expect(await decode([first, second.subarray(0, -3)])).toBeNull();
    expect(await decode([first.subarray(0, 8), second])).toBeNull();
    expect(await decode([first, second], 33 * PAGE)).toBeNull();
    expect(await decode([first, second], 31 * PAGE)).toBeNull();
    expect(await decode([somePages(1), second])).toBeNull();
    expect(await decode([first])).toBeNull();
    expect(await decode([new Uint8Array(0), second])).toBeNull();
  });
});

test("SEG-19: whoever stops in the middle leaves nothing in flight", async () => {
  const versions = new SegmentVersions(folder);
  const record = versions.records.get(await versions.addBase(sourceOf(pagesOfFile(somePages(2000), PAGE))));
  if (!record) throw new Error("the base is recorded");
  let inFlight = 0;
  const decodeFrames = loadNative().decodeFrames;
  const counting: Native = {
    ...loadNative(),
    decodeFrames:
      decodeFrames &&
      ((...input) => {
        inFlight += 1;
        return decodeFrames(...input).finally(() => (inFlight -= 1));
      }),
  };
  const segment = await SegmentReader.open(counting, versions.parts.objects, record);
  for await (const run of decodeBase(segment)) {
    expect(run.first).toBe(0);
    break;
  }
  expect(inFlight).toBe(0);
});

test("SEG-19: wrong arguments of the addon's decoder are refused, and several decodings at once do not meet", async ({ skip }) => {
  const { decodeFrames } = loadNative();
  if (decodeFrames === null) return skip("this program lends no zstd");
  const raw = somePages(16);
  const frame = compressDeltaFrame(raw, new Uint8Array(0));
  const frames = () => ({
    stored: Buffer.concat([new Uint8Array(4), frame]),
    frameBytes: Uint32Array.of(frame.length),
    frameRawBytes: raw.length,
    pageSize: PAGE,
  });
  const hashes = new Uint8Array(16 * 16);
  const wrong = [
    () => decodeFrames({ ...frames(), pageSize: 0 }, raw.slice(), hashes),
    () => decodeFrames({ ...frames(), pageSize: 1.5 }, raw.slice(), hashes),
    () => decodeFrames({ ...frames(), frameRawBytes: 0 }, raw.slice(), hashes),
    () => decodeFrames({ ...frames(), frameRawBytes: -1 }, raw.slice(), hashes),
    () => decodeFrames(frames(), raw.slice(1), hashes),
    () => decodeFrames(frames(), new Uint8Array(0), new Uint8Array(0)),
    () => decodeFrames(frames(), raw.slice(), hashes.subarray(1)),
  ];
  for (const call of wrong) expect(call).toThrow(RangeError);
  const results = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const pages = new Uint8Array(raw.length);
      return (await decodeFrames(frames(), pages, new Uint8Array(16 * 16))) && Buffer.compare(pages, raw) === 0;
    }),
  );
  expect(results.every(Boolean)).toBe(true);
});
