import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runAndKill } from "../support/foreign-clients.ts";
import { expect, test } from "./fixtures.ts";
import { copyPath, readValue, writeShop } from "./steps.ts";
import type { Page } from "@playwright/test";

const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Drops files on the window as a file manager does. The stand-in for the desktop takes the file's name for its path. */
async function drop(page: Page, files: readonly { readonly name: string; readonly path: string }[]): Promise<void> {
  const contents = files.map(({ name, path }) => ({ name, base64: readFileSync(path).toString("base64") }));
  await page.evaluate((dropped) => {
    const data = new DataTransfer();
    for (const { name, base64 } of dropped) data.items.add(new File([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], name));
    const init = { bubbles: true, cancelable: true, dataTransfer: data };
    document.body.dispatchEvent(new DragEvent("dragover", init));
    document.body.dispatchEvent(new DragEvent("drop", init));
  }, contents);
}

test("JOURNEY-8: a dropped UTF-16 file with a left-over WAL is reported, imported whole and left as it was", async ({
  page,
  folder,
  face,
}) => {
  const file = join(folder, "Übersicht.db");
  runAndKill(
    file,
    `const db = new Database(path); db.exec("PRAGMA encoding = 'UTF-16le'; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t(word TEXT); INSERT INTO t VALUES ('Grüße'), ('in the WAL')")`,
  );
  const all = [file, `${file}-wal`];
  const before = all.map(digest);
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  await drop(
    page,
    all.map((path) => ({ path, name: face === "web" ? path.slice(folder.length + 1) : path })),
  );
  const checks = page.getByRole("table", { name: "Checks" });
  await expect(checks.getByRole("row", { name: /Text encoding/ })).toContainText("UTF-16le");
  await expect(checks.getByRole("row", { name: /WAL/ }).first()).toBeVisible();
  const name = page.getByRole("textbox", { name: "Database name" });
  await expect(name).toHaveValue("ubersicht");
  await page.getByRole("textbox", { name: "Folder of the new store" }).fill(join(folder, "new.coppice"));
  await page.getByRole("button", { name: "Import as ubersicht" }).click();
  const copy = await copyPath(page, "main");
  expect(readValue(copy, "SELECT group_concat(word, '|') FROM t")).toBe("Grüße|in the WAL");
  expect(readValue(copy, "PRAGMA encoding")).toBe("UTF-16le");
  expect(all.map(digest)).toEqual(before);
});

test("SHELL-9: sending a dropped file can be cancelled, and nothing is left of it", async ({ page, folder, face }) => {
  test.skip(face !== "web", "the desktop sends nothing");
  const file = join(folder, "large.db");
  writeShop(file);
  await expect(page.getByRole("button", { name: /demo/i })).toBeVisible();
  // An upload that never arrives.
  await page.route(/\/upload/, () => undefined);
  await drop(page, [{ name: "large.db", path: file }]);
  const overlay = page.getByRole("status").filter({ hasText: "Reading large.db" });
  await overlay.getByRole("button", { name: "Cancel" }).click();
  await expect(overlay).toBeHidden();
  await expect(page.getByRole("alert")).toBeHidden();
  await page.unroute(/\/upload/);
  await drop(page, [{ name: "large.db", path: file }]);
  await expect(page.getByRole("table", { name: "Checks" })).toBeVisible();
});
