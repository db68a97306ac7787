import { chmodSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { BenchRun } from "#shared/bench-views.ts";
import { makeOrder } from "#bench/runner/order.ts";
import { runSuite } from "#bench/runner/run.ts";
import { loadSuite } from "#bench/suites.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

async function runQuick(id: string): Promise<BenchRun> {
  const suite = await loadSuite(id);
  if (!suite) throw new Error(`there is no suite ${id}`);
  const folder = makeTemporaryFolder();
  // Postgres runs as another user, who has to reach its files.
  chmodSync(folder, 0o755);
  const run = await runSuite({ suite, order: makeOrder(suite, { size: "quick" }), folder, signal: new AbortController().signal });
  expect(readdirSync(folder)).toEqual([]);
  return run;
}

test.each(["goals", "cow", "isolation", "density", "write-amplification"])(
  "SUITE-1: %s, quick: every series it planned has its samples, or says why not",
  async (id) => {
    const { series, state, facts } = await runQuick(id);
    expect(series.filter(({ errors, timeouts }) => errors + timeouts > 0).map((each) => `${each.id}: ${each.error}`)).toEqual([]);
    expect(series.filter(({ samples, skipped }) => samples.length === 0 && skipped === null).map((each) => each.id)).toEqual([]);
    // "Not planned" is what cannot be known before, as which way a checkout takes.
    const short = series.filter(({ planned, samples, skipped }) => planned > 0 && skipped === null && samples.length !== planned);
    expect(short.map((each) => `${each.id}: ${each.samples.length} of ${each.planned}`)).toEqual([]);
    expect(state).toBe("done");
    if (id === "write-amplification") expect(facts.filter(({ label }) => label.includes("as much as a copy"))).toHaveLength(4);
    if (id === "density") expect(facts.filter(({ label }) => label.endsWith("met first"))).toHaveLength(2);
  },
);
