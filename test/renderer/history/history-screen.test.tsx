import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { MoveResult } from "#shared/views.ts";
import { selectBranches } from "../../../src-renderer/app-state.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { SAMPLE_BRANCHES, sampleHistory } from "../support/sample-store.ts";
import { branchView, operationView } from "../support/views.ts";

const TRY_SPLIT = 7;

function moved(summary: string): MoveResult {
  return {
    operation: operationView(900, { kind: "rollback", summary }),
    branch: null,
    warnings: [],
    from: 219,
    to: 215,
    autosave: null,
    checkout: "none",
  };
}

async function showTrySplit() {
  await expect.element(page.getByRole("grid", { name: /Versions of/ })).toBeVisible();
  selectBranches(TRY_SPLIT);
  const grid = page.getByRole("grid", { name: "Versions of try-split" });
  await expect.element(grid).toBeVisible();
  grid.element().focus();
  return grid;
}

const detail = () => page.getByRole("complementary", { name: "Version" });

test("HISTORY-7: the branch's present state is selected first, arrows move on, and the detail follows", async () => {
  renderApp("history");
  await expect.element(page.getByRole("row", { name: /Left by rollback/ })).toHaveAttribute("aria-selected", "false");
  await expect.element(detail().getByRole("heading", { name: "split-ready" })).toBeVisible();
  await showTrySplit();
  await expect.element(detail().getByRole("heading", { name: "Unsaved changes" })).toBeVisible();
  await expect.element(detail().getByText("node, pid 48213, reading")).toBeVisible();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}");
  await expect.element(detail().getByRole("heading", { name: "split-ready" })).toBeVisible();
  await userEvent.keyboard("{End}");
  await expect.element(detail().getByRole("heading", { name: "Imported" })).toBeVisible();
  await userEvent.keyboard("{Home}");
  await expect.element(detail().getByRole("heading", { name: "Unsaved changes" })).toBeVisible();
});

test("HISTORY-8: rolling back runs at once, names itself and offers Undo; what a rollback left behind rolls forward", async () => {
  const api = renderApp("history", {
    "branch.rollback": ({ to }) => moved(`Moved try-split to ${to}`),
    "operation.undo": () => ({ operation: operationView(901, { kind: "undo" }), branch: null, warnings: [], undone: [operationView(900)] }),
  });
  await showTrySplit();
  await page.getByRole("row", { name: /after-ddl/ }).click();
  await detail().getByRole("button", { name: "Roll back to here" }).click();
  await expect.element(page.getByText("Moved try-split to v215")).toBeVisible();
  expect(api.inputsOf("branch.rollback")).toEqual([{ database: "shop", branch: "try-split", to: "v215" }]);
  await page.getByRole("status").getByRole("button", { name: /Undo/ }).click();
  await vi.waitFor(() => expect(api.inputsOf("operation.undo")).toEqual([{ operation: 900 }]));
  await page.getByRole("row", { name: /Left by rollback/ }).click();
  await detail().getByRole("button", { name: "Roll forward to here" }).click();
  await vi.waitFor(() => expect(api.inputsOf("branch.rollback")[1]).toMatchObject({ to: "v221" }));
});

test("HISTORY-9: discarding unsaved work is a rollback to the head", async () => {
  const api = renderApp("history", { "branch.rollback": () => moved("Discarded") });
  await showTrySplit();
  await detail().getByRole("button", { name: "Discard" }).click();
  await vi.waitFor(() => expect(api.inputsOf("branch.rollback")).toEqual([{ database: "shop", branch: "try-split", to: "v219" }]));
});

test("HISTORY-10: a fold opens and closes by keyboard, and its versions can be reached", async () => {
  renderApp("history");
  await showTrySplit();
  const fold = page.getByRole("row", { name: /3 automatic versions/ });
  await fold.getByText("288.0 KiB").click();
  await expect.element(page.getByRole("row", { name: /v217/ })).not.toBeInTheDocument();
  await userEvent.keyboard("{ArrowRight}{ArrowDown}{ArrowDown}");
  await expect.element(page.getByRole("row", { name: /v217/ })).toHaveAttribute("aria-selected", "true");
  await fold.getByText("288.0 KiB").click();
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("row", { name: /v217/ })).not.toBeInTheDocument();
});

test("HISTORY-11: a conflict offers both ways out, and each says which state survives", async () => {
  const conflict = branchView({ id: TRY_SPLIT, checkout: { ...branchView().checkout, state: "conflict" } });
  const api = renderApp("history", {
    "branch.list": () => ({ branches: [SAMPLE_BRANCHES[0] ?? conflict, conflict], total: 2, lastOperation: 1 }),
    "branch.history": () => ({ branch: conflict, versions: sampleHistory(), total: 11 }),
    "branch.checkout": () => ({ operation: operationView(5), branch: null, warnings: [], path: "/x", checkout: "rebuilt" }),
    "branch.checkpoint": () => ({
      operation: operationView(6),
      branch: null,
      warnings: [],
      version: 222,
      name: "mine",
      changedPages: 1,
      storedBytes: 1,
    }),
  });
  await showTrySplit();
  await detail().getByRole("button", { name: "Save mine on top of the head" }).click();
  await vi.waitFor(() =>
    expect(api.inputsOf("branch.checkpoint")).toEqual([{ database: "shop", branch: "try-split", resolve: "put-mine-on-top" }]),
  );
  await detail().getByRole("button", { name: "Take the head, keep mine as an autosave" }).click();
  await vi.waitFor(() =>
    expect(api.inputsOf("branch.checkout")).toEqual([{ database: "shop", branch: "try-split", resolve: "take-theirs" }]),
  );
});

test("HISTORY-12: a version opens read-only at a path that is shown and can be copied", async () => {
  const api = renderApp("history", { "checkpoint.open": ({ at }) => ({ path: `/store/readonly/shop/${at}.db` }) });
  await showTrySplit();
  await page.getByRole("row", { name: /after-ddl/ }).click();
  await detail().getByRole("button", { name: "Open read-only" }).click();
  await expect.element(detail().getByText("/store/readonly/shop/v215.db")).toBeVisible();
  expect(api.inputsOf("checkpoint.open")).toEqual([{ database: "shop", branch: "try-split", at: "v215" }]);
});

test("HISTORY-13: an export never replaces a file unless that is pressed, and says what it met", async () => {
  const api = renderApp("history", {
    "app.chooseSaveFile": ({ suggested }) => `/home/you/${suggested}`,
    "database.export": ({ file, overwrite }) => {
      if (!overwrite) throw new FakeFailure("file-exists", `Export: ${file} exists`, { untouched: "The file is unchanged." });
      return { path: file, bytes: 4096 };
    },
  });
  await showTrySplit();
  await page.getByRole("row", { name: /after-ddl/ }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Export…" }).click();
  await page.getByRole("button", { name: "Choose…" }).click();
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/The file is unchanged\./);
  await page.getByRole("button", { name: "Replace the file" }).click();
  await expect.element(page.getByRole("status")).toMatchTextContent(/Exported v215 to \/home\/you\/shop-try-split-v215\.db/);
  expect(api.inputsOf("database.export").map((input) => input.overwrite)).toEqual([undefined, true]);
});

test("HISTORY-14: a long history is read page by page while it is scrolled", async () => {
  const versions = sampleHistory(1_200);
  const api = renderApp("history", {
    "branch.history": ({ offset = 0, limit = 500 }) => ({
      branch: SAMPLE_BRANCHES[0] ?? branchView(),
      versions: versions.slice(offset, offset + limit),
      total: versions.length,
    }),
  });
  const grid = page.getByRole("grid", { name: "Versions of main" });
  await expect.element(grid).toBeVisible();
  expect(new Set(api.inputsOf("branch.history").map((input) => input.offset))).toEqual(new Set([0]));
  grid.element().scrollTop = 400 * 28;
  await vi.waitFor(() => expect(api.inputsOf("branch.history").map((input) => input.offset)).toContain(500));
});

test("HISTORY-15: Enter opens the row's menu and N the fork dialog at that version", async () => {
  renderApp("history");
  await showTrySplit();
  await page.getByRole("row", { name: /after-ddl/ }).click();
  await userEvent.keyboard("{Enter}");
  await expect.element(page.getByRole("menuitem", { name: /Roll back to here/ })).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await expect.element(page.getByRole("menuitem", { name: /Roll back to here/ })).not.toBeInTheDocument();
  page
    .getByRole("grid", { name: /Versions of/ })
    .element()
    .focus();
  await userEvent.keyboard("n");
  await expect.element(page.getByRole("dialog").getByLabelText("From")).toHaveValue("v215");
});

test("HISTORY-16: a history that cannot be read says why and can be read again", async () => {
  let works = false;
  renderApp("history", {
    "branch.history": () => {
      if (!works)
        throw new FakeFailure("io-failed", "The catalog could not be read", { untouched: "Nothing was changed.", retryable: true });
      return { branch: SAMPLE_BRANCHES[0] ?? branchView(), versions: sampleHistory(), total: 11 };
    },
  });
  await expect.element(page.getByRole("alert")).toMatchTextContent(/Nothing was changed\./);
  works = true;
  await page.getByRole("button", { name: "Retry" }).click();
  await expect.element(page.getByRole("grid", { name: "Versions of main" })).toBeVisible();
});
