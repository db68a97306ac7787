import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { setFaultHandler, type FaultPoint } from "#engine/io/faults.ts";
import type { Disk } from "#engine/io/disk.ts";
import { countStoredPages } from "#engine/format/segment-index.ts";
import { lockPageNumber } from "#engine/format/sqlite-header.ts";
import type { DatabaseId, VersionNumber } from "#shared/ids.ts";
import { openChain, type ChainReader } from "#engine/segments/chain-reader.ts";
import { encodeDelta } from "#engine/segments/encode-delta.ts";
import { materialise } from "#engine/segments/materialise.ts";
import { writeBase } from "#engine/segments/write-base.ts";
import { makePages, makeRandom } from "../../support/random-pages.ts";
import { batchesOf, makeSegmentParts, native, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "storing-"));
});
afterEach(() => {
  setFaultHandler(null);
  rmSync(folder, { recursive: true });
});

const random = makeRandom(99);
const noise = (count: number): Pages => Array.from({ length: count }, () => Uint8Array.from({ length: 4096 }, () => random(256)));

/** Every file under `segments/` and `tmp/`. */
const leftovers = (): string[] => ["segments", "tmp"].flatMap((name) => nodeDisk.list(join(folder, name)));

test("OBJECT-1: a stored segment is synced, then renamed, then its folder is synced", async () => {
  const calls: string[] = [];
  const disk: Disk = {
    ...nodeDisk,
    sync: (file) => (calls.push("sync"), nodeDisk.sync(file)),
    rename: (from, to) => (calls.push("rename"), nodeDisk.rename(from, to)),
    syncDirectory: (path) => (calls.push("syncDirectory"), nodeDisk.syncDirectory(path)),
  };
  const points: FaultPoint[] = [];
  setFaultHandler((point) => points.push(point));
  const parts = makeSegmentParts(folder, { disk });
  const { segment } = await writeBase(sourceOf(noise(40)), parts);
  expect(calls).toEqual(["sync", "rename", "syncDirectory"]);
  expect(points).toEqual(["segment:part-written", "segment:synced", "segment:published"]);
  expect(leftovers()).toEqual([`${segment.file}-0.seg`]);
  expect(await parts.objects.list()).toMatchObject([{ name: `${segment.file}-0.seg`, size: segment.bytes }]);
});

test("OBJECT-2: an object is never written over", async () => {
  const { objects } = makeSegmentParts(folder);
  const put = (): Promise<void> => {
    const path = join(folder, "tmp", "new");
    nodeDisk.close(nodeDisk.open(path, "w+"));
    return objects.put("a-0.seg", path);
  };
  await put();
  await expect(put()).rejects.toMatchObject({ code: "file-exists" });
  expect(await objects.remove("a-0.seg")).toBe(true);
  expect(await objects.remove("a-0.seg")).toBe(false);
  expect(await objects.open("a-0.seg")).toBeNull();
});

test("OBJECT-3: more objects than may stay open are read, and a removed one is closed", async () => {
  let open = 0;
  const disk: Disk = {
    ...nodeDisk,
    open: (...given) => ((open += 1), nodeDisk.open(...given)),
    close: (file) => ((open -= 1), nodeDisk.close(file)),
  };
  const { objects } = makeSegmentParts(folder, { disk });
  for (let index = 0; index < 100; index += 1) {
    const file = nodeDisk.open(join(folder, "segments", `${index}-0.seg`), "w+");
    nodeDisk.write(file, Uint8Array.of(index), 0);
    nodeDisk.close(file);
  }
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 100; index += 1) {
      const byte = new Uint8Array(1);
      expect((await objects.open(`${index}-0.seg`))?.read(0, byte)).toBe(1);
      expect(byte[0]).toBe(index);
    }
  }
  expect(open).toBe(64);
  await objects.remove("99-0.seg");
  expect(open).toBe(63);
  objects.close();
  expect(open).toBe(0);
});

test("SEG-13: a small segment touches no file, a large one only files", async () => {
  const versions = new SegmentVersions(folder);
  const pages = makePages(random, 512, 20);
  await versions.addBase(sourceOf(pages));
  expect(versions.records.get(1)).toMatchObject({ file: null, parts: 0 });
  expect(leftovers()).toEqual([]);
  await versions.addBase(sourceOf(noise(10)));
  expect(versions.records.get(2)).toMatchObject({ inline: null, parts: 1 });
});

/** Makes the n-th disk call of any kind that changes something fail. */
function failingDisk(at: number): { disk: Disk; calls: () => number } {
  let calls = 0;
  const failing = <A extends unknown[], R>(call: (...given: A) => R): ((...given: A) => R) => {
    return (...given) => {
      calls += 1;
      if (calls === at) throw new EngineError("disk-full", "the disk is full");
      return call(...given);
    };
  };
  const disk: Disk = {
    ...nodeDisk,
    open: failing(nodeDisk.open),
    write: failing(nodeDisk.write),
    sync: failing(nodeDisk.sync),
    truncate: failing(nodeDisk.truncate),
    rename: failing(nodeDisk.rename),
    syncDirectory: failing(nodeDisk.syncDirectory),
  };
  return { disk, calls: () => calls };
}

test("SEG-14: a full disk at any call fails with the disk's error and leaves nothing behind", { timeout: 120_000 }, async () => {
  const versions = new SegmentVersions(folder);
  const first = noise(300);
  await versions.addBase(sourceOf(first));
  const second = first.map((page, index) => (index < 140 ? (noise(1)[0] ?? page) : page));
  const before = leftovers();
  const attempt = async (disk: Disk): Promise<void> => {
    const parts = makeSegmentParts(folder, { disk, objects: versions.parts.objects });
    const written = await encodeDelta(
      { previous: await versions.chain(1), previousChecksum: new Uint8Array(16), pageSize: 4096, pageCount: 300, pages: batchesOf(second) },
      parts,
    );
    for (let part = 0; part < (written?.segment.parts ?? 0); part += 1) await parts.objects.remove(`${written?.segment.file}-${part}.seg`);
    const path = join(folder, "out.db");
    const checksum = versions.written.get(1)?.checksum ?? new Uint8Array(16);
    await materialise(await versions.chain(1), { disk, native, path, journal: "wal", changeCounter: 1, checksum });
    nodeDisk.remove(path);
  };
  const whole = failingDisk(0);
  await attempt(whole.disk);
  for (let at = 1; at <= whole.calls(); at += 1) {
    await expect(attempt(failingDisk(at).disk), `call ${at} of ${whole.calls()}`).rejects.toMatchObject({ code: "disk-full" });
    expect(leftovers(), `after call ${at}`).toEqual(before);
    expect(nodeDisk.stat(join(folder, "out.db"))).toBeNull();
  }
});

test("SEG-15: storing and writing out report progress, and a cancelled call leaves nothing behind", { timeout: 120_000 }, async () => {
  const versions = new SegmentVersions(folder);
  const pages = noise(2_000);
  await versions.addBase(sourceOf(pages));
  const before = leftovers();
  const chain = await versions.chain(1);
  const checksum = versions.written.get(1)?.checksum ?? new Uint8Array(16);
  const path = join(folder, "out.db");
  const change = () => ({
    previous: chain,
    previousChecksum: checksum,
    pageSize: 4096,
    pageCount: 2_000,
    pages: batchesOf(pages.toReversed()),
  });
  const acts = [
    (work: object) => writeBase(chain, versions.parts, work),
    (work: object) => encodeDelta(change(), versions.parts, work),
    (work: object) => materialise(chain, { disk: nodeDisk, native, path, journal: "wal", changeCounter: 1, checksum }, work),
  ];
  for (const act of acts) {
    const controller = new AbortController();
    const seen: number[] = [];
    const progress = (done: number, total: number): void => {
      seen.push(done / total);
      if (seen.length === 2) controller.abort();
    };
    await expect(act({ signal: controller.signal, progress })).rejects.toMatchObject({ code: "cancelled" });
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 1);
    expect(leftovers()).toEqual(before);
    expect(nodeDisk.stat(path)).toBeNull();
  }
});

/** A page of 64 KiB that is empty but for one byte, or altogether. */
const page = (pageNumber: number): Uint8Array => new Uint8Array(65_536).fill(pageNumber % 3 === 0 ? pageNumber : 0, 200, 201);

test("SEG-16: the page at 1 GiB is never stored, and stays a hole in files", { timeout: 180_000 }, async () => {
  const lockPage = 16_385;
  const source = {
    pageSize: 65_536,
    pageCount: lockPage + 3,
    readPages: (first: number, buffer: Uint8Array) => {
      for (let at = 0; at < buffer.length; at += 65_536)
        buffer.set(first + at / 65_536 === lockPage ? new Uint8Array(65_536).fill(1) : page(first + at / 65_536), at);
    },
  };
  const versions = new SegmentVersions(folder, makeSegmentParts(folder, { native: cheapNative }));
  await versions.addBase(source);
  const base = await versions.chain(1);
  expect(base.segments[0]?.index.pages).toBe(lockPage + 2);
  expect(readFrom(base, lockPage - 2, 5)).toEqual(
    [page(lockPage - 2), page(lockPage - 1), new Uint8Array(65_536), page(lockPage + 1), page(lockPage + 2)].map(digest),
  );
  expect(base.pageHash(lockPage)).toBeNull();
  expect(base.pageHashes().subarray((lockPage - 1) * 8, lockPage * 8)).toEqual(new Uint8Array(8));

  const edited = new Uint8Array(65_536).fill(77, 100, 110);
  const numbers = Uint32Array.of(lockPage - 1, lockPage, lockPage + 1, lockPage + 4);
  async function* pages() {
    yield { numbers, bytes: Buffer.concat([edited, edited, edited, edited]) };
  }
  const written = await encodeDelta(
    {
      previous: base,
      previousChecksum: versions.written.get(1)?.checksum ?? new Uint8Array(16),
      pageSize: 65_536,
      pageCount: lockPage + 4,
      pages: pages(),
    },
    versions.parts,
  );
  if (!written) throw new Error("nothing changed");
  expect(written.changedPages).toBe(3);
  const record = { ...written.segment, database: 1 as DatabaseId, to: 2 as VersionNumber, from: 1 as VersionNumber };
  const chain = await openChain(versions.parts, record.to, (to) => (to === 2 ? record : base));
  const wanted = [page(lockPage - 2), edited, new Uint8Array(65_536), edited, page(lockPage + 2), page(lockPage + 3), edited].map(digest);
  expect(readFrom(chain, lockPage - 2, 7)).toEqual(wanted);

  const path = join(folder, "out.db");
  await materialise(chain, { disk: sparseDisk, native: cheapNative, path, journal: "wal", changeCounter: 1, checksum: written.checksum });
  const file = nodeDisk.open(path, "r");
  const found = new Uint8Array(7 * 65_536);
  expect(nodeDisk.read(file, found, (lockPage - 3) * 65_536)).toBe(found.length);
  nodeDisk.close(file);
  expect(nodeDisk.stat(path)?.size).toBe((lockPage + 4) * 65_536);
  expect(Array.from({ length: 7 }, (_, index) => digest(found.subarray(index * 65_536, (index + 1) * 65_536)))).toEqual(wanted);
});

test("SEG-16: a database that ends before, at or behind the lock page has its pages but that one", () => {
  for (const pageSize of [512, 4096, 65_536]) {
    const lockPage = lockPageNumber(pageSize);
    expect([-1, 0, 1].map((more) => countStoredPages(pageSize, lockPage + more))).toEqual([lockPage - 1, lockPage - 1, lockPage]);
  }
});

const digest = (bytes: Uint8Array): string => Buffer.from(native.hashPages(bytes, bytes.length)).toString("hex");

function readFrom(chain: ChainReader, first: number, count: number): string[] {
  const buffer = new Uint8Array(count * 65_536);
  chain.readPages(first, buffer);
  return Array.from({ length: count }, (_, index) => digest(buffer.subarray(index * 65_536, (index + 1) * 65_536)));
}

/** Hashes the first 512 bytes of each page, where these tests keep what differs: a gibibyte of pages costs little. */
const cheapNative = { ...native, hashPages: (pages: Uint8Array, pageSize: number) => native.hashPages(firstBytes(pages, pageSize), 512) };

const zeros = new Uint8Array(1024 * 1024);

/** Leaves a hole where zeros are written. */
const sparseDisk: Disk = {
  ...nodeDisk,
  write: (file, buffer, position) =>
    void (Buffer.compare(buffer, zeros.subarray(0, buffer.length)) !== 0 && nodeDisk.write(file, buffer, position)),
};

/** The first 512 bytes of each page: where these tests keep what differs. */
function firstBytes(pages: Uint8Array, pageSize: number): Uint8Array {
  const first = new Uint8Array((pages.length / pageSize) * 512);
  for (let at = 0; at < pages.length; at += pageSize) first.set(pages.subarray(at, at + 512), (at / pageSize) * 512);
  return first;
}

test("SEG-17: a base larger than a part is stored in parts and read from them", { timeout: 180_000 }, async () => {
  const block = Uint8Array.from({ length: 4 * 1024 * 1024 }, () => random(256));
  const source = {
    pageSize: 65_536,
    pageCount: 4_300,
    readPages: (first: number, buffer: Uint8Array) => {
      for (let at = 0; at < buffer.length; at += 65_536) {
        const pageNumber = first + at / 65_536;
        buffer.set(block.subarray((pageNumber * 4_099) % (block.length - 65_536)).subarray(0, 65_536), at);
        new DataView(buffer.buffer, buffer.byteOffset + at).setUint32(200, pageNumber);
      }
    },
  };
  const versions = new SegmentVersions(folder, makeSegmentParts(folder, { native: cheapNative }));
  await versions.addBase(source);
  expect(versions.records.get(1)?.parts).toBe(2);
  const chain = await versions.chain(1);
  chain.segments[0]?.checkStored();
  for (const pageNumber of [1, 4_000, 4_090, 4_100, 4_300]) {
    const [read, expected] = [new Uint8Array(65_536), new Uint8Array(65_536)];
    chain.readPages(pageNumber, read);
    source.readPages(pageNumber, expected);
    expect(Buffer.compare(read, expected), `page ${pageNumber}`).toBe(0);
  }
});
