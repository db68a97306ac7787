import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRandom } from "../../support/random-pages.ts";
import { execute, temporaryFolder } from "../../support/stores.ts";
import { compareFiles, rowsOf } from "./support.ts";

const isInstalled = spawnSync("sqldiff", ["--help"]).error === undefined;

/** "insert 3" and so on: statements of each kind, or lines of ours. */
function countKinds(lines: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = { insert: 0, update: 0, delete: 0 };
  for (const line of lines) {
    const kind = /^(insert|update|delete)\b/i.exec(line)?.[1]?.toLowerCase();
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test.skipIf(!isInstalled).each([1, 2, 3])("DIFF-1: as many rows of each kind as sqldiff finds by primary key, seed %i", async (seed) => {
  const random = makeRandom(seed);
  const folder = temporaryFolder();
  const [left, right] = [join(folder, "left.db"), join(folder, "right.db")];
  execute(
    left,
    `CREATE TABLE a (id INTEGER PRIMARY KEY, x, y TEXT); CREATE TABLE b (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE c (p, q, v, PRIMARY KEY (p, q));
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO a SELECT i, i % 7, 'y' || i FROM n; INSERT INTO b SELECT y, x FROM a; INSERT INTO c SELECT x, y, id FROM a`,
  );
  copyFileSync(left, right);
  for (let count = 0; count < 30; count += 1) {
    const id = 1 + random(3000);
    execute(
      right,
      [
        `UPDATE a SET x = 'n${random(9)}' WHERE id = ${id}`,
        `DELETE FROM a WHERE id BETWEEN ${id} AND ${id + random(200)}`,
        `INSERT OR REPLACE INTO b VALUES ('y${id + random(500)}', ${random(9)})`,
        `UPDATE c SET v = 0 WHERE q = 'y${id}'`,
        `DELETE FROM c WHERE p = ${random(7)} AND v < ${random(300)}`,
        `INSERT OR IGNORE INTO a VALUES (${3000 + random(50)}, 1, 'new')`,
      ][random(6)] ?? "",
    );
  }
  const { stdout } = spawnSync("sqldiff", ["--primarykey", left, right], { encoding: "utf8" });
  const found = Object.values(rowsOf(await compareFiles(left, right), folder)).flat();
  expect(countKinds(found)).toEqual(countKinds(stdout.split("\n")));
});
