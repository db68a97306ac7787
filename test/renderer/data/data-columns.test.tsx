/** What the Data screen says of columns: of tables that are listed by name alone, and of rows that are new. */
import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { dataColumn, dataHandlers, dataSchema, dataTable, itemRows, pageOf } from "../support/data-samples.ts";
import { renderApp } from "../support/render-app.tsx";

const grid = () => page.getByRole("grid", { name: "Rows of items" });

test("DATAVIEW-8: where there were too many tables, what one is made of is asked for", async () => {
  const named = dataTable("items", { sql: null, columns: null, key: null });
  const api = renderApp("data", {
    ...dataHandlers(itemRows(5)),
    "data.schema": ({ table }) =>
      table === undefined
        ? dataSchema({ tables: [named] })
        : dataSchema({ tables: [dataTable(table, { sql: "CREATE TABLE items(asked)" })] }),
  });
  await expect.element(grid()).toBeVisible();
  await page.getByRole("radio", { name: "Structure" }).click();
  await expect.element(page.getByText("CREATE TABLE items(asked)")).toBeVisible();
  expect(api.inputsOf("data.schema").at(-1)).toMatchObject({ table: "items" });
  await page.getByRole("textbox", { name: "Filter tables" }).fill("nothing");
  await expect.element(page.getByText("No table has this in its name.")).toBeVisible();
});

test("EDIT-3: a new row says what it has by itself, and what it must be given", async () => {
  const columns = [
    dataColumn("id", "INTEGER", { keyPosition: 1, notNull: true }),
    dataColumn("name", "TEXT", { notNull: true }),
    dataColumn("n", "INTEGER", { notNull: true, default: "0" }),
    dataColumn("raw"),
    dataColumn("twice", "INTEGER", { generated: "virtual" }),
  ];
  renderApp("data", {
    ...dataHandlers(itemRows(5)),
    "data.schema": () => dataSchema({ tables: [dataTable("items", { columns })] }),
    "data.rows": (input) => pageOf(itemRows(5), input, { columns }),
  });
  await expect.element(grid()).toBeVisible();
  await page.getByRole("button", { name: "Add a row" }).click();
  await expect.element(grid().getByRole("row").nth(1)).toMatchTextContent(/defaultrequireddefaultdefaultcomputed/);
});
