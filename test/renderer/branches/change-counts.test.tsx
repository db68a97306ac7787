import { beforeEach, expect, test, vi } from "vitest";
import { page } from "vitest/browser";
import type { RequestInput } from "#shared/contract.ts";
import type { ChangeCountsView } from "#shared/diff-views.ts";
import type { BranchView } from "#shared/views.ts";
import { selectBranches, showScreen } from "../../../src-renderer/app-state.ts";
import { changeBranchesView, resetBranchesView } from "../../../src-renderer/branches/branches-view.ts";
import { formatShort } from "../../../src-renderer/ui/change-figures.tsx";
import { plainBranch } from "../support/branch-samples.ts";
import { diffHandlers } from "../support/diff-samples.ts";
import type { FakeHandlers } from "../support/fake-api.ts";
import { renderApp } from "../support/render-app.tsx";
import { changeCounts } from "../support/views.ts";

beforeEach(resetBranchesView);

type Answer = (from: number, to: number, time: number) => ChangeCountsView;

/** `answer` is told how often the pair was asked for before. */
function hostOf(branches: readonly BranchView[], answer: Answer): FakeHandlers {
  const asked = new Map<string, number>();
  return {
    "branch.list": ({ after = 0, limit = 2_000 }) => ({
      branches: branches.filter(({ id }) => id > after).slice(0, limit),
      total: branches.length,
      lastOperation: 1,
    }),
    "branch.changes": () => ({ changed: [], removed: [], total: branches.length, lastOperation: 1 }),
    "version.changes": ({ pairs }: RequestInput<"version.changes">) =>
      pairs.map(({ from, to }) => {
        const key = `${from} ${to}`;
        asked.set(key, (asked.get(key) ?? -1) + 1);
        return answer(from ?? to - 1, to, asked.get(key) ?? 0);
      }),
  };
}

const row = (name: RegExp) => page.getByRole("treegrid", { name: "Branches" }).getByRole("row", { name });
const pairsOf = (api: ReturnType<typeof renderApp>) => api.inputsOf("version.changes").flatMap(({ pairs }) => pairs);
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("CHANGES-8: a branch shows what its head changed since the fork; one that was not moved, and main, need no question", async () => {
  const branches = [
    plainBranch(1, "main", null, { head: 40 }),
    plainBranch(2, "moved", 1, { head: 41 }),
    plainBranch(3, "unmoved", 1, { head: 7 }),
    plainBranch(4, "broken", 1, { head: 43 }),
    plainBranch(5, "quiet", 1, { head: 44 }),
  ];
  const nothing = { tables: [], inserted: 0, deleted: 0, updated: 0, schemaChanges: 0 };
  const api = renderApp(
    "branches",
    hostOf(branches, (from, to) => {
      if (to === 43) return changeCounts(from, to, { ...nothing, state: "failed", problem: "No version v43" });
      return changeCounts(from, to, to === 44 ? nothing : {});
    }),
  );
  await expect.element(row(/^moved/)).toMatchTextContent(/\+212−1\.3k~18\.2k§2/);
  await expect
    .element(row(/^moved/).getByRole("img", { name: "212 added, 1,300 deleted, 18,204 changed, 2 schema changes" }))
    .toBeVisible();
  await expect
    .element(row(/^moved/).getByTitle(/^orders: 212 added, 96 deleted, 18,204 changed\nstock_moves: 1,204 deleted\n2 schema/))
    .toBeVisible();
  await expect.element(row(/^unmoved/)).toMatchTextContent(/none/);
  await expect.element(row(/^quiet/)).toMatchTextContent(/none/);
  await expect.element(row(/^broken/)).toMatchTextContent(/unknown/);
  await expect.element(row(/^broken/).getByTitle("No version v43")).toBeVisible();
  expect(pairsOf(api)).toEqual([41, 43, 44].map((to) => ({ from: 7, to })));
  expect(api.inputsOf("version.changes")).toHaveLength(1);
});

test("CHANGES-8: the inspector lists the tables; each opens the comparison there, and the schema its own", async () => {
  const branches = [plainBranch(1, "main", null), plainBranch(2, "moved", 1, { head: 41 })];
  const api = renderApp("branches", { ...diffHandlers(9), ...hostOf(branches, (from, to) => changeCounts(from, to)) });
  await expect.element(row(/^moved/)).toBeVisible();
  selectBranches(2);
  const inspector = page.getByRole("complementary", { name: "Branch inspector" });
  await expect.element(inspector.getByText("Changes since the fork at v7")).toBeVisible();
  await inspector.getByRole("button", { name: /^stock_moves: 1,204 deleted/ }).click();
  await expect.element(page.getByRole("region", { name: "Diff" })).toBeVisible();
  expect(api.inputsOf("diff.open")).toEqual([
    {
      left: { kind: "state", database: "shop", branch: "branch-1", at: "v7" },
      right: { kind: "state", database: "shop", branch: "moved" },
    },
  ]);
  showScreen("branches");
  await inspector.getByRole("button", { name: /^orders/ }).click();
  await expect.element(page.getByRole("grid", { name: "Changed rows of orders" })).toBeVisible();
  showScreen("branches");
  await inspector.getByRole("button", { name: /^Schema/ }).click();
  await expect.element(page.getByRole("radio", { name: /Schema/ })).toBeChecked();
});

test("CHANGES-9: of ten thousand branches only those in sight are asked for, together, and once", async () => {
  const branches = [
    plainBranch(1, "main", null),
    ...Array.from({ length: 10_000 }, (_, index) => plainBranch(index + 2, `b-${index}`, 1, { head: 100 + index })),
  ];
  const api = renderApp(
    "branches",
    hostOf(branches, (from, to) => changeCounts(from, to)),
  );
  await expect.element(row(/^b-\*/)).toBeVisible();
  changeBranchesView({ mode: "flat" });
  await expect.element(row(/^b-0\D/)).toMatchTextContent(/\+212/);
  const first = pairsOf(api).length;
  expect(first).toBeLessThan(60);
  const grid = page.getByRole("treegrid", { name: "Branches" }).element();
  for (let step = 1; step <= 12; step += 1) {
    grid.scrollTop = step * 7_000;
    await later(16);
  }
  await vi.waitFor(() => expect(pairsOf(api).length).toBeGreaterThan(first));
  await later(300);
  // However slow the way was: what was in sight at its stops, and no more.
  expect(pairsOf(api).length).toBeLessThan(1_000);
  const all = pairsOf(api).map(({ to }) => to);
  expect(new Set(all).size).toBe(all.length);
  const before = pairsOf(api).length;
  grid.scrollTop = 0;
  await expect.element(row(/^b-0\D/)).toMatchTextContent(/\+212/);
  await later(300);
  expect(pairsOf(api).length).toBe(before);
});

test("CHANGES-9: what is pending is asked for again while it is shown, and no longer", async () => {
  const branches = [plainBranch(1, "main", null), plainBranch(2, "slow", 1, { head: 41 }), plainBranch(3, "never", 1, { head: 42 })];
  const pending = { state: "pending", tables: [], inserted: 0, deleted: 0, updated: 0, schemaChanges: 0 } as const;
  const api = renderApp(
    "branches",
    hostOf(branches, (from, to, time) => changeCounts(from, to, to === 41 && time >= 2 ? {} : pending)),
  );
  await expect.element(row(/^slow/)).toMatchTextContent(/…/);
  await expect.element(row(/^slow/)).toMatchTextContent(/\+212/);
  const known = api.inputsOf("version.changes").length;
  await vi.waitFor(() => expect(api.inputsOf("version.changes").length).toBeGreaterThan(known));
  expect(api.inputsOf("version.changes").at(-1)?.pairs).toEqual([{ from: 7, to: 42 }]);
  showScreen("activity");
  await expect.element(page.getByRole("region", { name: "Activity" })).toBeVisible();
  await later(400);
  const left = api.inputsOf("version.changes").length;
  await later(800);
  expect(api.inputsOf("version.changes")).toHaveLength(left);
});

test("CHANGES-8: short numbers have three digits and a unit", () => {
  expect([0, 999, 1_000, 1_204, 36_640, 99_949, 99_950, 250_400, 999_499, 999_500, 1_250_000, 4_000_000_000].map(formatShort)).toEqual([
    "0",
    "999",
    "1k",
    "1.2k",
    "36.6k",
    "99.9k",
    "100k",
    "250k",
    "999k",
    "1M",
    "1.3M",
    "4G",
  ]);
});
