import { join } from "node:path";
import { expect, test } from "vitest";
import { createStore } from "#engine/store.ts";
import type { CountedHistory } from "../../src-main/cli/version-changes.ts";
import { execute, makeNotes, SHOP, temporaryFolder } from "../support/stores.ts";
import { cli, cliResult } from "./run-cli.ts";

/** v2 changes two tables and the schema, v3 nothing that is a row, v4 one row. */
async function makeHistory(): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder, "store");
  const store = await createStore(path, { ownProcess: true });
  await store.create({ database: "shop", from: makeNotes(join(folder, "notes.db")) });
  const { path: file } = await store.checkout(SHOP);
  for (const sql of [
    `DELETE FROM notes WHERE id < 4; UPDATE notes SET text = 'x' WHERE id = 50; CREATE TABLE tags (id INTEGER PRIMARY KEY);
     INSERT INTO tags SELECT id FROM notes`,
    "CREATE INDEX by_text ON notes (text)",
    "INSERT INTO notes (text) VALUES ('y')",
  ]) {
    execute(file, sql);
    await store.checkpoint(SHOP);
  }
  await store.close();
  return path;
}

test("CHANGES-7: log --changes says what each version changed, in words and as JSON", async () => {
  const store = await makeHistory();
  const { out, code } = await cli("--store", store, "log", "shop", "--changes");
  expect(code).toBe(0);
  const lines = out.split("\n").map((line) => line.split(/\s{2,}/));
  const column = lines[0]?.findIndex((title) => title === "CHANGES") ?? -1;
  expect(lines.slice(1, 4).map((line) => line.find((cell) => /^(tags|notes|schema|no rows)/.test(cell)))).toEqual([
    "notes +1",
    "schema 1",
    "tags +97, notes -3 ~1, schema 1",
  ]);
  expect(column).toBeGreaterThan(0);
  const { versions } = await cliResult<CountedHistory>("--store", store, "log", "shop", "--changes", "--limit", "2");
  expect(versions.map(({ number, changes }) => [number, changes?.from, changes?.inserted, changes?.schemaChanges])).toEqual([
    [4, 3, 1, 0],
    [3, 2, 0, 1],
  ]);
  const all = await cliResult<CountedHistory>("--store", store, "log", "shop", "--changes");
  expect(all.versions.at(-1)?.changes).toBeNull();
});

test("CHANGES-7: log --changes excludes --row", async () => {
  const { code, err } = await cli("--store", "/nowhere", "log", "shop", "--changes", "--row", "notes", "1");
  expect(code).toBe(2);
  expect(err).toContain("--row and --changes exclude each other");
});
