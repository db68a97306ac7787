import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { buildDemo } from "#engine/demo/build-demo.ts";
import { writeDemoDatabase } from "#engine/demo/demo-database.ts";
import { createStore } from "#engine/store.ts";
import { execute } from "../../support/stores.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

test("DEMO-1: the same bytes every time, sound, with what a SQLite file can hold", () => {
  const folder = makeTemporaryFolder();
  const [one, two] = [join(folder, "one.db"), join(folder, "two.db")];
  for (const file of [one, two]) writeDemoDatabase(file);
  expect(readFileSync(one).equals(readFileSync(two))).toBe(true);
  const database = new Database(one, { readonly: true });
  onTestFinished(() => void database.close());
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(database.pragma("foreign_key_check")).toEqual([]);
  const count = (sql: string): unknown => database.prepare(sql).pluck().get();
  expect(count("SELECT count(*) FROM orders WHERE payment_ref > 9007199254740992")).toBe(20_000);
  expect(count("SELECT count(*) FROM products_fts WHERE products_fts MATCH 'hazel'")).toBeGreaterThan(0);
  expect(count("SELECT count(*) FROM customers WHERE loyalty_points IS NULL")).toBeGreaterThan(0);
  expect(count("SELECT count(*) FROM products WHERE typeof(picture) = 'blob'")).toBeGreaterThan(0);
  expect(count("SELECT count(*) FROM customer_revenue")).toBe(4_000);
  expect(count("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")).toBe(4);
});

test("DEMO-2: twenty branches, every state worth looking at, and a store that verifies", async () => {
  const store = await createStore(join(makeTemporaryFolder(), "demo"), { actor: "you", ownProcess: true });
  onTestFinished(() => store.close());
  await buildDemo(store, execute);
  const { branches } = await store.branches({ database: "shop" });
  expect(branches).toHaveLength(20);
  expect(new Set(branches.map((branch) => branch.meta["status"]))).toEqual(new Set([undefined, "pass", "fail", "running"]));
  const unsaved = branches.filter((branch) => branch.checkout.state === "unsaved").map((branch) => branch.name);
  expect(unsaved.toSorted()).toEqual(["agent/2026-11-30/support-triage-17", "fix/refunds", "main", "try-split", "try-split-backfill"]);
  const { versions } = await store.history({ database: "shop", branch: "main" });
  expect(versions.filter((version) => version.place === "ahead")).toHaveLength(1);
  expect((await store.verify({})).problems).toEqual([]);
  await store.undo({ database: "shop" });
});
