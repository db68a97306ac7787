import { expect, test } from "vitest";
import { wayOf } from "#bench/common/checkouts.ts";
import { makeShop } from "../support/stores.ts";

test("SUITE-14: how a file came to be is read off the checkout's result, whatever was patched afterwards", () => {
  expect(["rebuilt", "rebuilt, patched 3 pages"].map(wayOf)).toEqual(["rebuilt", "rebuilt"]);
  expect(["cloned", "copied, patched 1 page", "cloned, patched 50 pages"].map(wayOf)).toEqual(["cloned", "copied", "cloned"]);
  expect(["from the warm pool", "cloned from the warm pool", "from the warm pool, patched 2 pages"].map(wayOf)).toEqual([
    "pool",
    "pool",
    "pool",
  ]);
  expect(["none", "already current", "patched 50 pages"].map(wayOf)).toEqual([null, null, null]);
});

test("SUITE-14: a store says it in those words", async () => {
  const { store } = await makeShop();
  await store.fork({ database: "shop", branch: "main", newBranch: "try" });
  const made = await store.checkout({ database: "shop", branch: "try" });
  expect(wayOf(made.checkout)).not.toBeNull();
  const again = await store.checkout({ database: "shop", branch: "try" });
  expect(wayOf(again.checkout)).toBeNull();
});
