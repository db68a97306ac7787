import { join } from "node:path";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compareDatabases } from "#engine/diff/database-diff.ts";
import { DatabasePages } from "#engine/diff/database-pages.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { PageSource } from "#engine/segments/page-source.ts";
import { makeRandom } from "../../support/random-pages.ts";
import { pagesOfFile, sourceOf } from "../../support/segment-versions.ts";
import { execute, temporaryFolder } from "../../support/stores.ts";
import { rowsOf } from "./support.ts";

const PAGE = 512;

function build(autoVacuum: number): Uint8Array[] {
  const path = join(temporaryFolder(), "data.db");
  execute(
    path,
    `PRAGMA page_size = ${PAGE}; PRAGMA auto_vacuum = ${autoVacuum}; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL); CREATE TABLE w (a TEXT COLLATE NOCASE, b, v, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE TABLE k (a, b UNIQUE); CREATE INDEX i ON t (a, b); CREATE TABLE gone (a);
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO t SELECT i, printf('%.*c', i % 37 * 20, 'x'), i / 3.0 FROM n;
     INSERT INTO w SELECT a, id, b FROM t; INSERT INTO k SELECT a, id FROM t; INSERT INTO gone SELECT a FROM t; DELETE FROM gone WHERE rowid > 20`,
  );
  return pagesOfFile(readFileSync(path), PAGE);
}

/** What became of reading all that differs: nothing may happen but an answer, or an error that says what it found. */
async function outcome(left: PageSource, right: PageSource, numbers: readonly number[] | null): Promise<string> {
  try {
    const diff = await compareDatabases(new DatabasePages("left", left), new DatabasePages("right", right), numbers, {});
    rowsOf({ ...diff, tables: diff.tables.filter(({ pair }) => pair !== null) }, temporaryFolder());
    return "compared";
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    expect(error.untouched).toBe("Nothing was changed.");
    return error.code;
  }
}

function differing(a: readonly Uint8Array[], b: readonly Uint8Array[]): number[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => index + 1).filter((number) => {
    const [x, y] = [a[number - 1], b[number - 1]];
    return !x || !y || Buffer.compare(x, y) !== 0;
  });
}

test.each([1, 2, 3, 4])("DIFF-10: bytes changed at random give an answer or a typed error, seed %i", { timeout: 120_000 }, async (seed) => {
  const random = makeRandom(seed);
  const pages = build(seed % 3);
  const found = new Map<string, number>();
  for (let round = 0; round < 60; round += 1) {
    const damaged = pages.map((page) => page.slice());
    for (let count = 1 + random(6); count > 0; count -= 1) {
      const page = damaged[random(damaged.length)];
      if (!page) continue;
      // The beginning of a page says most about the rest.
      const position = random(3) === 0 ? random(PAGE) : random(24);
      page[position] = random(2) === 0 ? random(256) : (page[position] ?? 0) ^ (1 << random(8));
    }
    const sides: [PageSource, PageSource] = [sourceOf(pages, PAGE), sourceOf(damaged, PAGE)];
    if (round % 2 === 1) sides.reverse();
    const result = await outcome(...sides, round % 3 === 0 ? null : differing(pages, damaged));
    found.set(result, (found.get(result) ?? 0) + 1);
  }
  expect([...found.keys()].filter((code) => code !== "compared" && code !== "database-corrupt")).toEqual([]);
  expect(found.get("database-corrupt")).toBeGreaterThan(0);
});

test("DIFF-10: pages of noise, and a database cut short, give an answer or a typed error", async () => {
  const random = makeRandom(9);
  const pages = build(0);
  for (let round = 0; round < 40; round += 1) {
    const noise = pages.map((page, index) => (index > 0 && random(4) === 0 ? page.map(() => random(256)) : page));
    const damaged = round % 2 === 0 ? noise : pages.slice(0, 1 + random(pages.length));
    const result = await outcome(sourceOf(pages, PAGE), sourceOf(damaged, PAGE), round % 3 === 0 ? null : differing(pages, damaged));
    expect(["compared", "database-corrupt"]).toContain(result);
  }
});

/** Position of the first bytes of a b-tree page's right child. */
const RIGHT_CHILD = 8;

function interiorPages(pages: readonly Uint8Array[]): number[] {
  return pages.flatMap((page, index) => (index > 0 && (page[0] === 5 || page[0] === 2) ? [index + 1] : []));
}

test("DIFF-10: trees, overflow chains and freelists that go round in circles end", async () => {
  const pages = build(0);
  const edits: ((page: Uint8Array[]) => void)[] = [
    (all) =>
      interiorPages(all).forEach((number) =>
        new DataView(all[number - 1]!.buffer, all[number - 1]!.byteOffset).setUint32(RIGHT_CHILD, number),
      ),
    (all) =>
      interiorPages(all).forEach((number, index, numbers) =>
        new DataView(all[number - 1]!.buffer, all[number - 1]!.byteOffset).setUint32(
          RIGHT_CHILD,
          numbers[(index + 1) % numbers.length] ?? 1,
        ),
      ),
    // Each overflow page leads to itself.
    (all) =>
      all.forEach((page, index) => {
        if (index > 0 && (page[0] ?? 1) === 0) new DataView(page.buffer, page.byteOffset).setUint32(0, index + 1);
      }),
  ];
  for (const edit of edits) {
    const damaged = pages.map((page) => page.slice());
    edit(damaged);
    expect(differing(pages, damaged).length).toBeGreaterThan(0);
    for (const numbers of [null, differing(pages, damaged)])
      expect(["compared", "database-corrupt"]).toContain(await outcome(sourceOf(pages, PAGE), sourceOf(damaged, PAGE), numbers));
  }
});

test("DIFF-10: an empty source and one that is no database are refused", () => {
  const none: PageSource = { pageSize: 512, pageCount: 0, readPages: () => {} };
  expect(() => new DatabasePages("none", none)).toThrow(expect.objectContaining({ code: "database-corrupt" }));
  const zeros = sourceOf([new Uint8Array(512)], 512);
  expect(() => new DatabasePages("zeros", zeros)).toThrow(expect.objectContaining({ code: "database-corrupt" }));
});
