import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import { renderApp } from "../support/render-app.tsx";
import { sampleOperations } from "../support/sample-store.ts";
import { jobView, operationView } from "../support/views.ts";

const detail = () => page.getByRole("complementary", { name: "Operation" });
const undone = () => ({
  operation: operationView(901, { kind: "undo", summary: "Undid it" }),
  branch: null,
  warnings: [],
  undone: [operationView(900)],
});

test("ACTIVITY-3: selecting an operation shows what undoing it moves; what stands in the way is named and undone with it", async () => {
  const blocker = operationView(50, { summary: "Promoted attempt-2 → main", actor: "agent-7" });
  const api = renderApp("activity", {
    "operation.list": () => ({ operations: [blocker, operationView(49), operationView(48)], total: 3 }),
    "operation.preview": ({ operation }) => ({
      operation: operationView(operation),
      blockedBy: operation === 49 ? [blocker] : [],
      moves: [`main: v${operation} → v9`],
    }),
    "operation.undo": undone,
  });
  await expect.element(detail().getByText("main: v50 → v9")).toBeVisible();
  await detail().getByRole("button", { name: "Undo" }).click();
  await vi.waitFor(() => expect(api.inputsOf("operation.undo")).toEqual([{ operation: 50 }]));
  page.getByRole("grid", { name: "Operations" }).element().focus();
  await userEvent.keyboard("{ArrowDown}");
  await expect.element(detail().getByText(/1 later operation on the same branches must be undone first/)).toBeVisible();
  await detail().getByRole("button", { name: "Undo these 2 operations" }).click();
  await vi.waitFor(() => expect(api.inputsOf("operation.undo")[1]).toEqual({ operation: 49, chain: true }));
});

test("ACTIVITY-4: what is undone or permanent says so and offers no undo", async () => {
  const api = renderApp("activity", {
    "operation.list": () => ({ operations: [operationView(2, { state: "undone" }), operationView(1, { state: "permanent" })], total: 2 }),
  });
  await expect.element(detail().getByText(/This was undone already/)).toBeVisible();
  page.getByRole("grid", { name: "Operations" }).element().focus();
  await userEvent.keyboard("{ArrowDown}");
  await expect.element(detail().getByText(/can no longer be undone/)).toBeVisible();
  await expect.element(detail().getByRole("button", { name: "Undo" })).not.toBeInTheDocument();
  expect(api.inputsOf("operation.preview")).toEqual([]);
});

test("ACTIVITY-5: a filter searches what is loaded, counts it against the whole log, and reads older ones only when asked", async () => {
  const operations = sampleOperations(2_500);
  const api = renderApp("activity", {
    "operation.list": ({ before = Number.MAX_SAFE_INTEGER, limit = 500 }) => ({
      operations: operations.filter((each) => each.id < before).slice(0, limit),
      total: operations.length,
    }),
  });
  await page.getByRole("textbox", { name: "Filter operations" }).fill("#100");
  await expect.element(page.getByText("Nothing matches among 1,000 operations.")).toBeVisible();
  expect(new Set(api.inputsOf("operation.list").map((input) => input.before))).toEqual(new Set([undefined]));
  await page.getByRole("button", { name: "Search older ones" }).click();
  await page.getByRole("button", { name: "Search older ones" }).click();
  await expect.element(page.getByText(/of 2,500 operations/)).not.toMatchTextContent(/^0 of/);
  await expect.element(page.getByRole("button", { name: "Search older ones" })).not.toBeInTheDocument();
  await page.getByRole("textbox", { name: "Filter operations" }).fill("");
  await page.getByRole("button", { name: /^Deleted/ }).click();
  await expect.element(page.getByText("500 of 2,500 operations")).toBeVisible();
});

test("ACTIVITY-6: running jobs show their progress as it comes and are cancelled by one press", async () => {
  const api = renderApp("activity", { "job.list": () => [jobView()], "job.cancel": () => null });
  await page.getByRole("radio", { name: /Jobs/ }).click();
  const running = page.getByRole("region", { name: "Running" });
  await running.getByRole("button", { name: "Cancel" }).click();
  expect(api.inputsOf("job.cancel")).toEqual([{ id: "job-1" }]);
  api.emit({ type: "job", job: jobView({ state: "cancelled", cancellable: false }) });
  await expect.element(page.getByRole("region", { name: "Ended lately" })).toMatchTextContent(/Cancelled/);
  await expect.element(running).not.toBeInTheDocument();
});

test("ACTIVITY-7: the log follows the store: an operation of another program appears by itself", async () => {
  let operations = [operationView(1, { summary: "Forked a" })];
  const api = renderApp("activity", { "operation.list": () => ({ operations, total: operations.length }) });
  await expect.element(page.getByRole("row", { name: /Forked a/ })).toBeVisible();
  operations = [operationView(2, { summary: "Forked b", actor: "cli" }), ...operations];
  api.emit({ type: "store-changed", lastOperation: 2 });
  await expect.element(page.getByRole("row", { name: /Forked b/ })).toBeVisible();
});

test("ACTIVITY-8: an empty log is one sentence and one button", async () => {
  renderApp("activity", { "operation.list": () => ({ operations: [], total: 0 }) });
  await expect.element(page.getByText("Nothing was done in this store yet.")).toBeVisible();
  await page.getByRole("button", { name: "Show branches" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
});
