import { expect, test } from "vitest";
import { listTiles, placeTiles } from "../../../src-renderer/usage/treemap-model.ts";
import { chooseUnit, formatIn } from "../../../src-renderer/usage/reconcile-table.tsx";
import { compareBytes } from "../../../src-renderer/usage/gc-dialogs.tsx";
import { toCsv, toMarkdown } from "../../../src-renderer/usage/usage-export.tsx";
import { buildLines, filterRows, isEntry, keysBetween, nameOf, sortRows, type UsageLine } from "../../../src-renderer/usage/usage-rows.ts";
import { NONE, type UsageSort } from "../../../src-renderer/usage/usage-state.ts";
import { usageRow, usageRows, usageView } from "../support/usage-samples.ts";

const BY_UNIQUE: UsageSort = { column: "unique", descending: true };
const nothing = { sort: BY_UNIQUE, expanded: NONE, checkpoints: new Map() };
const names = (lines: readonly UsageLine[]) => lines.map((line) => (isEntry(line) ? nameOf(line) : line.kind));

test("USAGEVIEW-2: numbered siblings and folders are one line with their sums until it is opened", () => {
  const folder = Array.from({ length: 11 }, (_, index) =>
    usageRow(`agent/x/run-${index}`, { uniqueBytes: 10, logicalBytes: 100, sharedBytes: index }),
  );
  const rows = [...usageRows(21), ...folder];
  const lines = buildLines(rows, nothing);
  expect(names(lines)).toEqual([
    "main",
    "load-test",
    "try-split",
    "try-cents",
    "fix/tax-rounding",
    "staging-copy",
    "attempt-",
    "agent/x/",
    "qa/empty-cart",
  ]);
  expect(lines[7]).toMatchObject({ kind: "folder", uniqueBytes: 110, logicalBytes: 1_100, sharedBytes: 10 });
  expect(lines[6]).toMatchObject({ kind: "bundle", uniqueBytes: 21 * 4_096, level: 1, expanded: false });
  const opened = buildLines(rows, { ...nothing, expanded: new Set([lines[6]?.key ?? ""]) });
  expect(opened).toHaveLength(9 + 21);
  expect(opened[7]).toMatchObject({ kind: "branch", level: 2, parentKey: lines[6]?.key });
  // One fewer of each, and each stands for itself.
  expect(buildLines([...usageRows(20), ...folder.slice(1)], nothing)).toHaveLength(7 + 20 + 10);
});

test("USAGEVIEW-2: siblings of two databases or two parents are two lines", () => {
  const attempts = usageRows(21).filter((row) => row.branch.startsWith("attempt"));
  const elsewhere = attempts.map((row) => ({ ...row, database: "crm" }));
  const others = Array.from({ length: 21 }, (_, index) => usageRow(`attempt-9${index}`, { sharedWith: { branch: "main", others: 3 } }));
  expect(buildLines([...attempts, ...elsewhere, ...others], nothing).map((line) => line.kind)).toEqual(["bundle", "bundle", "bundle"]);
});

test("USAGEVIEW-3: the order is that of the column, then of names; a range holds the branches of every line in it", () => {
  const rows = usageRows(21);
  const byName = buildLines(rows, { ...nothing, sort: { column: "name", descending: false } });
  expect(names(byName)).toEqual([
    "attempt-",
    "fix/tax-rounding",
    "load-test",
    "main",
    "qa/empty-cart",
    "staging-copy",
    "try-cents",
    "try-split",
  ]);
  const numbered = [usageRow("run-10"), usageRow("run-9"), usageRow("run-1")];
  expect(sortRows(numbered, BY_UNIQUE).map((row) => row.branch)).toEqual(["run-1", "run-9", "run-10"]);
  const [first, , third] = byName;
  expect(keysBetween(byName, third?.key ?? "", first?.key ?? "").size).toBe(23);
  expect([...keysBetween(byName, "gone", third?.key ?? "")]).toEqual(["shop@load-test"]);
  expect(keysBetween(byName, first?.key ?? "", "gone").size).toBe(0);
});

test("USAGEVIEW-10: a filter looks for parts of names, whole names with *, and databases", () => {
  const rows = [...usageRows(3), usageRow("main", { database: "crm" })];
  const found = (filter: string) => filterRows(rows, filter).map((row) => `${row.database}@${row.branch}`);
  expect(found("TRY")).toEqual(["shop@try-split", "shop@try-cents"]);
  expect(found("attempt-*2")).toEqual(["shop@attempt-00002"]);
  expect(found("crm@*")).toEqual(["crm@main"]);
  expect(found("fix ta")).toEqual(["shop@fix/tax-rounding"]);
  expect(found("(")).toEqual([]);
  expect(found("  ")).toHaveLength(rows.length);
});

test("USAGEVIEW-11: areas are as the bytes, and hold all of the total; small branches share a rectangle", () => {
  const many = Array.from({ length: 300 }, (_, index) =>
    usageRow(`b${"x".repeat(index % 7)}${String.fromCharCode(97 + (index % 26))}${index}z`, { uniqueBytes: 100 * (index + 1) }),
  );
  const view = usageView([...usageRows(40), ...many]);
  const tiles = listTiles(view);
  expect(tiles.reduce((sum, tile) => sum + tile.bytes, 0)).toBe(view.storedBytes);
  const rest = tiles.find((tile) => tile.key === "rest");
  expect(rest?.branches.length).toBeGreaterThan(100);
  expect(new Set(tiles.flatMap((tile) => tile.branches)).size).toBe(view.rows.filter((row) => row.uniqueBytes + row.fileBytes > 0).length);
  // What goes with a branch is its file as well.
  expect(tiles.find((tile) => tile.label === "main")?.bytes).toBe((38 + 231) * 1024 ** 2);
  expect(tiles.find((tile) => tile.label === "attempt-*")).toMatchObject({ bytes: 40 * 4_096, note: "40 branches" });
  const placed = placeTiles(tiles, 400, 300);
  const shared = placed.find((tile) => tile.key === "shared");
  const part = ((shared?.width ?? 0) * (shared?.height ?? 0)) / (400 * 300);
  expect(part).toBeCloseTo((237 * 1024 ** 2) / view.storedBytes, 1);
  expect(
    placed.every((tile) => tile.left >= 0 && tile.top >= 0 && tile.left + tile.width <= 400.01 && tile.top + tile.height <= 300.01),
  ).toBe(true);
  expect(placeTiles([], 400, 300)).toEqual([]);
  expect(placeTiles(tiles, 0, 300)).toEqual([]);
});

test("USAGEVIEW-11: an area names its database only where there are several", () => {
  const one = usageRows(3);
  const both = [...one, usageRow("other", { database: "crm" })];
  const notes = [one, both].map((rows) => listTiles(usageView(rows, { database: null })).find((tile) => tile.label === "main")?.note);
  expect(notes).toEqual(["", "shop"]);
});

test("USAGEVIEW-1: the table has one unit, the total's; what is there is never called nothing", () => {
  expect(chooseUnit(0)).toEqual({ name: "bytes", bytes: 1 });
  expect(chooseUnit(1_023)).toEqual({ name: "bytes", bytes: 1 });
  expect(chooseUnit(512 * 1024 ** 2).name).toBe("MiB");
  expect(chooseUnit(1024 ** 6).name).toBe("TiB");
  expect(formatIn(0, 1024 ** 2)).toBe("0.0");
  expect(formatIn(1, 1024 ** 2)).toBe("< 0.1");
  expect(formatIn(48.94 * 1024 ** 2, 1024 ** 2)).toBe("48.9");
  expect(formatIn(1_234, 1)).toBe("1,234");
});

test("USAGEVIEW-6: what was freed stands beside what was predicted, to the byte where rounding hides the difference", () => {
  expect(compareBytes(2_048, 2_048)).toBe("2.0 KiB freed, as predicted");
  expect(compareBytes(2_048, 4_096)).toBe("2.0 KiB freed, 4.0 KiB predicted");
  expect(compareBytes(2_048, 2_049)).toBe("2,048 bytes freed, 2,049 predicted");
});

test("USAGEVIEW-12: CSV has exact bytes, Markdown the totals, parts and branches", () => {
  const rows = [
    usageRow("try-split", { uniqueBytes: 12_582_913, fileBytes: 4_096, sharedWith: { branch: "main", others: 514 } }),
    usageRow("lone", { sharedWith: { branch: null, others: 0 } }),
  ];
  expect(toCsv(rows).split("\r\n")).toEqual([
    "database,branch,protected,unique bytes,shared bytes,logical bytes,file bytes,shared with,and others",
    "shop,try-split,no,12582913,222298112,242221056,4096,main,514",
    "shop,lone,no,0,222298112,242221056,0,,0",
    "",
  ]);
  const text = toMarkdown(usageView(rows, { physicalBytes: null }), rows);
  expect(text).toContain("# Usage of shop");
  expect(text).toMatch(/physical unknown/);
  expect(text).toMatch(/\| Trash \| 9 branches \| 61\.0 MiB \| 42\.0 MiB \|/);
  expect(text).toMatch(/\| shop \| try-split \| no \| 12\.0 MiB \| 212\.0 MiB \| 231\.0 MiB \| 4\.0 KiB \| main \| 514 \|/);
});
