import { expect, test } from "./fixtures.ts";

test("E2E-1: the first start offers the demo, a file and a store; the demo opens with its branches", async ({ page, shoot }) => {
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  await shoot("first-run");
  await page.getByRole("button", { name: /demo/i }).click();
  await expect(page.getByRole("treegrid")).toBeVisible({ timeout: 90_000 });
  await expect(page.getByRole("row").filter({ hasText: "main" }).first()).toBeVisible();
  await shoot("branches");
});

test("E2E-2: the page is not lost by a reload, and the program ends cleanly", async ({ app, page, face }) => {
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  if (face === "web") await page.reload();
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  expect(await app.quit()).toBe(0);
});
