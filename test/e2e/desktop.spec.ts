import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "./fixtures.ts";

test.beforeEach(({ face }) => {
  test.skip(face === "web", "desktop only");
});

test("DESKTOP-1: the window comes back where it was", async ({ startApp }) => {
  const first = await startApp();
  await expect(first.page.getByRole("button", { name: /demo/i })).toBeVisible();
  await first.electron?.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.setBounds({ x: 40, y: 30, width: 1100, height: 700 }),
  );
  await first.quit();
  const again = await startApp();
  const bounds = await again.electron?.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.getBounds());
  expect(bounds).toEqual({ x: 40, y: 30, width: 1100, height: 700 });
});

test("DESKTOP-2: a second start hands its file to the first and leaves", async ({ startApp, folder }) => {
  const profile = `--user-data-dir=${join(folder, "profile")}`;
  const { electron, page } = await startApp([profile]);
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  const events = await page.evaluateHandle(() => {
    const seen: unknown[] = [];
    window.coppice?.onEvent((event) => seen.push(event));
    return seen;
  });
  const file = join(folder, "gone.db");
  await electron?.evaluate(({ app }, path) => app.emit("second-instance", {}, ["coppice", ".", path], "/"), file);
  await expect.poll(() => events.jsonValue()).toContainEqual({ type: "open-file", path: file });
});

test("DESKTOP-3: the application menu sends the screens' commands", async ({ app, page }) => {
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  await app.electron?.evaluate(({ Menu }) => Menu.getApplicationMenu()?.getMenuItemById("help.shortcuts")?.click());
  await expect(page.getByRole("dialog")).toBeVisible();
});

test("DESKTOP-4: the page cannot reach Node, leave its address or open windows", async ({ app, page }) => {
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  expect(
    await page.evaluate(() => [
      typeof Reflect.get(window, "require"),
      typeof Reflect.get(window, "process"),
      Object.keys(window.coppice ?? {}).toSorted(),
    ]),
  ).toEqual(["undefined", "undefined", ["onEvent", "pathForFile", "platform", "request"]]);
  await page.evaluate(() => void window.open("https://example.org/"));
  await page.evaluate(() => void (location.href = "https://example.org/"));
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  expect(await app.electron?.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length)).toBe(1);
  expect(await page.evaluate(() => window.coppice?.request("no.such" as never, {} as never))).toMatchObject({
    ok: false,
    error: { code: "bad-argument" },
  });
});

test("DESKTOP-5: quitting asks while a job runs; stay keeps both, cancel ends both", async ({ app, page, folder }) => {
  const large = join(folder, "large.db");
  const database = new Database(large);
  database.exec(
    "create table t(b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 400) insert into t select randomblob(1000000) from n",
  );
  database.close();
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  const jobs = await page.evaluateHandle((file) => {
    const states: string[] = [];
    window.coppice?.onEvent((event) => event.type === "job" && states.push(event.job.state));
    void window.coppice?.request("database.inspect", { file });
    return states;
  }, large);
  await expect.poll(() => jobs.jsonValue()).toContain("running");
  const answer = (response: number) =>
    app.electron?.evaluate(({ app: program, dialog }, chosen) => {
      dialog.showMessageBox = () => Promise.resolve({ response: chosen, checkboxChecked: false });
      program.quit();
    }, response);
  await answer(2);
  expect(await page.evaluate(() => window.coppice?.request("app.hello", {}))).toMatchObject({ ok: true });
  expect(await jobs.jsonValue()).not.toContain("cancelling");
  const ended = new Promise((settle) => app.electron?.process().once("exit", settle));
  // The connection ends with the app, often before the answer to this call is back.
  await answer(1)?.catch(() => undefined);
  expect(await ended).toBe(0);
});
