import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { branchRow, openShop, toast } from "./steps.ts";
import type { Locator, Page } from "@playwright/test";

/** Sizes of all files in a folder. */
function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Six forks with work of their own, two of them on work that only they have; one is protected. */
const SCRIPT = `
  const work = async (branch, rows) => {
    await store.runQuery({ database: "shop", branch, write: true, sql: \`CREATE TABLE IF NOT EXISTS load(id INTEGER PRIMARY KEY, data BLOB);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \${rows}) INSERT INTO load(data) SELECT randomblob(900) FROM n\` });
    await store.checkpoint({ database: "shop", branch, name: "done" });
  };
  for (const [index, newBranch] of ["one", "two", "three", "four", "kept"].entries()) {
    await store.fork({ database: "shop", branch: "main", newBranch });
    await work(newBranch, 400 * (index + 1));
  }
  await store.fork({ database: "shop", branch: "four", newBranch: "four-more" });
  await store.protect({ database: "shop", branch: "kept", protected: true });`;

async function exactBytes(figure: Locator): Promise<number> {
  return Number((await figure.getAttribute("title"))?.replaceAll(/\D/g, ""));
}

const row = (page: Page, name: string) => page.getByRole("treegrid", { name: "Usage of branches" }).getByRole("row", { name, exact: true });

test("JOURNEY-9: five branches are selected, and the store shrinks by what was predicted once they are deleted and purged", async ({
  startApp,
  folder,
}) => {
  const { page, store } = await openShop(folder, startApp, SCRIPT);
  await page.keyboard.press("ControlOrMeta+5");
  const screen = page.getByRole("region", { name: "Usage" });
  await expect(row(page, "kept")).toBeVisible();
  const total = screen.getByRole("region", { name: "Totals" }).getByText("Stored").locator("xpath=..").locator("dd span");
  expect(await exactBytes(total)).toBeGreaterThan(1_000_000);

  await row(page, "one").click();
  for (const name of ["two", "three", "four", "four-more", "kept"]) await row(page, name).click({ modifiers: ["ControlOrMeta"] });
  const footer = screen.getByRole("status").filter({ hasText: "Deleting these 5 frees" });
  await expect(footer).toContainText("shared only among them");
  await expect(footer).toContainText("kept is protected and stays");
  const predicted = await exactBytes(footer.locator("span[title]").first());
  expect(predicted).toBeGreaterThan(1_000_000);

  const before = folderBytes(store);
  await screen.getByRole("button", { name: "Move 5 to Trash" }).click();
  await expect(toast(page, "Moved 5 branches to the Trash")).toBeVisible();
  await expect(row(page, "one")).toBeHidden();
  await expect(row(page, "kept")).toBeVisible();
  await screen.getByRole("button", { name: "Purge now…" }).click();
  const dialog = page.getByRole("dialog", { name: "Purge 5 branches now?" });
  await dialog.getByRole("button", { name: "Purge for good" }).click();
  await expect(toast(page, /Purged 5 branches: .* freed/)).toBeVisible();
  const freed = before - folderBytes(store);
  console.log(`predicted ${predicted} bytes, the folder shrank by ${freed}`);
  expect(Math.abs(freed - predicted) / predicted).toBeLessThan(0.01);

  // The screen agrees with the disk, and nothing is left to collect.
  await page.getByRole("radio", { name: "Whole store" }).click();
  await expect(page.getByRole("row", { name: /^Total in the store/ })).toBeVisible();
  await expect.poll(async () => Math.abs((await exactBytes(total)) - folderBytes(store)) / folderBytes(store)).toBeLessThan(0.01);
  await screen.getByRole("button", { name: "Collect garbage…" }).click();
  await expect(page.getByRole("dialog").getByRole("button", { name: "Nothing to free" })).toBeDisabled();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ControlOrMeta+1");
  await expect(branchRow(page, "kept")).toBeVisible();
  await expect(branchRow(page, "one")).toBeHidden();
});

test("USAGEVIEW-14: what other programs do appears by itself, and what was moved to the Trash comes back with one Undo", async ({
  startApp,
  folder,
}) => {
  const { page } = await openShop(
    folder,
    startApp,
    `await store.fork({ database: "shop", branch: "main", newBranch: "spare", count: 25 });`,
  );
  await page.keyboard.press("ControlOrMeta+5");
  await expect(row(page, "spare-")).toContainText("× 25");
  await row(page, "spare-").click();
  await page.keyboard.press("Delete");
  await expect(toast(page, "Moved 25 branches to the Trash")).toBeVisible();
  await expect(row(page, "spare-")).toBeHidden();
  await toast(page, "Moved 25 branches to the Trash").getByRole("button", { name: "Undo" }).click();
  await expect(toast(page, "Undone: 25 operations")).toBeVisible();
  await expect(page.getByRole("button", { name: "Purge now…" })).toBeHidden();
  await expect(row(page, "spare-")).toContainText("× 25");
  await page.getByRole("radio", { name: "Whole store" }).click();
  await expect(page.getByRole("row", { name: /^Total in the store/ })).toBeVisible();
});
