import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { editPage, makePage, makePages, makeRandom } from "../../support/random-pages.ts";
import { native, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";

/** Reads a one-part segment by docs/FORMAT.md alone: nothing of the engine's decoder is used. */
function readByTheDocument(bytes: Buffer) {
  const indexBytes = bytes.readUInt32LE(bytes.length - 8);
  const start = bytes.length - 8 - indexBytes;
  let at = start;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const [pageSizeLog2, pageCount, pages, pagesPerFrame, parts] = [varint(), varint(), varint(), varint(), varint()];
  const frameCount = Math.ceil(pages / pagesPerFrame);
  const lengths = Array.from({ length: frameCount }, varint);
  const crcs = Array.from({ length: frameCount }, (_, frame) => bytes.readUInt32LE(at + frame * 4));
  at += frameCount * 4;
  let before = 0;
  const numbers = bytes[3] === 1 ? [] : Array.from({ length: pages }, () => (before += varint()));
  const hashes = Array.from({ length: pages }, (_, page) => bytes.subarray(at + page * 8, at + page * 8 + 8).toString("hex"));
  expect(at + pages * 8).toBe(bytes.length - 8);
  let position = 4;
  const frames = lengths.map((length) => bytes.subarray(position, (position += length)));
  expect(position).toBe(start);
  expect(frames.map((frame) => crc32(frame))).toEqual(crcs);
  expect(bytes.readUInt32LE(bytes.length - 4)).toBe(crc32(Buffer.concat([bytes.subarray(0, 4), bytes.subarray(start, bytes.length - 4)])));
  return {
    header: bytes.subarray(0, 4).toString("hex"),
    pageSize: 2 ** pageSizeLog2,
    pageCount,
    pagesPerFrame,
    parts,
    numbers,
    hashes,
    frames,
  };
}

const decode = (frame: Uint8Array, dictionary?: Uint8Array): Buffer =>
  zstdDecompressSync(Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd), frame]), dictionary ? { dictionary } : {});
const lowHash = (page: Uint8Array): string => Buffer.from(native.hashPages(page, page.length)).subarray(8).toString("hex");

test("SEG-18: a segment's bytes are those of docs/FORMAT.md", async () => {
  const folder = mkdtempSync(join(tmpdir(), "format-"));
  const random = makeRandom(18);
  const versions = new SegmentVersions(folder);
  const first = makePages(random, 512, 40);
  await versions.addBase(sourceOf(first));
  const base = readByTheDocument(Buffer.from(versions.records.get(1)?.inline ?? []));
  expect(base).toMatchObject({
    header: "43530101",
    pageSize: 512,
    pageCount: 40,
    pagesPerFrame: 128,
    parts: 1,
    hashes: first.map(lowHash),
  });
  expect(base.frames.map((frame) => decode(frame))).toEqual([Buffer.concat(first)]);

  const second: Pages = [...first.map((page, index) => (index < 34 ? editPage(random, page, index + 1) : page)), makePage(random, 512, 41)];
  await versions.addDelta(1, second);
  const delta = readByTheDocument(Buffer.from(versions.records.get(2)?.inline ?? []));
  const numbers = [...Array.from({ length: 34 }, (_, index) => index + 1), 41];
  expect(delta).toMatchObject({ header: "43530100", pageSize: 512, pageCount: 41, pagesPerFrame: 32, parts: 1, numbers });
  expect(delta.hashes).toEqual(numbers.map((pageNumber) => lowHash(second[pageNumber - 1] ?? new Uint8Array(512))));
  expect(decode(delta.frames[0] ?? new Uint8Array(0), Buffer.concat(first.slice(0, 32)))).toEqual(Buffer.concat(second.slice(0, 32)));
  expect(decode(delta.frames[1] ?? new Uint8Array(0), Buffer.concat(first.slice(32, 34)))).toEqual(
    Buffer.concat([...second.slice(32, 34), ...second.slice(40)]),
  );
  rmSync(folder, { recursive: true });
});
