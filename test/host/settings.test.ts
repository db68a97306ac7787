import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { StoreView } from "#shared/views.ts";
import { Settings } from "#host/settings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "coppice-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const storeAt = (path: string): StoreView => ({
  spec: path,
  path,
  uid: "00",
  formatVersion: 1,
  createdAt: 0,
  databases: 2,
  branches: 3,
  trashed: 0,
  lastOperation: 0,
  durableAt: null,
  warnings: [],
});

test("HOST-6: settings survive a restart and leave no unfinished file", () => {
  const settings = new Settings(join(folder, "deep", "er"));
  expect(settings.look).toEqual({ theme: "system", layout: "" });
  settings.saveLook({ theme: "dark", layout: '{"tabs":["ä"]}' });
  settings.saveWindow({ x: 1, y: 2, width: 900, height: 700, maximized: true });
  const again = new Settings(join(folder, "deep", "er"));
  expect(again.look).toEqual({ theme: "dark", layout: '{"tabs":["ä"]}' });
  expect(again.window).toEqual({ x: 1, y: 2, width: 900, height: 700, maximized: true });
  expect(readdirSync(join(folder, "deep", "er"))).toEqual(["settings.json"]);
});

test("HOST-6: a damaged field costs that field only; a file that is no JSON is set aside", () => {
  const file = join(folder, "settings.json");
  writeFileSync(
    file,
    JSON.stringify({ theme: "purple", layout: "kept", recent: [{ path: "/a", openedAt: 1 }, 7], window: "wide", later: true }),
  );
  const settings = new Settings(folder);
  expect(settings.look).toEqual({ theme: "system", layout: "kept" });
  expect(settings.window).toBeNull();
  expect(settings.recent()).toEqual([{ path: "/a", openedAt: 1, databases: null, branches: null, exists: false }]);
  writeFileSync(file, "{ no json");
  expect(settings.look).toEqual({ theme: "system", layout: "" });
  expect(readFileSync(`${file}.unreadable`, "utf8")).toBe("{ no json");
});

test("HOST-7: recent stores: the last opened first, each once, twelve at most, missing ones marked", () => {
  const settings = new Settings(folder);
  const real = join(folder, "store");
  mkdirSync(real);
  writeFileSync(join(real, "catalog.db"), "");
  for (let i = 0; i < 14; i += 1) settings.rememberStore(storeAt(`/gone/${i}`));
  settings.rememberStore(storeAt(real));
  settings.rememberStore(storeAt("/gone/9"));
  const recent = settings.recent();
  expect(recent).toHaveLength(12);
  expect(recent.slice(0, 3).map((entry) => [entry.path, entry.exists, entry.databases])).toEqual([
    ["/gone/9", false, 2],
    [real, true, 2],
    ["/gone/13", false, 2],
  ]);
  settings.forgetStore("/gone/9");
  expect(settings.recent().map((entry) => entry.path)).not.toContain("/gone/9");
  expect(existsSync(real)).toBe(true);
});
