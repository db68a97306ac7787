import { copyFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { cli, cliError, cliResult, startCli } from "../../cli/run-cli.ts";
import { dumpDatabase } from "../../support/dump.ts";
import { execute, makeNotes, temporaryFolder } from "../../support/stores.ts";
import type { DiffView, RowChangeView, TableCounts } from "#shared/diff-views.ts";

const before = process.env["COPPICE_STORE"];
afterEach(() => {
  if (before === undefined) delete process.env["COPPICE_STORE"];
  else process.env["COPPICE_STORE"] = before;
});

/** A store with database shop (100 notes), its file changed after a checkpoint. */
async function makeStore(): Promise<{ folder: string; main: string }> {
  const folder = temporaryFolder();
  process.env["COPPICE_STORE"] = join(folder, "store");
  await cli("init", join(folder, "store"));
  await cli("create", "shop", "--from", makeNotes(join(folder, "notes.db")));
  const main = (await cli("checkout", "shop")).out.trim();
  execute(
    main,
    "UPDATE notes SET text = 'it''s new' WHERE id = 4; DELETE FROM notes WHERE id > 95; INSERT INTO notes VALUES (1000, NULL); CREATE TABLE more (x)",
  );
  return { folder, main };
}

test("DIFF-20: `diff` shows schema and rows; without a right side, what the file holds beyond the branch", async () => {
  const { folder } = await makeStore();
  const { code, out, err } = await cli("diff", "shop");
  expect(code).toBe(0);
  expect(err).toBe("");
  expect(out.split("\n")).toEqual([
    "+ table more: added",
    "notes (matched by primary key)",
    "  ~ id=4  text: 'note 4' → 'it's new'",
    ...[96, 97, 98, 99, 100].map((id) => `  - id=${id}  text='note ${id}'`),
    "  + id=1000  text=NULL",
    "",
  ]);
  expect((await cli("diff", "shop@main@v1", "shop@main@+")).out).toBe(out);
  expect((await cli("diff", join(folder, "notes.db"), "shop@main@+")).out).toBe(out);
  expect(await cli("diff", "shop", "shop@main@v1")).toEqual({
    code: 0,
    out: "",
    err: "shop@main and shop@main@v1 are identical: 1 table\n",
  });
  expect((await cli("diff", "shop", "--limit", "2")).err).toBe("notes: more rows differ: --limit shows more, --summary counts them\n");
});

test("DIFF-20: `diff --summary`, `--schema`, `--table`, `--kind`, `--columns` and `--limit` show a part", async () => {
  await makeStore();
  expect((await cli("diff", "shop", "--summary")).out).toBe(
    "+ table more: added\nTABLE  +  -  ~  MATCHED BY\nnotes  1  5  1  primary key\n",
  );
  expect((await cli("diff", "shop", "--schema")).out).toBe("+ table more: added\n    + CREATE TABLE more (x)\n");
  expect((await cli("diff", "shop", "--kind", "insert,update", "--table", "notes")).out.match(/^ {2}[-+~]/gm)).toEqual(["  ~", "  +"]);
  expect((await cli("diff", "shop", "--columns", "id", "--table", "notes")).out).not.toContain("~");
  const summary = await cliResult<DiffView & { counts: TableCounts[] }>("diff", "shop", "--summary", "--table", "notes");
  expect(summary.counts).toEqual([{ name: "notes", inserted: 1, deleted: 5, updated: 1, isComplete: true, notComparable: null }]);
  const rows = (await cli("diff", "shop", "--csv", "--table", "notes", "--kind", "delete")).out.trimEnd().split("\r\n");
  expect(rows).toHaveLength(6);
  expect(rows[0]).toBe("change,old.id,new.id,old.text,new.text");
  expect((await cli("diff", "shop", "--markdown")).out).toContain("| + | 1000 | NULL |");
});

test("DIFF-20: `diff --sql` is a script that any client can run", async () => {
  const { folder, main } = await makeStore();
  const script = (await cli("diff", "shop", "--sql")).out;
  const copy = join(folder, "copy.db");
  copyFileSync(join(folder, "notes.db"), copy);
  execute(copy, script);
  expect(dumpDatabase(copy)).toEqual(dumpDatabase(main));
  const json = await cliResult<string>("diff", "shop", "--sql");
  expect(json).toBe(script);
});

test("DIFF-20: `diff --json` has the whole comparison, one object in one line", async () => {
  await makeStore();
  const { out } = await cli("--json", "diff", "shop");
  expect(out.match(/\n/g)).toHaveLength(1);
  const { tables } = await cliResult<{ tables: { name: string; rows: RowChangeView[] }[] }>("diff", "shop", "--limit", "3");
  expect(tables.map(({ name, rows }) => [name, rows.length])).toEqual([
    ["more", 0],
    ["notes", 3],
  ]);
});

test("DIFF-20: with --exit-code `diff` ends with 1 when something differs, else with 0", async () => {
  await makeStore();
  expect((await cli("diff", "shop")).code).toBe(0);
  expect((await cli("diff", "shop", "--exit-code")).code).toBe(1);
  expect((await cli("diff", "shop", "--exit-code", "--summary")).code).toBe(1);
  expect((await cli("diff", "shop", "shop@main@v1", "--exit-code")).code).toBe(0);
});

test("DIFF-20: what `diff` cannot mean is refused with what can be written instead", async () => {
  const { folder } = await makeStore();
  expect(await cliError("diff", "shop", "--sql", "--csv")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError("diff", "shop", "--kind", "all")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError("diff", "shop@main@v1")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError("diff", "shop", "--sql", "--table", "notes")).toMatchObject({ code: "bad-argument", exit: 2 });
  expect(await cliError("diff", "shop", "--table", "note")).toMatchObject({ code: "bad-argument", details: { choices: ["notes"] } });
  expect(await cliError("diff", "shop", join(folder, "none.db"))).toMatchObject({ code: "file-not-found", exit: 4 });
  expect(await cliError("diff", "shop", "none.db")).toMatchObject({ code: "file-not-found", exit: 4 });
  expect(await cliError("diff", "shop", "shop@none")).toMatchObject({ code: "branch-not-found", exit: 4 });
});

test("DIFF-17: Ctrl-C ends `diff` with 130 and leaves nothing in the store", async () => {
  const { folder } = await makeStore();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(
    left,
    "CREATE TABLE t (a, b); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) INSERT INTO t SELECT i, hex(randomblob(20)) FROM n",
  );
  copyFileSync(left, right);
  execute(right, "UPDATE t SET b = b || 'x'");
  const { child, ended } = startCli(["diff", left, right, "--summary"]);
  // Both files are copied when they are about to be compared.
  const temporary = join(folder, "store", "tmp");
  const copies = () => readdirSync(temporary, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("compare.db"));
  while (child.exitCode === null && copies().length < 2) await new Promise((later) => setTimeout(later, 20));
  child.kill("SIGINT");
  expect((await ended).code).toBe(130);
  expect(readdirSync(temporary)).toEqual([]);
});

test("ROWLOG-6: `log --row TABLE KEY` lists the versions that changed the row", async () => {
  await makeStore();
  await cli("checkpoint", "shop", "changed");
  const { out } = await cli("log", "shop", "--row", "notes", "4");
  expect(out.split("\n").map((line) => line.replace(/\d+ m?s ago|now/, "AGO"))).toEqual([
    expect.stringMatching(/^VERSION +MADE +BY +CHECKPOINTS +CHANGE$/),
    expect.stringMatching(/^v2 +AGO +\S+ +changed +~ id=4 {2}text: 'note 4' → 'it's new'$/),
    expect.stringMatching(/^v1 +AGO +\S+ +\+ id=4 {2}text='note 4'$/),
    "",
  ]);
  expect(await cli("log", "shop", "--row", "notes", "77777")).toMatchObject({ code: 0, out: "", err: "The row was in no version\n" });
  expect(await cliError("log", "shop", "--row", "notes")).toMatchObject({ code: "bad-argument", exit: 2 });
});
