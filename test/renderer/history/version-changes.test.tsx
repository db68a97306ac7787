import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { diffHandlers } from "../support/diff-samples.ts";
import { renderApp } from "../support/render-app.tsx";
import { changeCounts } from "../support/views.ts";

const nothing = { tables: [], inserted: 0, deleted: 0, updated: 0, schemaChanges: 0 };
const NAMES: Readonly<Record<number, RegExp>> = { 198: /seed-2026-11/, 214: /One column too many/, 215: /after-ddl/, 219: /split-ready/ };
const version = (number: number) => page.getByRole("grid", { name: /Versions of/ }).getByRole("row", { name: NAMES[number] });
const detail = () => page.getByRole("complementary", { name: "Version" });

test("CHANGES-10: each version names what it changed most since the one before; the first one has nothing to say", async () => {
  const api = renderApp("history", {
    "version.changes": ({ pairs }) =>
      pairs.map(({ from, to }) => {
        if (to === 214) return changeCounts(from, to, { ...nothing, state: "failed", problem: "Cannot read shop v214" });
        if (to === 215) return changeCounts(from, to, { ...nothing, schemaChanges: 1 });
        if (to === 198) return changeCounts(from, to, nothing);
        return changeCounts(from, to, { moreTables: 3 });
      }),
  });
  await expect.element(version(219)).toMatchTextContent(/orders\+212−96~18\.2k4 more tables§2/);
  await expect.element(version(215)).toMatchTextContent(/§1/);
  await expect.element(version(198)).toMatchTextContent(/none/);
  await expect.element(version(214)).toMatchTextContent(/unknown/);
  await version(214).click();
  await expect.element(detail().getByText("Cannot read shop v214")).toBeVisible();
  const asked = api.inputsOf("version.changes").flatMap(({ pairs }) => pairs);
  expect(asked).toContainEqual({ from: 218, to: 219 });
  expect(asked.some(({ to }) => to === 1)).toBe(false);
});

test("CHANGES-10: the detail lists the tables; each opens the comparison with the version before, there", async () => {
  const api = renderApp("history", diffHandlers(9));
  await version(219).click();
  await expect.element(detail().getByText("Changes since v218")).toBeVisible();
  await expect.element(detail().getByRole("button", { name: /^stock_moves: 1,204 deleted/ })).toMatchTextContent(/−1,204/);
  await detail()
    .getByRole("button", { name: /^orders: 212 added, 96 deleted/ })
    .click();
  await expect.element(page.getByRole("grid", { name: "Changed rows of orders" })).toBeVisible();
  const [asked] = api.inputsOf("diff.open");
  expect(asked).toMatchObject({ left: { kind: "state", at: "v218" }, right: { kind: "state", at: "v219" } });
});
