import { expect, test } from "vitest";
import type { BenchCell, BenchSize } from "#shared/bench-views.ts";
import { REFERENCES } from "#bench/references/published.ts";
import { makeOrder } from "#bench/runner/order.ts";
import { loadSuites } from "#bench/suites.ts";
import type { Order, Suite } from "#bench/suite.ts";

const IDS = new Set(REFERENCES.map(({ id }) => id));
const suites = await loadSuites();

const publishedValue = (id: string) => REFERENCES.find((reference) => reference.id === id)?.value;

/** Every size with every value of every option. */
function ordersOf(suite: Suite): Order[] {
  return suite.sizes.flatMap(({ id: size }: { readonly id: BenchSize }) => [
    makeOrder(suite, { size }),
    ...suite.options.flatMap((option) => option.values.map((value) => makeOrder(suite, { size, options: { [option.id]: value.id } }))),
  ]);
}

function cellsOf(suite: Suite, order: Order): readonly BenchCell[] {
  return suite.tables(order).flatMap(({ rows }) => rows.flatMap(({ cells }) => cells));
}

test("SUITE-4: published figures have an id of their own, a source, a machine and a date or none", () => {
  expect(IDS.size).toBe(REFERENCES.length);
  for (const reference of REFERENCES) {
    expect(reference.id).toMatch(/^[a-z0-9][a-z0-9._-]*(?:\/[A-Za-z0-9._-]+)+$/);
    expect(Number.isFinite(reference.value) && reference.value >= 0, reference.id).toBe(true);
    for (const text of [reference.label, reference.source, reference.hardware]) expect(text, reference.id).not.toBe("");
    expect(reference.date ?? "2026-01-01", reference.id).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});

test("SUITE-4: units and statistics are those of the contract, and fit the figure", () => {
  const units = new Set(["ms", "bytes", "per-second", "ratio", "count"]);
  const statistics = new Set(["median", "p95", "p99", "min", "max", "mean", "n", "sum", "single run"]);
  for (const { id, unit, statistic, value } of REFERENCES) {
    expect(units.has(unit) && statistics.has(statistic), id).toBe(true);
    if (unit === "count") expect(Number.isInteger(value), id).toBe(true);
    if (id.endsWith("-min")) expect(statistic, id).toBe("min");
    if (id.endsWith("branch-overhead")) expect(value, id).toBeLessThan(1);
  }
  // Both ends of what was published as "from … to …".
  for (const id of IDS) if (id.endsWith("-min")) expect(IDS).toContain(id.replace(/-min$/, "-max"));
});

test("SUITE-4: figures that others stand beside are as they were published", () => {
  const walls = ["simulation", "data_cleaning", "software_dev", "mcts", "failure_repro"].map((workload) =>
    publishedValue(`offshoot-0.2.12/branchbench/${workload}/wall`),
  );
  expect(walls).toEqual([45_700, 9_800, 5_400, 41_900, 1_600]);
  expect(walls.reduce<number>((sum, wall) => sum + (wall ?? 0), 0)).toBeCloseTo(
    publishedValue("offshoot-0.2.12/branchbench/all/wall") ?? 0,
    -3,
  );
  const linux = ["simulation", "data_cleaning", "software_dev", "mcts", "failure_repro"].map((workload) =>
    publishedValue(`offshoot-0.2.9-linux/branchbench/${workload}/wall`),
  );
  expect(linux.reduce<number>((sum, wall) => sum + (wall ?? 0), 0)).toBe(publishedValue("offshoot-0.2.9-linux/branchbench/all/wall"));
  const medians = ["head-12mb", "head-100mb", "head-1gb", "checkpoint-12mb", "checkpoint-100mb", "checkpoint-1gb"].map((row) => {
    const samples = [1, 2, 3, 4, 5].map((sample) => publishedValue(`offshoot-0.2.12/cow/fork-${row}-sample-${sample}`) ?? Number.NaN);
    return [samples.toSorted((a, b) => a - b)[2], publishedValue(`offshoot-0.2.12/cow/fork-${row}`)];
  });
  for (const [ofSamples, published] of medians) expect(Math.abs((ofSamples ?? 0) - (published ?? 0))).toBeLessThanOrEqual(0.4);
});

test.each(suites.map((suite) => [suite.id, suite] as const))(
  "SUITE-2: %s names steps and series once, and its limits, tables and published figures exist, at every size",
  (_, suite) => {
    for (const order of ordersOf(suite)) {
      const steps = suite.plan(order);
      const series = steps.flatMap((step) => step.series);
      const ids = new Set(series.map(({ id }) => id));
      expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length);
      expect(ids.size).toBe(series.length);
      for (const plan of series) {
        if (plan.limit) expect(ids, `${plan.id}: its limit`).toContain(plan.limit);
        if (plan.goal?.of === "ratio") expect(plan.limit, `${plan.id}: a ratio needs a limit`).toBeTruthy();
        for (const id of plan.references ?? []) expect(IDS, `${plan.id}: published`).toContain(id);
      }
      for (const { columns, rows } of suite.tables(order)) {
        for (const row of rows) expect(row.cells.length, row.label).toBe(columns.length - 1);
      }
      const named = cellsOf(suite, order).flatMap((cell) =>
        "series" in cell ? [cell.series] : "ratioOf" in cell ? [cell.ratioOf, cell.to] : [],
      );
      expect(named.filter((id) => !ids.has(id))).toEqual([]);
      const published = cellsOf(suite, order).flatMap((cell) => ("reference" in cell ? [cell.reference] : []));
      expect(published.filter((id) => !IDS.has(id))).toEqual([]);
    }
  },
);
