import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { differingPages, disk, makeDatabase, makePlace, openFiles, readDatabase, type Place } from "../engine/checkouts/support.ts";

type Content = ReturnType<typeof readDatabase>;

function makeCase(journal: "wal" | "delete"): { place: Place; old: Content; next: Content } {
  const place = makePlace();
  makeDatabase(place.path, { rows: 3000, journal });
  const finished = `${place.folder}/finished.db`;
  copyFileSync(place.path, finished);
  const database = new Database(finished);
  database.exec("UPDATE item SET tag = 'later' WHERE id % 40 = 0; DELETE FROM item WHERE id > 2500; VACUUM");
  database.close();
  const old = readDatabase(place.path);
  const next = readDatabase(finished);
  const numbers = differingPages(old, next);
  writeFileSync(`${place.folder}/patch.json`, JSON.stringify({ numbers, pageSize: next.pageSize, pageCount: next.pageCount }));
  writeFileSync(`${place.folder}/patch.pages`, Buffer.concat(numbers.map((page) => next.pages.subarray((page - 1) * 4096, page * 4096))));
  return { place, old, next };
}

function runChild(place: Place, act: string, options: { fault?: string; dieInWrite?: number }): "killed" | "done" {
  const env = { ...process.env, COPPICE_FAULT: options.fault ? `${options.fault}:kill` : "" };
  const child = spawnSync(
    process.execPath,
    [join(import.meta.dirname, "checkout-crash-child.ts"), place.folder, act, String(options.dieInWrite ?? 0)],
    { env, encoding: "utf8" },
  );
  if (child.signal === "SIGKILL") return "killed";
  expect(child.stderr).toBe("");
  expect(child.status).toBe(0);
  return "done";
}

/** What a stock client finds, which must be one of the two. */
function contentFound(place: Place, old: Content, next: Content): "old" | "new" {
  const database = new Database(place.path);
  expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
  database.close();
  const now = readDatabase(place.path);
  const found = now.pageCount === next.pageCount ? "new" : "old";
  expect(differingPages(found === "new" ? next : old, now)).toEqual([]);
  expect(now.pageCount).toBe((found === "new" ? next : old).pageCount);
  expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
  return found;
}

describe.each(["wal", "delete"] as const)("CHECKOUT-17: a file in %s mode", (journal) => {
  it.each([
    ["patch", "patch:written", "old"],
    ["patch", "patch:renamed", "new"],
    ["patch", "patch:folded", "new"],
    ["patch", "patch:done", "new"],
    ["swap", "materialise:written", "old"],
    ["swap", "materialise:renamed", "new"],
  ])("CHECKOUT-17: killed in a %s at %s is the %s one", async (act, fault, expected) => {
    const { place, old, next } = makeCase(journal);
    expect(runChild(place, act, { fault })).toBe("killed");
    expect(contentFound(place, old, next)).toBe(expected);
    await (await openFiles(place).hold(place.path, "exclusive", 1000)).release();
  });

  it("CHECKOUT-17: killed in the middle of any write of a patch is the old or the new one", () => {
    const seen: string[] = [];
    for (let dieInWrite = 1; ; dieInWrite += 1) {
      const { place, old, next } = makeCase(journal);
      const outcome = runChild(place, "patch", { dieInWrite });
      seen.push(contentFound(place, old, next));
      if (outcome === "done") break;
      // The first few, then ever larger steps: each write of a page into the main file is like the next.
      if (dieInWrite > 6) dieInWrite += 17;
    }
    expect(seen.join(" ")).toMatch(/^(old )+(new ?)+$/);
  });
});

it("CHECKOUT-17: killed while a file is placed is not there, or whole", () => {
  for (const [fault, isThere] of [
    ["materialise:written", false],
    ["materialise:renamed", true],
  ] as const) {
    const { place, next } = makeCase("wal");
    disk.remove(place.path);
    expect(runChild(place, "place", { fault })).toBe("killed");
    expect(disk.stat(place.path) !== null).toBe(isThere);
    expect(isThere ? readDatabase(place.path) : next).toEqual(next);
  }
});
