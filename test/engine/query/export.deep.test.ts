import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { csvLine, jsonRow, markdownRow, uniqueNames } from "#shared/row-text.ts";
import { execute, makeShop, query, SHOP, withClient } from "../../support/stores.ts";

const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
const ODD = `CREATE TABLE odd (a, b);
  INSERT INTO odd VALUES (9223372036854775807, -9223372036854775808), (1.0, -0.0), (9e999, -9e999), (NULL, ''),
    ('a"b,c' || char(10) || 'd', 'x' || char(0) || 'y'), (x'00ff', CAST(x'c328' AS TEXT)), ('1', 0.1), (zeroblob(100000), 1)`;

test("SQL-16: an export writes all rows of one statement, whole, in four formats", async () => {
  const { store, folder, main } = await makeShop();
  execute(main, ODD);
  const to = (file: string): string => join(folder, file);
  const sql = "SELECT a, b FROM odd";
  const csv = await store.exportQuery({ ...SHOP, sql, format: "csv", file: to("odd.csv") });
  expect(csv).toMatchObject({ path: to("odd.csv"), rows: 8 });
  const lines = readFileSync(to("odd.csv"), "utf8");
  expect(lines.length).toBe(csv.bytes);
  expect(lines).toContain('9223372036854775807,-9223372036854775808\r\n1.0,-0.0\r\nInfinity,-Infinity\r\n,""\r\n"a""b,c\nd",x\0y\r\n');
  expect(lines).toContain(`x'${"00".repeat(100_000)}',1\r\n`);

  await store.exportQuery({ ...SHOP, sql: "SELECT a, b, a FROM odd", format: "json", file: to("odd.json") });
  const text = readFileSync(to("odd.json"), "utf8");
  expect(text).toContain('{"a":9223372036854775807,"b":-9223372036854775808,"a:2":9223372036854775807}');
  expect(JSON.parse(text)).toHaveLength(8);

  await store.exportQuery({ ...SHOP, sql: "SELECT id, text FROM notes LIMIT 2", format: "markdown", file: to("notes.md") });
  expect(readFileSync(to("notes.md"), "utf8")).toBe("| id | text |\n| ---: | --- |\n| 1 | note 1 |\n| 2 | note 2 |\n");

  await store.exportQuery({ ...SHOP, sql, format: "sql", table: 'o"d', file: to("odd.sql") });
  withClient(to("again.db"), (database) => {
    database.exec(`CREATE TABLE "o""d" (a, b); ${readFileSync(to("odd.sql"), "utf8")}`);
  });
  const exact = "SELECT typeof(a), quote(a), typeof(b), hex(b), quote(b) FROM";
  expect(query(to("again.db"), `${exact} "o""d"`)).toEqual(query(main, `${exact} odd`));
});

test("SQL-16: of thousands of rows each is there once, and a statement without rows makes a file with its head", async () => {
  const { store, folder } = await makeShop();
  const file = join(folder, "rows.csv");
  const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT i FROM n";
  expect(await store.exportQuery({ ...SHOP, sql: endless, format: "csv", file })).toMatchObject({ rows: 20_000 });
  expect(readFileSync(file, "utf8").trimEnd().split("\r\n")).toEqual(["i", ...Array.from({ length: 20_000 }, (_, at) => String(at + 1))]);
  const none = "SELECT * FROM notes WHERE 0";
  await store.exportQuery({ ...SHOP, sql: none, format: "csv", file, overwrite: true });
  expect(readFileSync(file, "utf8")).toBe("id,text\r\n");
  await store.exportQuery({ ...SHOP, sql: none, format: "json", file, overwrite: true });
  expect(readFileSync(file, "utf8")).toBe("[]\n");
});

test("SQL-17: an export that is refused, fails or is stopped leaves the file as it was, and nothing beside it", async () => {
  const { store, folder } = await makeShop();
  const file = join(folder, "there.csv");
  writeFileSync(file, "mine");
  const before = readdirSync(dirname(file)).toSorted();
  const ask = (sql: string, more: object = {}): Promise<unknown> =>
    failure(store.exportQuery({ ...SHOP, sql, format: "csv", file, overwrite: true, ...more }));
  expect(await ask("SELECT 1", { overwrite: false })).toMatchObject({ code: "file-exists" });
  expect(await ask("DELETE FROM notes RETURNING id")).toMatchObject({ code: "read-only" });
  expect(await ask("SELECT 1; SELECT 2")).toMatchObject({ code: "bad-argument" });
  expect(await ask("SELECT nothing")).toMatchObject({ code: "sql-failed", untouched: "No file was written." });
  expect(await ask("SELECT id, abs(-9223372036854775807 - (id > 50)) FROM notes")).toMatchObject({ code: "sql-failed" });
  expect(await ask("ANALYZE")).toMatchObject({ code: "read-only" });
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 300);
  const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
  const stopped = store.exportQuery({ ...SHOP, sql: endless, format: "csv", file, overwrite: true }, { signal: abort.signal });
  expect(await failure(stopped)).toMatchObject({ code: "cancelled" });
  expect(readFileSync(file, "utf8")).toBe("mine");
  expect(readdirSync(dirname(file)).toSorted()).toEqual(before);
  expect(existsSync(join(folder, "store"))).toBe(true);
});

test("SQL-16: names that stand twice are told apart; text of one line stays one", () => {
  expect(uniqueNames(["a", "a", "a:2", "b"])).toEqual(["a", "a:2", "a:2:2", "b"]);
  expect(jsonRow(["x", "y"], [{ real: "Infinity" }, { blob: "00ff", bytes: 2 }])).toBe('{"x":"Infinity","y":{"blob":"00ff"}}');
  expect(csvLine([null, "", " a", { integer: "9007199254740993" }])).toBe(',""," a",9007199254740993\r\n');
  expect(markdownRow(["a|b\r\nc", null])).toBe("| a\\|b c | NULL |\n");
});
