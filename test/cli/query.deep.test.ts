import { join } from "node:path";
import { expect, test } from "vitest";
import { execute, makeShop, query, SHOP } from "../support/stores.ts";
import { cli, cliError, cliResult, startCli } from "./run-cli.ts";

async function shop() {
  const { store, main, folder } = await makeShop();
  return { store, main, folder, at: ["--store", store.path] as const };
}

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

test("CLI-60: query prints tables, numbers to the right, and says what was cut", async () => {
  const { at } = await shop();
  const ran = await cli(
    ...at,
    "query",
    "shop",
    "SELECT id, text, NULL AS none, x'00ff' AS b, '' AS empty FROM notes WHERE id IN (9, 10); SELECT 1 AS none WHERE 0",
    "--no-color",
  );
  expect(ran).toEqual({
    code: 0,
    out: "id  text     none  b        empty\n 9  note 9   NULL  x'00ff'\n10  note 10  NULL  x'00ff'\n\nnone\n",
    err: "",
  });
  const cut = await cli(...at, "query", "shop@main@v1", "SELECT id FROM notes", "--limit", "2");
  expect([cut.code, cut.out, cut.err]).toEqual([0, "id\n 1\n 2\n", "There are more rows than these 2 rows: --limit shows more\n"]);
});

test("CLI-61: with --csv and --json every row and value arrives exactly", async () => {
  const { at } = await shop();
  const sql = "SELECT 9223372036854775807 AS i, NULL AS n, '' AS e, 'a,\"b' AS q, 1.0 AS r; SELECT id FROM notes";
  const { out } = await cli(...at, "query", "shop", sql, "--csv");
  expect(out.startsWith('i,n,e,q,r\r\n9223372036854775807,,"","a,""b",1.0\r\n\r\nid\r\n1\r\n')).toBe(true);
  expect(out.trimEnd().split("\r\n")).toHaveLength(104);
  const result = await cliResult<{ statements: { columns: string[]; rows: unknown[][] }[] }>(...at, "query", "shop", sql);
  expect(result).toMatchObject({
    statements: [
      { columns: ["i", "n", "e", "q", "r"], rows: [[{ integer: "9223372036854775807" }, null, "", 'a,"b', { real: "1.0" }]] },
      { columns: ["id"] },
    ],
    transaction: "read",
    before: null,
  });
  expect(result.statements[1]?.rows).toHaveLength(100);
});

test("CLI-62: query writes only with --write, says how to go back, and ends with 3 where it may not", async () => {
  const { at, main } = await shop();
  const sql = "DELETE FROM notes WHERE id > 90";
  expect(await cliError(...at, "query", "shop", sql)).toMatchObject({ code: "read-only", exit: 3 });
  expect(await cliError(...at, "query", "shop@main@v1", sql, "--write")).toMatchObject({ code: "read-only", exit: 3 });
  execute(main, "UPDATE notes SET text = 'mine' WHERE id = 100");
  const { code, out, err } = await cli(...at, "query", "shop", sql, "--write");
  expect([code, out]).toEqual([0, ""]);
  expect(err).toContain("10 rows changed. Before that it was v2: coppice rollback shop@main --to v2 brings it back");
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[90]]);
  expect((await cli(...at, "rollback", "shop@main", "--to", "v2")).code).toBe(0);
  expect(query(main, "SELECT text FROM notes WHERE id = 100")).toEqual([["mine"]]);
});

test("CLI-63: a statement that fails ends query with 1, after what came before, and says where", async () => {
  const { at, main } = await shop();
  const { code, out, err } = await cli(...at, "query", "shop", "SELECT 1 AS one;\n SELECT * FORM notes");
  expect([code, out]).toEqual([1, "one\n  1\n"]);
  expect(err).toContain('near "FORM": syntax error');
  expect(err).toContain("Line 2, column 11: FORM notes");
  expect(await cliError(...at, "query", "shop", "DELETE FROM notes; SELECT * FROM nowhere", "--write")).toMatchObject({
    code: "sql-failed",
    untouched: "Nothing was changed.",
  });
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[100]]);
  expect(await cliError(...at, "query", "shop")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError(...at, "query", "SELECT", "1", "FROM")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError(...at, "query", "--on", "shop@*", "SELECT 1", "--write")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError(...at, "query", "--on", "Shop@*", "SELECT 1")).toMatchObject({ code: "bad-target", exit: 2 });
});

test("CLI-64: query --on puts one query to many branches, marks what differs from the first, and ends with 1 when one fails", async () => {
  const { at, store } = await shop();
  await store.fork({ ...SHOP, newBranch: "try", count: 3 });
  execute((await store.checkout({ database: "shop", branch: "try-2" })).path, "DELETE FROM notes WHERE id > 7");
  execute((await store.checkout({ database: "shop", branch: "try-3" })).path, "DROP TABLE notes");
  const ran = await cli(...at, "query", "--on", "shop@main", "--on", "shop@try-*", "SELECT count(*) AS n FROM notes", "--no-color");
  expect(ran.code).toBe(1);
  expect(ran.out).toBe("STATE            n\nshop@main      100\nshop@try-1  =  100\nshop@try-2  ≠    7\n");
  expect(ran.err).toContain("shop@try-3: no such table: notes");
  expect(ran.err).toContain("1 of 2 states differ from shop@main");
  const csv = await cli(...at, "query", "--on", "shop@try-?", "SELECT 1 AS one", "--csv");
  expect(csv.out).toBe("state,same,one\r\nshop@try-1,1,1\r\nshop@try-2,1,1\r\nshop@try-3,1,1\r\n");
  const json = await cliResult<object>(...at, "query", "--on", "shop@*@v1", "SELECT count(*) AS n FROM notes");
  expect(json).toMatchObject({
    columns: ["n"],
    results: [{ label: "shop@main@v1", rows: [[100]] }, { isSame: true }, { isSame: true }, { isSame: true }],
  });
});

test("CLI-65: Ctrl-C ends a query that would not end by itself, and what it began to write is not there", async () => {
  const { store, main } = await shop();
  const ran = startCli(["--store", store.path, "query", "shop", `DELETE FROM notes; ${ENDLESS}`, "--write"]);
  const wal = join(`${main}-wal`);
  await waitForFile(wal);
  ran.child.kill("SIGINT");
  expect(await ran.ended).toMatchObject({ code: 130, out: "" });
  expect(query(main, "SELECT count(*) FROM notes")).toEqual([[100]]);
});

async function waitForFile(path: string): Promise<void> {
  const { existsSync } = await import("node:fs");
  for (let turn = 0; turn < 400 && !existsSync(path); turn += 1) await new Promise((settle) => setTimeout(settle, 50));
  await new Promise((settle) => setTimeout(settle, 200));
}
