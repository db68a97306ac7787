import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { openImport } from "../../../src-renderer/app-state.ts";
import { FakeFailure } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { jobView } from "../support/views.ts";

test("REPORT-11: a long reading shows its own job, not one that ran before, and Cancel stops it", async () => {
  let stop: (() => void) | undefined;
  const other = jobView({ id: "other", title: "Verify the store" });
  const api = renderApp("branches", {
    "job.list": () => [other],
    "database.inspect": () =>
      new Promise((_resolve, reject) => {
        stop = () => reject(new FakeFailure("cancelled", "Inspect cancelled"));
      }),
    "job.cancel": () => {
      stop?.();
      return null;
    },
  });
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  openImport("/home/you/big.db");
  await expect.element(page.getByRole("heading", { name: "Reading big.db" })).toBeVisible();
  const panel = page.getByRole("region", { name: "Import" });
  await expect.element(panel.getByRole("button", { name: "Cancel" })).not.toBeInTheDocument();
  // Started an hour ago by the host's clock, which need not agree with this one.
  api.emit({ type: "job", job: jobView({ id: "mine", title: "Inspect /home/you/big.db", startedAt: Date.now() - 3_600_000 }) });
  await panel.getByRole("button", { name: "Cancel" }).click();
  expect(api.inputsOf("job.cancel")).toEqual([{ id: "mine" }]);
  await expect.element(page.getByRole("treegrid")).toBeVisible();
  await expect.element(page.getByRole("alert")).not.toBeInTheDocument();
});
