import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach } from "vitest";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import type { CheckoutChanges, CheckoutFiles, KnownContent } from "#engine/checkouts/checkout-files.ts";
import type { PageBatch } from "#engine/format/page-batch.ts";
import { normalisePage1 } from "#engine/format/sqlite-header.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { Client } from "./client.ts";

export const native = loadNative();
export const disk = nodeDisk;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

export function onCleanup(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

export interface Place {
  readonly folder: string;
  readonly temporary: string;
  /** Where the checkout is. */
  readonly path: string;
}

export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "coppice-checkouts-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  mkdirSync(join(folder, "checkouts"));
  return { folder, temporary, path: join(folder, "checkouts", "main.db") };
}

export function openFiles(place: Place): CheckoutFiles {
  const files = new DirectCheckoutFiles({ disk, native, temporary: place.temporary });
  onCleanup(() => files.close());
  return files;
}

export async function openClient(path: string, ...pragmas: string[]): Promise<Client> {
  const client = new Client();
  onCleanup(() => client.kill());
  await client.open(path);
  for (const pragma of pragmas) await client.exec(`PRAGMA ${pragma}`);
  return client;
}

/** A table `item` of `rows` rows, about 100 bytes each; closed again. */
export function makeDatabase(
  path: string,
  options: { rows?: number; pageSize?: number; journal?: "wal" | "delete"; tag?: string } = {},
): void {
  const { rows = 500, pageSize = 4096, journal = "wal", tag = "first" } = options;
  const database = new Database(path);
  database.pragma(`page_size = ${pageSize}`);
  database.pragma(`journal_mode = ${journal}`);
  database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, tag TEXT, text TEXT)");
  const insert = database.prepare("INSERT INTO item (tag, text) VALUES (?, ?)");
  database.transaction(() => {
    for (let row = 0; row < rows; row += 1) insert.run(tag, `${row} `.repeat(25));
  })();
  database.close();
}

/** Pages of a database that nobody uses, page 1 normalised. */
export function readDatabase(path: string): { pages: Uint8Array; pageSize: number; pageCount: number } {
  const database = new Database(path);
  try {
    return normalised(database.serialize(), Number(database.pragma("page_size", { simple: true })));
  } finally {
    database.close();
  }
}

export function normalised(bytes: Uint8Array, pageSize: number): { pages: Uint8Array; pageSize: number; pageCount: number } {
  const pages = bytes.slice();
  if (pages.length > 0) normalisePage1(pages.subarray(0, pageSize));
  return { pages, pageSize, pageCount: pages.length / pageSize };
}

export function lowHashes(pages: Uint8Array, pageSize: number): Uint8Array {
  const hashes = native.hashPages(pages, pageSize);
  const low = new Uint8Array(hashes.length / 2);
  for (let page = 0; page < hashes.length / 16; page += 1) low.set(hashes.subarray(page * 16 + 8, page * 16 + 16), page * 8);
  return low;
}

/** What the catalog would know about this content. */
export function knownAs(content: { pages: Uint8Array; pageSize: number }, fingerprint: string | null): KnownContent {
  return { fingerprint, pageSize: content.pageSize, pageHashes: async () => lowHashes(content.pages, content.pageSize) };
}

export async function collect(changes: CheckoutChanges): Promise<Map<number, Uint8Array>> {
  const pages = new Map<number, Uint8Array>();
  for await (const batch of changes.batches) {
    batch.numbers.forEach((page, index) => pages.set(page, batch.bytes.slice(index * changes.pageSize, (index + 1) * changes.pageSize)));
  }
  return pages;
}

/** Page numbers on which two contents differ, those beyond the shorter one included. */
export function differingPages(
  before: { pages: Uint8Array; pageSize: number },
  after: { pages: Uint8Array; pageSize: number; pageCount: number },
): number[] {
  const different: number[] = [];
  for (let page = 1; page <= after.pageCount; page += 1) {
    const old = before.pages.subarray((page - 1) * before.pageSize, page * before.pageSize);
    const now = after.pages.subarray((page - 1) * after.pageSize, page * after.pageSize);
    if (before.pageSize !== after.pageSize || Buffer.compare(old, now) !== 0) different.push(page);
  }
  return different;
}

/** The pages that turn one content into another, page 1 always, a few at a time. */
export async function* batchesBetween(
  before: { pages: Uint8Array; pageSize: number },
  after: { pages: Uint8Array; pageSize: number; pageCount: number },
  pagesMax = 7,
): AsyncGenerator<PageBatch> {
  const numbers = [...new Set([...(after.pageCount > 0 ? [1] : []), ...differingPages(before, after)])];
  for (let from = 0; from < numbers.length; from += pagesMax) {
    const part = numbers.slice(from, from + pagesMax);
    const bytes = new Uint8Array(part.length * after.pageSize);
    part.forEach((page, index) =>
      bytes.set(after.pages.subarray((page - 1) * after.pageSize, page * after.pageSize), index * after.pageSize),
    );
    yield { numbers: Uint32Array.from(part), bytes };
  }
}

/** Small, repeatable randomness (mulberry32). */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
