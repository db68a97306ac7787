import { expect, test } from "vitest";
import { page, userEvent } from "vitest/browser";
import { showDataTab, choosePlace } from "../../../src-renderer/data/data-session.ts";
import { chosenPart, lineAndColumn, statementAt } from "../../../src-renderer/data/sql-run.ts";
import {
  activeScript,
  openScript,
  parseSqlLayout,
  remember,
  setScriptText,
  sqlLayout,
  sqlSession,
  unkeptScripts,
} from "../../../src-renderer/data/sql-session.ts";
import { splitSql } from "#shared/split-sql.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { runView, sqlHandlers, statementView } from "../support/sql-samples.ts";

const editor = () => page.getByRole("textbox", { name: /^SQL of/ });
const results = () => page.getByRole("region", { name: "Results" });
const rows = () => page.getByRole("grid", { name: "Rows of the query" });

async function showSql(text: string, more: Parameters<typeof renderApp>[1] = {}) {
  const api = renderApp("data", { ...sqlHandlers(), ...more });
  await expect.element(page.getByRole("region", { name: "Data" })).toBeVisible();
  choosePlace({ database: "shop", branch: "main", at: null });
  showDataTab("sql");
  await expect.element(editor()).toBeVisible();
  setScriptText(activeScript(sqlSession.get()).id, text);
  await expect.element(editor()).toMatchTextContent(text === "" ? /.*/ : new RegExp(text.slice(0, 8).trim()));
  editor().element().focus();
  return api;
}

async function goTo(place: "start" | "end") {
  await userEvent.keyboard(place === "start" ? "{Control>}{Home}{/Control}" : "{Control>}{End}{/Control}");
}

test("SQLVIEW-1: Mod+Enter runs the statement at the cursor or the selection, Mod+Shift+Enter all", async () => {
  const api = await showSql("SELECT 1;\nSELECT 2;\nSELECT 3");
  await goTo("start");
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.poll(() => api.inputsOf("query.run").at(-1)?.sql).toBe("SELECT 1");
  await expect.element(rows()).toBeVisible();
  await goTo("end");
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.poll(() => api.inputsOf("query.run").at(-1)?.sql).toBe("SELECT 3");
  await userEvent.keyboard("{Shift>}{ArrowLeft}{/Shift}{Control>}{Enter}{/Control}");
  await expect.poll(() => api.inputsOf("query.run").at(-1)?.sql).toBe("3");
  await userEvent.keyboard("{Control>}{Shift>}{Enter}{/Shift}{/Control}");
  await expect.poll(() => api.inputsOf("query.run").at(-1)?.sql).toBe("SELECT 1;\nSELECT 2;\nSELECT 3");
  expect(api.inputsOf("query.run").at(-1)).toMatchObject({ database: "shop", branch: "main", write: true });
  // Outside the editor the key means the same.
  rows().element().focus();
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.poll(() => api.inputsOf("query.run").at(-1)?.sql).toBe("3");
});

test("SQLVIEW-1: the statement at the cursor is the one it is in or behind; what holds none runs nothing", () => {
  const text = "SELECT 1; -- note\n\nDELETE FROM a";
  const at = (cursor: number) => statementAt(splitSql(text), cursor)?.text;
  expect([at(0), at(9), at(15), at(19), at(text.length)]).toEqual(["SELECT 1", "SELECT 1", "SELECT 1", "DELETE FROM a", "DELETE FROM a"]);
  expect(chosenPart("  \n SELECT 1", { from: 0, to: 0 })).toEqual({ from: 4, to: 12 });
  expect(chosenPart(" -- nothing", { from: 3, to: 3 })).toBeNull();
  expect(chosenPart("a   b", { from: 1, to: 4 })).toBeNull();
});

test("SQLVIEW-2: tables and columns of the state are completed, with quotes where they need them", async () => {
  await showSql("");
  await userEvent.keyboard("SELECT * FROM cust");
  await expect.element(page.getByRole("option", { name: "customers" })).toBeVisible();
  await userEvent.keyboard("{Escape}");
  setScriptText(activeScript(sqlSession.get()).id, 'SELECT * FROM "order lines" l WHERE l.');
  await goTo("end");
  await userEvent.keyboard("u");
  await expect.element(page.getByRole("option", { name: /unit price/ })).toBeVisible();
  // What has just come up does not take a key that was meant for the text.
  await new Promise((settle) => setTimeout(settle, 100));
  await userEvent.keyboard("{Enter}");
  await expect.element(editor()).toMatchTextContent(/WHERE l\."unit price"$/);
});

test("SQLVIEW-3: Esc stops a query by the name of its job, at once; the app answers meanwhile", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  let running: string | null = null;
  const api = await showSql("SELECT 1", {
    "query.run": ({ job }) => {
      running = job ?? null;
      return promise;
    },
    // Reading a table is stopped, too, when it is no longer shown.
    "job.cancel": ({ id }) => {
      if (id === running) reject(new FakeFailure("cancelled", "Cancelled"));
      return null;
    },
  });
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.element(page.getByRole("status", { name: "Running" })).toMatchTextContent(/Running on main/);
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  expect(api.inputsOf("query.run")).toHaveLength(1);
  await page.getByRole("button", { name: "New script" }).click();
  await expect.element(page.getByRole("tab", { name: /Query 1.*running/ })).toBeVisible();
  await page.getByRole("tab", { name: /Query 1/ }).click();
  editor().element().focus();
  await userEvent.keyboard("{Escape}");
  await expect.element(results()).toMatchTextContent(/Stopped after/);
  expect(api.inputsOf("job.cancel").at(-1)).toEqual({ id: api.inputsOf("query.run")[0]?.job });
  expect(sqlSession.get().history[0]?.outcome).toBe("stopped");
});

test("SQLVIEW-4: each statement has its result; rows say how many, how long and what was left out", async () => {
  const sql = "SELECT 1; UPDATE a SET b = 1; SELECT 2";
  const many = Array.from({ length: 1_000 }, (_, index) => [index, { integer: "9007199254740993" }]);
  const script = runView(
    [
      statementView({ start: 0, end: 8, rows: many, truncated: true }),
      statementView({ start: 10, end: 28, columns: null, rows: [], changes: 12 }),
      statementView({ start: 30, end: 38, rows: [], columns: ["nothing"] }),
    ],
    { before: 9, changes: 12, transaction: "one" },
  );
  const api = await showSql(sql, { "query.run": () => script });
  await userEvent.keyboard("{Control>}{Shift>}{Enter}{/Shift}{/Control}");
  const list = page.getByRole("grid", { name: "Statements" });
  await expect.element(list.getByRole("row", { name: /UPDATE/ })).toMatchTextContent(/12 changed/);
  await list.getByRole("row", { name: /SELECT 1/ }).click();
  await expect.element(results()).toMatchTextContent(/first 1,000 rows shown · 12\.3 ms/);
  await expect.element(rows().getByText("9007199254740993").first()).toBeVisible();
  // A script that wrote is not run again for more rows.
  await expect.element(page.getByRole("button", { name: /Load up to/ })).not.toBeInTheDocument();
  api.handle({ "query.run": ({ limit }) => runView([statementView({ rows: many.slice(0, 10), truncated: limit !== 5_000 })]) });
  await userEvent.click(editor());
  await goTo("start");
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await page.getByRole("button", { name: "Load up to 5,000" }).click();
  await expect.element(results()).toMatchTextContent(/10 rows · /);
  expect(api.inputsOf("query.run").at(-1)).toMatchObject({ sql: "SELECT 1", limit: 5_000 });
  expect(api.inputsOf("query.run").at(-1)).not.toHaveProperty("write");
});

test("SQLVIEW-5: SQL that writes runs at once, says what it changed, and Undo rolls back to what the file held", async () => {
  const wrote = runView([statementView({ columns: null, rows: [], changes: 12 })], { before: 9, changes: 12, transaction: "one" });
  const api = await showSql("DELETE FROM a", { "query.run": () => wrote });
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  const script = page.getByRole("status", { name: "Script" });
  await expect.element(script).toMatchTextContent(/Changed 12 rows/);
  api.handle({
    "branch.rollback": () => {
      throw new FakeFailure("protected", "shop@main is protected");
    },
  });
  await script.getByRole("button", { name: "Undo" }).click();
  expect(api.inputsOf("branch.rollback").at(-1)).toEqual({ database: "shop", branch: "main", to: "v9" });
  api.handle({ "branch.rollback": () => ({ operation: null, branch: null, warnings: [], from: 1, to: 9 }) as never });
  await page.getByRole("button", { name: "Undo it anyway" }).click();
  await expect.element(script).toMatchTextContent(/Undone/);
  expect(api.inputsOf("branch.rollback").at(-1)).toEqual({ database: "shop", branch: "main", to: "v9", force: true });
});

test("SQLVIEW-6: a protected branch asks before it is written to; an earlier state offers a fork", async () => {
  const api = await showSql("DELETE FROM a", {
    "query.run": ({ force }) => {
      if (!force) throw new FakeFailure("protected", "shop@main is protected: SQL that writes refused");
      return runView([statementView({ columns: null, rows: [], changes: 1 })], { before: 9, changes: 1, transaction: "one" });
    },
  });
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await page.getByRole("button", { name: "Write to main anyway" }).click();
  await expect.element(page.getByRole("status", { name: "Script" })).toMatchTextContent(/Changed 1 row/);
  expect(api.inputsOf("query.run").map(({ force }) => force ?? false)).toEqual([false, true]);
  api.handle({
    "query.run": () => {
      throw new FakeFailure("read-only", "shop@main@v12 is a state that cannot change: SQL that writes is refused");
    },
  });
  choosePlace({ database: "shop", branch: "main", at: "v12" });
  editor().element().focus();
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await page.getByRole("button", { name: "Fork from here…" }).click();
  await expect.element(page.getByRole("dialog").getByRole("combobox", { name: "From" })).toHaveValue("v12");
  expect(api.inputsOf("query.run").at(-1)).toMatchObject({ at: "v12" });
  expect(api.inputsOf("query.run").at(-1)).not.toHaveProperty("write");
});

test("SQLVIEW-7: a statement that fails is marked where it fails, with line and column, and says what is untouched", async () => {
  const error = { message: "no such column: nothing", code: "SQLITE_ERROR", position: 7 };
  await showSql("SELECT 1;\n SELECT nothing FROM a", {
    "query.run": () => runView([statementView({ start: 0, end: 21, columns: null, rows: [], error })], { transaction: "one" }),
  });
  await goTo("end");
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect
    .element(page.getByRole("alert"))
    .toMatchTextContent(/no such column: nothing.*Nothing of the script took effect\. Line 2, column 9\./);
  expect(document.querySelector(".cm-problem")?.textContent).toBe("nothing");
  await goTo("start");
  await page.getByRole("button", { name: "Show in the script" }).click();
  await userEvent.keyboard("x");
  await expect.element(editor()).toMatchTextContent(/SELECT xnothing/);
  expect(lineAndColumn({ sql: "a\nbc", line: 3, column: 4 } as never, 0)).toEqual({ line: 3, column: 5 });
  expect(lineAndColumn({ sql: "a\nbc", line: 3, column: 4 } as never, 3)).toEqual({ line: 4, column: 2 });
});

test("SQLVIEW-8: Explain runs nothing and shows the plan as a tree", async () => {
  const plan = statementView({
    columns: ["id", "parent", "notused", "detail"],
    rows: [
      [2, 0, 0, "CO-ROUTINE q"],
      [5, 2, 0, "SCAN orders"],
      [9, 0, 0, "USE TEMP B-TREE FOR ORDER BY"],
    ],
  });
  const api = await showSql("SELECT 1", { "query.run": () => runView([plan]) });
  await page.getByRole("button", { name: "Explain" }).click();
  await expect.element(results()).toMatchTextContent(/nothing was run/);
  expect(api.inputsOf("query.run").at(-1)).toMatchObject({ plan: true });
  expect(api.inputsOf("query.run").at(-1)).not.toHaveProperty("write");
  const inner = results().getByRole("listitem").filter({ hasText: "CO-ROUTINE q" });
  await expect.element(inner).toMatchTextContent(/CO-ROUTINE q.*SCAN orders.*reads every row/);
  expect(sqlSession.get().history).toEqual([]);
});

test("SQLVIEW-9: scripts are opened, renamed, closed and brought back; what ran is found by its text", async () => {
  await showSql("SELECT 'first'");
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.element(rows()).toBeVisible();
  await page.getByRole("button", { name: "New script" }).click();
  await userEvent.dblClick(page.getByRole("tab", { name: "Query 2" }));
  await userEvent.keyboard("Refunds{Enter}");
  await expect.element(page.getByRole("tab", { name: "Refunds" })).toBeVisible();
  await page.getByRole("button", { name: "Close Query 1" }).click();
  await expect.element(page.getByRole("tab", { name: "Query 1" })).not.toBeInTheDocument();
  await page.getByText("Undo", { exact: true }).click();
  await expect.element(editor()).toMatchTextContent(/SELECT 'first'/);
  await page.getByRole("tab", { name: "Refunds" }).click();
  await page.getByRole("button", { name: "History", exact: true }).last().click();
  await userEvent.keyboard("main first");
  await page.getByRole("option", { name: /SELECT 'first'/ }).click();
  await expect.element(page.getByRole("textbox", { name: "SQL of Refunds" })).toMatchTextContent(/SELECT 'first'/);
});

test("SQLVIEW-10: scripts and what ran are kept with the settings; what is too long says so", async () => {
  const api = await showSql("SELECT 'kept'");
  await expect.poll(() => api.inputsOf("app.saveSettings").at(-1)?.layout ?? "").toContain("SELECT 'kept'");
  const layout: unknown = JSON.parse(api.inputsOf("app.saveSettings").at(-1)?.layout ?? "{}");
  const again = parseSqlLayout((layout as { sql: unknown }).sql);
  expect(again.scripts.map(({ text }) => text)).toEqual(["SELECT 'kept'"]);
  openScript("x".repeat(700_000));
  await expect.element(page.getByLabelText("Not kept when Coppice ends")).toBeVisible();
  const { scripts } = sqlSession.get();
  expect([...unkeptScripts(scripts)]).toEqual([scripts[1]?.id]);
  for (let index = 0; index < 400; index += 1)
    remember({
      at: 1,
      place: { database: "shop", branch: "main", at: null },
      sql: `${index}${"y".repeat(9_000)}`,
      outcome: "done",
      rows: 0,
      changes: 0,
      elapsedMs: 1,
    });
  expect(JSON.stringify(sqlLayout(sqlSession.get())).length).toBeLessThan(800_000);
  for (const odd of [null, 7, { scripts: [{ id: 1 }, null], history: [{}, "x"], active: "gone", split: "wide" }])
    expect(parseSqlLayout(odd).scripts).toHaveLength(1);
});

test("SQLVIEW-11: an export runs the statement once more; of SQL that wrote, what is shown is saved", async () => {
  const api = await showSql("SELECT 1", { "query.export": ({ file }) => ({ path: file, bytes: 9, rows: 1 }) });
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await results().getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /as JSON/ }).click();
  await page.getByRole("textbox", { name: /File on the machine/ }).fill("/home/you/rows.json");
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await expect
    .poll(() => api.inputsOf("query.export"))
    .toEqual([{ database: "shop", branch: "main", sql: "SELECT 1", format: "json", file: "/home/you/rows.json" }]);
  api.handle({ "query.run": () => runView([statementView({ changes: 1 })], { before: 3, changes: 1, transaction: "one" }) });
  editor().element().focus();
  await userEvent.keyboard("{Control>}{Enter}{/Control}");
  await expect.element(page.getByRole("status", { name: "Script" })).toBeVisible();
  await results().getByRole("button", { name: "Export" }).click();
  await expect.element(page.getByRole("menuitem", { name: "1 shown row as CSV…" })).toBeVisible();
});
