import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { alignResults, pairRows } from "#shared/query-compare.ts";
import type { AcrossResultView, AcrossTargetView } from "#shared/query-views.ts";
import { selectBranches } from "../../../src-renderer/app-state.ts";
import { describeLine, exportCells, linesOf, tabulate } from "../../../src-renderer/data/across-rows.ts";
import {
  acrossSession,
  changeAsk,
  matchPatterns,
  openAcross,
  parseAcrossLayout,
  resetAcross,
} from "../../../src-renderer/data/across-session.ts";
import { choosePlace, showDataTab } from "../../../src-renderer/data/data-session.ts";
import { renderApp } from "../support/render-app.tsx";
import { acrossResult, sqlHandlers } from "../support/sql-samples.ts";

const targetsOf = (names: readonly string[]): AcrossTargetView[] => names.map((branch) => ({ label: `shop@${branch}`, branch, at: null }));
const NAMES = ["attempt-1", "attempt-2", "attempt-3", "main"];
const FAILED = {
  code: "sql-failed" as const,
  message: "no such table: orders",
  hint: null,
  untouched: null,
  retryable: false,
  details: {},
};
const RESULTS: readonly AcrossResultView[] = [
  acrossResult(0, [[1, 10]]),
  acrossResult(1, [[1, 11]]),
  acrossResult(2, [], { error: FAILED, digest: null, columns: [] }),
  acrossResult(3, [[1, 10]]),
];
const grid = () => page.getByRole("grid", { name: "Answers of the states" });
const comparison = () => page.getByRole("status", { name: "Comparison" });

async function showAcross(
  results: readonly AcrossResultView[] = RESULTS,
  names: readonly string[] = NAMES,
  more: Parameters<typeof renderApp>[1] = {},
) {
  resetAcross();
  const waiting = [...results];
  const api = renderApp("data", {
    ...sqlHandlers(),
    "query.across": () => ({ id: "q1", targets: targetsOf(names) }),
    // In no order, and in two answers.
    "query.results": () => {
      const part = waiting.splice(0, Math.ceil(results.length / 2)).toReversed();
      return { results: part, isComplete: waiting.length === 0 };
    },
    ...more,
  });
  await expect.element(page.getByRole("region", { name: "Data" })).toBeVisible();
  choosePlace({ database: "shop", branch: "main", at: null });
  changeAsk({ sql: "SELECT id, total FROM orders" });
  showDataTab("across");
  await expect.element(page.getByRole("textbox", { name: "SQL for all of them" })).toBeVisible();
  return api;
}

const twoRows = (total: number) => [
  [1, 10],
  [2, total],
];
const tens = (ids: readonly number[]) => ids.map((id) => [id, id * 10]);

function pairs(left: AcrossResultView, right: AcrossResultView) {
  const [a, b] = alignResults([left, right]).results;
  if (!a || !b) throw new Error("two results were given");
  return pairRows(a, b);
}

const run = () => page.getByRole("button", { name: /^Run on/ }).click();

test("ACROSSVIEW-1: branches are chosen by pattern, with their number at once, or taken from the selection", async () => {
  const api = await showAcross();
  const names = page.getByRole("textbox", { name: /Names of branches/ });
  await names.fill("try-*");
  await expect.element(page.getByRole("status", { name: "Branches that match" })).toMatchTextContent(/^1 of 2/);
  await names.fill("nothing*");
  await expect.element(page.getByRole("button", { name: /^Run on/ })).toBeDisabled();
  await names.fill("main, try-*");
  await page.getByRole("textbox", { name: "As of" }).fill("v7");
  await run();
  await expect
    .poll(() => api.inputsOf("query.across").at(-1))
    .toEqual({ database: "shop", patterns: ["main", "try-*"], at: "v7", sql: "SELECT id, total FROM orders" });
  selectBranches(7, new Set([1, 7]));
  await page.getByRole("radio", { name: "Selected" }).click();
  await page.getByRole("button", { name: "Take the 2 selected" }).click();
  await page.getByRole("textbox", { name: "As of" }).fill("");
  await run();
  await expect.poll(() => api.inputsOf("query.across").at(-1)).toMatchObject({ targets: [{ branch: "main" }, { branch: "try-split" }] });
  openAcross(["main"]);
  await expect.element(page.getByText("1 branch: main")).toBeVisible();
});

test("ACROSSVIEW-1: patterns match as the engine does", () => {
  const isNamed = matchPatterns("a/*, b? ; c.d");
  expect(["a/1", "a/b/c", "a", "b1", "b12", "c.d", "cxd"].filter(isNamed)).toEqual(["a/1", "a/b/c", "b1", "c.d"]);
  expect(matchPatterns("")("main")).toBe(false);
});

test("ACROSSVIEW-2: answers come in and say how they compare with main; filters and groups", async () => {
  const api = await showAcross();
  await run();
  await expect.element(comparison()).toMatchTextContent(/All4= same1≠ differ1Failed1/);
  await expect.element(comparison()).toMatchTextContent(/compared with main/);
  await expect.element(grid().getByRole("row", { name: /attempt-2/ })).toMatchTextContent(/≠ total/);
  await expect.element(grid().getByRole("row", { name: /attempt-3/ })).toMatchTextContent(/failed: no such table: orders/);
  await expect.element(grid().getByRole("row", { name: /^failed row/ })).toMatchTextContent(/^!4/);
  await expect.element(grid().getByRole("row").nth(1)).toMatchTextContent(/main.*reference/);
  await comparison()
    .getByRole("button", { name: /differ/ })
    .click();
  await expect.element(grid().getByRole("row", { name: /attempt-1/ })).not.toBeInTheDocument();
  await expect.element(grid().getByRole("row", { name: /main reference/ })).toBeVisible();
  await comparison().getByRole("button", { name: /^All/ }).click();
  await comparison().getByRole("button", { name: "Group equal ones" }).click();
  await expect.element(grid().getByRole("row", { name: /main and 1 other/ })).toMatchTextContent(/2.*reference/);
  await expect.poll(() => api.inputsOf("query.close")).toEqual([{ id: "q1" }]);
});

test("ACROSSVIEW-3: the rows of a state stand beside the reference's; any state can be the reference", async () => {
  await showAcross([
    acrossResult(0, twoRows(20)),
    acrossResult(1, twoRows(21)),
    acrossResult(2, twoRows(20)),
    acrossResult(3, twoRows(20)),
  ]);
  await run();
  await expect.element(grid().getByRole("row", { name: /attempt-2/ })).toMatchTextContent(/≠ 1 row changed/);
  await userEvent.click(grid().getByText("attempt-2"));
  await userEvent.keyboard("{Enter}");
  const beside = page.getByRole("grid", { name: "Rows beside the reference" });
  await expect.element(beside.getByRole("row").nth(2)).toMatchTextContent(/2.*20.*21/);
  await expect.element(beside.getByRole("columnheader", { name: /− total/ })).toBeVisible();
  const changed = [...beside.element().querySelectorAll("[role=gridcell][data-changed]")].map(({ textContent }) => textContent);
  expect(changed).toEqual(["20", "21"]);
  await page.getByRole("radio", { name: "One under the other" }).click();
  await expect.element(beside.getByRole("row").nth(3)).toMatchTextContent(/\+.*21/);
  await page.getByRole("button", { name: "Compare with attempt-2" }).click();
  await expect.element(comparison()).toMatchTextContent(/= same0≠ differ3/);
});

test("ACROSSVIEW-4: Esc stops the question; what came in stays and is called a part; a failure says why", async () => {
  const api = await showAcross([], NAMES, {
    "query.results": async () => {
      await new Promise((settle) => setTimeout(settle, 50));
      return { results: [], isComplete: false };
    },
  });
  await run();
  await expect.element(page.getByRole("progressbar", { name: "States that have answered" })).toBeInTheDocument();
  await userEvent.keyboard("{Escape}");
  await expect.element(comparison()).toMatchTextContent(/Partial: stopped, 4 not asked/);
  expect(api.inputsOf("query.close")).toEqual([{ id: "q1" }]);
  const asked = api.inputsOf("query.results").length;
  await new Promise((settle) => setTimeout(settle, 200));
  expect(api.inputsOf("query.results").length).toBe(asked);
});

test("ACROSSVIEW-5: twenty thousand states are a table that scrolls", async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `attempt-${index}`);
  await showAcross(
    names.map((_, index) => acrossResult(index, [[1, index % 3]])),
    names,
  );
  await run();
  await expect.element(comparison()).toMatchTextContent(/All20,000= same6,666≠ differ13,333/);
  expect(document.querySelectorAll("[role=grid][aria-label='Answers of the states'] [role=row]").length).toBeLessThan(100);
  grid().element().focus();
  await userEvent.keyboard("{Control>}{End}{/Control}");
  await expect.element(grid().getByRole("row", { name: /attempt-19999/ })).toBeVisible();
});

test("ACROSSVIEW-6: columns meet by name, rows by their first column or by position; what is missing is not NULL", () => {
  const wide = acrossResult(1, [[5, 1, "x"]], { columns: ["total", "id", "note"] });
  const table = tabulate([acrossResult(0, [[1, 5]]), wide], 0);
  expect(table.alignment.columns).toEqual(["id", "total", "note"]);
  const [, line] = linesOf(table, 0, "all", false);
  expect(line && describeLine(line, table)).toBe("≠ also column note");
  const keyed = pairs(acrossResult(0, tens([1, 2, 4])), acrossResult(1, tens([0, 1, 3, 4, 5])));
  expect(keyed).toMatchObject({ by: "first column", changed: 0, onlyLeft: 1, onlyRight: 3 });
  expect(keyed.pairs.map(({ left, right }) => [left?.[0] ?? null, right?.[0] ?? null])).toEqual([
    [null, 0],
    [1, 1],
    [2, null],
    [null, 3],
    [4, 4],
    [null, 5],
  ]);
  const twice = pairs(
    acrossResult(0, [
      [1, 1],
      [1, 2],
    ]),
    acrossResult(1, [
      [1, 1],
      [1, 3],
      [1, 4],
    ]),
  );
  expect(twice).toMatchObject({ by: "position", changed: 1, onlyLeft: 0, onlyRight: 1 });
  expect(exportCells(table, targetsOf(["main", "other"]), 0)).toMatchObject({
    columns: ["state", "comparison", "id", "total", "note"],
    rows: [
      ["shop@main", "reference", 1, 5, null],
      ["shop@other", "differs", 1, 5, "x"],
    ],
  });
});

test("ACROSSVIEW-7: what is asked is kept between starts; a damaged part costs that part only", () => {
  changeAsk({ patterns: "x-*", sql: "SELECT 2" });
  const kept: unknown = JSON.parse(JSON.stringify(acrossSession.get().ask));
  expect(parseAcrossLayout(kept)).toMatchObject({ by: "pattern", patterns: "x-*", sql: "SELECT 2" });
  expect(parseAcrossLayout({ patterns: 7, branches: ["a", 1], sql: "S" })).toMatchObject({ patterns: "*", branches: ["a"], sql: "S" });
  expect(parseAcrossLayout(null).patterns).toBe("*");
  resetAcross();
});
