import { spawn } from "node:child_process";
import { askStore, expect, test } from "./fixtures.ts";
import { branchRow, checkpoint, copyPath, fork, openShop, readValue, runSql, startCheckpoint, toast } from "./steps.ts";
import type { Page } from "@playwright/test";

const COLUMNS = "SELECT group_concat(name) FROM pragma_table_info('orders')";
const ROWS = "SELECT count(*) FROM orders";

test("JOURNEY-1: three migrations are tried in forks, the second is promoted, and Undo restores main", async ({ startApp, folder }) => {
  const { page } = await openShop(folder, startApp);
  const main = await copyPath(page, "main");
  const migrations = [
    "ALTER TABLE orders ADD COLUMN cents INTEGER",
    "ALTER TABLE orders ADD COLUMN price_cents INTEGER; UPDATE orders SET price_cents = price * 100",
    "ALTER TABLE orders RENAME COLUMN price TO amount",
  ];
  for (const [index, sql] of migrations.entries()) {
    const name = `try-${index + 1}`;
    await fork(page, "main", name);
    runSql(await copyPath(page, name), sql);
    await checkpoint(page, name, "migrated");
  }
  expect(readValue(main, COLUMNS)).toBe("id,item,price");
  await branchRow(page, "try-2").click();
  await page.keyboard.press("ControlOrMeta+D");
  const diff = page.getByRole("region", { name: "Diff" });
  await expect(diff.getByRole("row", { name: /orders/ }).first()).toContainText("~200");
  await expect(diff.getByText("+ price_cents INTEGER")).toBeVisible();
  await page.keyboard.press("ControlOrMeta+1");
  await branchRow(page, "try-2").click();
  await page.getByRole("button", { name: "Promote", exact: true }).click();
  const promoted = toast(page, /try-2.*main/);
  await expect(promoted).toBeVisible();
  expect(readValue(main, COLUMNS)).toBe("id,item,price,price_cents");
  expect(readValue(main, "SELECT sum(price_cents) FROM orders")).toBe(3_015_000);
  await promoted.getByRole("button", { name: "Undo" }).click();
  await expect(toast(page, /Und/)).toBeVisible();
  expect(readValue(main, COLUMNS)).toBe("id,item,price");
  expect(readValue(main, ROWS)).toBe(200);
});

test("JOURNEY-2: rows deleted by mistake return, and what was in the file is listed as an autosave", async ({ startApp, folder }) => {
  const { page, store } = await openShop(folder, startApp);
  const main = await copyPath(page, "main");
  runSql(main, "UPDATE orders SET item = 'first' WHERE id = 1");
  await checkpoint(page, "main", "monday");
  runSql(main, "DELETE FROM orders");
  await page.keyboard.press("ControlOrMeta+2");
  const timeline = page.getByRole("grid", { name: "Versions of main" });
  await expect(timeline.getByRole("row", { name: /Unsaved changes/ })).toBeVisible();
  await timeline.getByRole("row", { name: /Imported/ }).click();
  await page.getByRole("button", { name: "Roll back to here" }).click();
  await expect(toast(page, /Rolled back main/)).toBeVisible();
  expect(readValue(main, ROWS)).toBe(200);
  expect(readValue(main, "SELECT item FROM orders WHERE id = 1")).toBe("item 1");
  await expect(timeline.getByRole("row", { name: /Autosave/ })).toBeVisible();
  const { versions } = await askStore<{ versions: { kind: string }[] }>(store, `store.history({ database: "shop", branch: "main" })`);
  expect(versions.map((version) => version.kind)).toContain("autosave");
  // Forward again: the named version was left behind, not lost.
  await timeline.getByRole("row", { name: /monday/ }).click();
  await page.getByRole("button", { name: "Roll forward to here" }).click();
  await expect.poll(() => readValue(main, "SELECT item FROM orders WHERE id = 1")).toBe("first");
});

interface Branch {
  readonly name: string;
  readonly head: number;
}
const readHeads = async (store: string) => {
  const { branches } = await askStore<{ branches: Branch[] }>(store, `store.branches({ database: "shop" })`);
  return Object.fromEntries(branches.map((branch) => [branch.name, branch.head]));
};

test("JOURNEY-3: delete, promote and roll back are undone one by one and redone", async ({ startApp, folder }) => {
  const { page, store } = await openShop(
    folder,
    startApp,
    `
    await store.fork({ database: "shop", branch: "main", newBranch: "keep" });
    await store.fork({ database: "shop", branch: "main", newBranch: "drop" });
    await store.checkpoint({ database: "shop", branch: "main", name: "base" });`,
  );
  runSql(await copyPath(page, "keep"), "DELETE FROM orders WHERE id > 100");
  await checkpoint(page, "keep", "half");
  const before = await readHeads(store);

  await branchRow(page, "drop").click();
  await page.keyboard.press("Delete");
  await expect(branchRow(page, "drop")).toBeHidden();
  await branchRow(page, "keep").click();
  await page.getByRole("button", { name: "Promote", exact: true }).click();
  await expect.poll(async () => (await readHeads(store))["main"]).toBe(before["keep"]);
  await branchRow(page, "main").click();
  await page.getByRole("button", { name: "Roll back…" }).click();
  const dialog = page.getByRole("dialog", { name: "Roll back main" });
  await dialog.getByRole("radio", { name: /base/ }).check();
  await dialog.getByRole("button", { name: /^Roll back to v/ }).click();
  await expect.poll(() => readHeads(store)).toEqual({ main: before["main"], keep: before["keep"] });

  await press(page, "ControlOrMeta+Z");
  expect(await readHeads(store)).toEqual({ main: before["keep"], keep: before["keep"] });
  await press(page, "ControlOrMeta+Z");
  expect(await readHeads(store)).toEqual({ main: before["main"], keep: before["keep"] });
  await press(page, "ControlOrMeta+Z");
  expect(await readHeads(store)).toEqual(before);
  await expect(branchRow(page, "drop")).toBeVisible();
  await press(page, "ControlOrMeta+Shift+Z");
  await expect(branchRow(page, "drop")).toBeHidden();
  expect(await readHeads(store)).toEqual({ main: before["main"], keep: before["keep"] });
});

/** Undo or redo, and wait until it is said. */
async function press(page: Page, keys: string): Promise<void> {
  for (const old of await page.getByRole("button", { name: "Dismiss" }).all()) await old.click();
  await page.getByRole("treegrid").focus();
  await page.keyboard.press(keys);
  await expect(page.getByRole("button", { name: "Dismiss" })).toBeVisible();
}

test("JOURNEY-7: a writer in another program is named, and Retry keeps what it wrote", async ({ startApp, folder }) => {
  const { page, store } = await openShop(folder, startApp);
  const main = await copyPath(page, "main");
  const writer = spawn(
    process.execPath,
    [
      "-e",
      `const database = new (require("better-sqlite3"))(process.argv[1]);
       database.exec("BEGIN IMMEDIATE; INSERT INTO orders(item) VALUES ('from outside')");
       console.log("holding");
       process.stdin.once("data", () => { database.exec("COMMIT"); database.close(); process.exit(0); });`,
      main,
    ],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  try {
    await new Promise((settle) => writer.stdout.once("data", settle));
    const dialog = await startCheckpoint(page, "main", "after-outside");
    const alert = dialog.getByRole("alert");
    await expect(alert).toContainText(`pid ${writer.pid}`);
    const ended = new Promise((settle) => writer.once("exit", settle));
    writer.stdin.write("go\n");
    await ended;
    await alert.getByRole("button", { name: "Retry" }).click();
    await expect(dialog).toBeHidden();
  } finally {
    writer.kill("SIGKILL");
  }
  expect(readValue(main, "SELECT count(*) FROM orders WHERE item = 'from outside'")).toBe(1);
  const file = await askStore<{ path: string }>(store, `store.openCheckpoint({ database: "shop", branch: "main", at: "after-outside" })`);
  expect(readValue(file.path, ROWS)).toBe(201);
});
