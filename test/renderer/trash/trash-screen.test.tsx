import { expect, test, vi } from "vitest";
import { page } from "vitest/browser";
import type { GcReport } from "#shared/views.ts";
import { matchesTrash, proposeRestoreName, trashPlace } from "../../../src-renderer/trash/trash-words.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { operationView, trashView } from "../support/views.ts";

function gcReport(dryRun: boolean): GcReport {
  return {
    dryRun,
    purged: ["attempt-1"],
    versionsRemoved: 3,
    segmentsRemoved: 2,
    checkoutsRemoved: 1,
    orphanFilesRemoved: 0,
    bytesFreed: 1024 ** 2,
    strandedOperations: [7],
  };
}

test("TRASH-1: an entry is restored at once; when its name was taken meanwhile, another one is proposed", async () => {
  const api = renderApp("trash", {
    "trash.list": () => [trashView(1, { name: "try-split" })],
    "branch.restore": ({ as }) => {
      if (as === undefined) throw new FakeFailure("name-taken", "Restore: a branch try-split exists");
      return { operation: operationView(9, { kind: "restore", summary: `Restored ${as}` }), branch: null, warnings: [] };
    },
  });
  await page.getByRole("button", { name: "Restore try-split" }).click();
  await page.getByRole("button", { name: "Restore as try-split-restored" }).click();
  await expect.element(page.getByText("Restored try-split-restored")).toBeVisible();
  expect(api.inputsOf("branch.restore")).toEqual([
    { kind: "branch", id: 1 },
    { kind: "branch", id: 1, as: "try-split-restored" },
  ]);
});

test("TRASH-2: emptying shows its figures first, and removes nothing before it is confirmed", async () => {
  const api = renderApp("trash", { "store.gc": ({ dryRun }) => gcReport(dryRun) });
  await page.getByRole("button", { name: "Empty trash…" }).click();
  await expect.element(page.getByRole("dialog").getByText("1.0 MiB")).toBeVisible();
  await page.getByRole("button", { name: "Keep everything" }).click();
  expect(new Set(api.inputsOf("store.gc").map((input) => input.dryRun))).toEqual(new Set([true]));
  await page.getByRole("button", { name: "Empty trash…" }).click();
  await page.getByRole("button", { name: "Purge for good" }).click();
  await vi.waitFor(() => expect(api.inputsOf("store.gc").at(-1)).toEqual({ dryRun: false, purgeAllTrash: true }));
  await expect.element(page.getByText("Emptied the trash: 1.0 MiB freed")).toBeVisible();
});

test("TRASH-3: the filter looks at place, actor and reason; a proposed name is free", () => {
  const entry = trashView(1, { reason: "expire", actor: "agent-7" });
  expect(trashPlace(entry)).toBe("shop@attempt-1");
  for (const text of ["", "ATTEMPT expired", "agent-7", "branch"]) expect(matchesTrash(entry, text)).toBe(true);
  expect(matchesTrash(entry, "dropped")).toBe(false);
  expect(proposeRestoreName("a", new Set(["a", "a-restored", "a-restored-2"]))).toBe("a-restored-3");
});

test("TRASH-4: each entry says why it is there and when it is purged; nothing there is one sentence", async () => {
  const api = renderApp("trash");
  await expect.element(page.getByRole("row", { name: /refund-audit-03/ })).toMatchTextContent(/Expired/);
  await expect.element(page.getByRole("row", { name: /staging/ })).toMatchTextContent(/Database dropped/);
  api.handle({ "trash.list": () => [] });
  api.emit({ type: "store-changed", lastOperation: 1 });
  await expect.element(page.getByText(/The trash is empty/)).toBeVisible();
  await expect.element(page.getByRole("button", { name: "Empty trash…" })).toBeDisabled();
});
