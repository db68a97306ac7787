import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BASE_LEVEL } from "#engine/catalog/records.ts";
import { pagesDiffering } from "#engine/segments/pages-differing.ts";
import { editPage, makePage, makePages, makeRandom } from "../../support/random-pages.ts";
import { compareVersion, differencesOf, pagesOfFile, SegmentVersions, sourceOf } from "../../support/segment-versions.ts";

const PAGE_SIZES = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

let folder: string;
let versions: SegmentVersions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "segments-"));
  versions = new SegmentVersions(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Fails the test when the version is said to equal the one before. */
async function addDelta(...change: Parameters<SegmentVersions["addDelta"]>): Promise<number> {
  const version = await versions.addDelta(...change);
  if (version === null) throw new Error("nothing changed");
  return version;
}

describe.each(PAGE_SIZES)("page size %i", (pageSize) => {
  test("SEG-1: every page comes back from a base, a delta, a grown, a shrunken and a grown-again version", async () => {
    const random = makeRandom(pageSize);
    const first = makePages(random, pageSize, 40);
    const v1 = await versions.addBase(sourceOf(first));
    expect(await compareVersion(versions, v1, first)).toEqual([]);
    const second = first.map((page, index) => (index % 7 === 0 ? editPage(random, page, index + 1) : page));
    const v2 = await addDelta(v1, second);
    expect(await compareVersion(versions, v2, second)).toEqual([]);
    const grown = [...second, ...Array.from({ length: 50 }, (_, index) => makePage(random, pageSize, 41 + index))];
    const v3 = await addDelta(v2, grown);
    expect(await compareVersion(versions, v3, grown)).toEqual([]);
    const shrunken = grown.slice(0, 9).map((page, index) => (index < 3 ? editPage(random, page, index + 1) : page));
    const v4 = await addDelta(v3, shrunken);
    expect(await compareVersion(versions, v4, shrunken)).toEqual([]);
    const again = [...shrunken, ...makePages(random, pageSize, 30).slice(1)];
    const v5 = await addDelta(v4, again);
    expect(await compareVersion(versions, v5, again)).toEqual([]);
    expect([...pagesDiffering(await versions.chain(v4), await versions.chain(v1))]).toEqual(differencesOf(shrunken, first));
    expect([...pagesDiffering(await versions.chain(v5), await versions.chain(v4))]).toEqual([]);
  });
});

test("SEG-3: candidates that equal the previous version are not stored, and none at all is no segment", async () => {
  const random = makeRandom(3);
  const first = makePages(random, 4096, 60);
  const v1 = await versions.addBase(sourceOf(first));
  expect(await versions.addDelta(v1, first)).toBeNull();
  const second = first.with(30, editPage(random, first[30] ?? new Uint8Array(4096), 31));
  const v2 = await addDelta(v1, second);
  expect(versions.written.get(v2)?.changedPages).toBe(1);
  expect((await versions.chain(v2)).segments[0]?.index.pageNumbers).toEqual(Uint32Array.of(31));
});

test("SEG-4: an empty database is a version, grows into one with pages, and back", async () => {
  const v1 = await versions.addBase(sourceOf([], 4096));
  expect(await compareVersion(versions, v1, [])).toEqual([]);
  const pages = makePages(makeRandom(4), 4096, 3);
  const v2 = await addDelta(v1, pages);
  expect(await compareVersion(versions, v2, pages)).toEqual([]);
  expect(await compareVersion(versions, await addDelta(v2, []), [])).toEqual([]);
});

test("SEG-5: a VACUUM to another page size becomes a base of its own", async () => {
  const path = join(folder, "live.db");
  const database = new Sqlite(path);
  database.exec(
    "CREATE TABLE t(a, b); WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 900) INSERT INTO t SELECT n, hex(n) FROM s",
  );
  const before = pagesOfFile(readFileSync(path), 4096);
  const v1 = await versions.addBase(sourceOf(before));
  for (const pageSize of PAGE_SIZES) {
    database.exec(`PRAGMA page_size=${pageSize}; VACUUM`);
    const pages = pagesOfFile(readFileSync(path), pageSize);
    const version = await addDelta(v1, pages);
    expect(versions.records.get(version)?.level).toBe(pageSize === 4096 ? 0 : BASE_LEVEL);
    expect(await compareVersion(versions, version, pages)).toEqual([]);
  }
  database.close();
});

test("SEG-6: a rewrite of most pages with new content becomes a base, and the delta is gone", async () => {
  const random = makeRandom(6);
  const noise = (): Uint8Array => Uint8Array.from({ length: 4096 }, () => random(256));
  const first = makePages(random, 4096, 1).concat(Array.from({ length: 99 }, noise));
  const v1 = await versions.addBase(sourceOf(first));
  const second = first.map((page, index) => (index > 20 ? noise() : page));
  const v2 = await addDelta(v1, second);
  expect(versions.records.get(v2)).toMatchObject({ level: BASE_LEVEL, from: null });
  expect(await compareVersion(versions, v2, second)).toEqual([]);
  const files = (await versions.parts.objects.list()).map(({ name }) => name);
  expect(files).toHaveLength([...versions.records.values()].filter(({ file }) => file !== null).length);
});

test("SEG-6: a rewrite that changes a few bytes of every page stays a delta", async () => {
  const random = makeRandom(7);
  const noise = (): Uint8Array => Uint8Array.from({ length: 4096 }, () => random(256));
  const first = makePages(random, 4096, 1).concat(Array.from({ length: 99 }, noise));
  const v1 = await versions.addBase(sourceOf(first));
  const second = first.map((page, index) => editPage(random, page, index + 1));
  const v2 = await addDelta(v1, second);
  expect(versions.records.get(v2)?.level).toBe(0);
  expect(await compareVersion(versions, v2, second)).toEqual([]);
});

test("SEG-7: a dictionary that looks like a trained one is still raw", async () => {
  const random = makeRandom(8);
  const first = [
    ...makePages(random, 512, 1),
    Uint8Array.from({ length: 512 }, (_, index) => [0x37, 0xa4, 0x30, 0xec][index] ?? index % 200),
  ];
  const v1 = await versions.addBase(sourceOf(first));
  const second = [first[0] ?? new Uint8Array(512), editPage(random, first[1] ?? new Uint8Array(512), 2)];
  expect(await compareVersion(versions, await addDelta(v1, second), second)).toEqual([]);
});
