import { expect, test } from "vitest";
import { BENCH_SUITES } from "#shared/bench-views.ts";
import { REFERENCES } from "#bench/references/published.ts";
import { makeOrder, viewSuite } from "#bench/runner/order.ts";
import type { Order, Suite } from "#bench/suite.ts";
import { loadSuites, SUITE_IDS } from "#bench/suites.ts";

const SUITES = await loadSuites();
const REFERENCE_IDS = new Set(REFERENCES.map(({ id }) => id));

/** Every size, with the usual options and with each other value of each. */
function ordersOf(suite: Suite): Order[] {
  const choices = [{}, ...suite.options.flatMap(({ id, values }) => values.slice(1).map((value) => ({ [id]: value.id })))];
  return suite.sizes.flatMap(({ id: size }) => choices.map((options) => makeOrder(suite, { size, options })));
}

/** What a run of this order could not keep: ids that are there twice, or that lead nowhere. */
function problemsOf(suite: Suite, order: Order): string[] {
  const steps = suite.plan(order);
  const series = steps.flatMap((step) => step.series);
  const ids = new Set(series.map(({ id }) => id));
  const stepIds = new Set(steps.map(({ id }) => id));
  const problems = [
    ...(ids.size === series.length ? [] : ["two series have one id"]),
    ...(stepIds.size === steps.length ? [] : ["two steps have one id"]),
    ...steps.filter(({ id }) => !/^[a-z0-9][a-z0-9._-]{0,79}$/i.test(id)).map(({ id }) => `"${id}" can be no folder`),
    ...steps.filter((step) => step.series.length === 0).map(({ id }) => `step ${id} records nothing`),
  ];
  for (const { id, limit, goal, references = [] } of series) {
    if (limit && !ids.has(limit)) problems.push(`${id}: no series ${limit} to be its limit`);
    if (goal?.of === "ratio" && !limit) problems.push(`${id}: a ratio to what?`);
    if (goal && goal.most === undefined && goal.least === undefined) problems.push(`${id}: an empty goal`);
    problems.push(...references.filter((each) => !REFERENCE_IDS.has(each)).map((each) => `${id}: no published figure ${each}`));
  }
  for (const { title, columns, rows } of suite.tables(order)) {
    for (const { label, cells } of rows) {
      const where = `${title}, ${label}`;
      if (cells.length + 1 > columns.length) problems.push(`${where}: more cells than columns`);
      for (const cell of cells) {
        const named = "series" in cell ? [cell.series] : "ratioOf" in cell ? [cell.ratioOf, cell.to] : [];
        problems.push(...named.filter((id) => !ids.has(id)).map((id) => `${where}: no series ${id}`));
        if ("fact" in cell && !stepIds.has(cell.step)) problems.push(`${where}: no step ${cell.step}`);
        if ("reference" in cell && !REFERENCE_IDS.has(cell.reference)) problems.push(`${where}: no published figure ${cell.reference}`);
      }
    }
  }
  return problems;
}

test("BENCH-22: every suite that can be asked for is there, with a size that ends in seconds", () => {
  expect(SUITE_IDS).toEqual(BENCH_SUITES);
  expect(SUITES.map(({ id }) => id)).toEqual(BENCH_SUITES);
  for (const suite of SUITES) {
    expect(suite.sizes.map(({ id }) => id)).toEqual(["quick", "S", "M", "L"]);
    expect(suite.sizes[0]?.seconds).toBeLessThanOrEqual(30);
    expect(viewSuite(suite).steps.length).toBeGreaterThan(0);
    for (const { values } of suite.options) expect(values.length).toBeGreaterThan(1);
  }
});

test.each(SUITES.map((suite) => [suite.id, suite] as const))(
  "BENCH-22: %s: ids are unique, and tables, limits and goals name what is planned, whatever is asked for",
  (_id, suite) => {
    for (const order of ordersOf(suite)) {
      expect(problemsOf(suite, order), `${order.size} ${JSON.stringify(order.options)}`).toEqual([]);
    }
  },
);
