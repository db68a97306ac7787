import { createRequire } from "node:module";
import { join } from "node:path";
import { createXXHash128 } from "hash-wasm";
import { describe, expect, test } from "vitest";
import { loadNative } from "#engine/io/load-native.ts";
import { createFallback } from "#engine/io/native-fallback.ts";

const native = loadNative();
const fallback = createFallback("for comparison");
const reference = await createXXHash128();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const referenceHash = (page: Uint8Array): string => reference.init().update(page).digest();

/** The buffer that xxHash tests itself with. */
function makeSanityBuffer(length: number): Uint8Array {
  const buffer = new Uint8Array(length);
  let generator = 2654435761n;
  for (let index = 0; index < length; index += 1) {
    buffer[index] = Number(generator >> 56n);
    generator = BigInt.asUintN(64, generator * 11400714785074694797n);
  }
  return buffer;
}

function makeRandomPages(length: number, seed: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = seed;
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words[index] = state ^ (state >>> 15);
  }
  return new Uint8Array(words.buffer, 0, length);
}

const xor = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((byte, index) => byte ^ (b[index] ?? 0));

const foldTwo = (first: Uint8Array, second: Uint8Array): string => hex(native.foldHashes(Uint8Array.from([...first, ...second]), 1));

describe("page hash", () => {
  // From the self-test of xxHash 0.8: XXH3-128, seed 0, high half first.
  const PUBLISHED: readonly (readonly [length: number, hash: string])[] = [
    [512, "18d2d110dcc9bca1617e49599013cb6b"],
    [2048, "f736557fd47073a5dd59e2c3a5f038e0"],
    [2240, "ccb134fbfa7ce49d6e73a90539cf2948"],
    [2367, "e89c0f6ff369b427cb37aeb9e5d361ed"],
    [4160, "67140711c1e3e3354f323b15321e94e1"],
  ];

  test.each(PUBLISHED)("NATIVE-1: the hash of %i bytes is the published XXH3-128", (length, hash) => {
    const input = makeSanityBuffer(length);
    expect(hex(native.hashPages(input, length))).toBe(hash);
    expect(hex(fallback.hashPages(input, length))).toBe(hash);
  });

  test.each([512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])(
    "NATIVE-2: addon and fallback agree with the reference on pages of %i bytes, at any alignment",
    (pageSize) => {
      for (const shift of [0, 1, 7]) {
        const pages = makeRandomPages(5 * pageSize + shift, pageSize + shift).subarray(shift);
        const expected = Array.from({ length: 5 }, (_, page) => referenceHash(pages.subarray(page * pageSize, (page + 1) * pageSize))).join(
          "",
        );
        expect(hex(native.hashPages(pages, pageSize))).toBe(expected);
        expect(hex(fallback.hashPages(pages, pageSize))).toBe(expected);
      }
    },
  );

  test("NATIVE-2: addon and fallback agree with the reference on every length from 512 to 1200 bytes", () => {
    const input = makeRandomPages(1200, 5);
    for (let length = 512; length <= 1200; length += 1) {
      const part = input.subarray(0, length);
      for (const which of [native, fallback]) expect(hex(which.hashPages(part, length))).toBe(referenceHash(part));
    }
  });

  test("NATIVE-3: large buffers, hashed on two threads, give the same hashes in the same order", () => {
    for (const pageCount of [2048, 2049, 2050, 5001]) {
      const pages = makeRandomPages(pageCount * 4096, pageCount);
      const whole = native.hashPages(pages, 4096);
      expect(whole.length).toBe(pageCount * 16);
      for (let first = 0; first < pageCount; first += 100) {
        const part = pages.subarray(first * 4096, Math.min(first + 100, pageCount) * 4096);
        expect(hex(whole.subarray(first * 16, first * 16 + (part.length / 4096) * 16))).toBe(hex(native.hashPages(part, 4096)));
      }
    }
    // One page larger than what a thread is started for.
    const huge = makeRandomPages(17 * 1024 * 1024, 3);
    expect(hex(native.hashPages(huge, huge.length))).toBe(referenceHash(huge));
  });

  test("NATIVE-4: shared memory is hashed like any other, and no pages give no hashes", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(8192));
    shared.set(makeRandomPages(8192, 9));
    expect(hex(native.hashPages(shared, 4096))).toBe(hex(native.hashPages(Uint8Array.from(shared), 4096)));
    for (const which of [native, fallback]) expect(which.hashPages(new Uint8Array(0), 4096).length).toBe(0);
  });
});

describe("fold", () => {
  const hashes = makeRandomPages(16 * 64, 11);
  test("FOLD-1: addon and fallback agree, for the first and the last page numbers too", () => {
    for (const first of [1, 2, 1000, 262_145, 0xffff_fffe - 63]) {
      expect(hex(native.foldHashes(hashes, first))).toBe(hex(fallback.foldHashes(hashes, first)));
    }
  });

  test("FOLD-2: the value of mix is pinned, because stores keep it", () => {
    const known = Uint8Array.from({ length: 32 }, (_, index) => index);
    for (const which of [native, fallback]) {
      expect(hex(which.foldHashes(known.subarray(0, 16), 1))).toBe("614f4d9cb69994ccdbb4aef94d9780f9");
      expect(hex(which.foldHashes(known, 7))).toBe("ebe373d7c5400b92900800db23c4acd0");
    }
  });

  test("FOLD-3: the fold of a run is the XOR of its parts, and of nothing is zero", () => {
    const whole = native.foldHashes(hashes, 10);
    const parts = xor(native.foldHashes(hashes.subarray(0, 16 * 20), 10), native.foldHashes(hashes.subarray(16 * 20), 30));
    expect(hex(parts)).toBe(hex(whole));
    for (const which of [native, fallback]) expect(hex(which.foldHashes(new Uint8Array(0), 1))).toBe("00".repeat(16));
  });

  test("FOLD-4: pages that change places do not cancel out, nor do equal changes of two pages", () => {
    const [a, b] = [hashes.subarray(0, 16), hashes.subarray(16, 32)] as const;
    expect(foldTwo(a, b)).not.toBe(foldTwo(b, a));
    expect(foldTwo(a, a)).not.toBe(foldTwo(b, b));
    expect(foldTwo(a, a)).not.toBe("00".repeat(16));
  });
});

describe.runIf(native.kind === "addon")("addon", () => {
  const addon = createRequire(import.meta.url)(join(import.meta.dirname, "../../../native/build/Release/coppice_native.node")) as Record<
    string,
    (...input: unknown[]) => unknown
  >;
  const page = new Uint8Array(4096);

  const MISUSES: readonly (readonly [name: string, ...input: unknown[]])[] = [
    ["hashPages"],
    ["hashPages", page],
    ["hashPages", "text", 4096],
    ["hashPages", new Uint16Array(2048), 4096],
    ["hashPages", page.buffer, 4096],
    ["hashPages", page, 0],
    ["hashPages", page, 511],
    ["hashPages", page, -512],
    ["hashPages", page, 512.5],
    ["hashPages", page, Number.NaN],
    ["hashPages", page, Infinity],
    ["hashPages", page, 1000],
    ["hashPages", page, "4096"],
    ["foldHashes"],
    ["foldHashes", new Uint8Array(15), 1],
    ["foldHashes", new Uint8Array(16), 0],
    ["foldHashes", new Uint8Array(16), 0xffff_ffff],
    ["foldHashes", new Uint8Array(32), 0xffff_fffe],
    ["foldHashes", null, 1],
    ["lockRange"],
    ["lockRange", 0, 0, 1],
    ["lockRange", 0, 0, 1, "exclusive"],
    ["lockRange", -1, 0, 1, true],
    ["lockRange", 2 ** 31, 0, 1, true],
    ["lockRange", 0, 0, 0, true],
    ["lockRange", 0, -1, 1, true],
    ["lockRange", 0, 0, 2 ** 60, true],
    ["unlockRange", {}, 0, 1],
    ["unlockRange", 0, 0, 0],
    ["cloneFile"],
    ["cloneFile", 0],
    ["cloneFile", "a", "b"],
    ["isSoleOpener"],
    ["isSoleOpener", 1.5],
    ["willRead", 0, 0],
    ["willRead", undefined, 0, 1],
  ];

  test("NATIVE-5: wrong arguments throw and never crash", () => {
    for (const [index, [name, ...input]] of MISUSES.entries())
      expect(() => addon[name]?.(...input), `misuse ${index}: ${name}`).toThrow(/must be/);
  });

  test("NATIVE-5: what the system refuses throws an error with its number", () => {
    for (const act of [
      () => addon["lockRange"]?.(9999, 0, 1, true),
      () => addon["unlockRange"]?.(9999, 0, 1),
      () => addon["cloneFile"]?.(9998, 9999),
    ]) {
      expect(act).toThrow(expect.objectContaining({ errno: -9 }));
    }
    expect(addon["isSoleOpener"]?.(9999)).toBe(false);
    expect(addon["willRead"]?.(9999, 0, 1)).toBeUndefined();
  });

  test("NATIVE-6: a page whose memory was given away is no page", () => {
    const gone = new Uint8Array(4096);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    expect(addon["hashPages"]?.(gone, 4096)).toEqual(new Uint8Array(0));
  });
});
