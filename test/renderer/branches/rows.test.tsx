import fc from "fast-check";
import { expect, test } from "vitest";
import type { BranchView } from "#shared/views.ts";
import { BUNDLE_MIN, buildFlatRows, buildTreeRows, type Row } from "../../../src-renderer/branches/rows.ts";
import { selectVisible } from "../../../src-renderer/branches/visible-branches.ts";
import { fleet, plainBranch } from "../support/branch-samples.ts";

const ALL = { matches: null, toggled: new Map<string, boolean>() };

function outline(rows: readonly Row[]): string[] {
  return rows.map((row) => {
    const text = {
      branch: () => (row.kind === "branch" ? row.branch.name : ""),
      folder: () => (row.kind === "folder" ? row.path : ""),
      bundle: () => (row.kind === "bundle" ? `${row.prefix}*` : ""),
      group: () => (row.kind === "group" ? `(${row.status})` : ""),
    };
    return `${".".repeat(row.level - 1)}${text[row.kind]()}`;
  });
}

const SMALL = [
  plainBranch(1, "main", null),
  plainBranch(2, "try-a", 1),
  plainBranch(3, "try-b", 1),
  plainBranch(4, "try-a-2", 2),
  plainBranch(5, "fix/refunds", 1),
  plainBranch(6, "fix/refunds-part", 5),
  plainBranch(7, "fix/tax", 4),
  plainBranch(8, "hotfix", 5),
  plainBranch(9, "orphan", 99),
];

test("ROWS-1: branches are listed under what they were forked from, in order of id", () => {
  const names = outline(buildTreeRows(SMALL, ALL).rows);
  expect(names.slice(0, 4)).toEqual(["main", ".try-a", "..try-a-2", ".try-b"]);
  expect(names).toContain("orphan");
});

test("ROWS-2: folders hold their members; a member whose parent is there is under it; nothing twice", () => {
  const { rows } = buildTreeRows(SMALL, ALL);
  expect(outline(rows).slice(4)).toEqual([".fix/", "..fix/refunds", "...fix/refunds-part", "...hotfix", "..fix/tax", "orphan"]);
  const ids = rows.flatMap((row) => (row.kind === "branch" ? [row.branch.id] : []));
  expect(ids.toSorted((a, b) => a - b)).toEqual(SMALL.map((branch) => branch.id));
});

/** Opens what is closed until nothing is. */
function openAll(branches: readonly BranchView[]): readonly Row[] {
  let toggled = new Map<string, boolean>();
  for (;;) {
    const { rows } = buildTreeRows(branches, { matches: null, toggled });
    const closed = rows.filter((row) => row.expandable && !row.expanded);
    if (closed.length === 0) return rows;
    toggled = new Map([...toggled, ...closed.map((row) => [row.key, true] as const)]);
  }
}

test("ROWS-2: whatever the names and parents, every branch is listed exactly once when all is open", () => {
  const names = fc.array(
    fc.record({ folder: fc.constantFrom("", "a/", "a/b/", "c/"), stem: fc.constantFrom("x-", "y-", "z"), parent: fc.nat() }),
    { maxLength: 120 },
  );
  fc.assert(
    fc.property(names, (specs) => {
      const branches = [
        plainBranch(1, "main", null),
        ...specs.map((spec, index) => plainBranch(index + 2, `${spec.folder}${spec.stem}${index}`, (spec.parent % (index + 1)) + 1)),
      ];
      const rows = openAll(branches);
      const ids = rows.flatMap((row) => (row.kind === "branch" ? [row.branch.id] : []));
      expect(ids.toSorted((a, b) => a - b)).toEqual(branches.map((branch) => branch.id));
      expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
    }),
    { numRuns: 60, seed: 20_261_130 },
  );
});

test("ROWS-3: more than twenty siblings with one prefix are one closed bundle with counts", () => {
  expect(outline(buildTreeRows(fleet(BUNDLE_MIN), ALL).rows)).toHaveLength(BUNDLE_MIN + 1);
  const { rows } = buildTreeRows(fleet(512), ALL);
  expect(outline(rows)).toEqual(["main", ".attempt-*"]);
  expect(rows[1]).toMatchObject({ kind: "bundle", expanded: false, tally: { count: 512, pass: 3, fail: 509 } });
});

test("ROWS-3: siblings from another fork point stay outside", () => {
  const branches = [
    ...fleet(30),
    plainBranch(100, "attempt-00099", 1, { forkedFrom: { branchId: 1, branch: "main", version: 8, checkpoint: null } }),
  ];
  expect(outline(buildTreeRows(branches, ALL).rows)).toEqual(["main", ".attempt-*", ".attempt-00099"]);
});

test("ROWS-4: an open bundle lists small statuses and folds large ones", () => {
  const bundle = buildTreeRows(fleet(512), ALL).rows[1];
  const open = new Map([[bundle?.key ?? "", true]]);
  const rows = buildTreeRows(fleet(512), { matches: null, toggled: open }).rows;
  expect(outline(rows)).toEqual(["main", ".attempt-*", "..attempt-00001", "..attempt-00002", "..attempt-00003", "..(fail)"]);
  const all = new Map([...open, [rows.at(-1)?.key ?? "", true]]);
  expect(buildTreeRows(fleet(512), { matches: null, toggled: all }).rows).toHaveLength(2 + 3 + 1 + 509);
});

test("ROWS-5: matches bring what they hang on as context", () => {
  const visible = selectVisible(SMALL, { filter: "try-a-2", hidden: new Set(), solo: null, now: 0 });
  expect([...(visible.matches ?? [])]).toEqual([4]);
  const { rows } = buildTreeRows(visible.branches, { matches: visible.matches, toggled: new Map() });
  expect(rows.map((row) => row.kind === "branch" && [row.branch.name, row.context])).toEqual([
    ["main", true],
    ["try-a", true],
    ["try-a-2", false],
  ]);
});

test("ROWS-5: a filter that is not understood hides nothing and says why", () => {
  const visible = selectVisible(SMALL, { filter: "is:blue", hidden: new Set(), solo: null, now: 0 });
  expect(visible).toMatchObject({ matches: null });
  expect(visible.problem).toContain("is:blue");
  expect(visible.branches).toHaveLength(SMALL.length);
});

test("ROWS-6: the flat list is sorted, numbers by value, ties by id", () => {
  const branches = [
    plainBranch(1, "b-10", null),
    plainBranch(2, "b-9", null),
    plainBranch(3, "a", null),
    plainBranch(4, "c", null, { checkpoints: 2 }),
  ];
  const names = (column: "name" | "checkpoints", descending: boolean) =>
    outline(buildFlatRows(branches, null, { column, descending }).rows);
  expect(names("name", false)).toEqual(["a", "b-9", "b-10", "c"]);
  expect(names("name", true)).toEqual(["c", "b-10", "b-9", "a"]);
  expect(names("checkpoints", true)).toEqual(["c", "b-10", "b-9", "a"]);
  expect(outline(buildFlatRows(branches, new Set([2]), { column: "name", descending: false }).rows)).toEqual(["b-9"]);
});

test("ROWS-7: hiding takes descendants along, the family keeps ancestors and descendants", () => {
  const options = { filter: "", hidden: new Set<number>(), solo: null as number | null, now: 0 };
  const ids = (part: Partial<typeof options>) => selectVisible(SMALL, { ...options, ...part }).branches.map((branch) => branch.id);
  expect(ids({ hidden: new Set([2]) })).toEqual([1, 3, 5, 6, 8, 9]);
  expect(ids({ solo: 4 })).toEqual([1, 2, 4, 7]);
  expect(ids({ solo: 12_345 })).toHaveLength(SMALL.length);
});

test("ROWS-8: what is folded is counted", () => {
  expect(buildTreeRows(fleet(512), ALL).folded).toEqual([{ label: "attempt-*", count: 512 }]);
  const closed = buildTreeRows(SMALL, { matches: null, toggled: new Map([["ffix/", false]]) });
  expect(closed.folded).toEqual([{ label: "fix/", count: 4 }]);
});

test("ROWS-3: ten thousand forks are two rows, and one status of them can be found", () => {
  const branches = fleet(10_000);
  expect(buildTreeRows(branches, ALL).rows).toHaveLength(2);
  const visible = selectVisible(branches, { filter: "status:pass", hidden: new Set(), solo: null, now: 0 });
  expect(visible.matches?.size).toBe(3);
});
