import { expect, test } from "./fixtures.ts";
import { branchRow, copyPath, openShop, readValue, runSql, toast } from "./steps.ts";

test("EDIT-5: rows are browsed, sorted, filtered, edited and applied; undo brings them back", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  const path = await copyPath(page, "main");
  await branchRow(page, "main").click();
  await page.keyboard.press("ControlOrMeta+4");
  const rows = page.getByRole("grid", { name: "Rows of orders" });
  await expect(rows.getByRole("row").nth(1)).toContainText("item 1");

  const price = rows.getByRole("columnheader", { name: "price" });
  await price.getByRole("button").click();
  await price.getByRole("button").click();
  await expect(rows.getByRole("row").nth(1)).toContainText("item 200");
  await price.getByRole("button").click();

  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("button", { name: "Add a condition" }).click();
  await page.getByRole("combobox", { name: "Column" }).selectOption("price");
  await page.getByRole("combobox", { name: "Comparison" }).selectOption(">=");
  await page.getByRole("textbox", { name: "Value to compare with" }).fill("297");
  await page.keyboard.press("Enter");
  await expect(page.getByText(/^3 matching rows/)).toBeVisible();
  await page.getByRole("button", { name: "Clear", exact: true }).click();

  await rows.getByRole("gridcell", { name: "item 2", exact: true }).dblclick();
  await page.keyboard.type("item two");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Delete");
  const changes = page.getByRole("region", { name: "Changes that are not applied" });
  await expect(changes).toContainText("−1 deleted");
  await expect(changes).toContainText("~1 changed");

  // Somebody else changes the row that is to go: nothing is applied.
  runSql(path, "UPDATE orders SET item = 'theirs' WHERE id = 3");
  await changes.getByRole("button", { name: "Apply 2 changes" }).click();
  await expect(changes.getByRole("alert")).toContainText("orders, row id 3 is no longer as it was when you changed it");
  expect(readValue(path, "SELECT item FROM orders WHERE id = 2")).toBe("item 2");
  await expect(rows.getByRole("gridcell", { name: "theirs" })).toBeVisible();

  runSql(path, "UPDATE orders SET item = 'item 3' WHERE id = 3");
  await changes.getByRole("button", { name: "Retry" }).click();
  await expect(toast(page, "Applied 2 changes to main")).toBeVisible();
  await expect(rows.getByRole("gridcell", { name: "item two" })).toBeVisible();
  expect(readValue(path, "SELECT group_concat(item) FROM orders WHERE id < 5")).toBe("item 1,item two,item 4");
  await toast(page, "Applied 2 changes to main").getByRole("button", { name: "Undo" }).click();
  await expect(rows.getByRole("gridcell", { name: "item 2", exact: true })).toBeVisible();
  await expect.poll(() => readValue(path, "SELECT group_concat(item) FROM orders WHERE id < 5")).toBe("item 1,item 2,item 3,item 4");
});

test("DATAVIEW-7: a checkpoint is read-only, and shows what it held", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp, `await store.checkpoint({ database: "shop", branch: "main", name: "start" });`);
  runSql(await copyPath(page, "main"), "DELETE FROM orders WHERE id > 10");
  await branchRow(page, "main").click();
  await page.keyboard.press("ControlOrMeta+4");
  await expect(page.getByText(/^10 rows/)).toBeVisible();
  await page.getByRole("button", { name: /^State:/ }).click();
  await page.getByRole("button", { name: /^v1 / }).click();
  await expect(page.getByText(/^200 rows/)).toBeVisible();
  await expect(page.getByText("Read-only: an earlier state cannot change")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add a row" })).toHaveCount(0);
});

test("GRID-4: a long value is read whole from the store: bytes in parts, an image, a text to the clipboard", async ({
  startApp,
  folder,
}) => {
  const { page } = await openShop(folder, startApp);
  const base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const png = Buffer.from(base64, "base64").toString("hex");
  runSql(
    await copyPath(page, "main"),
    `CREATE TABLE files(id INTEGER PRIMARY KEY, body); INSERT INTO files VALUES (1, x'${png}'), (2, CAST(zeroblob(200000) || x'ff' AS BLOB)), (3, printf('%.*c', 100000, 'x') || 'end')`,
  );
  await branchRow(page, "main").click();
  await page.keyboard.press("ControlOrMeta+4");
  await page.getByRole("grid", { name: "Tables of this state" }).getByText("files").click();
  const rows = page.getByRole("grid", { name: "Rows of files" });
  const value = page.getByRole("region", { name: "Value" });
  await rows.getByRole("gridcell", { name: /^blob, \d\d B/ }).click();
  await expect(value.getByRole("img")).toBeVisible();
  await expect(value.getByText("1 × 1")).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await value.getByRole("button", { name: "Last" }).click();
  await expect(value.getByRole("region", { name: "Bytes" })).toContainText("ff");
  await rows.getByRole("row").nth(3).getByRole("gridcell").nth(1).click();
  await page.keyboard.press("ControlOrMeta+C");
  await expect(toast(page, "Copied body")).toBeVisible();
  const filter = page.getByRole("textbox", { name: "Filter tables" });
  await filter.focus();
  await page.keyboard.press("ControlOrMeta+V");
  await expect.poll(async () => (await filter.inputValue()).slice(-4)).toBe("xend");
  expect((await filter.inputValue()).length).toBe(100_003);
});

test("DATAVIEW-2: a long table is walked through from both ends, and what is on the screen stays when more comes", async ({
  startApp,
  folder,
}) => {
  const { page } = await openShop(folder, startApp);
  runSql(
    await copyPath(page, "main"),
    "CREATE TABLE long(id INTEGER PRIMARY KEY, n); WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 3000) INSERT INTO long SELECT i, i * 7 FROM x",
  );
  await branchRow(page, "main").click();
  await page.keyboard.press("ControlOrMeta+4");
  await page.getByRole("grid", { name: "Tables of this state" }).getByText("long").click();
  const rows = page.getByRole("grid", { name: "Rows of long" });
  await expect(page.getByText(/^3,000 rows/)).toBeVisible();
  await rows.focus();
  await page.keyboard.press("ControlOrMeta+End");
  const last = rows.getByRole("row", { name: /^3000 3000 / });
  await expect(last).toBeInViewport();

  const scrollTo = (top: number): Promise<void> => rows.evaluate((grid, to) => void (grid.scrollTop = to), top);
  const first = (): Promise<string> =>
    rows.evaluate((grid) => {
      const edge = grid.getBoundingClientRect().top + 40;
      const heads = [...grid.querySelectorAll("[role=rowheader]")];
      return heads.find((head) => head.getBoundingClientRect().bottom > edge)?.textContent ?? "";
    });
  const known = (): Promise<number> => rows.evaluate((grid) => Number(grid.getAttribute("aria-rowcount")));
  await expect.poll(known).toBeGreaterThan(400);
  // The row of heads counts too.
  const count = await known();
  await scrollTo(60 * 24);
  await expect.poll(known).toBeGreaterThan(count);
  await expect.poll(first).toBe(String(3_000 - (count - 1) + 1 + 60));

  await page.getByRole("button", { name: "First rows" }).click();
  await expect(rows.getByRole("row", { name: /^1 1 7$/ })).toBeInViewport();
  await scrollTo(240 * 24);
  await expect.poll(known).toBeGreaterThan(400);
  await expect(rows.getByRole("row", { name: /^245 245 1715$/ })).toBeInViewport();
});
