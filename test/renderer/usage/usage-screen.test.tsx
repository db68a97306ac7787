import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { RequestOutput } from "#shared/contract.ts";
import type { UsageRow } from "#shared/usage-views.ts";
import { selectDatabase } from "../../../src-renderer/app-state.ts";
import { toasts } from "../../../src-renderer/ui/toasts.ts";
import { usageState } from "../../../src-renderer/usage/usage-state.ts";
import { FakeFailure, type FakeApi, type FakeHandlers } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { gcReport, usageHandlers, usageRow, usageRows, usageView } from "../support/usage-samples.ts";
import { jobView, operationView, trashView } from "../support/views.ts";

const MIB = 1024 ** 2;
const grid = () => page.getByRole("treegrid", { name: "Usage of branches" });
const row = (name: string) => grid().getByRole("row", { name, exact: true });
const footer = () =>
  page
    .getByRole("region", { name: "Usage", exact: true })
    .getByRole("status")
    .filter({ hasText: /Deleting|Nothing that|Trash/ });
const selected = () => [...usageState.get().selection].map((key) => key.replace("shop@", "")).toSorted();

async function showUsage(rows: readonly UsageRow[] = usageRows(), more: FakeHandlers = {}): Promise<FakeApi> {
  const api = renderApp("usage", { ...usageHandlers(rows), ...more });
  await expect.element(grid()).toBeVisible();
  return api;
}

/** A host that keeps what is live and what is in the trash. */
function livingHandlers(all: readonly UsageRow[]): FakeHandlers {
  let live = all;
  const trashed: { id: number; name: string }[] = [];
  return {
    ...usageHandlers(all),
    "usage.store": ({ database }) => usageView(live, { database: database ?? null }),
    "branch.destroy": ({ branch }) => {
      live = live.filter((each) => each.branch !== branch);
      trashed.push({ id: 100 + trashed.length, name: branch });
      return { operation: operationView(900 + trashed.length, { kind: "destroy" }), branch: null, warnings: [] };
    },
    "trash.list": () => [
      trashView(1, { name: "load-test", trashedAt: 5 }),
      ...trashed.map(({ id, name }) => trashView(id, { name, trashedAt: 1_000 + id, purgeAt: Date.UTC(2026, 11, 30, 12) })),
    ],
  };
}

test("USAGEVIEW-1: totals, parts and their table say what is stored, to the byte on hover", async () => {
  await showUsage(usageRows(30));
  const view = usageView(usageRows(30));
  const totals = page.getByRole("region", { name: "Totals" });
  await expect
    .element(totals)
    .toMatchTextContent(/Logical8\.3 GiBStored710\.\d MiBPhysical\d+\.\d MiB37 branches, 2\.4 MiB unique each on average/);
  await expect.element(totals.getByText("237.0 MiB")).toHaveAttribute("title", `${(237 * MIB).toLocaleString()} bytes`);
  const table = page.getByRole("region", { name: "Reconciles to the total" });
  await expect.element(table.getByRole("row", { name: /^Shared by two or more/ })).toMatchTextContent(/3 segments237\.0168\.0/);
  await expect.element(table.getByRole("row", { name: /^Kept aside/ })).toMatchTextContent(/1 file< 0\.1< 0\.1/);
  // None of one database's own: its line would say nothing.
  await expect.element(table.getByRole("row", { name: /^Temporary/ })).not.toBeInTheDocument();
  await expect.element(table.getByRole("row", { name: /of which ready files/ })).toMatchTextContent(/2 files20\.0/);
  await expect
    .element(table.getByRole("row", { name: /^Total in shop/ }))
    .toMatchTextContent(new RegExp(`${(view.storedBytes / MIB).toFixed(1)}`));
  await expect.element(table).toMatchTextContent(/Physical is below stored/);
});

test("USAGEVIEW-1: what the file system does not say is called unknown", async () => {
  const view = usageView();
  const parts = view.parts.map((part) => ({ ...part, physicalBytes: part.name === "caches" ? null : part.physicalBytes }));
  await showUsage(usageRows(), { "usage.store": () => ({ ...view, parts, physicalBytes: null }) });
  await expect.element(page.getByRole("region", { name: "Totals" })).toMatchTextContent(/Physicalunknown/);
  const table = page.getByRole("region", { name: "Reconciles to the total" });
  await expect.element(table.getByRole("row", { name: /^Caches/ })).toMatchTextContent(/22\.0unknown/);
  await expect.element(table.getByRole("row", { name: /^Total/ })).toMatchTextContent(/unknown$/);
});

test("USAGEVIEW-2: ten thousand branches are one line; opened, the page holds those on the screen", async () => {
  await showUsage(usageRows(10_000));
  await expect.element(grid()).toHaveAttribute("aria-rowcount", "9");
  await expect.element(row("attempt-")).toMatchTextContent(/attempt-\*× 10,00039\.1 MiB≤ 189\.0 MiB2\.2 TiB–try-split/);
  grid().element().focus();
  await userEvent.keyboard("{End}{ArrowUp}");
  // Whichever line it is that the keyboard is on: the bundle is found by its name.
  await row("attempt-").click();
  await userEvent.keyboard("{ArrowRight}");
  await expect.element(grid()).toHaveAttribute("aria-rowcount", "10009");
  expect(grid().getByRole("row").elements().length).toBeLessThan(80);
  expect(selected()).toHaveLength(10_000);
  await userEvent.keyboard("{ArrowLeft}");
  await expect.element(grid()).toHaveAttribute("aria-rowcount", "9");
});

test("USAGEVIEW-3: columns sort, and turn round at the second press", async () => {
  await showUsage();
  const order = () =>
    grid()
      .getByRole("row")
      .elements()
      .slice(1)
      .map((each) => each.getAttribute("aria-label"));
  // Without its stylesheet the head lies under the rows.
  const press = (name: string) => {
    const button = grid().getByRole("button", { name }).element();
    if (button instanceof HTMLElement) button.click();
  };
  expect(order().slice(0, 3)).toEqual(["main", "load-test", "try-split"]);
  press("Branch");
  await expect.poll(() => order().slice(0, 3)).toEqual(["fix/tax-rounding", "load-test", "main"]);
  press("Branch");
  await expect.poll(() => order()[0]).toBe("try-split");
  press("File");
  await expect.poll(() => order().slice(0, 2)).toEqual(["main", "try-split"]);
  await expect.element(grid().getByRole("columnheader", { name: "File" })).toHaveAttribute("aria-sort", "descending");
});

test("USAGEVIEW-4: a selection is made by press, Ctrl, Shift, Space, Ctrl+A and the box in the head, and cleared by Esc", async () => {
  await showUsage();
  await row("load-test").click();
  expect(selected()).toEqual(["load-test"]);
  await row("try-cents").click({ modifiers: ["ControlOrMeta"] });
  expect(selected()).toEqual(["load-test", "try-cents"]);
  await row("load-test").click();
  await row("try-cents").click({ modifiers: ["Shift"] });
  expect(selected()).toEqual(["load-test", "try-cents", "try-split"]);
  await userEvent.keyboard("{ArrowDown} ");
  expect(selected()).toEqual(["fix/tax-rounding", "load-test", "try-cents", "try-split"]);
  await userEvent.keyboard("{Shift>}{ArrowUp}{ArrowUp}{/Shift}");
  expect(selected()).toEqual(["fix/tax-rounding", "try-cents", "try-split"]);
  row("main").element().querySelector<HTMLElement>("[data-tick]")?.click();
  expect(selected()).toContain("main");
  expect(selected()).toHaveLength(4);
  await expect.element(page.getByRole("checkbox", { name: "All branches" })).toHaveAttribute("aria-checked", "mixed");
  await userEvent.keyboard("{Control>}a{/Control}");
  expect(selected()).toHaveLength(7);
  await expect.element(row("qa/empty-cart")).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{Escape}");
  expect(selected()).toEqual([]);
  await page.getByRole("checkbox", { name: "All branches" }).click();
  expect(selected()).toHaveLength(7);
});

test("USAGEVIEW-4: a rectangle selects its branches as the table does; what has no branches is only named", async () => {
  const style = document.createElement("style");
  style.textContent = "[data-treemap] { position: relative; width: 400px; height: 300px } [data-tile] { position: absolute }";
  document.head.append(style);
  const api = await showUsage(usageRows(30));
  expect(api.inputsOf("usage.store")).toHaveLength(1);
  const map = page.getByRole("region", { name: "What takes the space" });
  const tile = (name: RegExp) => map.getByRole("button", { name });
  await tile(/^load-test,/).hover({ force: true });
  await expect.element(map.getByText(/31\.0 MiB · 32,505,856 bytes/)).toBeVisible();
  await tile(/^load-test,/).click({ force: true });
  expect(selected()).toEqual(["load-test"]);
  await expect.element(tile(/^load-test,/)).toHaveAttribute("aria-pressed", "true");
  await expect.element(row("load-test")).toHaveAttribute("aria-selected", "true");
  await tile(/^try-cents,/).click({ force: true, modifiers: ["ControlOrMeta"] });
  expect(selected()).toEqual(["load-test", "try-cents"]);
  await tile(/^Shared,/).click({ force: true });
  expect(selected()).toEqual(["load-test", "try-cents"]);
  style.remove();
});

test("USAGEVIEW-5: the footer says what the selection frees together, and when; protected branches are named and stay", async () => {
  const api = await showUsage();
  await row("load-test").click();
  await expect.element(footer()).toMatchTextContent(/^Deleting load-test frees 31\.0 MiB31\.0 MiB unique, freed at purge on /);
  await row("try-split").click({ modifiers: ["ControlOrMeta"] });
  await row("staging-copy").click({ modifiers: ["ControlOrMeta"] });
  await expect
    .element(footer())
    .toMatchTextContent(
      /^Deleting these 2 frees 49\.0 MiB43\.0 MiB unique \+ 2\.0 MiB shared only among them, freed at purge on .* · 4\.0 MiB of files at once.*staging-copy is protected and stays$/,
    );
  expect(api.inputsOf("usage.free").at(-1)).toEqual({
    branches: [
      { database: "shop", branch: "load-test" },
      { database: "shop", branch: "try-split" },
    ],
  });
  await expect.element(page.getByRole("button", { name: "Move 2 to Trash" })).toBeEnabled();
  await row("staging-copy").click();
  await expect.element(footer()).toMatchTextContent(/^Nothing that can be deleted is selected/);
  await expect.element(page.getByRole("button", { name: "Move 0 to Trash" })).toBeDisabled();
});

test("USAGEVIEW-5: an answer for another selection is never shown; one that fails can be asked again", async () => {
  const waiting: (() => void)[] = [];
  const handlers = usageHandlers();
  const api = await showUsage(usageRows(), {
    "usage.free": async (input) => {
      await new Promise<void>((settle) => waiting.push(settle));
      if (input.branches.length === 3) throw new FakeFailure("store-busy", "The store is busy", { retryable: true });
      return (await handlers["usage.free"]?.(input)) as RequestOutput<"usage.free">;
    },
  });
  await row("load-test").click();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await row("try-split").click();
  await expect.element(footer()).toMatchTextContent(/^Deleting try-split frees …Counting/);
  waiting[0]?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  await expect.element(footer()).toMatchTextContent(/^Deleting try-split frees …/);
  waiting[1]?.();
  await expect.element(footer()).toMatchTextContent(/^Deleting try-split frees 16\.0 MiB/);
  await row("main").click({ modifiers: ["Shift"] });
  await vi.waitFor(() => expect(waiting).toHaveLength(3));
  waiting[2]?.();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/The store is busy/);
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  await vi.waitFor(() => expect(api.inputsOf("usage.free")).toHaveLength(4));
  waiting[3]?.();
});

test("USAGEVIEW-6: moved to the Trash with one progress and one Undo, then purged by name, with what was freed beside what was predicted", async () => {
  const rows = usageRows(100);
  const api = await showUsage(rows, {
    ...livingHandlers(rows),
    "store.gc": ({ dryRun }) => gcReport({ dryRun, bytesFreed: 33 * MIB + (dryRun ? 0 : 1) }),
  });
  await row("load-test").click();
  await row("staging-copy").click({ modifiers: ["ControlOrMeta"] });
  await row("attempt-").click({ modifiers: ["ControlOrMeta"] });
  await expect.element(footer()).toMatchTextContent(/^Deleting these 101 frees 33\.4 MiB/);
  await page.getByRole("button", { name: "Move 101 to Trash" }).click();
  await expect.element(page.getByText("Moved 101 branches to the Trash")).toBeVisible();
  expect(toasts.get().list).toHaveLength(1);
  expect(toasts.get().list[0]?.action?.label).toBe("Undo");
  expect(api.inputsOf("branch.destroy")).toHaveLength(101);
  await expect.element(footer()).toMatchTextContent(/^101 branches are in the Trash33\.4 MiB are freed at purge on /);
  await expect.element(row("load-test")).not.toBeInTheDocument();
  expect(selected()).toEqual([]);
  await page.getByRole("button", { name: "Purge now…" }).click();
  const dialog = page.getByRole("dialog", { name: "Purge 101 branches now?" });
  await expect.element(dialog).toMatchTextContent(/Would free33\.0 MiB/);
  await expect.element(dialog).toMatchTextContent(/cannot be undone.*33\.4 MiB were predicted/);
  await dialog.getByRole("button", { name: "Purge for good" }).click();
  await expect.element(page.getByText("Purged 101 branches: 34,603,009 bytes freed, 34,603,008 predicted")).toBeVisible();
  const [forecast, purge] = api.inputsOf("store.gc");
  expect(forecast).toEqual({ ...purge, dryRun: true });
  expect(purge?.dryRun).toBe(false);
  // The load-test that has been in the Trash for longer is another branch.
  expect(purge?.purge?.map((entry) => entry.id).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 101 }, (_, index) => 100 + index));
  await expect.element(page.getByRole("button", { name: "Purge now…" })).not.toBeInTheDocument();
});

test("USAGEVIEW-6: what is under way can be stopped; what was undone is not offered to be purged", async () => {
  const rows = usageRows(200);
  const living = livingHandlers(rows);
  const waiting: (() => void)[] = [];
  const api = await showUsage(rows, {
    ...living,
    "branch.destroy": async (input) => {
      await new Promise<void>((settle) => waiting.push(settle));
      return (await living["branch.destroy"]?.(input)) as RequestOutput<"branch.destroy">;
    },
  });
  await row("attempt-").click();
  await userEvent.keyboard("{Delete}");
  await expect.element(page.getByText("Moving 200 branches to the Trash…")).toBeVisible();
  for (const settle of waiting.splice(0)) settle();
  await expect.element(page.getByText(/^32 of 200/)).toBeVisible();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  for (const settle of waiting.splice(0)) settle();
  await expect.element(page.getByText("Moved 64 branches to the Trash")).toBeVisible();
  expect(api.inputsOf("branch.destroy")).toHaveLength(64);
  // The rest is still selected.
  expect(selected()).toHaveLength(136);
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await expect.element(footer()).toMatchTextContent(/^64 branches are in the Trash/);
  api.handle({ "trash.list": () => [] });
  api.emit({ type: "store-changed", lastOperation: 1 });
  await expect.element(page.getByRole("button", { name: "Purge now…" })).not.toBeInTheDocument();
});

test("USAGEVIEW-7: a store at work is measured again at a pace; selection, keyboard and place in the list stay", async () => {
  let rows = usageRows(2_000);
  const api = await showUsage(rows, { "usage.store": () => usageView(rows) });
  await row("attempt-").click();
  await userEvent.keyboard("{ArrowRight}{ArrowDown}{ArrowDown} ");
  await userEvent.keyboard("{PageDown}{PageDown}{PageDown}");
  const before = { ...usageState.get() };
  rows = [...rows.filter((each) => each.branch !== "attempt-00001"), usageRow("late", { uniqueBytes: 1 })];
  // From here on the pause counts anew.
  await page.getByRole("button", { name: "Measure again" }).click();
  await expect.element(grid()).toHaveAttribute("aria-rowcount", "2009");
  expect(api.inputsOf("usage.store")).toHaveLength(2);
  const scrolled = grid().element().scrollTop;
  expect(scrolled).toBeGreaterThan(0);
  for (let count = 0; count < 50; count += 1) api.emit({ type: "store-changed", lastOperation: count });
  await new Promise((settle) => setTimeout(settle, 600));
  expect(api.inputsOf("usage.store")).toHaveLength(2);
  await expect.poll(() => api.inputsOf("usage.store").length, { timeout: 10_000 }).toBe(3);
  expect(usageState.get().focusedKey).toBe(before.focusedKey);
  expect(usageState.get().selection.size).toBe(1_998);
  expect(grid().element().scrollTop).toBe(scrolled);
});

test("USAGEVIEW-8: measuring has a job that can be stopped, failing says what is untouched, and old figures stay", async () => {
  let answer: (() => void) | null = null;
  const api = renderApp("usage", {
    ...usageHandlers(),
    "usage.store": () =>
      new Promise((_, fail) => {
        answer = () => fail(new FakeFailure("cancelled", "Cancelled"));
      }),
    "job.cancel": () => {
      answer?.();
      return null;
    },
  });
  await expect.element(page.getByRole("region", { name: "Usage" })).toBeVisible();
  await vi.waitFor(() => expect(answer).not.toBeNull());
  api.emit({ type: "job", job: jobView({ title: "Measure what shop takes", state: "running" }) });
  await page.getByRole("region", { name: "Usage" }).getByRole("button", { name: "Cancel" }).click();
  await expect.element(page.getByText("Measuring was stopped; nothing was changed.")).toBeVisible();
  api.emit({ type: "job", job: jobView({ state: "cancelled" }) });
  api.handle({
    "usage.store": () => {
      throw new FakeFailure("io-failed", "The folder could not be read", { untouched: "Nothing was changed.", retryable: true });
    },
  });
  await page.getByRole("button", { name: "Measure", exact: true }).click();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/The folder could not be read.*Nothing was changed/);
  api.handle({ "usage.store": () => usageView() });
  await page.getByRole("alert").getByRole("button", { name: "Retry" }).click();
  await expect.element(row("main")).toBeVisible();
  await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
  api.handle({
    "usage.store": () => {
      throw new FakeFailure("io-failed", "The folder could not be read");
    },
  });
  await page.getByRole("button", { name: "Measure again" }).click();
  await expect.element(page.getByRole("alert")).toBeVisible();
  await expect.element(row("main")).toBeVisible();
});

test("USAGEVIEW-8: a store without branches, a database without any, and a lone branch say what to do next", async () => {
  const api = renderApp("usage", { ...usageHandlers([]), "database.list": () => [] });
  await expect.element(page.getByText("This store holds no branch yet.")).toBeVisible();
  await expect.element(page.getByText("Import a SQLite file", { exact: true })).toBeVisible();
  expect(api.inputsOf("usage.store")).toEqual([{}]);
  // What was dropped still takes space.
  await expect.element(page.getByRole("row", { name: /^Total in the store/ })).toBeVisible();
  api.handle(usageHandlers([]));
  selectDatabase("shop");
  await expect.element(page.getByText("All branches of shop are in the Trash.")).toBeVisible();
  api.handle(usageHandlers([usageRow("main", { database: "crm", sharedWith: { branch: null, others: 0 } })]));
  selectDatabase("crm");
  await expect.element(page.getByText("Only main so far. A fork of it takes no space until it is changed.")).toBeVisible();
  await expect.element(row("main")).toMatchTextContent(/–$/);
});

test("USAGEVIEW-9: an opened branch lists its checkpoints and what each costs; none, and a failure, are said", async () => {
  let fail = true;
  const api = await showUsage(usageRows(), {
    "usage.branch": (input) => {
      if (input.branch === "main" && fail) throw new FakeFailure("store-busy", "The store is busy");
      const answer = usageHandlers()["usage.branch"]?.(input) as RequestOutput<"usage.branch">;
      return input.branch === "try-cents" ? { ...answer, checkpoints: [] } : answer;
    },
  });
  await row("try-split").click();
  await userEvent.keyboard("{Enter}");
  await expect.element(grid().getByRole("row").filter({ hasText: "split-ready" })).toMatchTextContent(/split-readyv2193\.0 MiB200\.0 MiB/);
  await expect.element(grid().getByRole("row").filter({ hasText: "after-ddl" })).toMatchTextContent(/v2150 B198\.0 MiB/);
  expect(api.inputsOf("usage.branch")).toEqual([{ database: "shop", branch: "try-split" }]);
  await row("try-cents").click();
  await userEvent.keyboard("{ArrowRight}");
  await expect.element(grid().getByText("No checkpoints: all that it needs is its head's")).toBeVisible();
  await row("main").click();
  await userEvent.keyboard("{ArrowRight}");
  await expect.element(grid().getByText("The store is busy")).toBeVisible();
  fail = false;
  await grid().getByRole("button", { name: "Retry" }).click();
  await expect.element(grid().getByText("The store is busy")).not.toBeInTheDocument();
});

test("USAGEVIEW-10: the whole store names each branch's database; a filter hides, and says of what it hides what is selected", async () => {
  const rows = [...usageRows(), usageRow("main", { database: "crm", uniqueBytes: 5 })];
  const api = await showUsage(rows, {
    "usage.store": ({ database }) =>
      usageView(
        rows.filter((each) => !database || each.database === database),
        { database: database ?? null },
      ),
  });
  await row("load-test").click();
  await page.getByRole("radio", { name: "Whole store" }).click();
  await expect.element(grid().getByRole("row").filter({ hasText: "maincrm" })).toBeVisible();
  expect(api.inputsOf("usage.store")).toEqual([{ database: "shop" }, {}]);
  expect(selected()).toEqual(["load-test"]);
  await userEvent.keyboard("{Control>}f{/Control}");
  await userEvent.keyboard("try-*");
  await expect.element(row("main")).not.toBeInTheDocument();
  await expect.element(footer()).toMatchTextContent(/1 of them not shown by the filter/);
  await userEvent.keyboard("{Enter}{Control>}a{/Control}");
  expect(selected()).toEqual(["try-cents", "try-split"]);
  await page.getByRole("textbox", { name: "Filter branches by name" }).fill("nothing-like-it");
  await expect.element(page.getByText("No branches match nothing-like-it.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filter" }).last().click();
  await expect.element(row("load-test")).toBeVisible();
});

test("USAGEVIEW-13: collecting garbage shows what goes first, and measures again afterwards; the Trash is one press away", async () => {
  const api = await showUsage();
  await page.getByRole("button", { name: "Collect garbage…" }).click();
  const dialog = page.getByRole("dialog", { name: "Collect garbage?" });
  await expect.element(dialog).toMatchTextContent(/Would free43\.0 MiB/);
  expect(api.inputsOf("store.gc")).toEqual([{ dryRun: true }]);
  await dialog.getByRole("button", { name: "Free 43.0 MiB for good" }).click();
  await expect.element(page.getByText("Collected garbage: 43.0 MiB freed, as predicted")).toBeVisible();
  expect(api.inputsOf("store.gc")).toEqual([{ dryRun: true }, { dryRun: false }]);
  await expect.poll(() => api.inputsOf("usage.store").length).toBe(2);
  api.handle({ "store.gc": ({ dryRun }) => gcReport({ dryRun, bytesFreed: 0 }) });
  await page.getByRole("button", { name: "Collect garbage…" }).click();
  await expect.element(dialog.getByRole("button", { name: "Nothing to free" })).toBeDisabled();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page
    .getByRole("region", { name: "Usage" })
    .getByRole("button", { name: /^Trash ?3$/ })
    .click();
  await expect.element(page.getByRole("region", { name: "Trash" })).toBeVisible();
});
