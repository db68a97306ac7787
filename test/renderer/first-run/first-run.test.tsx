import { expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { StoreView } from "#shared/views.ts";
import { FakeFailure, type FakeHandlers } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { helloView } from "../support/sample-store.ts";
import { operationView, databaseView, storeView } from "../support/views.ts";

/** A host without a store until one of `opening` was answered. */
function closedHost(host: "electron" | "web", handlers: FakeHandlers = {}): FakeHandlers {
  let store: StoreView | null = null;
  const open = () => {
    store = storeView();
    return store;
  };
  return { "app.hello": () => helloView({ host, store }), "store.demo": open, "store.open": open, "store.create": open, ...handlers };
}

test("FIRSTRUN-1: a store that is gone stays in the list, cannot be opened, and can be removed", async () => {
  const api = renderApp("branches", closedHost("electron"));
  const gone = page.getByRole("button", { name: /^sandbox.coppice/ });
  await expect.element(gone).toBeDisabled();
  await expect.element(gone).toMatchTextContent(/Not found/);
  await page.getByRole("button", { name: "Remove sandbox.coppice from the list" }).click();
  await expect.element(gone).not.toBeInTheDocument();
  expect(api.inputsOf("app.forgetRecent")).toEqual([{ path: "/media/usb/sandbox.coppice" }]);
});

test("FIRSTRUN-2: the demo opens by one press; when it fails the reason stays and it can be tried again", async () => {
  const api = renderApp("branches", closedHost("electron"));
  api.handle({
    "store.demo": () => {
      throw new FakeFailure("disk-full", "Demo: no space left", { untouched: "Nothing was kept." });
    },
  });
  await page.getByRole("button", { name: /Try the demo/ }).click();
  await expect.element(page.getByRole("alert")).toMatchTextContent(/Nothing was kept\./);
  api.handle(closedHost("electron"));
  await page.getByRole("button", { name: "Retry" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
});

test("FIRSTRUN-3: a folder without a store is made one only when that is pressed", async () => {
  const api = renderApp(
    "branches",
    closedHost("web", {
      "store.open": ({ spec }) => {
        throw new FakeFailure("store-not-found", `There is no store in ${spec}`);
      },
    }),
  );
  await page.getByRole("button", { name: /Open or create a store/ }).click();
  await page.getByRole("textbox").fill("/home/you/new.coppice");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await expect.element(page.getByText("There is no store in this folder yet.")).toBeVisible();
  expect(api.inputsOf("store.create")).toEqual([]);
  await page.getByRole("button", { name: "Create a store here" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  expect(api.inputsOf("store.create")).toEqual([{ spec: "/home/you/new.coppice" }]);
});

test("FIRSTRUN-4: from a path to the imported database: report first, name judged, then the branches", async () => {
  const api = renderApp(
    "branches",
    closedHost("web", {
      "database.create": () => ({
        operation: operationView(1, { summary: "Created kept" }),
        branch: null,
        warnings: [],
        database: databaseView(),
        report: null,
        storedBytes: 1,
      }),
    }),
  );
  await page.getByRole("button", { name: /Open a SQLite file/ }).click();
  await page.getByRole("textbox", { name: /Path/ }).fill("/home/you/q4.db");
  await page.getByRole("button", { name: "Inspect" }).click();
  await expect.element(page.getByText("Can be imported")).toBeVisible();
  await expect.element(page.getByRole("row", { name: /Collation de_phonebook/ })).toBeVisible();
  const name = page.getByRole("textbox", { name: "Database name" });
  await name.fill("Not Allowed");
  await expect.element(page.getByRole("alert")).toMatchTextContent(/Try not-allowed/);
  await expect.element(page.getByRole("button", { name: /^Import as/ })).toBeDisabled();
  await name.fill("kept");
  await page.getByRole("button", { name: "Import as kept" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  await expect.element(page.getByText("Created kept")).toBeVisible();
  expect(api.inputsOf("store.open")).toEqual([{ spec: "/home/you/data/shop.coppice" }]);
  await vi.waitFor(() => expect(api.inputsOf("database.create")).toMatchObject([{ database: "kept" }]));
});

test("FIRSTRUN-5: into the open store, a name that it has already is refused while it is typed", async () => {
  renderApp("branches", { "app.chooseFile": () => "/home/you/shop.db" });
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  await page.getByRole("button", { name: "Import a SQLite file" }).first().click();
  const name = page.getByRole("textbox", { name: "Database name" });
  await name.fill("ledger");
  await expect.element(page.getByRole("alert")).toMatchTextContent(/already has a database ledger/);
  await expect.element(page.getByRole("button", { name: "Import as ledger" })).toBeDisabled();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
});

test("SHELL-10: what was read from one store is not shown of the next one", async () => {
  let store: StoreView | null = storeView();
  const other = storeView({ uid: "other", path: "/home/you/evals/nightly.coppice" });
  renderApp("branches", {
    "app.hello": () => helloView({ store }),
    "store.status": () => store ?? storeView(),
    "store.close": () => {
      store = null;
      return null;
    },
    "store.open": () => {
      store = other;
      return other;
    },
    "database.list": () => [databaseView(store === other ? { name: "nightly-runs", uid: "n" } : {})],
  });
  await expect.element(page.getByRole("button", { name: "Database shop" })).toBeVisible();
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.keyboard("another store{Enter}");
  await page.getByRole("button", { name: /^nightly.coppice/ }).click();
  await expect.element(page.getByRole("button", { name: "Database nightly-runs" })).toBeVisible();
  await expect.element(page.getByRole("contentinfo")).toMatchTextContent(/nightly\.coppice/);
  await expect.element(page.getByRole("button", { name: "Database shop" })).not.toBeInTheDocument();
});

test("FIRSTRUN-6: a store that lost its catalog is repaired when that is pressed, and then opened", async () => {
  let isRepaired = false;
  const opened = closedHost("web");
  const api = renderApp("branches", {
    ...opened,
    "store.open": (input) => {
      if (!isRepaired) throw new FakeFailure("store-corrupt", "The store at /home/you/shop.coppice has lost its catalog");
      return opened["store.open"]?.(input) ?? storeView();
    },
    "store.repair": () => {
      isRepaired = true;
      const databases = [{ name: "shop", versions: 3, branches: 2, files: 2 }];
      return { repaired: true, reason: "There is no catalog", catalogKept: null, databases, segmentsKept: 0, problems: [] };
    },
  });
  await page.getByRole("button", { name: /Open or create a store/ }).click();
  await page.getByRole("textbox").fill("/home/you/shop.coppice");
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await expect.element(page.getByText(/No working file is changed/)).toBeVisible();
  expect(api.inputsOf("store.repair")).toEqual([]);
  await page.getByRole("button", { name: "Repair" }).click();
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  expect(api.inputsOf("store.repair")).toEqual([{ spec: "/home/you/shop.coppice" }]);
  await expect.element(page.getByText("Repaired: 1 database in a new catalog")).toBeVisible();
});
