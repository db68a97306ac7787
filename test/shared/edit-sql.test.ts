import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { DataValue } from "../../src-shared/query-views.ts";
import { deleteSql, insertSql, updateSql, type EditedTable, type RowEdit } from "../../src-shared/edit-sql.ts";
import { sqlLiteral } from "../../src-shared/sql-literal.ts";

function memory(sql = ""): Database.Database {
  const database = new Database(":memory:").defaultSafeIntegers();
  onTestFinished(() => void database.close());
  database.exec(sql);
  return database;
}

const REALS = [0.1, 0.30000000000000004, 1 / 3, -2.5, 1e300, -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, 123456789.12345679];

test("EDIT-1: a value's SQL gives back exactly that value", () => {
  const database = memory();
  const read = (value: DataValue): unknown =>
    database
      .prepare(`SELECT ${sqlLiteral(value)}`)
      .pluck()
      .get();
  for (const real of REALS) expect(read(real)).toBe(real);
  for (let round = 0; round < 2_000; round += 1) {
    const real = (Math.random() - 0.5) * 10 ** Math.floor(Math.random() * 600 - 300);
    expect(read(Number.isInteger(real) ? { real: String(real) } : real), `${real}`).toBe(real);
  }
  expect(read({ real: "1.0" })).toBe(1);
  expect(read({ real: "-0.0" })).toBe(-0);
  expect(read({ real: "1e+300" })).toBe(1e300);
  expect(read({ real: "Infinity" })).toBe(Infinity);
  expect(read({ real: "-Infinity" })).toBe(-Infinity);
  expect(read({ integer: "9223372036854775807" })).toBe(2n ** 63n - 1n);
  expect(read({ integer: "-9223372036854775808" })).toBe(-(2n ** 63n));
  expect(read("it's \0 a 💾\n")).toBe("it's \0 a 💾\n");
  expect(read(null)).toBeNull();
  expect(read({ blob: "00ff", bytes: 2 })).toEqual(Buffer.from([0, 255]));
  expect(
    database
      .prepare(`SELECT typeof(v) || hex(v) FROM (SELECT ${sqlLiteral({ invalidText: "41ff", bytes: 2 })} AS v)`)
      .pluck()
      .get(),
  ).toBe("text41FF");
  expect(() => sqlLiteral({ text: "beginning", bytes: 100_000 })).toThrow(RangeError);
  expect(() => sqlLiteral({ blob: "00", bytes: 100_000 })).toThrow(RangeError);
});

const TABLE: EditedTable = {
  name: 'odd "name"',
  key: { kind: "rowid", columns: ["rowid"], isStable: false },
  columns: ["a b", "c"],
  notNull: [],
  hasCollations: true,
};
const row = (key: DataValue, old: Record<string, DataValue>, values: Record<string, DataValue> = {}): RowEdit => ({
  key: [key],
  old: new Map(Object.entries(old)),
  values: new Map(Object.entries(values)),
  isDeleted: Object.keys(values).length === 0,
});

test("EDIT-2: a row is met by its key and what it held; one that has moved on since is not", () => {
  const database = memory(
    `CREATE TABLE "odd ""name"""("a b" TEXT COLLATE NOCASE, c); INSERT INTO "odd ""name""" VALUES ('One', 0.1), ('two', x'00'), (NULL, 3)`,
  );
  const changes = (sql: string): number => database.prepare(sql).run().changes;
  expect(changes(updateSql(TABLE, row(1, { "a b": "One", c: 0.1 }, { c: { real: "Infinity" } })))).toBe(1);
  expect(changes(updateSql(TABLE, row(1, { "a b": "One", c: 0.1 }, { "a b": "1" })))).toBe(0);
  expect(changes(updateSql(TABLE, row(1, { "a b": "ONE", c: { real: "Infinity" } }, { c: 2 })))).toBe(0);
  expect(changes(deleteSql(TABLE, row(3, { "a b": null, c: 4 })))).toBe(0);
  expect(changes(deleteSql(TABLE, row(3, { "a b": null, c: 3 })))).toBe(1);
  expect(changes(deleteSql(TABLE, row(2, { "a b": "two", c: { blob: "00", bytes: 1 } })))).toBe(1);
  expect(changes(insertSql(TABLE, { id: 1, values: new Map() }))).toBe(1);
  expect(changes(insertSql(TABLE, { id: 1, values: new Map([["a b", "x"]]) }))).toBe(1);
});

test.each(["UTF-8", "UTF-16le"])("EDIT-2: of long values, length and beginning are looked at, in %s too", (encoding) => {
  const database = memory(`PRAGMA encoding = '${encoding}'; CREATE TABLE "odd ""name"""("a b", c);`);
  const long = "ä💾".repeat(5_000);
  database.prepare(`INSERT INTO "odd ""name""" VALUES (?, ?)`).run(long, Buffer.alloc(5_000, 7));
  const bytes = Number(database.prepare(`SELECT octet_length("a b") FROM "odd ""name"""`).pluck().get());
  const cut = { text: long.slice(0, 3_000), bytes };
  const blob = { blob: "07".repeat(5_000), bytes: 5_000 };
  const changes = (old: Record<string, DataValue>): number =>
    database.prepare(updateSql(TABLE, row(1, old, { "a b": long }))).run().changes;
  expect(changes({ "a b": long, c: blob })).toBe(1);
  expect(changes({ "a b": cut, c: { blob: "07".repeat(2_000), bytes: 5_000 } })).toBe(1);
  expect(changes({ "a b": `${long}x`, c: blob })).toBe(0);
  expect(changes({ "a b": `x${long.slice(1)}`, c: blob })).toBe(0);
  expect(changes({ "a b": cut, c: { blob: `08${"07".repeat(4_999)}`, bytes: 5_000 } })).toBe(0);
  expect(changes({ "a b": cut, c: { blob: "07".repeat(2_000), bytes: 5_001 } })).toBe(0);
});
