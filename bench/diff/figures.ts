/** `node bench/diff/figures.ts FOLDER [MEGABYTES]`: prints what comparisons of 100 and 10,000 changed rows take there. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeSourceDatabase } from "../runner/source-database.ts";
import { exportStates, makeDiffStore, measureAttach, measureDiff, measureSqldiff } from "./measure-diff.ts";

const ROUNDS = 9;
const ROWS = [100, 10_000];

const root = resolve(process.argv[2] ?? ".");
const megabytes = Number(process.argv[3] ?? 100);
mkdirSync(root, { recursive: true });
const folder = mkdtempSync(join(root, "diff-"));
try {
  const source = join(folder, "source.db");
  await makeSourceDatabase(source, { megabytes, seed: 1 }, async () => {});
  const store = await makeDiffStore(folder, source, ROWS);
  for (const rows of ROWS) {
    const { first, warm, changedPages, memoryBytes, ...found } = await measureDiff(store, rows, ROUNDS);
    const sorted = warm.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    const { left, right } = await exportStates(store, rows, folder);
    const attach = await measureAttach(left, right);
    const sqldiff = await measureSqldiff(left, right);
    console.log(
      `${megabytes} MB, ${rows} rows changed: ${found.rows} found on ${changedPages} pages; first ${first.toFixed(1)} ms, warm ${median.toFixed(1)} ms` +
        ` (best ${(sorted[0] ?? 0).toFixed(1)}), memory +${(memoryBytes / 2 ** 20).toFixed(0)} MiB; SQL over ATTACH ${attach.toFixed(0)} ms` +
        ` (${(attach / median).toFixed(0)} ×), sqldiff ${sqldiff === null ? "not installed" : `${sqldiff.toFixed(0)} ms (${(sqldiff / median).toFixed(0)} ×)`}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
