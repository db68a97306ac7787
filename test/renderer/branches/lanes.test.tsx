import fc from "fast-check";
import { expect, test } from "vitest";
import { laneColor } from "../../../src-renderer/branches/hues.ts";
import { LANES_MAX, edgePath, graphWidth, layOutGraph, trunkPath } from "../../../src-renderer/branches/lanes.ts";
import { buildTreeRows } from "../../../src-renderer/branches/rows.ts";
import { fleet, plainBranch } from "../support/branch-samples.ts";

const tree = (parents: readonly number[]) =>
  buildTreeRows(
    [plainBranch(1, "main", null), ...parents.map((parent, index) => plainBranch(index + 2, `n${index}x`, (parent % (index + 1)) + 1))],
    { matches: null, toggled: new Map() },
  ).rows;

test("LANES-1: lanes are shared only below the last child; a child is right of its parent", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 20 }), (parents) => {
      const rows = tree(parents);
      const graph = layOutGraph(rows);
      const lastRow = new Map(graph.trunks.map((trunk) => [trunk.row, trunk.lastRow]));
      const own = graph.nodes.filter((node) => node !== null && node.lane < LANES_MAX - 1);
      expect(own.filter((node) => node?.from && node.lane <= node.from.lane)).toEqual([]);
      const clashes = own.flatMap((node) =>
        own.filter(
          (above) => above && node && above.row < node.row && above.lane === node.lane && (lastRow.get(above.row) ?? above.row) >= node.row,
        ),
      );
      expect(clashes).toEqual([]);
    }),
    { numRuns: 200, seed: 20_261_130 },
  );
});

test("LANES-2: a chain of forty forks takes twelve lanes", () => {
  const rows = tree(Array.from({ length: 40 }, (_, index) => index));
  const graph = layOutGraph(rows);
  expect(graph.lanes).toBe(LANES_MAX);
  expect(Math.max(...graph.nodes.map((node) => node?.lane ?? 0))).toBe(LANES_MAX - 1);
  expect(graphWidth(graph)).toBeLessThan(220);
});

test("LANES-2: every edge and trunk is drawable, also in the shared last lane", () => {
  const graph = layOutGraph(tree(Array.from({ length: 40 }, (_, index) => index)));
  expect(graph.nodes.map((node) => (node ? edgePath(node, 28) : "")).join()).not.toContain("NaN");
  for (const trunk of graph.trunks) expect(trunkPath(trunk, graph, 28)).toMatch(/^M\d+ \d+V\d+$/);
});

test("LANES-3: the hue comes from the name alone; main is neutral", () => {
  expect(laneColor("main")).toBe("var(--lane-main)");
  expect(laneColor("try-split")).toBe(laneColor("try-split"));
  const hues = new Set(fleet(200).map((branch) => laneColor(branch.name)));
  expect(hues.size).toBe(9);
});
