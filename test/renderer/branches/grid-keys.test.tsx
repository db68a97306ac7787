import { expect, test } from "vitest";
import { findTyped, idsBetween, moveInGrid, repairFocus } from "../../../src-renderer/branches/grid-keys.ts";
import { buildTreeRows } from "../../../src-renderer/branches/rows.ts";
import { fleet, plainBranch } from "../support/branch-samples.ts";

const BRANCHES = [plainBranch(1, "main", null), plainBranch(2, "try-a", 1), plainBranch(3, "try-a-2", 2), plainBranch(4, "other", 1)];
const { rows } = buildTreeRows(BRANCHES, { matches: null, toggled: new Map() });
const press = (key: string, from: string | null, rest: { shift?: boolean; mod?: boolean } = {}) =>
  moveInGrid(rows, from, { key, shift: rest.shift ?? false, mod: rest.mod ?? false }, 2);
const focus = (key: string, extend = false) => ({ kind: "focus", key, extend });

test("KEYS-1: moving stops at the ends and extends with Shift", () => {
  expect(press("ArrowDown", "b1")).toEqual(focus("b2"));
  expect(press("ArrowDown", "b4")).toEqual(focus("b4"));
  expect(press("ArrowUp", "b1")).toEqual(focus("b1"));
  expect(press("ArrowUp", null)).toEqual(focus("b1"));
  expect(press("End", "b1")).toEqual(focus("b4"));
  expect(press("Home", "b4", { shift: true })).toEqual(focus("b1", true));
  expect(press("PageDown", "b1")).toEqual(focus("b3"));
  expect(press("PageUp", "b4")).toEqual(focus("b2"));
});

test("KEYS-2: Right opens and enters, Left closes and leaves", () => {
  expect(press("ArrowRight", "b2")).toEqual(focus("b3"));
  expect(press("ArrowRight", "b4")).toBeNull();
  expect(press("ArrowLeft", "b2")).toEqual({ kind: "toggle", key: "b2", open: false });
  expect(press("ArrowLeft", "b3")).toEqual(focus("b2"));
  const closed = buildTreeRows(BRANCHES, { matches: null, toggled: new Map([["b2", false]]) }).rows;
  expect(moveInGrid(closed, "b2", { key: "ArrowRight", shift: false, mod: false }, 2)).toEqual({ kind: "toggle", key: "b2", open: true });
});

test("KEYS-3: Enter, Space, Mod-A and the menu keys", () => {
  expect(press("Enter", "b2")).toEqual({ kind: "menu", key: "b2" });
  expect(press("F10", "b2", { shift: true })).toEqual({ kind: "menu", key: "b2" });
  expect(press("F10", "b2")).toBeNull();
  expect(press(" ", "b2")).toEqual({ kind: "select-toggle", key: "b2" });
  expect(press("a", "b2", { mod: true })).toEqual({ kind: "select-all" });
  expect(press("z", "b2", { mod: true })).toBeNull();
  const bundled = buildTreeRows(fleet(40), { matches: null, toggled: new Map() }).rows;
  const bundle = bundled[1]?.key ?? "";
  expect(moveInGrid(bundled, bundle, { key: "Enter", shift: false, mod: false }, 2)).toEqual({ kind: "toggle", key: bundle, open: true });
});

test("KEYS-4: typing finds the next name, around the end", () => {
  expect(findTyped(rows, "b1", "t")).toBe("b2");
  expect(findTyped(rows, "b2", "t")).toBe("b3");
  expect(findTyped(rows, "b3", "t")).toBe("b2");
  expect(findTyped(rows, "b3", "try-a")).toBe("b3");
  expect(findTyped(rows, "b1", "x")).toBeNull();
});

test("KEYS-1: a range selects the branches of every row in it", () => {
  expect([...idsBetween(rows, "b4", "b2")]).toEqual([2, 3, 4]);
  expect(idsBetween(rows, "gone", "b2").size).toBe(0);
});

test("KEYS-5: the focus stays with the branch, else at its place", () => {
  expect(repairFocus(rows, "b3", 3, 2)).toBe("b3");
  expect(repairFocus(rows, "f-gone", 4, 0)).toBe("b4");
  expect(repairFocus(rows, "b99", 99, 2)).toBe("b3");
  expect(repairFocus(rows, "b99", null, 50)).toBe("b4");
  expect(repairFocus([], "b1", 1, 0)).toBeNull();
});
