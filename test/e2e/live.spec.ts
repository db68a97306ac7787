import { join } from "node:path";
import { expect, listAsRecent, makeStore, test, useStore } from "./fixtures.ts";

test("E2E-3: what another program does to the open store appears without a reload", async ({ startApp, folder }) => {
  const store = join(folder, "live.coppice");
  await makeStore(store, `await store.create({ database: "shop" });`);
  listAsRecent(folder, store);
  const { page } = await startApp();
  await page
    .getByRole("button", { name: /live\.coppice/ })
    .first()
    .click();
  await expect(page.getByRole("row").filter({ hasText: "main" }).first()).toBeVisible();
  const fork = page.getByRole("row").filter({ hasText: "from-outside" });
  await expect(fork).toHaveCount(0);
  await useStore(store, `await store.fork({ database: "shop", branch: "main", newBranch: "from-outside" });`);
  await expect(fork.first()).toBeVisible();
});
