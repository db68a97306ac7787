import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readRecord, removeOrphanShadows, writeRecord } from "#engine/checkouts/shadow-files.ts";
import { differingRanges, readExtents } from "#engine/checkouts/extent-ranges.ts";
import { EXTENT } from "#engine/io/native.ts";
import { disk, makeDatabase, makePlace, native } from "./support.ts";

const list = (...extents: readonly [logical: number, physical: number, length: number, flags?: number][]): Float64Array =>
  Float64Array.from(extents.flatMap(([logical, physical, length, flags = 0]) => [logical, physical, length, flags]));

/** Two extents from wherever it is asked on. */
const ask = (_file: number, start: number): Float64Array => list([start, 10 + start, 10], [start + 10, 500 + start, 10]);

describe("records of shadows", () => {
  it("SHADOW-3: come back as they were written, and not at all when anything is wrong with them", () => {
    const path = join(makePlace().folder, "known");
    const record = { fingerprint: "1.boot.x", identity: "1.2.3.4", loose: Uint32Array.of(1, 2, 3, 70, 4_294_967_294) };
    writeRecord(disk, path, record);
    expect(readRecord(disk, path)).toEqual(record);
    const text = readFileSync(path, "latin1");
    for (let length = 0; length < text.length; length += 1) {
      writeFileSync(path, text.slice(0, length));
      expect(readRecord(disk, path), `the first ${length} bytes`).toBeNull();
    }
    for (const pages of ["3,2", "2-1", "x!", "1-zzzzzz", ",", "1,1"]) {
      writeFileSync(path, text.replace(/\n[^\n]*\nend\n$/, `\n${pages}\nend\n`));
      expect(readRecord(disk, path), pages).toBeNull();
    }
  });

  it("SHADOW-5: that no checkout has any more are removed", () => {
    const place = makePlace();
    const folder = join(place.folder, "shadows");
    disk.makeDirectory(folder);
    makeDatabase(place.path);
    const { device, inode } = disk.stat(place.path)!;
    const name = `${device.toString(36)}-${inode.toString(36)}`;
    for (const file of [`${name}.shadow`, `${name}.known`, "1-2.shadow", "1-2.known", "stray"]) writeFileSync(join(folder, file), "12345");
    expect(removeOrphanShadows(disk, folder, [place.path, join(place.folder, "missing")])).toEqual({ removed: 1, bytes: 5 });
    expect(disk.list(folder)).toEqual([`${name}.known`, `${name}.shadow`]);
    expect(removeOrphanShadows(disk, join(place.folder, "none"), [])).toEqual({ removed: 0, bytes: 0 });
  });
});

describe("extents", () => {
  it("SHADOW-9: that lie on the same blocks are the same, however they are cut; holes are the same as holes", () => {
    const whole = list([0, 1000, 400]);
    expect(differingRanges(whole, list([0, 1000, 100], [100, 1100, 300]), 400)).toEqual([]);
    expect(differingRanges(whole, list([0, 1000, 100], [100, 2100, 100], [200, 1200, 200]), 400)).toEqual([{ start: 100, end: 200 }]);
    expect(differingRanges(whole, list([0, 1000, 100], [200, 1200, 200]), 400)).toEqual([{ start: 100, end: 200 }]);
    expect(differingRanges(list([100, 1, 50]), list([100, 1, 50]), 400)).toEqual([]);
    expect(differingRanges(list(), list(), 400)).toEqual([]);
    expect(differingRanges(whole, list(), 300)).toEqual([{ start: 0, end: 300 }]);
  });

  it.each([0x2, 0x4, 0x8, 0x80, 0x100, 0x200, 0x400, 0x800, 0x10000])("SHADOW-9: with flag %i say nothing", (flag) => {
    const extents = list([0, 1000, 100], [100, 1100, 100, flag], [200, 1200, 100, EXTENT.last | EXTENT.shared | EXTENT.merged]);
    expect(differingRanges(extents, extents, 300)).toEqual([{ start: 100, end: 200 }]);
  });

  it("SHADOW-9: at no address say nothing, and in no order are not used", () => {
    expect(differingRanges(list([0, 0, 100]), list([0, 0, 100]), 100)).toEqual([{ start: 0, end: 100 }]);
    const answers: readonly (Float64Array | null)[] = [
      null,
      list([100, 1, 50], [0, 1, 50]),
      list([0, 1, 50], [40, 1, 50]),
      list([0, 1, 0]),
      list([0, 1, -5]),
    ];
    for (const answer of answers) expect(readExtents({ ...native, extents: () => answer }, 0, 100, 10, true)).toBeNull();
  });

  it("SHADOW-9: of many calls are put together, up to the limit", () => {
    const asking = { ...native, extents: ask };
    expect(readExtents(asking, 0, 60, 6, true)?.length).toBe(6 * EXTENT.numbers);
    expect(readExtents(asking, 0, 60, 5, true)).toBeNull();
  });
});
