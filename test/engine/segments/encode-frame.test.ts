import { expect, test } from "vitest";
import { compressDeltaFrame, compressDeltaFrameAside, decompressFrame } from "#engine/format/segment-frame.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { createFallback } from "#engine/io/native-fallback.ts";

const NOTHING = new Uint8Array(0);
const PAGE = 4096;

/** Does not compress by itself. */
function somePages(count: number, seed: number): Uint8Array {
  const words = new Uint32Array((count * PAGE) / 4);
  let state = seed;
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words[index] = state ^ (state >>> 15);
  }
  return new Uint8Array(words.buffer);
}

test.for([
  ["the addon", loadNative()],
  ["no addon", createFallback("of a test")],
] as const)("SEG-20: a frame that is compressed aside, by %s, decodes over its dictionary and is no larger", async ([, native]) => {
  const pages = somePages(32, 1);
  const before = pages.map((byte, index) => (index % 977 === 0 ? byte ^ 1 : byte));
  // What would be taken for a trained dictionary.
  const trained = before.slice();
  trained.set([0x37, 0xa4, 0x30, 0xec]);
  for (const dictionary of [NOTHING, before.subarray(0, 3), before, trained]) {
    const stored = await compressDeltaFrameAside(native, pages, dictionary);
    expect(Buffer.compare(decompressFrame(stored, pages.length, dictionary), pages)).toBe(0);
    expect(stored.length).toBeLessThan(dictionary.length < pages.length ? pages.length + 64 : pages.length / 8);
    expect(stored.length).toBeLessThanOrEqual(compressDeltaFrame(pages, dictionary).length * 1.05);
  }
});

test("SEG-20: wrong arguments of the addon's encoder are refused, and frames at once do not meet", async ({ skip }) => {
  const { encodeFrame } = loadNative();
  if (encodeFrame === null) return skip("this program lends no zstd");
  for (const level of [0, 23, -1, 1.5, Number.NaN]) expect(() => encodeFrame(NOTHING, NOTHING, level)).toThrow(RangeError);
  for (const strange of [null, "text", new Uint16Array(4), 7, undefined]) {
    expect(() => encodeFrame(strange as never, NOTHING, 3)).toThrow(TypeError);
    expect(() => encodeFrame(NOTHING, strange as never, 3)).toThrow(TypeError);
  }
  const frames = Array.from({ length: 60 }, (_, index) => somePages(8, index));
  const dictionary = (index: number): Uint8Array => frames[index - 1] ?? NOTHING;
  const stored = await Promise.all(frames.map((pages, index) => encodeFrame(pages, dictionary(index), 3)));
  for (const [index, pages] of frames.entries())
    expect(Buffer.compare(decompressFrame(stored[index] ?? NOTHING, pages.length, dictionary(index)), pages)).toBe(0);
});
