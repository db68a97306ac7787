import { beforeEach, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { BranchDetail, BranchView } from "#shared/views.ts";
import { appState, selectDatabase } from "../../../src-renderer/app-state.ts";
import { resetBranchesView } from "../../../src-renderer/branches/branches-view.ts";
import { fleet, plainBranch } from "../support/branch-samples.ts";
import { FakeFailure, type FakeHandlers } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { databaseView, operationView } from "../support/views.ts";

beforeEach(resetBranchesView);

const grid = () => page.getByRole("treegrid", { name: "Branches" });
const row = (name: string | RegExp) => grid().getByRole("row", { name });
const focusGrid = () => grid().element().focus();
const result = (id: number, summary: string) => ({ operation: operationView(id, { summary }), branch: null, warnings: [] });

function detailOf(branch: BranchView): BranchDetail {
  return {
    ...branch,
    pageSize: 4096,
    pageCount: 15,
    logicalBytes: 61_440,
    storedBytes: 3_900,
    ownCheckpoints: [],
    inheritedCheckpoints: 0,
    children: 0,
    holders: [],
  };
}

/** A host with these branches; `moved` are what `branch.changes` answers next. */
function hostOf(branches: readonly BranchView[], more: FakeHandlers = {}): FakeHandlers {
  return {
    "branch.list": () => ({ branches, total: branches.length, lastOperation: 1 }),
    "branch.changes": () => ({ changed: [], removed: [], total: branches.length, lastOperation: 1 }),
    "branch.get": ({ branch }) => {
      const found = branches.find((each) => each.name === branch);
      if (!found) throw new FakeFailure("branch-not-found", `No branch ${branch}`);
      return detailOf(found);
    },
    ...more,
  };
}

const SMALL = [plainBranch(1, "main", null), plainBranch(2, "try-a", 1), plainBranch(3, "try-b", 1)];

test("BRANCHES-1: one tab stop, Enter opens the menu, Escape gives the keyboard back", async () => {
  renderApp("branches", hostOf(SMALL));
  await expect.element(row(/^try-a/)).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}");
  expect(grid().element().getAttribute("aria-activedescendant")).toBe("row-b3");
  await expect.element(row(/^try-b/)).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("menuitem", { name: /^Promote onto main|^Promote onto branch-1/ })).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await vi.waitFor(() => expect(document.activeElement).toBe(grid().element()));
});

test("BRANCHES-2: the fork dialog checks the name, sends what was chosen and shows the new branch", async () => {
  const made = plainBranch(9, "try-c", 2);
  const api = renderApp(
    "branches",
    hostOf(SMALL, { "branch.fork": () => ({ ...result(7, "Forked try-c from try-a"), branch: made, branches: ["try-c"] }) }),
  );
  await expect.element(row(/^try-a/)).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{ArrowDown}n");
  await expect.element(page.getByRole("dialog", { name: "Fork try-a" })).toBeVisible();
  await userEvent.keyboard("try c");
  await expect.element(page.getByText("Spaces are not allowed. Try try-c")).toBeVisible();
  await page.getByRole("textbox", { name: "Name" }).fill("try-b");
  await expect.element(page.getByText("try-b is in use in this database")).toBeVisible();
  await page.getByRole("textbox", { name: "Name" }).fill("try-c");
  await page.getByRole("textbox", { name: "Expires after" }).fill("2h");
  await userEvent.keyboard("{Enter}");
  await vi.waitFor(() =>
    expect(api.inputsOf("branch.fork")).toEqual([{ database: "shop", branch: "try-a", newBranch: "try-c", ttlMs: 7_200_000 }]),
  );
  await expect.element(row(/^try-c/)).toHaveAttribute("aria-selected", "true");
  await expect.element(page.getByText("Forked try-c from try-a")).toBeVisible();
  await vi.waitFor(() => expect(document.activeElement).toBe(grid().element()));
});

test("KEYS-7: keys of an open menu do not move the list behind it, nor open it again", async () => {
  vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  const made = { ...plainBranch(2, "try-a", 1), checkout: { ...plainBranch(2, "try-a", 1).checkout, state: "clean" as const } };
  renderApp(
    "branches",
    hostOf(SMALL, { "branch.checkout": () => ({ ...result(7, "Checked out"), branch: made, path: "/x/try-a.db", checkout: "rebuilt" }) }),
  );
  await row(/^try-a/).click();
  focusGrid();
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("menu")).toBeVisible();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}open");
  // The menu moves the focus a moment after the letters.
  await expect.element(page.getByRole("menuitem", { name: "Open: copy path" })).toHaveFocus();
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByText("Copied path of try-a")).toBeVisible();
  await expect.element(page.getByRole("menu")).not.toBeInTheDocument();
  await expect.element(row(/^try-a/)).toHaveAttribute("aria-selected", "true");
  // What was made is known at once: no event tells of a new file.
  await expect.element(row(/^try-a.*Clean/)).toBeVisible();
  vi.restoreAllMocks();
});

test("BRANCHES-3: F2 renames in place; Escape and unchanged names send nothing", async () => {
  const api = renderApp("branches", hostOf(SMALL, { "branch.rename": () => result(7, "Renamed try-a to better") }));
  await expect.element(row(/^try-a/)).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{ArrowDown}{F2}");
  await expect.element(page.getByRole("textbox", { name: "New name of try-a" })).toHaveFocus();
  // Keys that come before the focus is back in the list would be nobody's.
  for (const end of ["x{Escape}", "{Enter}"]) {
    await userEvent.keyboard(end);
    await expect.element(page.getByRole("treegrid", { name: "Branches" })).toHaveFocus();
    await userEvent.keyboard("{F2}");
    await expect.element(page.getByRole("textbox", { name: "New name of try-a" })).toHaveFocus();
  }
  await page.getByRole("textbox", { name: "New name of try-a" }).fill("No good");
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("textbox", { name: "New name of try-a" })).toHaveAttribute("aria-invalid", "true");
  expect(api.inputsOf("branch.rename")).toEqual([]);
  await page.getByRole("textbox", { name: "New name of try-a" }).fill("better");
  await userEvent.keyboard("{Enter}");
  await vi.waitFor(() => expect(api.inputsOf("branch.rename")).toEqual([{ database: "shop", branch: "try-a", to: "better" }]));
});

test("BRANCHES-4: what another process does appears, and the selection stays", async () => {
  const api = renderApp("branches", hostOf(SMALL));
  await row(/^try-b/).click();
  api.handle({ "branch.changes": () => ({ changed: [plainBranch(8, "from-cli", 1)], removed: [2], total: 3, lastOperation: 2 }) });
  api.emit({ type: "store-changed", lastOperation: 2 });
  await expect.element(row(/^from-cli/)).toBeVisible();
  await expect.element(row(/^try-a/)).not.toBeInTheDocument();
  await expect.element(row(/^try-b/)).toHaveAttribute("aria-selected", "true");
});

test("BRANCHES-5: a filter counts, Escape clears it, and no match offers to clear it", async () => {
  renderApp("branches", hostOf(SMALL));
  await expect.element(page.getByText("3 of 3 branches")).toBeVisible();
  await page.getByRole("textbox", { name: "Filter branches" }).fill("try-b");
  await expect.element(page.getByText("1 of 3 branches")).toBeVisible();
  await expect.element(row(/^try-a/)).not.toBeInTheDocument();
  await page.getByRole("textbox", { name: "Filter branches" }).fill("zebra");
  await expect.element(page.getByText("No branches match zebra.")).toBeVisible();
  await page.getByRole("button", { name: "Clear filter" }).last().click();
  await expect.element(page.getByText("3 of 3 branches")).toBeVisible();
  await page.getByRole("textbox", { name: "Filter branches" }).fill("try");
  await userEvent.keyboard("{Escape}");
  await expect.element(page.getByText("3 of 3 branches")).toBeVisible();
  await vi.waitFor(() => expect(document.activeElement).toBe(grid().element()));
});

const at = (state: "conflict" | "missing") => ({ ...plainBranch(0, "", null).checkout, state, base: 4 });

test("BRANCHES-6: a conflict names both versions and offers both ways; a missing file can be made again", async () => {
  const branches = [
    plainBranch(1, "main", null),
    plainBranch(2, "torn", 1, { head: 9, checkout: at("conflict") }),
    plainBranch(3, "gone", 1, { checkout: at("missing") }),
  ];
  const api = renderApp(
    "branches",
    hostOf(branches, { "branch.checkout": () => ({ ...result(7, "Checked out"), path: "/x.db", checkout: "rebuilt" }) }),
  );
  await row(/^torn/).click();
  await expect.element(page.getByText(/unsaved work on v4, but the head is v9/)).toBeVisible();
  await page.getByRole("button", { name: "Put my work on top" }).click();
  await page.getByRole("button", { name: "Take the head" }).click();
  await row(/^gone/).click();
  await page.getByRole("button", { name: "Make it again" }).click();
  await vi.waitFor(() =>
    expect(api.inputsOf("branch.checkout")).toEqual([
      { database: "shop", branch: "torn", resolve: "put-mine-on-top" },
      { database: "shop", branch: "torn", resolve: "take-theirs" },
      { database: "shop", branch: "gone" },
    ]),
  );
});

test("BRANCHES-7: a bundle is one row that is selected and deleted as one", async () => {
  let id = 10;
  const api = renderApp("branches", hostOf(fleet(40), { "branch.destroy": () => result(++id, "Deleted") }));
  await row(/^attempt-\*/).click();
  await expect.element(page.getByRole("heading", { name: "40 branches" })).toBeVisible();
  focusGrid();
  await userEvent.keyboard("{Delete}");
  await expect.element(page.getByText("Deleted 40 branches")).toBeVisible();
  expect(api.inputsOf("branch.destroy")).toHaveLength(40);
  await userEvent.keyboard("{ArrowRight}{ArrowRight}");
  await expect.element(row(/^attempt-00001/)).toHaveAttribute("aria-selected", "true");
});

test("BRANCHES-8: copying a path makes the file first", async () => {
  const copied: string[] = [];
  vi.spyOn(navigator.clipboard, "writeText").mockImplementation(async (text) => void copied.push(text));
  const api = renderApp(
    "branches",
    hostOf(SMALL, { "branch.checkout": () => ({ ...result(7, "Checked out"), path: "/home/it's/try-a.db", checkout: "rebuilt" }) }),
  );
  await row(/^try-a/).click();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.getByRole("menuitem", { name: "Copy sqlite3 command" }).click();
  await vi.waitFor(() => expect(copied).toEqual([`sqlite3 '/home/it'\\''s/try-a.db'`]));
  expect(api.inputsOf("branch.checkout")).toEqual([{ database: "shop", branch: "try-a" }]);
  vi.restoreAllMocks();
});

test("BRANCHES-9: a list that cannot be read says so and can be read again", async () => {
  const api = renderApp(
    "branches",
    hostOf(SMALL, {
      "branch.list": () => {
        throw new FakeFailure("store-busy", "List branches: the catalog is locked", { retryable: true, untouched: "Nothing was changed." });
      },
    }),
  );
  await expect.element(page.getByText("List branches: the catalog is locked")).toBeVisible();
  api.handle(hostOf(SMALL));
  await page.getByRole("button", { name: "Retry" }).click();
  await expect.element(row(/^try-a/)).toBeVisible();
});

test("BRANCHES-10: Promote acts at once on what it was forked from", async () => {
  const fork = plainBranch(2, "try-a", 1, { forkedFrom: { branchId: 1, branch: "main", version: 7, checkpoint: null } });
  const api = renderApp(
    "branches",
    hostOf([plainBranch(1, "main", null), fork], {
      "branch.promote": () => ({ ...result(7, "Promoted try-a → main"), from: 1, to: 2, autosave: null, checkout: "none" }),
    }),
  );
  await row(/^try-a/).click();
  await page.getByRole("button", { name: "Promote", exact: true }).click();
  await vi.waitFor(() => expect(api.inputsOf("branch.promote")).toEqual([{ database: "shop", source: "try-a", onto: "main" }]));
  await expect.element(page.getByText("Promoted try-a → main")).toBeVisible();
});

test("SHELL-7: the palette runs a command on the focused branch and finds branches by name", async () => {
  renderApp("branches", hostOf(SMALL));
  await row(/^try-a/).click();
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.keyboard("try-b");
  await page.getByRole("option", { name: "try-b" }).click();
  await expect.element(row(/^try-b/)).toHaveAttribute("aria-selected", "true");
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.keyboard("set stat{Enter}");
  await expect.element(page.getByRole("dialog", { name: "Status of try-b" })).toBeVisible();
});

test("SHELL-11: when the chosen database is gone the first that is left is chosen, and the list is read once for that", async () => {
  const left = databaseView({ name: "crm-eval", uid: "d2" });
  let databases = [databaseView(), left];
  const api = renderApp("branches", { ...hostOf(SMALL), "database.list": () => databases });
  await expect.element(row(/^try-b/)).toBeVisible();
  const chosen = appState.get().database;
  const asked = () => api.inputsOf("database.list").length;
  const before = asked();
  databases = [left];
  api.emit({ type: "store-changed", lastOperation: 2 });
  await vi.waitFor(() => expect(appState.get().database).toBe("crm-eval"));
  expect(chosen).toBe(databaseView().name);
  expect(asked()).toBe(before + 1);
});

test("BRANCHES-11: another database starts with its main selected, wherever the focus was", async () => {
  const other = [{ ...plainBranch(9, "main", null), database: "other" }];
  renderApp("branches", {
    ...hostOf(SMALL),
    "branch.list": ({ database }) => ({ branches: database === "other" ? other : SMALL, total: 1, lastOperation: 1 }),
  });
  await row(/^try-b/).click();
  selectDatabase("other");
  await expect.element(row(/^main/)).toHaveAttribute("aria-selected", "true");
  await expect.element(page.getByRole("button", { name: "Fork", exact: true }).first()).toBeEnabled();
});
