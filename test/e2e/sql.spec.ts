import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { branchRow, copyPath, fork, openShop, readValue, runSql, toast } from "./steps.ts";

const COUNT = "SELECT count(*) FROM orders";
const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

async function openSql(page: Page, tab: "SQL" | "Across branches" = "SQL"): Promise<void> {
  await page.keyboard.press("ControlOrMeta+4");
  await page.getByRole("radio", { name: tab }).click();
}

/** In place of what the editor holds. */
async function write(page: Page, label: string | RegExp, sql: string): Promise<void> {
  await page.getByRole("textbox", { name: label }).click();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText(sql);
}

async function run(page: Page, sql: string, keys = "ControlOrMeta+Enter"): Promise<void> {
  await write(page, /^SQL of/, sql);
  await page.keyboard.press(keys);
}

test("SQLVIEW-5: a DELETE in the editor changes the file at once, and Undo brings back what it held", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  await fork(page, "main", "work");
  const file = await copyPath(page, "work");
  runSql(file, "INSERT INTO orders VALUES (1000, 'unsaved', 1)");
  await branchRow(page, "work").click();
  await openSql(page);
  await expect(page.getByRole("button", { name: /^State: work/ })).toBeVisible();
  const results = page.getByRole("region", { name: "Results" });
  await run(page, `DELETE FROM orders WHERE id % 2 = 0; ${COUNT}`, "ControlOrMeta+Shift+Enter");
  await expect(results.getByRole("status", { name: "Script" })).toContainText("Changed 101 rows");
  await expect(results.getByRole("grid", { name: "Rows of the query" })).toContainText("100");
  expect(readValue(file, COUNT)).toBe(100);
  await results.getByRole("button", { name: "Undo" }).click();
  await expect(results.getByRole("status", { name: "Script" })).toContainText("Undone");
  expect(readValue(file, COUNT)).toBe(201);
  expect(readValue(file, "SELECT item FROM orders WHERE id = 1000")).toBe("unsaved");

  await run(page, "UPDATE orders SET price = 0; SELECT nothing_here FROM orders", "ControlOrMeta+Shift+Enter");
  await expect(results.getByRole("alert")).toContainText("Nothing of the script took effect. Line 1, column 37.");
  expect(readValue(file, "SELECT sum(price) > 0 FROM orders")).toBe(1);
});

test("SQLVIEW-3: a query without end is stopped with Esc while the app goes on; an export has all rows", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  await openSql(page);
  await run(page, ENDLESS);
  await expect(page.getByRole("status", { name: "Running" })).toBeVisible();
  // The same state is read while its query runs.
  await page.getByRole("button", { name: "New script" }).click();
  await run(page, COUNT);
  await expect(page.getByRole("grid", { name: "Rows of the query" })).toContainText("200");
  await page.getByRole("tab", { name: /Query 1/ }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("region", { name: "Results" })).toContainText("Stopped after");

  await run(page, "SELECT a.id, b.item FROM orders a, orders b");
  await expect(page.getByRole("region", { name: "Results" })).toContainText("first 1,000 rows shown");
  const file = join(folder, "rows.csv");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "All rows as CSV…" }).click();
  await page.getByRole("textbox", { name: /File on the machine/ }).fill(file);
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await expect(toast(page, /Exported the rows to/)).toBeVisible();
  expect(readFileSync(file, "utf8").trimEnd().split("\r\n")).toHaveLength(40_001);
});

test("JOURNEY-12: after a kill the SQL that was being written is back, in its tabs, with what ran", async ({ startApp, folder }) => {
  const { page, kill } = await openShop(folder, startApp);
  await openSql(page);
  await run(page, COUNT);
  await expect(page.getByRole("grid", { name: "Rows of the query" })).toContainText("200");
  await page.getByRole("button", { name: "New script" }).click();
  await page.getByRole("tab", { name: "Query 2" }).dblclick();
  await page.keyboard.insertText("Half done");
  await page.keyboard.press("Enter");
  await write(page, "SQL of Half done", "SELECT item FROM orders WHERE");
  // It is kept half a second after the last key.
  await expect
    .poll(() => readFileSync(join(folder, "config", "settings.json"), "utf8"), { timeout: 10_000 })
    .toContain("SELECT item FROM orders WHERE");
  await kill();

  const again = (await startApp()).page;
  await expect(again.getByRole("textbox", { name: "SQL of Half done" })).toHaveText("SELECT item FROM orders WHERE");
  await again.getByRole("tab", { name: "Query 1" }).click();
  await expect(again.getByRole("textbox", { name: "SQL of Query 1" })).toHaveText(COUNT);
  await again.getByRole("button", { name: "History", exact: true }).last().click();
  await expect(again.getByRole("option", { name: new RegExp("count") })).toContainText("1 row");
});

test("ACROSSVIEW-2: branches that were selected are asked at once, and the one that differs is found", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  for (const name of ["one", "two"]) await fork(page, "main", name);
  runSql(await copyPath(page, "two"), "UPDATE orders SET price = 7 WHERE id = 5");
  await branchRow(page, "main").click();
  await branchRow(page, "one").click({ modifiers: ["ControlOrMeta"] });
  await branchRow(page, "two").click({ modifiers: ["ControlOrMeta"] });
  await branchRow(page, "two").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Query these 3 branches…" }).click();
  await write(page, "SQL for all of them", "SELECT id, price FROM orders WHERE id < 10");
  await page.getByRole("button", { name: "Run on 3 branches" }).click();
  await expect(page.getByRole("status", { name: "Comparison" })).toContainText("compared with main");
  const answers = page.getByRole("grid", { name: "Answers of the states" });
  await expect(answers.getByRole("row", { name: /two/ })).toContainText("≠ 1 row changed");
  await expect(answers.getByRole("row", { name: /one/ })).toContainText("= same");
  await answers.getByText("two", { exact: true }).click();
  await page.keyboard.press("Enter");
  const rows = page.getByRole("grid", { name: "Rows beside the reference" });
  await expect(rows.getByRole("row", { name: /differs/ })).toContainText(/5.*7\.5.*7/);
});
