import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { loadNative } from "#engine/io/load-native.ts";
import { createFallback } from "#engine/io/native-fallback.ts";
import { EXTENT } from "#engine/io/native.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";
import { startScript } from "../../support/run-script.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const native = loadNative();
const fallback = createFallback("for comparison");
const ADDON = join(import.meta.dirname, "../../../native/build/Release/coppice_native.node");
const MIB = 1024 * 1024;

function makePages(bytes: number, seed: number): Buffer {
  const words = new Uint32Array(bytes / 4);
  let state = seed;
  for (let index = 0; index < words.length; index += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    words[index] = state ^ (state >>> 15);
  }
  return Buffer.from(words.buffer);
}

function openFile(folder: string, name: string, content: Uint8Array): number {
  writeFileSync(join(folder, name), content);
  return openSync(join(folder, name), "r+");
}

const measure = (): { open: number; bytes: number } => ({
  open: readdirSync("/proc/self/fd").length,
  bytes: process.memoryUsage().rss,
});

describe.each([
  ["addon", native],
  ["fallback", fallback],
] as const)("pages of a file, by the %s", (_kind, used) => {
  test.each([512, 4096, 65_536])("NATIVE-10: of %i bytes are hashed as those in memory are, zeros behind the end", (pageSize) => {
    const folder = makeTemporaryFolder();
    // Not a whole number of pages, and enough for two threads.
    const content = makePages(5 * MIB + 2048, pageSize);
    const file = openFile(folder, "pages", content);
    const count = Math.ceil(content.length / pageSize) + 3;
    const whole = Buffer.concat([content, Buffer.alloc(count * pageSize - content.length)]);
    const expected = native.hashPages(whole, pageSize);
    expect(Buffer.compare(used.hashFilePages(file, 1, count, pageSize), expected)).toBe(0);
    expect(Buffer.compare(used.hashFilePages(file, 7, 5, pageSize), expected.subarray(6 * 16, 11 * 16))).toBe(0);
    expect(used.hashFilePages(file, 1, 0, pageSize).length).toBe(0);
    closeSync(file);
  });

  test("NATIVE-11: that do not have the expected hash are named in order, and those that nothing is expected of", () => {
    const content = makePages(12 * MIB, 3);
    const file = openFile(makeTemporaryFolder(), "pages", content);
    const count = content.length / 4096;
    const hashes = used.hashFilePages(file, 1, count, 4096);
    const low = new Uint8Array(count * 8);
    for (let page = 0; page < count; page += 1) low.set(hashes.subarray(page * 16 + 8, page * 16 + 16), page * 8);
    expect([...used.differingPages(file, 1, count, 4096, low)]).toEqual([]);
    const changed = [1, 2, 63, 64, 65, 1000, 1001, 2047, count];
    for (const page of changed) writeSync(file, Buffer.from([content[(page - 1) * 4096 + 4095]! ^ 1]), 0, 1, page * 4096 - 1);
    expect([...used.differingPages(file, 1, count, 4096, low)]).toEqual(changed);
    expect([...used.differingPages(file, 1000, 5, 4096, low.subarray(999 * 8))]).toEqual([1000, 1001]);
    expect([...used.differingPages(file, count - 1, 2, 4096, new Uint8Array(0))]).toEqual([count - 1, count]);
    closeSync(file);
  });

  test("NATIVE-12: are compared byte by byte with another file's, zeros behind the end of either", () => {
    const folder = makeTemporaryFolder();
    const content = makePages(9 * MIB, 5);
    const one = openFile(folder, "one", content);
    const two = openFile(folder, "two", content);
    const count = content.length / 1024;
    expect([...used.compareFilePages(one, two, 1, count + 10, 1024)]).toEqual([]);
    const changed = [1, 500, 501, 4096, count];
    for (const page of changed) writeSync(two, Buffer.from([content[(page - 1) * 1024 + 512]! ^ 128]), 0, 1, (page - 1) * 1024 + 512);
    expect([...used.compareFilePages(one, two, 1, count, 1024)]).toEqual(changed);
    expect([...used.compareFilePages(two, one, 500, 2, 1024)]).toEqual([500, 501]);
    const short = openFile(folder, "short", content.subarray(0, 1024));
    expect([...used.compareFilePages(one, short, 1, 3, 1024)]).toEqual([2, 3]);
    for (const file of [one, two, short]) closeSync(file);
  });

  test("NATIVE-13: that cannot be read are an error with its number, never an answer", () => {
    const error = expect.objectContaining({ code: "io-failed" }) as Error;
    expect(() => used.hashFilePages(9999, 1, 4, 4096)).toThrow(error);
    expect(() => used.differingPages(9999, 1, 4, 4096, new Uint8Array(0))).toThrow(error);
    expect(() => used.compareFilePages(9999, 9999, 1, 4, 4096)).toThrow(error);
  });
});

test("NATIVE-14: the fallback clones nothing, knows no extents and gives no advice", () => {
  expect(fallback.cloneFile(0, 1)).toBe(false);
  expect(fallback.cloneToPath(0, "/nowhere")).toBe(false);
  expect(fallback.cloneRange(0, 0, 1, 0, 1)).toBe(false);
  expect(fallback.extents(0, 0, 1, true)).toBeNull();
  expect(fallback.extentCount(0)).toBeNull();
  expect(fallback.filesystemType(0)).toBe(0);
  expect(fallback.cachedBytes(0, 0, 1)).toBeNull();
  expect(fallback.wontRead(0, 0, 1)).toBeUndefined();
});

describe.runIf(native.kind === "addon")("the addon", () => {
  test("NATIVE-15: tells that a filesystem cannot clone or knows nothing, without an error", () => {
    const folder = "/dev/shm";
    const path = join(folder, `coppice-native-${process.pid}`);
    const file = openFile(folder, `coppice-native-${process.pid}`, Buffer.alloc(8192, 1));
    const other = openSync(`${path}-other`, "w+");
    expect(native.cloneFile(file, other)).toBe(false);
    expect(native.cloneRange(file, 0, other, 0, 4096)).toBe(false);
    expect(native.cloneToPath(file, `${path}-third`)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.endsWith("-third"))).toEqual([]);
    expect(native.extents(file, 0, 8192, true)).toBeNull();
    expect(native.extentCount(file)).toBeNull();
    expect(native.filesystemType(file)).toBe(0x01021994);
    expect(() => native.cloneToPath(file, path)).toThrow(expect.objectContaining({ code: "file-exists" }) as Error);
    for (const opened of [file, other]) closeSync(opened);
    for (const name of [path, `${path}-other`]) unlinkSync(name);
  });

  test.for(["xfs", "btrfs"] as const)("NATIVE-16: on %s, clones share extents until one side is written", (kind, { skip }) => {
    const place = mountLoopFilesystem(kind, 320);
    if ("missing" in place) return skip(place.missing);
    const content = makePages(4 * MIB, 9);
    const file = openFile(place.folder, "from", content);
    expect(native.cloneToPath(file, join(place.folder, "to"))).toBe(true);
    expect(readFileSync(join(place.folder, "to")).equals(content)).toBe(true);
    const clone = openSync(join(place.folder, "to"), "r+");
    const places = (of: number): number[] => Array.from(native.extents(of, 0, content.length, true) ?? []);
    const addresses = (of: number): number[] => places(of).filter((_, index) => index % EXTENT.numbers !== EXTENT.flags);
    expect(addresses(clone)).toEqual(addresses(file));
    expect(native.extentCount(file)).toBe(places(file).length / EXTENT.numbers);
    writeSync(clone, Buffer.alloc(4096, 7), 0, 4096, 1 * MIB);
    expect(addresses(clone)).not.toEqual(addresses(file));
    expect([...native.compareFilePages(file, clone, 1, 1024, 4096)]).toEqual([257]);
    expect(native.cloneRange(file, 1 * MIB, clone, 1 * MIB, 4096)).toBe(true);
    expect([...native.compareFilePages(file, clone, 1, 1024, 4096)]).toEqual([]);
    // Not whole blocks.
    expect(native.cloneRange(file, 1, clone, 1, 5)).toBe(false);
    native.willRead(file, 0, content.length);
    native.wontRead(file, 0, content.length);
    for (const opened of [file, clone]) closeSync(opened);
  });

  test("NATIVE-18: tells how much of a file is in memory", ({ skip }) => {
    const file = openFile(makeTemporaryFolder(), "pages", makePages(4 * MIB, 8));
    const cached = native.cachedBytes(file, 0, 4 * MIB);
    if (cached === null) return skip("this kernel does not tell");
    expect(cached).toBe(4 * MIB);
    expect(native.cachedBytes(file, MIB, 8192)).toBe(8192);
    fsyncSync(file);
    native.wontRead(file, 0, 4 * MIB);
    expect(native.cachedBytes(file, 0, 4 * MIB)).toBeLessThan(MIB);
    closeSync(file);
    expect(native.cachedBytes(9999, 0, 1)).toBeNull();
  });

  const addon = createRequire(import.meta.url)(ADDON) as Record<string, (...input: unknown[]) => unknown>;
  const SHAPES: Readonly<Record<string, readonly unknown[]>> = {
    hashFilePages: [0, 1, 1, 4096],
    differingPages: [0, 1, 1, 4096, new Uint8Array(8)],
    compareFilePages: [0, 0, 1, 1, 4096],
    cloneFile: [0, 0],
    cloneToPath: [0, "/nowhere/at/all"],
    cloneRange: [0, 0, 0, 0, 1],
    extents: [0, 0, 1, true],
    extentCount: [0],
    filesystemType: [0],
    lockRange: [0, 0, 1, true],
    unlockRange: [0, 0, 1],
    isSoleOpener: [0],
    cachedBytes: [0, 0, 1],
    willRead: [0, 0, 1],
    wontRead: [0, 0, 1],
  };
  const STRANGE: readonly unknown[] = [
    undefined,
    null,
    "",
    "\0",
    "text",
    true,
    {},
    [],
    () => 1,
    Symbol("x"),
    10n,
    Number.NaN,
    Infinity,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 53),
    1e308,
    new Uint16Array(4),
    new Uint8Array(7),
    new ArrayBuffer(8),
  ];

  test("NATIVE-5: anything in the place of any argument throws, or is refused by the system; nothing crashes", () => {
    let thrown = 0;
    for (const [name, input] of Object.entries(SHAPES)) {
      for (let at = 0; at < input.length; at += 1) {
        for (const strange of STRANGE) {
          const altered = input.with(at, strange);
          try {
            addon[name]?.(...altered);
          } catch (error) {
            thrown += 1;
            expect(error, `${name}(${altered.map(String).join()})`).toBeInstanceOf(Error);
          }
        }
        expect(() => addon[name]?.(...input.slice(0, at)), `${name} with ${at} arguments`).toThrow(/must be/);
      }
    }
    expect(thrown).toBeGreaterThan(Object.keys(SHAPES).length * STRANGE.length);
  });

  test("NATIVE-5: page numbers, sizes and lengths out of their bounds are named", () => {
    for (const [input, wanted] of [
      [[0, 0, 1, 4096], /firstPageNumber must be/],
      [[0, 4_294_967_294, 2, 4096], /firstPageNumber must be/],
      [[0, 1, 1, 511], /pageSize must be/],
      [[0, 1, 1, 65_537], /pageSize must be/],
      [[0, 1, 262_145, 4096], /count must be/],
      [[0, 1, 2 ** 52, 4096], /must be/],
    ] as const) {
      for (const name of ["hashFilePages", "differingPages"]) {
        expect(() => addon[name]?.(...input, new Uint8Array(0))).toThrow(wanted);
      }
      expect(() => addon["compareFilePages"]?.(0, ...input)).toThrow(wanted);
    }
    expect(() => addon["differingPages"]?.(0, 1, 1, 4096, new Uint8Array(9))).toThrow(/expected must be/);
    expect(() => addon["cloneToPath"]?.(0, "/tmp/a\0b")).toThrow(/path must be/);
    expect(() => addon["extents"]?.(0, 0, 0, true)).toThrow(/length must be/);
  });

  test("NATIVE-5: closed files are refused with EBADF by all that can fail", () => {
    for (const [name, input] of Object.entries(SHAPES)) {
      if (["isSoleOpener", "cachedBytes", "willRead", "wontRead", "cloneToPath"].includes(name)) continue;
      const closed = input.map((value, at) => (at === 0 || (name === "compareFilePages" && at === 1) ? 9999 : value));
      expect(() => addon[name]?.(...closed), name).toThrow(expect.objectContaining({ errno: -9 }) as Error);
    }
    const folder = makeTemporaryFolder();
    expect(() => addon["cloneToPath"]?.(9999, join(folder, "clone"))).toThrow(expect.objectContaining({ errno: -9 }) as Error);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("NATIVE-6: expectations whose memory was given away are none", () => {
    const gone = new Uint8Array(64);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    const file = openFile(makeTemporaryFolder(), "pages", Buffer.alloc(16_384, 1));
    expect(addon["differingPages"]?.(file, 1, 4, 4096, gone)).toEqual(Uint32Array.of(1, 2, 3, 4));
    closeSync(file);
  });

  test("NATIVE-17: thousands of calls leave no descriptor open and keep no memory", () => {
    const folder = makeTemporaryFolder();
    mkdirSync(join(folder, "clones"));
    const file = openFile(folder, "pages", makePages(2 * MIB, 1));
    const other = openFile(folder, "other", makePages(2 * MIB, 2));
    const work = (calls: number): void => {
      for (let call = 0; call < calls; call += 1) {
        native.hashFilePages(file, 1, 64, 4096);
        native.compareFilePages(file, other, 1, 64, 4096);
        native.differingPages(file, 1, 64, 4096, new Uint8Array(512));
        native.extents(file, 0, 2 * MIB, false);
        native.extentCount(file);
        native.cloneFile(file, other);
        native.cloneToPath(file, join(folder, "clones", String(call)));
        native.cloneRange(file, 0, other, 0, 4096);
        expect(() => native.cloneToPath(file, folder)).toThrow("exists");
      }
    };
    work(500);
    const before = measure();
    work(3_000);
    const after = measure();
    expect(after.open).toBe(before.open);
    // A leak of one buffer a call would be hundreds of megabytes.
    expect(after.bytes - before.bytes).toBeLessThan(96 * MIB);
    expect(fstatSync(file).size).toBe(2 * MIB);
    for (const opened of [file, other]) closeSync(opened);
  });

  test("NATIVE-9: workers read the same file at once, and are ended in the middle of it", async () => {
    const folder = makeTemporaryFolder();
    const content = makePages(32 * MIB, 4);
    writeFileSync(join(folder, "pages"), content);
    const expected = Buffer.from(native.hashPages(content, 4096)).toString("base64");
    const source = `
      import { parentPort, workerData } from "node:worker_threads";
      import { createRequire } from "node:module";
      import { openSync } from "node:fs";
      const addon = createRequire(${JSON.stringify(import.meta.url)})(workerData.addon);
      const file = openSync(workerData.path, "r");
      for (;;) parentPort.postMessage(Buffer.from(addon.hashFilePages(file, 1, ${content.length / 4096}, 4096)).toString("base64"));`;
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const workers = Array.from({ length: 3 }, () => new Worker(url, { workerData: { addon: ADDON, path: join(folder, "pages") } }));
    const first = await Promise.all(workers.map((worker) => new Promise<string>((settle) => worker.once("message", settle))));
    await Promise.all(workers.map((worker) => worker.terminate()));
    expect(first).toEqual([expected, expected, expected]);
  });

  test("NATIVE-9: a worker that is ended while other threads work for it takes nobody with it", { timeout: 30_000 }, async () => {
    const script = startScript(`
      import { Worker } from "node:worker_threads";
      const source = \`
        const addon = process.getBuiltinModule("node:module").createRequire("/")(${JSON.stringify(ADDON)});
        const pages = new Uint8Array(4 * 1024 * 1024).map((_, index) => index * 7);
        const decode = () => addon.decodeFrames(new Uint8Array(64), Uint32Array.of(60), pages.length, 4096, pages, new Uint8Array(16 * 1024)).then(decode);
        const encode = () => addon.encodeFrame(pages, pages, 3).then(encode);
        for (let count = 0; count < 3; count += 1) { encode(); decode(); }
        process.getBuiltinModule("node:worker_threads").parentPort.postMessage("ready");
      \`;
      for (let round = 0; round < 12; round += 1) {
        const worker = new Worker(source, { eval: true });
        await new Promise((settle) => worker.once("message", settle));
        await new Promise((settle) => setTimeout(settle, round * 3));
        await worker.terminate();
      }
      console.log("still here");`);
    expect(await script.nextLine()).toBe("still here");
    expect(await script.end()).toBe(0);
  });
});
