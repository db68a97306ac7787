/**
 * Fills the tables with rows drawn from seeded numbers: the same size and seed give the same bytes wherever SQLite is the
 * same. Balances are planted for data cleaning: 2 in 100 are null, 1 in 100 is negative.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import Database from "better-sqlite3";
import { Random } from "#shared/bench-random.ts";
import { DISTRICTS_PER_WAREHOUSE, NEW_ORDERS_PER_MILLE, SCHEMA, type Scale } from "./schema.ts";

const PAGE_BYTES = 4096;
const BATCH_ROWS = 5_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
/** Every date in the data is this one: the clock must not show. */
const DAY = "2026-01-01 00:00:00";
const HASH_CHUNK_BYTES = 1024 * 1024;

type Value = string | number | null;
type Rows = Iterable<readonly Value[]>;

/**
 * Makes the database at `path`, which does not exist before it is complete. `pause` is called between batches and may
 * throw to end the work. Errors: SQLite's.
 */
export async function generate(
  path: string,
  { scale, seed }: { readonly scale: Scale; readonly seed: number },
  pause: () => Promise<void>,
): Promise<void> {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  const database = new Database(unfinished);
  try {
    for (const pragma of [`page_size = ${PAGE_BYTES}`, "journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF"])
      database.pragma(pragma);
    database.exec(SCHEMA);
    for (const [stream, [table, rows]] of tables(scale).entries()) await fill(database, table, rows(new Random(seed, stream)), pause);
  } finally {
    database.close();
  }
  renameSync(unfinished, path);
}

/** Size and SHA-256 of a file: what makes two seeds the same. */
export function identify(path: string): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash("sha256");
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(HASH_CHUNK_BYTES);
    for (let length = readSync(file, chunk); length > 0; length = readSync(file, chunk)) hash.update(chunk.subarray(0, length));
  } finally {
    closeSync(file);
  }
  return { bytes: statSync(path).size, sha256: hash.digest("hex") };
}

async function fill(database: Database.Database, table: string, rows: Rows, pause: () => Promise<void>): Promise<void> {
  let insert: Database.Statement | null = null;
  const store = database.transaction((batch: readonly (readonly Value[])[]) => {
    for (const row of batch) {
      insert ??= database.prepare(`INSERT INTO ${table} VALUES (${row.map(() => "?").join()})`);
      insert.run(...row);
    }
  });
  let batch: (readonly Value[])[] = [];
  for (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH_ROWS) continue;
    store(batch);
    batch = [];
    await pause();
  }
  store(batch);
}

function tables(scale: Scale): readonly (readonly [string, (random: Random) => Rows])[] {
  return [
    ["region", (random) => numbered(5, (id) => [id, text(random, 12), text(random, 60)])],
    ["nation", (random) => numbered(62, (id) => [id, text(random, 12), 1 + (id % 5), text(random, 60)])],
    ["supplier", (random) => numbered(100, (id) => suppliers(random, id))],
    ["warehouse", (random) => numbered(scale.warehouses, (id) => [id, ...place(random), 300_000])],
    ["district", (random) => districtRows(scale, random)],
    ["customer", (random) => customerRows(scale, random)],
    ["history", (random) => historyRows(scale, random)],
    [
      "item",
      (random) => numbered(scale.items, (id) => [id, random.below(10_000), text(random, 20), cents(random, 100, 10_000), text(random, 40)]),
    ],
    ["stock", (random) => stockRows(scale, random)],
    ["orders", (random) => orderRows(scale, random)],
    ["new_order", () => newOrderRows(scale)],
    ["order_line", (random) => lineRows(scale, random)],
  ];
}

function suppliers(random: Random, id: number): Value[] {
  return [
    id,
    `supplier ${id}`,
    text(random, 24),
    1 + random.below(62),
    digits(random, 12),
    cents(random, -99_999, 999_999),
    text(random, 60),
  ];
}

function place(random: Random): Value[] {
  return [
    text(random, 8),
    text(random, 16),
    text(random, 14),
    text(random, 2).toUpperCase(),
    digits(random, 9),
    random.below(2_000) / 10_000,
  ];
}

function* districtRows(scale: Scale, random: Random): Rows {
  for (const [w, d] of districts(scale)) yield [w, d, ...place(random), 30_000, scale.ordersPerDistrict + 1];
}

function* customerRows(scale: Scale, random: Random): Rows {
  for (const [w, d] of districts(scale))
    for (let c = 1; c <= scale.customersPerDistrict; c += 1) {
      const name = [text(random, 12), "OE", text(random, 10)];
      const address = [text(random, 18), text(random, 14), text(random, 2).toUpperCase(), digits(random, 9), digits(random, 16)];
      const credit = [random.below(10) === 0 ? "BC" : "GC", 50_000, random.below(5_000) / 10_000];
      yield [
        w,
        d,
        c,
        ...name,
        ...address,
        DAY,
        ...credit,
        balance(random),
        cents(random, 0, 1_200_000),
        1,
        0,
        text(random, scale.customerText),
        random.below(62) + 1,
      ];
    }
}

/** Per cent: 2 null, 1 negative, the rest what people owe. */
function balance(random: Random): Value {
  const lot = random.below(100);
  if (lot < 2) return null;
  return lot < 3 ? -cents(random, 100, 100_000) : cents(random, 0, 500_000);
}

function* historyRows(scale: Scale, random: Random): Rows {
  for (const [w, d] of districts(scale))
    for (let c = 1; c <= scale.customersPerDistrict; c += 1) yield [c, d, w, d, w, DAY, 10, text(random, 18)];
}

function* stockRows(scale: Scale, random: Random): Rows {
  for (let w = 1; w <= scale.warehouses; w += 1)
    for (let item = 1; item <= scale.items; item += 1)
      yield [w, item, 10 + random.below(91), text(random, scale.stockText), 0, 0, 0, text(random, 26), 1 + random.below(100)];
}

function* orderRows(scale: Scale, random: Random): Rows {
  const lines = new Random(scale.ordersPerDistrict, LINES_STREAM);
  for (const [w, d] of districts(scale))
    for (let o = 1; o <= scale.ordersPerDistrict; o += 1) {
      const carrier = isNew(scale, o) ? null : 1 + random.below(10);
      yield [w, d, o, 1 + random.below(scale.customersPerDistrict), DAY, carrier, lineCount(lines), 1];
    }
}

function* newOrderRows(scale: Scale): Rows {
  for (const [w, d] of districts(scale)) for (let o = 1; o <= scale.ordersPerDistrict; o += 1) if (isNew(scale, o)) yield [w, d, o];
}

function* lineRows(scale: Scale, random: Random): Rows {
  const lines = new Random(scale.ordersPerDistrict, LINES_STREAM);
  for (const [w, d] of districts(scale))
    for (let o = 1; o <= scale.ordersPerDistrict; o += 1) {
      const count = lineCount(lines);
      for (let number = 1; number <= count; number += 1) {
        const item = 1 + random.below(scale.items);
        yield [w, d, o, number, item, w, isNew(scale, o) ? null : DAY, 5, cents(random, 1, 999_999), text(random, 24)];
      }
    }
}

/** Both tables of orders and of lines count lines from the same numbers, so that they agree. */
const LINES_STREAM = 1_000;
function lineCount(random: Random): number {
  return 5 + random.below(11);
}

function isNew(scale: Scale, order: number): boolean {
  return order > Math.floor((scale.ordersPerDistrict * (1_000 - NEW_ORDERS_PER_MILLE)) / 1_000);
}

function* districts(scale: Scale): Generator<readonly [warehouse: number, district: number]> {
  for (let w = 1; w <= scale.warehouses; w += 1) for (let d = 1; d <= DISTRICTS_PER_WAREHOUSE; d += 1) yield [w, d];
}

function* numbered(count: number, row: (id: number) => readonly Value[]): Rows {
  for (let id = 1; id <= count; id += 1) yield row(id);
}

function text(random: Random, length: number): string {
  let made = "";
  while (made.length < length) made += LETTERS[random.below(LETTERS.length)] ?? "";
  return made;
}

function digits(random: Random, length: number): string {
  let made = "";
  while (made.length < length) made += String(random.below(10));
  return made;
}

/** An amount with two decimals, from and to given in cents. */
function cents(random: Random, from: number, to: number): number {
  return (from + random.below(to - from + 1)) / 100;
}
