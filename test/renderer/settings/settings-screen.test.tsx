import { expect, test, vi } from "vitest";
import { page } from "vitest/browser";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";

const panel = (name: string) => page.getByRole("region", { name });

test("SETTINGS-1: verify names every problem it found", async () => {
  renderApp("settings", {
    "store.verify": () => ({
      ok: false,
      versions: 222,
      segments: 231,
      pages: 88_120,
      bytesRead: 1024,
      checkouts: 12,
      problems: [{ object: "segment 5f0c-0.seg", problem: "checksum of frame 12" }],
    }),
  });
  await panel("Verify").getByRole("button", { name: "Verify the store" }).click();
  await expect.element(panel("Verify").getByText("1 problem")).toBeVisible();
  await expect.element(panel("Verify").getByRole("row", { name: /segment 5f0c-0.seg/ })).toMatchTextContent(/checksum of frame 12/);
});

test("SETTINGS-2: space is freed only after its figures were shown", async () => {
  const api = renderApp("settings", {
    "store.gc": ({ dryRun }) => ({
      dryRun,
      purged: [],
      versionsRemoved: 1,
      segmentsRemoved: 1,
      checkoutsRemoved: 0,
      orphanFilesRemoved: 0,
      bytesFreed: dryRun && api.inputsOf("store.gc").length > 1 ? 0 : 2048,
      strandedOperations: [],
    }),
  });
  await panel("Space").getByRole("button", { name: "What would be freed?" }).click();
  await panel("Space").getByRole("button", { name: "Free 2.0 KiB for good" }).click();
  await expect.element(panel("Space").getByText(/Freed 2.0 KiB/)).toBeVisible();
  await expect.element(panel("Space").getByRole("button", { name: "Nothing to free" })).toBeDisabled();
  expect(api.inputsOf("store.gc")).toEqual([{ dryRun: true }, { dryRun: false }, { dryRun: true }]);
});

test("SETTINGS-3: the theme applies at once and is kept", async () => {
  const api = renderApp("settings");
  await page.getByRole("radio", { name: "Dark" }).click();
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  await vi.waitFor(() => expect(api.inputsOf("app.saveSettings").at(-1)).toMatchObject({ theme: "dark" }), { timeout: 5_000 });
});

test("SETTINGS-4: a check that fails says so in its own panel, the others stay usable", async () => {
  renderApp("settings", {
    "store.doctor": () => {
      throw new FakeFailure("worker-died", "Doctor: the engine stopped", { untouched: "The store is unchanged." });
    },
  });
  await panel("Doctor").getByRole("button", { name: "Examine" }).click();
  await expect.element(panel("Doctor").getByRole("alert")).toMatchTextContent(/The store is unchanged\./);
  await expect.element(panel("Verify").getByRole("button", { name: "Verify the store" })).toBeEnabled();
});

test("SETTINGS-5: caches show what they take, are cleared, and take a new budget only when it is a size", async () => {
  let bytes = 3 * 1024 ** 2;
  let budget: number | null = null;
  const api = renderApp("settings", {
    "store.cache": ({ budgetBytes, clear }) => {
      const before = bytes;
      if (clear) bytes = 0;
      if (budgetBytes !== undefined) budget = budgetBytes;
      return {
        budgetBytes: budget ?? 2 * 1024 ** 3,
        budgetIsDefault: budget === null,
        caches: [{ name: "ready files", files: bytes > 0 ? 3 : 0, bytes }],
        freedBytes: before - bytes,
        hits: 0,
        misses: 0,
      };
    },
  });
  await panel("Caches").getByRole("button", { name: "What do they take?" }).click();
  await expect.element(panel("Caches").getByRole("row", { name: "ready files 3 3.0 MiB" })).toBeVisible();
  const field = panel("Caches").getByRole("textbox", { name: "Ready files may take" });
  await field.fill("much");
  await expect.element(panel("Caches").getByRole("button", { name: "Set" })).toBeDisabled();
  await expect.element(panel("Caches").getByRole("alert")).toBeVisible();
  await field.fill("500 MB");
  await panel("Caches").getByRole("button", { name: "Set" }).click();
  await panel("Caches").getByRole("button", { name: "Clear caches" }).click();
  await expect.element(panel("Caches").getByText("Freed 3.0 MiB.")).toBeVisible();
  await expect.element(panel("Caches").getByRole("button", { name: "Nothing to clear" })).toBeDisabled();
  expect(api.inputsOf("store.cache")).toEqual([{}, { budgetBytes: 500 * 1024 ** 2 }, { clear: true }]);
});
