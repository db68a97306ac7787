import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./fixtures.ts";
import { branchRow, checkpoint, copyPath, fork, openShop, readValue, runSql, toast } from "./steps.ts";

test("JOURNEY-4: a comparison shows what was deleted, and its CSV has as many rows as the badge says", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  await fork(page, "main", "cleanup");
  runSql(
    await copyPath(page, "cleanup"),
    "DELETE FROM orders WHERE id % 4 = 0; UPDATE orders SET price = price + 1 WHERE id < 10; INSERT INTO orders VALUES (1000, 'x', 1)",
  );
  await branchRow(page, "cleanup").click();
  await page.keyboard.press("ControlOrMeta+D");
  const diff = page.getByRole("region", { name: "Diff" });
  await expect(diff.getByRole("grid", { name: "Tables that differ" }).getByRole("row", { name: /orders/ })).toContainText("−50");

  const kinds = diff.getByRole("group", { name: "Kinds of changes" });
  await kinds.getByRole("button", { name: /Added/ }).click();
  await kinds.getByRole("button", { name: /Changed/ }).click();
  await expect(kinds.getByRole("button", { name: /Deleted/ })).toContainText("50");
  const rows = diff.getByRole("grid", { name: "Changed rows of orders" });
  await expect(rows.getByRole("row", { name: /^deleted/ }).first()).toContainText("item 4");
  await expect(rows.getByRole("row", { name: /^(added|changed)/ })).toHaveCount(0);

  const file = join(folder, "deleted.csv");
  await diff.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /CSV/ }).click();
  await page.getByRole("textbox", { name: /File on the machine/ }).fill(file);
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await expect(toast(page, /Exported the comparison to/)).toBeVisible();
  const lines = readFileSync(file, "utf8").trimEnd().split("\r\n");
  expect(lines[0]).toContain("old.item");
  expect(lines.slice(1).filter((line) => line.startsWith("delete,"))).toHaveLength(50);
  expect(lines).toHaveLength(51);
});

test("JOURNEY-10: a huge comparison is stopped with Esc, says that it is partial, and goes on when asked", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  await fork(page, "main", "huge");
  runSql(
    await copyPath(page, "huge"),
    "WITH RECURSIVE n(i) AS (SELECT 201 UNION ALL SELECT i + 1 FROM n WHERE i < 2000200) INSERT INTO orders SELECT i, 'item ' || i, i FROM n",
  );
  await branchRow(page, "huge").click();
  await page.keyboard.press("ControlOrMeta+D");
  const diff = page.getByRole("region", { name: "Diff" });
  const orders = diff.getByRole("grid", { name: "Tables that differ" }).getByRole("row", { name: /orders/ });
  await expect(orders).toContainText(/\+\d/);
  await page.keyboard.press("Escape");
  await expect(diff.getByText("Partial: counting was stopped")).toBeVisible();
  const counted = await orders.textContent();
  expect(counted).not.toContain("2,000,000");
  // Nothing goes on behind it: the count stands, no job runs, and other things are answered.
  await expect(page.getByRole("contentinfo")).not.toContainText("Count what differs");
  await page.keyboard.press("ControlOrMeta+2");
  await expect(page.getByRole("region", { name: "History" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+3");
  expect(await orders.textContent()).toBe(counted);
  await diff.getByRole("button", { name: "Go on" }).click();
  await expect(orders).toContainText("+2,000,000");
  await expect(diff.getByText(/1 of 1 table differ/)).toBeVisible();
});

test("DIFFVIEW-10: the exported script turns the left state into the right one", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  const main = await copyPath(page, "main");
  await fork(page, "main", "next");
  runSql(
    await copyPath(page, "next"),
    "ALTER TABLE orders ADD COLUMN note TEXT DEFAULT 'none'; DELETE FROM orders WHERE id > 150; CREATE VIEW big AS SELECT * FROM orders WHERE price > 100",
  );
  await branchRow(page, "next").click();
  await page.keyboard.press("ControlOrMeta+D");
  const diff = page.getByRole("region", { name: "Diff" });
  await expect(diff.getByRole("row", { name: /orders/ }).first()).toContainText("−50");
  const file = join(folder, "next.sql");
  await diff.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /SQL script/ }).click();
  await page.getByRole("textbox", { name: /File on the machine/ }).fill(file);
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await expect.poll(() => existsSync(file)).toBe(true);
  await expect(toast(page, /Exported the comparison to/)).toBeVisible();
  runSql(main, readFileSync(file, "utf8"));
  expect(readValue(main, "SELECT count(*) FROM orders")).toBe(150);
  expect(readValue(main, "SELECT group_concat(name) FROM pragma_table_info('orders')")).toBe("id,item,price,note");
  expect(readValue(main, "SELECT count(*) FROM big")).toBe(84);
});

test("CHANGES-10: what a branch and its versions changed is counted by itself, and each table opens the comparison", async ({
  startApp,
  folder,
}) => {
  const { page } = await openShop(folder, startApp);
  await fork(page, "main", "try");
  await expect(branchRow(page, "try")).toContainText("none");
  const path = await copyPath(page, "try");
  runSql(path, "DELETE FROM orders WHERE id <= 3; UPDATE orders SET price = 0 WHERE id > 190; CREATE TABLE notes (text)");
  await checkpoint(page, "try", "cut");
  await expect(branchRow(page, "try")).toContainText("−3~10§1");
  runSql(path, "INSERT INTO notes VALUES ('a'), ('b')");
  await checkpoint(page, "try", "noted");
  await expect(branchRow(page, "try")).toContainText("+2−3~10§1");
  await page.keyboard.press("ControlOrMeta+2");
  const timeline = page.getByRole("grid", { name: "Versions of try" });
  await expect(timeline.getByRole("row", { name: /noted/ })).toContainText("notes+2");
  await expect(timeline.getByRole("row", { name: /cut/ })).toContainText("orders−3~10§1");
  await timeline.getByRole("row", { name: /cut/ }).click();
  await page
    .getByRole("complementary", { name: "Version" })
    .getByRole("button", { name: /^orders: 3 deleted, 10 changed/ })
    .click();
  await expect(page.getByRole("grid", { name: "Changed rows of orders" })).toBeVisible();
});
