import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { ChangeCache, type CountedChanges } from "#engine/diff/change-cache.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { LIMITS } from "#shared/limits.ts";
import { temporaryFolder } from "../../support/stores.ts";

const keyOf = (index: number) => Buffer.from(index.toString(16).padStart(64, "0"), "hex");

function counted(inserted: number, name = "orders"): CountedChanges {
  return {
    tables: [{ name, inserted, deleted: 0, updated: 2 }],
    moreTables: 0,
    inserted,
    deleted: 0,
    updated: 2,
    schemaChanges: 1,
    problem: null,
  };
}

function open(folder: string): ChangeCache {
  const cache = new ChangeCache(nodeDisk, folder, true);
  onTestFinished(() => cache.close());
  return cache;
}

/** A folder with one entry in it, and its file. */
function filled(): { readonly folder: string; readonly file: string } {
  const folder = join(temporaryFolder(), "changes");
  const cache = open(folder);
  cache.put(keyOf(1), counted(7));
  cache.close();
  return { folder, file: join(folder, "counts.sqlite") };
}

/** The cache finds nothing in it, and works as if it were new. */
function expectDropped(folder: string): void {
  expect(open(folder).get(keyOf(1))).toBeNull();
  const cache = open(folder);
  cache.put(keyOf(1), counted(8));
  expect(open(folder).get(keyOf(1))).toEqual(counted(8));
}

test("CHANGES-5: what was counted is there for others who open the folder, and is found by its key alone", () => {
  const { folder } = filled();
  const cache = open(folder);
  expect(cache.get(keyOf(1))).toEqual(counted(7));
  expect(cache.get(keyOf(2))).toBeNull();
  const other = open(folder);
  other.put(keyOf(2), counted(3));
  expect(cache.get(keyOf(2))).toEqual(counted(3));
});

test("CHANGES-6: a cache that is no database, is cut, is of another format or is a folder is dropped", () => {
  const damages: readonly ((file: string) => void)[] = [
    (file) => writeFileSync(file, "this is no database, but it is long enough to be looked at as one".repeat(100)),
    (file) => writeFileSync(file, readFileSync(file).subarray(0, 5000)),
    (file) => writeFileSync(file, readFileSync(file).fill(0xa5, 100, 3000)),
    (file) => {
      const database = new Database(file);
      database.pragma("user_version = 99");
      database.close();
    },
    (file) => {
      nodeDisk.remove(file);
      mkdirSync(file);
    },
  ];
  for (const damage of damages) {
    const { folder, file } = filled();
    damage(file);
    expect(open(folder).get(keyOf(1))).toBeNull();
    expectDropped(folder);
  }
});

test.each([
  ["a view is in its place", "DROP TABLE counts; CREATE VIEW counts AS SELECT 1 AS id, x'00' AS key, 'a' AS body, x'00' AS hash"],
  ["a trigger is on it", "CREATE TRIGGER more AFTER INSERT ON counts BEGIN DELETE FROM counts; END"],
])("CHANGES-6: a cache where %s is dropped", (_, sql) => {
  const { folder, file } = filled();
  const database = new Database(file);
  database.exec(sql);
  database.close();
  expect(open(folder).get(keyOf(1))).toBeNull();
  expectDropped(folder);
});

test("CHANGES-6: an entry whose bytes changed is not believed", () => {
  const { folder, file } = filled();
  const bytes = readFileSync(file);
  const position = bytes.indexOf('"inserted":7');
  expect(position).toBeGreaterThan(0);
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, "9", position + '"inserted":'.length);
  closeSync(descriptor);
  expectDropped(folder);
});

test("CHANGES-6: caches that are cleared while it is open are made anew by what is counted next", () => {
  const { folder, file } = filled();
  const cache = open(folder);
  expect(cache.get(keyOf(1))).toEqual(counted(7));
  nodeDisk.removeTree(folder);
  cache.put(keyOf(2), counted(3));
  expect(existsSync(file)).toBe(true);
  expect(open(folder).get(keyOf(2))).toEqual(counted(3));
});

test("CHANGES-6: where nothing can be written, or another process holds the file, memory does", () => {
  const { folder, file } = filled();
  const unwritten = new ChangeCache(nodeDisk, join(folder, "never"), false);
  unwritten.put(keyOf(1), counted(1));
  expect(unwritten.get(keyOf(1))).toEqual(counted(1));
  expect(existsSync(join(folder, "never"))).toBe(false);
  const holder = new Database(file);
  onTestFinished(() => {
    holder.close();
  });
  holder.exec("BEGIN EXCLUSIVE");
  const cache = open(folder);
  expect(cache.get(keyOf(1))).toBeNull();
  cache.put(keyOf(5), counted(5));
  expect(cache.get(keyOf(5))).toEqual(counted(5));
  holder.exec("COMMIT");
  expect(cache.get(keyOf(1))).toEqual(counted(7));
});

test("CHANGES-6: the file stays within its size, the oldest entries go", { timeout: 60_000 }, () => {
  const folder = join(temporaryFolder(), "changes");
  const cache = open(folder);
  const name = "t".repeat(60_000);
  const entries = Math.ceil((1.2 * LIMITS.changeCacheBytesMax) / name.length);
  for (let index = 0; index < entries; index += 1) cache.put(keyOf(index), counted(index, name));
  cache.close();
  expect(statSync(join(folder, "counts.sqlite")).size).toBeLessThanOrEqual(LIMITS.changeCacheBytesMax);
  const reopened = open(folder);
  expect(reopened.get(keyOf(entries - 1))?.inserted).toBe(entries - 1);
  expect(reopened.get(keyOf(0))).toBeNull();
});
