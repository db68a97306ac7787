import { expect, onTestFinished, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { DataRowView } from "#shared/query-views.ts";
import { selectBranches } from "../../../src-renderer/app-state.ts";
import { openData } from "../../../src-renderer/data/data-session.ts";
import { dataColumn, dataHandlers, dataSchema, dataTable, itemRow, itemRows, pageOf, runView } from "../support/data-samples.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";

// Keys that are pressed one by one take their time on a machine that does other things too.
vi.setConfig({ testTimeout: 60_000 });

const grid = (name = "items") => page.getByRole("grid", { name: `Rows of ${name}` });
const tables = () => page.getByRole("grid", { name: "Tables of this state" });
const row = (name: RegExp) => grid().getByRole("row", { name });
const focusGrid = () => grid().element().focus();

async function showData(rows: DataRowView[] = itemRows(20), more: Parameters<typeof renderApp>[1] = {}) {
  const api = renderApp("data", { ...dataHandlers(rows), ...more });
  await expect.element(grid()).toBeVisible();
  return api;
}

function watchClipboard() {
  onTestFinished(() => void vi.restoreAllMocks());
  const written: string[] = [];
  vi.spyOn(navigator.clipboard, "writeText").mockImplementation((text) => {
    written.push(text);
    return Promise.resolve();
  });
  return written;
}

test("DATAVIEW-1: tables are listed with their kind; internal ones are folded; the first rows come before anything is counted", async () => {
  const api = await showData();
  await expect.element(tables().getByText("items")).toBeVisible();
  await expect.element(tables().getByRole("row", { name: /Broken/ })).toMatchTextContent(/cannot be read/);
  await expect.element(tables().getByRole("row", { name: /totals/ })).toMatchTextContent(/view/);
  expect(tables().getByText("search_data").elements()).toHaveLength(0);
  await page.getByRole("checkbox", { name: "1 internal table" }).click();
  await expect.element(tables().getByText("search_data")).toBeVisible();
  await page.getByRole("textbox", { name: "Filter tables" }).fill("NOTE");
  await expect.element(tables().getByText("notes")).toBeVisible();
  expect(tables().getByText("items").elements()).toHaveLength(0);
  const names = api.calls.map(({ name }) => name);
  expect(names.indexOf("data.rows")).toBeGreaterThan(-1);
  expect(names).not.toContain("data.count");
});

test("DATAVIEW-2: rows are fetched at both ends, the last ones at once, and are numbered right", async () => {
  const api = await showData(itemRows(1_000));
  expect(api.inputsOf("data.rows")[0]).toMatchObject({ table: "items", limit: 250 });
  await expect.element(page.getByText(/^1,000 rows/)).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{Control>}{End}{/Control}");
  await expect.element(row(/item 1000/)).toBeVisible();
  expect(api.inputsOf("data.rows").some(({ last }) => last === true)).toBe(true);
  await expect.element(row(/item 1000/)).toMatchTextContent(/^1000/);
  const place = grid().element();
  await expect.poll(() => api.inputsOf("data.rows").some(({ before }) => before === "[751]")).toBe(true);
  await page.getByRole("button", { name: "First rows" }).click();
  await expect.element(row(/item 1 /)).toMatchTextContent(/^1/);
  place.scrollTop = 200 * 24;
  await expect.poll(() => api.inputsOf("data.rows").some((input) => input.after === "[250]")).toBe(true);
  await expect.element(row(/item 201 /)).toMatchTextContent(/^201/);
});

test("DATAVIEW-3: a column's name sorts, both ways and not; filters compare, NULL too", async () => {
  const api = await showData(itemRows(20));
  const head = grid().getByRole("columnheader", { name: "n", exact: true });
  const last = () => api.inputsOf("data.rows").at(-1);
  await head.getByRole("button").click();
  await expect.poll(last).toMatchObject({ order: { column: "n", descending: false } });
  await expect.element(head).toHaveAttribute("aria-sort", "ascending");
  await head.getByRole("button").click();
  await expect.poll(last).toMatchObject({ order: { column: "n", descending: true } });
  await expect.element(grid().getByRole("row").nth(1)).toMatchTextContent(/item 20/);
  await head.getByRole("button").click();
  await expect.poll(() => last()?.order).toBeUndefined();
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("button", { name: "Add a condition" }).click();
  await page.getByRole("combobox", { name: "Column" }).selectOptions("name");
  await page.getByRole("textbox", { name: "Value to compare with" }).fill("item 7");
  await userEvent.keyboard("{Enter}");
  await expect.poll(last).toMatchObject({ filters: [{ column: "name", operator: "contains", value: "item 7" }] });
  await expect.element(page.getByText(/^1 matching row/)).toBeVisible();
  await page.getByRole("combobox", { name: "Comparison" }).selectOptions("is NULL");
  await expect.poll(last).toMatchObject({ filters: [{ column: "name", operator: "is", value: null }] });
  await expect.element(page.getByText("No row of items matches.")).toBeVisible();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await expect.element(row(/item 7/)).toBeVisible();
});

test("DATAVIEW-4: values are shown exactly, and what is no text says what it is", async () => {
  await showData([
    itemRow(1, { n: { integer: "9223372036854775807" }, raw: { real: "-Infinity" } }),
    itemRow(2, { n: null, raw: { blob: "00ff", bytes: 10_240 } }),
    itemRow(3, { name: { text: "long beginning", bytes: 204_800 }, raw: { invalidText: "41ff", bytes: 2 } }),
  ]);
  await expect.element(row(/item 1/)).toMatchTextContent(/9223372036854775807-Infinity/);
  await expect.element(row(/item 2/)).toMatchTextContent(/NULLblob, 10.0 KiB/);
  await expect.element(row(/long beginning/)).toMatchTextContent(/long beginning…200.0 KiB.*invalid text, 2 B/);
});

test("DATAVIEW-5: counting comes after the first rows, can be stopped and started again", async () => {
  let release: (() => void) | null = null;
  const api = await showData(itemRows(1_000), {
    "data.count": () => new Promise((done) => (release = () => done({ count: 1_000 }))),
  });
  await expect.element(page.getByText(/250 rows here, counting…/)).toBeVisible();
  const [{ job } = { job: undefined }] = api.inputsOf("data.count").slice(-1);
  await page.getByRole("button", { name: "Stop" }).click();
  expect(api.inputsOf("job.cancel")).toContainEqual({ id: job });
  await page.getByRole("button", { name: "Count all" }).click();
  await expect.poll(() => release).not.toBeNull();
  (release as (() => void) | null)?.();
  await expect.element(page.getByText(/^1,000 rows, first read/)).toBeVisible();
});

test("DATAVIEW-6: what somebody else wrote is shown, and the place stays", async () => {
  const rows = itemRows(1_000);
  const api = await showData(rows);
  focusGrid();
  await userEvent.keyboard("{PageDown}");
  const focused = grid().element().getAttribute("aria-activedescendant");
  rows[20] = itemRow(21, { name: "written elsewhere" });
  api.emit({ type: "checkouts-changed", database: "shop", branches: ["other"] });
  api.emit({ type: "checkouts-changed", database: "shop", branches: ["try-split", "main"] });
  await expect.element(grid().getByText("written elsewhere")).toBeInTheDocument();
  expect(grid().element().getAttribute("aria-activedescendant")).toBe(focused);
});

test("DATAVIEW-6: what was asked for is not lost when somebody else writes meanwhile", async () => {
  const rows = itemRows(1_000);
  const answers = dataHandlers(rows)["data.rows"];
  if (!answers) throw new Error("no rows to give");
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const api = await showData(rows, {
    "data.rows": async (input) => {
      if (input.last) await held;
      return answers(input);
    },
  });
  await page.getByRole("button", { name: "Last rows" }).click();
  await expect.poll(() => api.inputsOf("data.rows").some(({ last }) => last)).toBe(true);
  api.emit({ type: "checkouts-changed", database: "shop", branches: ["try-split", "main"] });
  await new Promise((done) => setTimeout(done, 300));
  const before = api.inputsOf("data.rows").length;
  release();
  await expect.element(row(/item 1000/)).toBeVisible();
  await expect.poll(() => api.inputsOf("data.rows").length).toBeGreaterThan(before);
});

test("DATAVIEW-7: views, earlier states and tables without a key are read-only, and it is said why", async () => {
  await showData();
  await tables().getByText("totals").click();
  await expect.element(page.getByText("Read-only: the rows of a view are computed")).toBeVisible();
  await page.getByRole("button", { name: /^State:/ }).click();
  // Without the stylesheet the list is higher than the window.
  page
    .getByRole("button", { name: /^v219 split-ready/ })
    .element()
    .dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await expect.element(page.getByText("Read-only", { exact: true })).toBeVisible();
  await tables().getByText("items").click();
  await expect.element(page.getByText("Read-only: an earlier state cannot change")).toBeVisible();
  expect(page.getByRole("button", { name: "Add a row" }).elements()).toHaveLength(0);
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{Delete}{Backspace}");
  expect(page.getByRole("region", { name: "Changes that are not applied" }).elements()).toHaveLength(0);
});

test("DATAVIEW-8: a table's structure is shown, and of one that cannot be read, why", async () => {
  await showData();
  await page.getByRole("radio", { name: "Structure" }).click();
  const structure = page.getByRole("region", { name: "Structure of items" });
  await expect.element(structure).toMatchTextContent(/Rows are told apart by id, which is the rowid/);
  await expect.element(structure.getByRole("row", { name: /twice/ })).toMatchTextContent(/virtual/);
  await expect.element(structure.getByText("CREATE INDEX by_name ON items(name)")).toBeVisible();
  await expect.element(structure.getByText(/CREATE TRIGGER keep/)).toBeVisible();
  await tables().getByText("Broken").click();
  await expect.element(page.getByText(/It cannot be read: no such table: nowhere/)).toBeVisible();
  await expect.element(page.getByText("CREATE VIEW Broken AS SELECT * FROM nowhere")).toBeVisible();
});

test("DATAVIEW-9: a failure names the holder, and Retry reads again", async () => {
  let isBusy = true;
  const rows = itemRows(3);
  const holders = [{ pid: 4_711, program: "sqlite3", access: "writing" as const }];
  renderApp("data", {
    ...dataHandlers(rows),
    "data.rows": (input) => {
      if (isBusy)
        throw new FakeFailure("checkout-busy", "Another program is writing", {
          details: { holders },
          untouched: "Nothing was changed.",
          retryable: true,
        });
      return pageOf(rows, input);
    },
  });
  const alert = page.getByRole("alert");
  await expect.element(alert).toMatchTextContent(/Another program is writing.*sqlite3, pid 4711/);
  isBusy = false;
  await alert.getByRole("button", { name: "Retry" }).click();
  await expect.element(row(/item 2/)).toBeVisible();
});

test("DATAVIEW-10: a branch and a version of History are browsed from where they stand", async () => {
  const api = renderApp("history", dataHandlers(itemRows(3)));
  await expect.element(page.getByRole("grid").first()).toBeVisible();
  selectBranches(7);
  await page.getByRole("row", { name: /after-ddl/ }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Browse its data" }).click();
  await expect.element(grid()).toBeVisible();
  await expect.element(page.getByRole("button", { name: "State: try-split, v215" })).toBeVisible();
  expect(api.inputsOf("data.rows").at(-1)).toMatchObject({ branch: "try-split", at: "v215" });
});

test("GRID-1: keys move one cell, with Shift they choose a rectangle", async () => {
  await showData();
  focusGrid();
  const active = () => grid().element().getAttribute("aria-activedescendant");
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowRight}");
  expect(active()).toMatch(/-2-1$/);
  await userEvent.keyboard("{End}");
  expect(active()).toMatch(/-2-4$/);
  await userEvent.keyboard("{Home}{Shift>}{ArrowRight}{ArrowDown}{/Shift}");
  await expect.element(page.getByText("2 × 2 cells")).toBeVisible();
  expect(grid().element().querySelectorAll('[role=gridcell][aria-selected="true"]')).toHaveLength(4);
  await userEvent.keyboard("{Control>}a{/Control}");
  await expect.element(page.getByText("20 × 5 cells")).toBeVisible();
  await userEvent.keyboard("{Control>}{Home}{/Control}");
  expect(active()).toMatch(/-0-0$/);
});

async function choose(label: string) {
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("menuitem", { name: label }).click();
}

test("GRID-2: a value is copied raw, several in columns, and in the formats of the menu", async () => {
  const written = watchClipboard();
  const api = await showData(
    [
      itemRow(1, { n: { integer: "9223372036854775807" }, raw: { blob: "00ff", bytes: 2 } }),
      itemRow(2, { name: "tab\there", n: null }),
    ].concat(itemRow(3, { name: { text: "begin", bytes: 8 } })),
    {
      "data.value": ({ column }) => ({
        type: "text",
        bytes: 8,
        value: null,
        slice: "626567696e6e6572",
        encoding: column === "name" ? "UTF-8" : "",
      }),
    },
  );
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{ArrowRight}{Control>}c{/Control}");
  await expect.poll(() => written).toEqual(["9223372036854775807"]);
  await userEvent.keyboard("{Home}{Shift>}{ArrowDown}{ArrowRight}{ArrowRight}{/Shift}{Control>}c{/Control}");
  await expect.poll(() => written.at(-1)).toBe('1\titem 1\t9223372036854775807\n2\t"tab\there"\t');
  await choose("Copy as JSON");
  await expect.poll(() => written.at(-1)).toContain('"n": 9223372036854775807');
  await choose("Copy as SQL INSERT");
  await expect
    .poll(() => written.at(-1))
    .toBe(
      `INSERT INTO "items" ("id", "name", "n") VALUES (1, 'item 1', 9223372036854775807);\nINSERT INTO "items" ("id", "name", "n") VALUES (2, 'tab\there', NULL);\n`,
    );
  await choose("Copy as Markdown");
  await expect.poll(() => written.at(-1)).toContain("| 2 | tab\there | *NULL* |");
  await choose("Copy as CSV");
  await expect.poll(() => written.at(-1)).toBe("id,name,n\r\n1,item 1,9223372036854775807\r\n2,tab\there,\r\n");
  focusGrid();
  await userEvent.keyboard("{Control>}{Home}{/Control}{ArrowRight}{ArrowRight}{ArrowRight}");
  await choose("Copy as blob literal");
  await expect.poll(() => written.at(-1)).toBe("X'00ff'");
  focusGrid();
  await userEvent.keyboard("{Control>}{Home}{/Control}{ArrowRight}{ArrowDown}{ArrowDown}{Control>}c{/Control}");
  await expect.poll(() => written.at(-1)).toBe("beginner");
  expect(api.inputsOf("data.value").at(-1)).toMatchObject({ table: "items", key: [3], column: "name" });
});

test("GRID-3: of 2,000 columns only those that can be seen are drawn; one is as wide as it is dragged", async () => {
  const columns = Array.from({ length: 2_000 }, (_, index) => dataColumn(`c${index}`, "INTEGER"));
  const values = columns.map((_, index) => index);
  await showData(itemRows(1), {
    "data.schema": () => dataSchema({ tables: [dataTable("items", { columns })] }),
    "data.rows": (input) => ({ ...pageOf(itemRows(1), input), columns, rows: [{ key: [1], values }] }),
  });
  expect(grid().getByRole("gridcell").elements().length).toBeLessThan(60);
  focusGrid();
  await userEvent.keyboard("{End}");
  await expect.element(grid().getByRole("gridcell", { name: "1999" })).toBeVisible();
  expect(grid().getByRole("gridcell").elements().length).toBeLessThan(60);
  await userEvent.keyboard("{Home}");
  const head = () => grid().getByRole("columnheader", { name: "c0", exact: true }).element();
  const before = head().getBoundingClientRect().width;
  const edge = head().querySelector<HTMLElement>(":scope > span:last-child");
  if (!edge) throw new Error("the column has no edge");
  const at = { pointerId: 1, bubbles: true, cancelable: true };
  vi.spyOn(edge, "setPointerCapture").mockReturnValue();
  edge.dispatchEvent(new PointerEvent("pointerdown", { ...at, clientX: 100 }));
  edge.dispatchEvent(new PointerEvent("pointermove", { ...at, clientX: 160 }));
  await expect.poll(() => head().getBoundingClientRect().width).toBe(before + 60);
  edge.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
  await expect.poll(() => head().getBoundingClientRect().width).toBe(before);
});

test("GRID-4: the value with the keyboard is shown as text, JSON, bytes or image; a long one in parts", async () => {
  const png = "89504e470d0a1a0a";
  const api = await showData(
    [
      itemRow(1, { name: '{"a":{"id":9007199254740993},"b":[]}', raw: { blob: png, bytes: 8 } }),
      itemRow(2, { name: { text: "begin", bytes: 200_000 } }),
    ],
    {
      "data.value": ({ offset = 0 }) => ({
        type: "text",
        bytes: 200_000,
        value: null,
        slice: offset === 0 ? "c3a46263" : "a4646566",
        encoding: "UTF-8",
      }),
    },
  );
  const value = page.getByRole("region", { name: "Value" });
  focusGrid();
  await userEvent.keyboard("{ArrowRight}");
  await value.getByRole("radio", { name: "JSON" }).click();
  await expect
    .poll(() => value.getByRole("region", { name: "JSON" }).element().textContent)
    .toBe('{\n  "a": {\n    "id": 9007199254740993\n  },\n  "b": []\n}');
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{ArrowRight}");
  await expect.element(value.getByRole("radio", { name: "Image" })).toBeVisible();
  await value.getByRole("radio", { name: "Hex" }).click();
  await expect.element(value.getByRole("region", { name: "Bytes" })).toMatchTextContent(/0000000089 50 4e 47 0d 0a 1a 0a·PNG/);
  focusGrid();
  await userEvent.keyboard("{ArrowLeft}{ArrowLeft}{ArrowDown}");
  await expect.element(value.getByRole("region", { name: "Text" })).toMatchTextContent(/äbc/);
  await value.getByRole("button", { name: "Next part" }).click();
  // The second part begins inside a character, which the first one has ended.
  await expect.element(value.getByRole("region", { name: "Text" })).toMatchTextContent(/^def/);
  expect(api.inputsOf("data.value").at(-1)).toMatchObject({ offset: 65_536, key: [2] });
});

const changes = () => page.getByRole("region", { name: "Changes that are not applied" });
const sql = async () => {
  if (changes().getByRole("button", { name: "Show the SQL" }).elements().length > 0)
    await changes().getByRole("button", { name: "Show the SQL" }).click();
  return changes().getByLabelText("SQL of the changes").element().textContent;
};

test("EDIT-3: what is typed becomes what SQLite makes of it; what does not fit is refused where it is typed", async () => {
  await showData();
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{ArrowRight}{Enter}");
  await userEvent.keyboard("9223372036854775808{Enter}");
  await expect.element(page.getByRole("alert")).toMatchTextContent(/does not fit into 64 bits/);
  await userEvent.fill(page.getByRole("textbox", { name: "Value of n" }), "9223372036854775807");
  await userEvent.keyboard("{Enter}");
  await expect
    .element(
      row(/item 1 /)
        .or(grid().getByRole("row").nth(1))
        .first(),
    )
    .toMatchTextContent(/9223372036854775807/);
  // Down by one; the generated column cannot be edited, Escape leaves a cell as it was.
  await userEvent.keyboard("{ArrowRight}{ArrowRight}{Enter}");
  expect(page.getByRole("textbox", { name: "Value of twice" }).elements()).toHaveLength(0);
  await userEvent.keyboard("{Home}{ArrowRight}{F2}typed{Escape}");
  await userEvent.keyboard("{ArrowDown}{Backspace}{ArrowDown}{Delete}");
  await page.getByRole("button", { name: "Add a row" }).click();
  await expect.element(grid().getByRole("row").nth(1)).toMatchTextContent(/default/);
  await userEvent.keyboard("{ArrowRight}{Enter}new{Enter}");
  expect(await sql()).toBe(
    [
      `DELETE FROM "items" WHERE "id" IS 4 AND "name" IS 'item 4' AND "n" IS 40 AND "raw" IS NULL;`,
      `UPDATE "items" SET "n" = 9223372036854775807 WHERE "id" IS 1 AND "n" IS 10;`,
      `UPDATE "items" SET "name" = NULL WHERE "id" IS 3 AND "name" IS 'item 3';`,
      `INSERT INTO "items" ("name") VALUES ('new');`,
    ].join("\n"),
  );
});

test("EDIT-4: staged changes are marked and counted, survive other tables and screens, and are taken back", async () => {
  await showData();
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{Enter}changed{Enter}{ArrowDown}{Delete}");
  await expect.element(changes()).toMatchTextContent(/−1 deleted~1 changed/);
  await expect.element(grid().getByRole("row", { name: /^changed row/ })).toMatchTextContent(/^~1/);
  await expect.element(grid().getByRole("row", { name: /^deleted row/ })).toMatchTextContent(/^−3/);
  await expect.element(tables().getByRole("row", { name: /items/ })).toMatchTextContent(/~2/);
  await tables().getByText("notes").click();
  await expect.element(changes()).toMatchTextContent(/in 1 table of main/);
  await userEvent.keyboard("{Control>}1{/Control}");
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  await userEvent.keyboard("{Control>}4{/Control}");
  await tables().getByText("items").click();
  await expect.element(grid().getByText("changed", { exact: true })).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{Control>}{Home}{/Control}{ArrowDown}{ArrowDown}{ContextMenu}");
  await page.getByRole("menuitem", { name: "Take back changes" }).click();
  await expect.element(changes()).toMatchTextContent(/^Show the SQL~1 changed/);
  await changes().getByRole("button", { name: "Discard" }).click();
  await expect.element(changes()).not.toBeInTheDocument();
  await expect
    .element(
      row(/item 1 /)
        .or(grid().getByText("item 1", { exact: true }))
        .first(),
    )
    .toBeVisible();
});

test("EDIT-5: all is applied as one; a row that moved on is named, and the changes stay", async () => {
  let isGone = true;
  const api = await showData(itemRows(5), {
    "query.run": ({ sql: text }) => {
      if (!isGone) return runView();
      const failed = { columns: null, rows: [], truncated: false, changes: 0, durationMs: 1, note: null };
      const start = text.indexOf("UPDATE", 5);
      return runView({
        isComplete: false,
        changes: 0,
        statements: [
          { ...failed, start: 0, end: start - 2, changes: 1, error: null },
          {
            ...failed,
            start,
            end: text.length - 1,
            error: { message: "It changed 0 rows, and 1 were expected", code: null, position: start },
          },
        ],
      });
    },
  });
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{Enter}one{Enter}{Enter}two{Enter}");
  await changes().getByRole("button", { name: "Apply 2 changes" }).click();
  await expect.element(changes().getByRole("alert")).toMatchTextContent(/items, row id 2 is no longer as it was.*Nothing was applied\./);
  await expect.element(changes()).toMatchTextContent(/~2 changed/);
  expect(api.inputsOf("query.run")).toEqual([
    {
      database: "shop",
      branch: "main",
      write: true,
      expectChanges: [1, 1],
      sql: `UPDATE "items" SET "name" = 'one' WHERE "id" IS 1 AND "name" IS 'item 1';\nUPDATE "items" SET "name" = 'two' WHERE "id" IS 2 AND "name" IS 'item 2';`,
    },
  ]);
  isGone = false;
  await changes().getByRole("button", { name: "Retry" }).click();
  await expect.element(changes()).not.toBeInTheDocument();
});

test("EDIT-6: what was applied is undone from its toast; a protected branch asks before", async () => {
  const api = await showData(itemRows(5), {
    "query.run": ({ force }) => {
      if (!force) throw new FakeFailure("protected", "main is protected", { untouched: "No statement was run." });
      return runView({ before: 199 });
    },
    "branch.rollback": () => {
      throw new FakeFailure("internal", "asked for");
    },
  });
  focusGrid();
  await userEvent.keyboard("{ArrowRight}{Enter}one{Enter}");
  await changes().getByRole("button", { name: "Apply 1 change" }).click();
  await changes().getByRole("button", { name: "Write to main anyway" }).click();
  await expect.element(page.getByText("Applied 1 change to main")).toBeVisible();
  expect(api.inputsOf("query.run").map(({ force }) => force)).toEqual([undefined, true]);
  await page.getByRole("button", { name: "Undo", exact: true }).last().click();
  await expect.poll(() => api.inputsOf("branch.rollback")).toEqual([{ database: "shop", branch: "main", to: "v199" }]);
});

test("DATAVIEW-1: a state without tables says so", async () => {
  renderApp("data", { ...dataHandlers([]), "data.schema": () => dataSchema({ tables: [] }) });
  await expect.element(page.getByText("main has no tables.")).toBeVisible();
  openData({ database: "shop", branch: "main", at: "v1" });
  await expect.element(page.getByText("main@v1 has no tables.")).toBeVisible();
});
