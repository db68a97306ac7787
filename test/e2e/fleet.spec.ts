import { join } from "node:path";
import { expect, listAsRecent, makeStore, test, useStore } from "./fixtures.ts";
import { branchRow, openRecent, readValue, toast } from "./steps.ts";
import type { Page } from "@playwright/test";

const FLEET = 10_000;
const FILTER = "Filter branches";

/**
 * Watches from now on; the answer waits for the time from the next `event` to the first frame whose list or footer says
 * `shown`, in ms by the page's own clock.
 */
async function watch(page: Page, event: "click" | "input", shown: string): Promise<() => Promise<number>> {
  const watching = await page.evaluateHandle(
    ([name, wanted]) => ({
      done: new Promise<number>((settle) => {
        const look = () => {
          const found = [...document.querySelectorAll("[role=treegrid], [role=status]")].some((each) => each.textContent?.includes(wanted));
          if (!found) return void requestAnimationFrame(look);
          performance.mark("shown");
          settle(performance.measure(wanted, "asked", "shown").duration);
        };
        const start = () => {
          performance.mark("asked");
          look();
        };
        window.addEventListener(name, start, { capture: true, once: true });
      }),
    }),
    [event, shown] as const,
  );
  return () => watching.evaluate(({ done }) => done);
}

test("JOURNEY-6: a fleet of 10,000 forks is one bundle, filtered and opened by keyboard alone, with few rows in the page", async ({
  startApp,
  folder,
  face,
}) => {
  const store = join(folder, "fleet.coppice");
  await makeStore(store, `await store.create({ database: "seed" });`);
  listAsRecent(folder, store);
  const { page } = await startApp();
  await openRecent(page, "fleet.coppice");
  await expect(branchRow(page, "main")).toBeVisible();
  // An agent's harness at work while the app is open.
  await useStore(
    store,
    `await store.fork({ database: "seed", branch: "main", newBranch: "attempt", count: ${FLEET} });
     for (const branch of ["attempt-00007", "attempt-04217"]) await store.setMeta({ database: "seed", branch, meta: { status: "pass" } });`,
  );
  const grid = page.getByRole("treegrid");
  const footer = (text: string) => page.getByRole("status").filter({ hasText: text });
  const bundle = grid.getByRole("row", { name: /^attempt-\*/ });
  await expect(bundle).toContainText("10,000");
  await expect(footer("10,001 of 10,001 branches · 10,000 folded in attempt-*")).toBeVisible();
  await expect(grid).toHaveAttribute("aria-rowcount", "3");

  await page.getByRole("button", { name: "Activity", exact: true }).click();
  await expect(grid).toBeHidden();
  const painting = await watch(page, "click", "attempt-*");
  await page.getByRole("button", { name: "Branches", exact: true }).click();
  const paintMs = await painting();

  // From here on nothing but keys.
  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: FILTER })).toBeFocused();
  const filtering = await watch(page, "input", "10 of 10,001");
  await page.keyboard.insertText("attempt-0421");
  const filterMs = await filtering();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText("attempt");
  await expect(footer("10,000 of 10,001 branches")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(grid).toBeFocused();
  // The bundle opened, and in it the group of those without a status: all are listed, and the page holds those on the screen.
  for (const key of ["End", "ArrowRight", "End", "ArrowRight"]) await page.keyboard.press(key);
  await expect.poll(async () => Number(await grid.getAttribute("aria-rowcount"))).toBeGreaterThan(9_000);
  await page.keyboard.press("End");
  await expect(branchRow(page, "attempt-10000")).toBeVisible();
  expect(await grid.getByRole("row").count()).toBeLessThan(80);

  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: FILTER })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText("status:pass name:attempt-04*");
  await expect(footer("1 of 10,001 branches")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(grid).toBeFocused();
  await page.keyboard.press("End");
  await expect(branchRow(page, "attempt-04217")).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("menu")).toBeVisible();
  await expect.poll(() => page.evaluate(() => document.activeElement?.closest("[role=menu]") !== null)).toBe(true);
  await page.keyboard.type("open");
  await expect(page.getByRole("menuitem", { name: "Open: copy path" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(toast(page, "Copied path of attempt-04217")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+F");
  await expect(page.getByRole("textbox", { name: FILTER })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+V");
  await expect(page.getByRole("textbox", { name: FILTER })).toHaveValue(/attempt-04217\.db$/);
  const path = await page.getByRole("textbox", { name: FILTER }).inputValue();
  expect(readValue(path, "PRAGMA integrity_check")).toBe("ok");
  console.log(
    `10,000 branches on ${face}: first paint ${paintMs.toFixed(0)} ms (budget 300), filter ${filterMs.toFixed(0)} ms (budget 100)`,
  );
});
