import { mkdirSync } from "node:fs";
import { percentile } from "#shared/bench-statistics.ts";
import { readTable } from "#shared/bench-figures.ts";
import { makeOrder } from "./runner/order.ts";
import { runSuite } from "./runner/run.ts";
import { loadSuite } from "./suites.ts";
import { REFERENCES } from "./references/published.ts";
const [id = "", size = "quick", folder = "/tmp/W7/run", mode = ""] = process.argv.slice(2);
const suite = await loadSuite(id);
mkdirSync(folder, { recursive: true });
const abort = new AbortController();
process.once("SIGINT", () => abort.abort());
const t = performance.now();
const stepStart = new Map<string, number>();
const run = await runSuite({ suite: suite!, order: makeOrder(suite!, { size }), folder, signal: abort.signal, onStep: (r) => console.log(`   [${((performance.now() - t) / 1000).toFixed(1)} s] ${r.progress.step}`) });
console.log(`${run.title} ${run.size} ${run.state} ${run.failure ?? ""} ${((performance.now() - t) / 1000).toFixed(1)} s`);
for (const series of run.series) {
  const sorted = series.samples.toSorted((a, b) => a - b);
  const figures = [0, 50, 95, 100].map((at) => percentile(sorted, at).toPrecision(4)).join(" ");
  const problems = [series.skipped ?? "", series.errors > 0 ? `${series.errors} errors: ${series.error}` : ""].join(" ");
  console.log(`${series.id.padEnd(40)} n ${sorted.length}/${series.planned} min/p50/p95/max ${figures} ${series.unit} ${problems}`);
}
for (const fact of run.facts) console.log(`${fact.step}: ${fact.label} = ${fact.value} ${fact.unit}`);
if (mode === "tables") for (const table of run.tables) { console.log("\n" + table.title + "\n" + table.columns.join(" | ")); for (const row of readTable(table, run, REFERENCES)) console.log([row.label, ...row.cells.map((c) => c.text)].join(" | ")); }
