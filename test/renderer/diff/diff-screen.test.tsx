import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { RowChangeView } from "#shared/diff-views.ts";
import { selectBranches } from "../../../src-renderer/app-state.ts";
import { diffSession } from "../../../src-renderer/diff/diff-session.ts";
import { pairLines } from "../../../src-renderer/diff/schema-pane.tsx";
import { fullText, valueText } from "../../../src-renderer/ui/value-text.ts";
import { counts, diffHandlers, diffView } from "../support/diff-samples.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";

const TRY_SPLIT = 7;
const rows = (name = "orders") => page.getByRole("grid", { name: `Changed rows of ${name}` });
const tables = () => page.getByRole("grid", { name: "Tables that differ" });

async function showDiff(count = 9, more: Parameters<typeof renderApp>[1] = {}) {
  const api = renderApp("branches", { ...diffHandlers(count), ...more });
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  selectBranches(TRY_SPLIT);
  await userEvent.keyboard("{Control>}d{/Control}");
  await expect.element(page.getByRole("region", { name: "Diff" })).toBeVisible();
  return api;
}

test("DIFFVIEW-1: Mod+D compares a branch with where it was forked; counts come in, signs are printed", async () => {
  const api = await showDiff();
  expect(api.inputsOf("diff.open")).toEqual([
    {
      left: { kind: "state", database: "shop", branch: "main", at: "v198" },
      right: { kind: "unsaved", database: "shop", branch: "try-split" },
    },
  ]);
  await expect.element(tables().getByRole("row", { name: /orders/ })).toMatchTextContent(/\+3−3~3§1/);
  await expect.element(page.getByText(/3 of 14 tables differ · 2,118 changed pages/)).toBeVisible();
  await expect.element(tables().getByRole("row", { name: /products_fts/ })).toMatchTextContent(/\+1/);
  await expect.element(page.getByText("11 tables identical, not read")).toBeVisible();
});

test("DIFFVIEW-2: rows show what was and is; the cell with the keyboard is shown whole beneath", async () => {
  await showDiff();
  await expect.element(rows().getByText("refunded").first()).toBeVisible();
  await expect
    .element(
      rows()
        .getByRole("row", { name: /changed/ })
        .first(),
    )
    .toMatchTextContent(/3100→150paid→refunded/);
  rows().element().focus();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowRight}{ArrowRight}");
  const value = page.getByRole("region", { name: "Value" });
  await expect.element(value).toMatchTextContent(/orders\.status/);
  await expect.element(value).toMatchTextContent(/id 3/);
  await expect.element(value).toMatchTextContent(/paid.*refunded/);
});

test("DIFFVIEW-3: kinds filter the rows, an ignored column is no change, a search looks through all rows", async () => {
  const api = await showDiff(1_200);
  await expect.element(rows()).toBeVisible();
  for (const name of [/Added/, /Changed/])
    await page.getByRole("group", { name: "Kinds of changes" }).getByRole("button", { name }).click();
  await expect
    .element(
      rows()
        .getByRole("row", { name: /deleted/ })
        .first(),
    )
    .toBeVisible();
  await expect
    .element(
      rows()
        .getByRole("row", { name: /changed|added/ })
        .first(),
    )
    .not.toBeInTheDocument();
  expect(api.inputsOf("diff.rows").at(-1)).toMatchObject({ kinds: ["delete"] });
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Ignore amount" }).click();
  await expect.poll(() => api.inputsOf("diff.rows").at(-1)?.columns).toEqual(["id", "status", "note", "a", "b", "c", "currency"]);
  await page.getByRole("textbox", { name: "Filter rows by column or value" }).fill("1199");
  await expect.element(page.getByText(/^1 in 400/)).toBeVisible();
});

test("DIFFVIEW-4: the schema stands side by side, a new column on a line of its own", async () => {
  await showDiff();
  await page.getByRole("radio", { name: /Schema/ }).click();
  await expect.element(page.getByRole("heading", { name: /orders table changed/ })).toBeVisible();
  const pairs = pairLines(
    "CREATE TABLE t (a INTEGER, b TEXT CHECK (b IN ('x', 'y')))",
    "CREATE TABLE t (a INTEGER, b TEXT CHECK (b IN ('x', 'y')), c)",
  );
  expect(pairs.filter(({ same }) => !same)).toEqual([{ left: null, right: "  c", same: false }]);
});

test("DIFFVIEW-5: Esc stops counting; what is counted is called partial, and counting can go on", async () => {
  let answered = 0;
  const api = await showDiff(9, {
    "diff.summary": async () => {
      answered += 1;
      await new Promise((settle) => setTimeout(settle, 30));
      return { tables: [counts("orders", { inserted: answered, isComplete: false })], isComplete: answered > 400 };
    },
  });
  await expect.element(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await expect.element(page.getByText("Partial: counting was stopped")).toBeVisible();
  // The answer that was on its way is in it, and no other is asked for.
  const asked = api.inputsOf("diff.summary").length;
  expect(diffSession.get().counts.get("orders")?.inserted).toBe(asked);
  await new Promise((settle) => setTimeout(settle, 200));
  expect(api.inputsOf("diff.summary").length).toBe(asked);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect.poll(() => api.inputsOf("diff.summary").length).toBeGreaterThan(asked + 1);
});

test("DIFFVIEW-6: equal states say so, a failure says what is untouched, tables without a key warn", async () => {
  const api = await showDiff(9, { "diff.open": () => diffView({ tables: [], schema: [], equalTables: 14, changedPages: 0 }) });
  await expect.element(page.getByText(/^Identical: 14 tables/)).toBeVisible();
  api.handle({
    "diff.open": () => {
      throw new FakeFailure("segment-corrupt", "Segment v7 is damaged", { untouched: "Nothing was changed.", retryable: false });
    },
  });
  await page.getByRole("button", { name: "Swap the sides" }).click();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/Nothing was changed\./);
  api.handle(diffHandlers());
  await page.getByRole("button", { name: "Retry" }).click();
  await tables()
    .getByRole("row", { name: /visits/ })
    .click();
  await expect.element(page.getByText("Matched by whole row")).toBeVisible();
});

test("DIFFVIEW-7: any state of any branch, or a file, can be either side; the comparison before is closed", async () => {
  const api = await showDiff();
  await expect.element(rows()).toBeVisible();
  await page.getByRole("button", { name: /^Left side/ }).click();
  await page.getByRole("textbox", { name: "Find a branch" }).fill("main");
  await page.getByRole("button", { name: /^Head, v198/ }).click();
  await expect.poll(() => api.inputsOf("diff.open").at(-1)?.left).toEqual({ kind: "state", database: "shop", branch: "main" });
  expect(api.inputsOf("diff.close")).toEqual([{ id: "d1" }]);
  await page.getByRole("button", { name: /^Right side/ }).click();
  await page.getByRole("textbox", { name: /Or a SQLite file/ }).fill("/home/you/other.db");
  await page.getByRole("button", { name: "Use the file" }).click();
  await expect.poll(() => api.inputsOf("diff.open").at(-1)?.right).toEqual({ kind: "file", path: "/home/you/other.db" });
});

test("DIFFVIEW-8: an export names its file and replaces one only when that is pressed", async () => {
  let tries = 0;
  const api = await showDiff(9, {
    "diff.export": ({ file }) => {
      tries += 1;
      if (tries === 1) throw new FakeFailure("file-exists", "There is a file");
      return { path: file, bytes: 120 };
    },
  });
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /CSV/ }).click();
  await page.getByRole("textbox", { name: /File on the machine/ }).fill("/home/you/orders.csv");
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await page.getByRole("button", { name: "Replace the file" }).click();
  await expect.element(page.getByText(/^Exported the comparison to \/home\/you\/orders\.csv/)).toBeVisible();
  const input = { id: "d1", format: "csv", tables: ["orders"], file: "/home/you/orders.csv" };
  expect(api.inputsOf("diff.export")).toEqual([input, { ...input, overwrite: true }]);
});

test("DIFFVIEW-9: values are whole: 64-bit integers, NULL, blobs, control characters", () => {
  expect(valueText({ integer: "9223372036854775807" })).toEqual({ text: "9223372036854775807", kind: "number" });
  expect(valueText(null)).toEqual({ text: "NULL", kind: "null" });
  expect(valueText(undefined)).toEqual({ text: "no column", kind: "none" });
  expect(valueText("a\nb\u0000").text).toBe("a␊b␀");
  expect(valueText({ blob: "00ff", bytes: 2_048 }).text).toBe("blob, 2.0 KiB");
  expect(fullText({ blob: "00ff", bytes: 2 })).toBe("00 ff");
  expect(valueText({ real: "Infinity" }).text).toBe("Infinity");
});

test("DIFFVIEW-10: NULL is copied as nothing, and a column only one side has is wide enough to say so", async () => {
  const view = diffView();
  const table = view.tables[0];
  expect.assert(table);
  const columns = table.columns.filter(({ name }) => ["id", "note", "currency"].includes(name));
  const row: RowChangeView = { kind: "update", old: [1, "kept", "EUR"], new: [1, null, "EUR"], changed: [1, 2] };
  const copied: string[] = [];
  vi.spyOn(navigator.clipboard, "writeText").mockImplementation(async (text) => void copied.push(text));
  await showDiff(9, {
    "diff.open": () => ({ ...view, tables: [{ ...table, columns }] }),
    "diff.rows": () => ({ columns, rows: [row], next: null }),
  });
  await expect.element(rows().getByRole("row", { name: /changed/ })).toMatchTextContent(/kept→NULLno column→EUR/);
  const cell = rows().getByRole("gridcell", { name: /no column/ });
  expect(cell.element().scrollWidth).toBe(cell.element().clientWidth);
  expect(cell.element().querySelector("s")).toBeNull();
  rows().element().focus();
  await userEvent.keyboard("{ArrowRight}{Control>}c{/Control}{ArrowRight}");
  await expect.element(page.getByRole("region", { name: "Value" })).toMatchTextContent(/no column.*EUR/);
  await userEvent.keyboard("{Control>}c{/Control}");
  await vi.waitFor(() => expect(copied).toEqual(["", "EUR"]));
  vi.restoreAllMocks();
});
