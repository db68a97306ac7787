/** Random work on a database with tables of every kind, and what a plain full comparison says about it. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type Database from "better-sqlite3";
import { makeRandom } from "../../support/random-pages.ts";
import { temporaryFolder, withClient } from "../../support/stores.ts";
import { compareFiles, referenceRows, rowsOf } from "./support.ts";

const TABLES: readonly { readonly name: string; readonly sql: string; readonly key: readonly string[] }[] = [
  { name: "plain", sql: "CREATE TABLE plain (id INTEGER PRIMARY KEY, a TEXT, b REAL, c BLOB)", key: ["id"] },
  {
    name: "composite",
    sql: "CREATE TABLE composite (a TEXT COLLATE NOCASE, b INTEGER, c, d, PRIMARY KEY (b DESC, a)) WITHOUT ROWID",
    key: ["b", "a"],
  },
  { name: "named", sql: "CREATE TABLE named (k TEXT PRIMARY KEY NOT NULL, v, w)", key: ["k"] },
  { name: "only", sql: "CREATE TABLE only (k TEXT NOT NULL, v, UNIQUE (k))", key: ["k"] },
  { name: "keyless", sql: "CREATE TABLE keyless (a, b)", key: [] },
  {
    name: "made",
    sql: "CREATE TABLE made (id INTEGER PRIMARY KEY, a INTEGER, v INTEGER AS (a * 2) VIRTUAL, s TEXT AS ('#' || a) STORED, z TEXT)",
    key: ["id"],
  },
  { name: "firm", sql: "CREATE TABLE firm (id INTEGER PRIMARY KEY, a ANY, r REAL, t TEXT) STRICT", key: ["id"] },
];

type Random = (below: number) => number;

function text(random: Random, most: number): string {
  return `${"abcdefghijklmnop".slice(random(16))}${random(1000)}`.repeat(1 + random(most));
}

function value(random: Random): string | number | bigint | null | Buffer {
  switch (random(8)) {
    case 0:
      return null;
    case 1:
      return BigInt(random(2 ** 30)) * 2n ** 33n;
    case 2:
      return random(1000) / 8;
    case 3:
      return random(3);
    case 4:
      return Buffer.alloc(random(20), random(256));
    case 5:
      return random(40) === 0 ? text(random, 2000) : text(random, 4);
    default:
      return text(random, 3);
  }
}

function edit(database: Database.Database, random: Random, ids: number): void {
  const id = (): number => 1 + random(ids);
  const key = (): string => `key ${random(ids)}`;
  const size = (): number => (random(12) === 0 ? 3000 + random(9000) : random(60));
  const run = (sql: string, ...values: unknown[]) => database.prepare(sql).run(...values);
  switch (random(16)) {
    case 0:
    case 1:
    case 2:
      return void run(
        "INSERT OR REPLACE INTO plain VALUES (?, ?, ?, ?)",
        id(),
        text(random, 4),
        random(99) / 4,
        Buffer.alloc(size(), random(256)),
      );
    case 3:
      return void run("UPDATE plain SET c = ? WHERE id = ?", Buffer.alloc(size(), random(256)), id());
    case 4: {
      // The same size again: only an overflow page changes.
      const row = database.prepare("SELECT id, c FROM plain WHERE length(c) > 2500 LIMIT 1 OFFSET ?").get(random(20)) as
        | { id: number; c: Buffer }
        | undefined;
      if (row) run("UPDATE plain SET c = ? WHERE id = ?", Buffer.concat([row.c.subarray(0, -1), Buffer.from([random(256)])]), row.id);
      return;
    }
    case 5: {
      const from = id();
      return void run("DELETE FROM plain WHERE id BETWEEN ? AND ?", from, from + random(400));
    }
    case 6:
    case 7:
      return void run("INSERT OR REPLACE INTO composite VALUES (?, ?, ?, ?)", key(), random(40), value(random), value(random));
    case 8:
      return void run("DELETE FROM composite WHERE b = ? AND a < ?", random(40), key());
    case 9:
      return void run("INSERT OR REPLACE INTO named VALUES (?, ?, ?)", key(), value(random), value(random));
    case 10:
      return void run("INSERT OR REPLACE INTO only VALUES (?, ?)", key(), value(random));
    case 11:
    case 12:
      return void run("INSERT INTO keyless VALUES (?, ?)", random(5), value(random));
    case 13:
      return void run("DELETE FROM keyless WHERE rowid = ?", id());
    case 14:
      return void run("INSERT OR REPLACE INTO made (id, a, z) VALUES (?, ?, ?)", id(), random(100), text(random, 5));
    default:
      return void run("INSERT OR REPLACE INTO firm VALUES (?, ?, ?, ?)", id(), value(random), random(50), text(random, 3));
  }
}

function work(path: string, random: Random, edits: number, ids: number): void {
  withClient(path, (database) => {
    database.pragma("synchronous = OFF");
    database.transaction(() => {
      for (let count = 0; count < edits; count += 1) edit(database, random, ids);
    })();
  });
}

export interface Case {
  readonly seed: number;
  readonly pageSize: number;
  readonly encoding: string;
  readonly autoVacuum: number;
  readonly edits: number;
}

export function makeCases(first: number, count: number): Case[] {
  return Array.from({ length: count }, (_, index) => ({
    seed: first + index,
    pageSize: [512, 1024, 4096, 65_536][index % 4] ?? 4096,
    encoding: ["UTF-8", "UTF-16le", "UTF-16be"][index % 3] ?? "UTF-8",
    autoVacuum: index % 3,
    edits: [1, 8, 60, 700][Math.floor(index / 4) % 4] ?? 8,
  }));
}

/** Rows of each table that differ, as found in each way and as they are. */
export async function tryCase(
  { seed, pageSize, encoding, autoVacuum, edits }: Case,
  rows: number,
): Promise<Record<"shared" | "full" | "expected", Record<string, string[]>>> {
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  const random = makeRandom(seed);
  withClient(left, (database) => {
    for (const pragma of [`page_size = ${pageSize}`, `encoding = '${encoding}'`, `auto_vacuum = ${autoVacuum}`]) database.pragma(pragma);
    for (const { sql } of TABLES) database.exec(sql);
    database.exec("CREATE INDEX plain_a ON plain (a, c); CREATE INDEX composite_d ON composite (d)");
  });
  work(left, random, 2 * rows, rows);
  copyFileSync(left, right);
  work(right, random, edits, rows);
  if (seed % 7 === 0) withClient(right, (database) => database.exec("VACUUM"));
  const expected = Object.fromEntries(TABLES.map(({ name, key }) => [name, referenceRows(left, right, name, key)]));
  const found = async (mode: "shared" | "full") => {
    const all = rowsOf(await compareFiles(left, right, mode), folder);
    return Object.fromEntries(TABLES.map(({ name }) => [name, (all[name] ?? []).map((line) => seen(name, line)).toSorted()]));
  };
  return { shared: await found("shared"), full: await found("full"), expected };
}

/** The virtual column of "made" is not stored: it reads as null here. */
function seen(name: string, line: string): string {
  return name === "made" ? line.replaceAll(/(i:\d+\|(?:i:\d+|null)\|)null\|/g, "$1") : line;
}
