import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pagesOfFile, SegmentVersions, sourceOf, type Pages } from "../../support/segment-versions.ts";

let folder: string;
let versions: SegmentVersions;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sizes-"));
  versions = new SegmentVersions(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

test("SEG-2: a one-row insert into a small table takes at most 120 bytes, the first as the fortieth", async () => {
  const path = join(folder, "live.db");
  const database = new Sqlite(path);
  database.exec("CREATE TABLE notes(id INTEGER PRIMARY KEY, branch TEXT, value INTEGER); CREATE TABLE big(a, b)");
  database.exec(
    "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 5000) INSERT INTO big SELECT n, hex(randomblob(50)) FROM s",
  );
  database.pragma("journal_mode = wal");
  const state = (): Pages => {
    database.pragma("wal_checkpoint(TRUNCATE)");
    return pagesOfFile(readFileSync(path), 4096);
  };
  let version = await versions.addBase(sourceOf(state()));
  const sizes: number[] = [];
  for (let row = 1; row <= 40; row += 1) {
    database.prepare("INSERT INTO notes(branch, value) VALUES(?, ?)").run(`attempt-${row}`, row * 1000);
    version = (await versions.addDelta(version, state())) ?? 0;
    const record = versions.records.get(version);
    sizes.push(record?.bytes ?? 0);
    expect(record?.inline?.length).toBe(record?.bytes);
  }
  database.close();
  console.log(`bytes of 40 one-row segments: ${Math.min(...sizes)} to ${Math.max(...sizes)}`);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(120);
});
