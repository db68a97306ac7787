/** What the journeys do more than once, said as a user would. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, listAsRecent, makeStore, type App } from "./fixtures.ts";
import type { Locator, Page } from "@playwright/test";

/** Writes a shop of 200 orders: somebody's own SQLite file. */
export function writeShop(path: string): void {
  runSql(
    path,
    `PRAGMA journal_mode = WAL; CREATE TABLE orders(id INTEGER PRIMARY KEY, item TEXT, price REAL);
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO orders SELECT i, 'item ' || i, i * 1.5 FROM n;`,
  );
}

/** A stock client: opens the file, runs the SQL, closes it. */
export function runSql(path: string, sql: string): void {
  const database = new Database(path);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** The first value that a stock client reads. */
export function readValue(path: string, sql: string): unknown {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare(sql).pluck().get();
  } finally {
    database.close();
  }
}

/** A store with the shop in it, then `script`; opened from the list of recent ones. */
export async function openShop(
  folder: string,
  startApp: (args?: readonly string[]) => Promise<App>,
  script = "",
): Promise<App & { store: string }> {
  const store = join(folder, "work.coppice");
  const file = join(folder, "shop.db");
  writeShop(file);
  await makeStore(store, `await store.create({ database: "shop", from: ${JSON.stringify(file)} });\n${script}`);
  listAsRecent(folder, store);
  const app = await startApp();
  await openRecent(app.page, "work.coppice");
  await expect(branchRow(app.page, "main")).toBeVisible();
  return { ...app, store };
}

export async function openRecent(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: new RegExp(`^${name.replaceAll(".", "\\.")} `) }).click();
}

/** The row of a branch in the list. */
export function branchRow(page: Page, name: string): Locator {
  return page.getByRole("treegrid").getByRole("row", { name: new RegExp(`^${name}(\\s|$)`) });
}

export function toast(page: Page, text: string | RegExp): Locator {
  return page
    .getByRole("status")
    .filter({ hasText: text })
    .filter({ has: page.getByRole("button", { name: "Dismiss" }) });
}

/** Copies the path of a branch's file with the inspector's menu, and reads it by pasting it. */
export async function copyPath(page: Page, branch: string): Promise<string> {
  await branchRow(page, branch).click();
  await page.getByRole("complementary").getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("menuitem", { name: "Copy path" }).click();
  await expect(toast(page, `Copied path of ${branch}`)).toBeVisible();
  await expect(page.getByRole("complementary")).not.toContainText("no file yet");
  const filter = page.getByRole("textbox", { name: "Filter branches" });
  await filter.focus();
  await page.keyboard.press("ControlOrMeta+V");
  await expect(filter).not.toHaveValue("");
  const path = await filter.inputValue();
  await filter.fill("");
  return path;
}

export async function fork(page: Page, from: string, name: string): Promise<void> {
  await branchRow(page, from).click();
  await page.getByRole("complementary").getByRole("button", { name: "Fork", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Fork ${from}` });
  await dialog.getByRole("textbox", { name: "Name" }).fill(name);
  await dialog.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(branchRow(page, name)).toBeVisible();
}

/** Presses Checkpoint in the dialog and leaves what happens to the caller. */
export async function startCheckpoint(page: Page, branch: string, name: string): Promise<Locator> {
  await branchRow(page, branch).click();
  await page.getByRole("complementary").getByRole("button", { name: "Checkpoint" }).click();
  const dialog = page.getByRole("dialog", { name: `Checkpoint ${branch}` });
  await dialog.getByRole("textbox", { name: "Name" }).fill(name);
  await dialog.getByRole("button", { name: "Checkpoint", exact: true }).click();
  return dialog;
}

export async function checkpoint(page: Page, branch: string, name: string): Promise<void> {
  const dialog = await startCheckpoint(page, branch, name);
  await expect(dialog).toBeHidden();
}
