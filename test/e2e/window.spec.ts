import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { askStore, expect, test, useStore } from "./fixtures.ts";
import { branchRow, openShop, runSql, toast } from "./steps.ts";
import type { WebSocketRoute } from "@playwright/test";

const FORKS = `for (const newBranch of ["try-a", "try-b", "other"]) await store.fork({ database: "shop", branch: "main", newBranch });`;

test("JOURNEY-12: after a kill the window, the store, the screen, the branch and the filter are back", async ({ startApp, folder }) => {
  const first = await openShop(folder, startApp, FORKS);
  await first.page.keyboard.press("ControlOrMeta+F");
  const filter = first.page.getByRole("textbox", { name: "Filter branches" });
  await expect(filter).toBeFocused();
  await first.page.keyboard.insertText("try");
  await expect(filter).toHaveValue("try");
  await branchRow(first.page, "try-b").click();
  await first.page.getByRole("radio", { name: "Flat" }).click();
  await first.electron?.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.setBounds({ x: 30, y: 20, width: 1150, height: 720 }),
  );
  const settings = join(folder, "config", "settings.json");
  const saved = () => (existsSync(settings) ? readFileSync(settings, "utf8") : "");
  await expect.poll(saved).toMatch(/flat/);
  await expect.poll(saved).toMatch(first.electron ? /"width": 1150/ : /try-b/);
  await expect.poll(saved).toMatch(/filter[^,]*try/);
  await first.kill();

  const again = await startApp();
  const { page } = again;
  await expect(branchRow(page, "try-b")).toHaveAttribute("aria-selected", "true");
  await expect(page.getByRole("textbox", { name: "Filter branches" })).toHaveValue("try");
  await expect(branchRow(page, "other")).toBeHidden();
  await expect(page.getByRole("complementary", { name: "Branch inspector" })).toContainText("try-b");
  const bounds = await again.electron?.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
  if (again.electron) expect(bounds).toEqual({ x: 30, y: 20, width: 1150, height: 720 });
  // Another screen, and another store: what was left on purpose does not come back.
  await page.keyboard.press("ControlOrMeta+2");
  await expect(page.getByRole("grid", { name: "Versions of try-b" })).toBeVisible();
  await expect.poll(saved).toMatch(/history/);
});

test("E2E-4: a branch dropped on a branch asks what is meant; F6 goes round the panes; Mod+F filters the screen that is shown", async ({
  startApp,
  folder,
}) => {
  const { page, store } = await openShop(folder, startApp, FORKS);
  const file = await askStore<{ path: string }>(store, `store.checkout({ database: "shop", branch: "try-a" })`);
  runSql(file.path, "DELETE FROM orders WHERE id > 100");
  await useStore(store, `await store.checkpoint({ database: "shop", branch: "try-a", name: "half" });`);
  const grid = page.getByRole("treegrid");
  await branchRow(page, "try-a").dragTo(branchRow(page, "try-b"));
  const menu = page.getByRole("menu");
  await expect(menu.getByRole("menuitem", { name: "Promote try-a onto try-b" })).toBeVisible();
  const operations = async () => (await askStore<{ total: number }>(store, "store.operations({})")).total;
  const before = await operations();
  await menu.getByRole("menuitem", { name: "Cancel" }).click();
  await expect(menu).toBeHidden();
  expect(await operations()).toBe(before);
  await branchRow(page, "try-a").dragTo(branchRow(page, "try-b"));
  await menu.getByRole("menuitem", { name: "Promote try-a onto try-b" }).click();
  await expect(toast(page, /try-b/)).toBeVisible();

  const pane = () => page.evaluate(() => document.activeElement?.closest("[data-pane]")?.getAttribute("data-pane"));
  await grid.focus();
  const visited: unknown[] = [];
  for (let step = 0; step < 5; step += 1) {
    await page.keyboard.press("F6");
    visited.push(await pane());
  }
  expect(visited).toEqual(["inspector", "title", "rail", "branches", "inspector"]);
  await page.keyboard.press("Shift+F6");
  expect(await pane()).toBe("branches");

  await page.keyboard.press("ControlOrMeta+7");
  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: "Filter operations" })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+8");
  await expect(page.getByRole("heading", { name: "Trash" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: "Filter the trash" })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+9");
  await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: "Filter branches" })).toBeFocused();
});

test("E2E-5: a broken connection is said, made again by itself, and what happened meanwhile is shown", async ({
  startApp,
  folder,
  face,
}) => {
  test.skip(face !== "web", "the desktop has no connection that could break");
  const { page } = await openShop(folder, startApp);
  const sockets: WebSocketRoute[] = [];
  let allowed = true;
  await page.routeWebSocket(/\/ws/, (socket) => {
    if (!allowed) return void socket.close({ code: 1001 });
    socket.connectToServer();
    sockets.push(socket);
  });
  await page.reload();
  await expect(branchRow(page, "main")).toBeVisible();
  const lost = page.getByRole("alert").filter({ hasText: "Not connected, trying again…" });
  allowed = false;
  await sockets.at(-1)?.close({ code: 1001 });
  await expect(lost).toBeVisible();
  allowed = true;
  await expect(lost).toBeHidden();
  await page.keyboard.press("ControlOrMeta+2");
  await expect(page.getByRole("grid", { name: "Versions of main" })).toBeVisible();
});
