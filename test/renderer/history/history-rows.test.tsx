import { describe, expect, test } from "vitest";
import { buildTimeline, isSelectable, versionTitle } from "../../../src-renderer/history/history-rows.ts";
import { stepRow } from "../../../src-renderer/ui/step-row.ts";
import { branchView, historyRow } from "../support/views.ts";

const clean = branchView({ checkout: { ...branchView().checkout, state: "clean" } });
const none = new Set<string>();

describe("the timeline", () => {
  test("HISTORY-1: unsaved work is the top row, and a clean or stale file has none", () => {
    const versions = [historyRow(219, { place: "head", heads: ["try-split"] })];
    expect(buildTimeline(branchView(), versions, none)[0]).toEqual({ type: "unsaved", key: "unsaved", conflict: false });
    const conflict = branchView({ checkout: { ...branchView().checkout, state: "conflict" } });
    expect(buildTimeline(conflict, versions, none)[0]).toEqual({ type: "unsaved", key: "unsaved", conflict: true });
    expect(buildTimeline(clean, versions, none).map((row) => row.type)).toEqual(["version"]);
    const stale = branchView({ checkout: { ...branchView().checkout, state: "stale" } });
    expect(buildTimeline(stale, versions, none).map((row) => row.type)).toEqual(["version"]);
  });

  test("HISTORY-2: a run of automatic versions is one row that opens; a single one stays a row", () => {
    const versions = [
      historyRow(219, { place: "head" }),
      historyRow(218, { kind: "autosave", place: "side" }),
      historyRow(217, { kind: "flush" }),
      historyRow(216),
      historyRow(215, { kind: "autosave" }),
      historyRow(214),
    ];
    const closed = buildTimeline(clean, versions, none);
    expect(closed.map((row) => row.key)).toEqual(["v219", "fold-217", "v216", "v215", "v214"]);
    const open = buildTimeline(clean, versions, new Set(["fold-217"]));
    expect(open.map((row) => row.key)).toEqual(["v219", "fold-217", "v218", "v217", "v216", "v215", "v214"]);
  });

  test("HISTORY-3: an automatic version that is a head or carries a checkpoint never folds", () => {
    const versions = [
      historyRow(5, { kind: "autosave", place: "head" }),
      historyRow(4, { kind: "autosave", checkpoints: [{ branch: "main", name: "kept" }] }),
      historyRow(3, { kind: "autosave", heads: ["other"] }),
      historyRow(2, { kind: "autosave" }),
    ];
    expect(buildTimeline(clean, versions, none).map((row) => row.key)).toEqual(["v5", "v4", "v3", "v2"]);
  });

  test("HISTORY-4: one separator stands where the branch was forked, also between automatic versions", () => {
    const versions = [
      historyRow(219, { place: "head" }),
      historyRow(218, { kind: "autosave" }),
      historyRow(198, { kind: "autosave", inherited: true }),
      historyRow(197, { inherited: true }),
    ];
    const rows = buildTimeline(clean, versions, none);
    expect(rows.map((row) => row.key)).toEqual(["v219", "v218", "fork-point", "v198", "v197"]);
    expect(rows[2]).toMatchObject({ label: "Forked from main at seed-2026-11, v198" });
    const orphan = branchView({ ...clean, forkedFrom: { branchId: null, branch: null, version: 198, checkpoint: null } });
    expect(buildTimeline(orphan, versions, none)[2]).toMatchObject({ label: "Forked from a branch that was purged at v198" });
  });

  test("HISTORY-5: moving by key skips the separator and stops at both ends", () => {
    const rows = buildTimeline(clean, [historyRow(219, { place: "head" }), historyRow(198, { inherited: true })], none);
    expect(stepRow(rows, 0, 1, isSelectable)).toBe(2);
    expect(stepRow(rows, 2, -1, isSelectable)).toBe(0);
    expect(stepRow(rows, 2, 1, isSelectable)).toBe(2);
    expect(stepRow(rows, 0, -100, isSelectable)).toBe(0);
    expect(stepRow([], 0, 1, isSelectable)).toBe(0);
  });

  test("HISTORY-6: a version is called by its checkpoints, the branch's own first, else by its kind", () => {
    const checkpoints = [
      { branch: "main", name: "seed" },
      { branch: "try-split", name: "ready" },
      { branch: "other", name: "seed" },
    ];
    expect(versionTitle(historyRow(9, { checkpoints }), "try-split")).toBe("ready, seed");
    expect(versionTitle(historyRow(9, { kind: "rollback-safety" }), "try-split")).toBe("Saved before rollback");
  });
});
