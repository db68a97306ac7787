/**
 * Lanes of the branch graph. Every row with a node gets a lane: the first one right of its parent's that is free from
 * this row down to the row of its last child. At most twelve lanes; what would lie further right shares the last.
 */
import type { Row } from "./rows.ts";

export const LANES_MAX = 12;
export const LANE_WIDTH = 16;
const MARGIN_LEFT = 16;
const MARGIN_RIGHT = 14;

export interface GraphNode {
  readonly row: number;
  readonly lane: number;
  /** Row and lane that its edge comes from; null for a root. */
  readonly from: { readonly row: number; readonly lane: number } | null;
}

export interface Graph {
  /** One entry a row; null for rows without a node (folders). */
  readonly nodes: readonly (GraphNode | null)[];
  /** Vertical lines that have an end below their node, in order of `row`. */
  readonly trunks: readonly { readonly row: number; readonly lane: number; readonly lastRow: number }[];
  readonly lanes: number;
}

export function layOutGraph(rows: readonly Row[]): Graph {
  const indexOf = new Map(rows.map((row, index) => [row.key, index]));
  const lastChild = new Map<number, number>();
  const parentOf = rows.map((row, index) => {
    const parent = row.edgeFrom === null ? undefined : indexOf.get(row.edgeFrom);
    // A fork listed above its parent (another folder) has no edge: its "Forked from" cell says it.
    if (parent === undefined || parent >= index) return null;
    lastChild.set(parent, index);
    return parent;
  });
  const freeFrom = Array.from<number>({ length: LANES_MAX }).fill(0);
  const nodes: (GraphNode | null)[] = [];
  let lanes = 1;
  rows.forEach((row, index) => {
    if (row.kind === "folder") {
      nodes.push(null);
      return;
    }
    const parentRow = parentOf[index] ?? null;
    const parent = parentRow === null ? null : nodes[parentRow];
    let lane = parent ? parent.lane + 1 : 0;
    while (lane < LANES_MAX - 1 && (freeFrom[lane] ?? 0) > index) lane += 1;
    lane = Math.min(lane, LANES_MAX - 1);
    freeFrom[lane] = Math.max(freeFrom[lane] ?? 0, (lastChild.get(index) ?? index) + 1);
    lanes = Math.max(lanes, lane + 1);
    nodes.push({ row: index, lane, from: parent ? { row: parent.row, lane: parent.lane } : null });
  });
  const trunks = [...lastChild]
    .flatMap(([row, lastRow]) => {
      const node = nodes[row];
      return node ? [{ row, lane: node.lane, lastRow }] : [];
    })
    .toSorted((a, b) => a.row - b.row);
  return { nodes, trunks, lanes };
}

export function laneX(lane: number): number {
  return MARGIN_LEFT + lane * LANE_WIDTH;
}

/** Room for at least two lanes, so that a first fork does not move the names. */
export function graphWidth(graph: Graph): number {
  return laneX(Math.max(graph.lanes, 2) - 1) + MARGIN_RIGHT;
}

/** From the parent's trunk into the child's node: an S where lanes are neighbours, else a bend and a level line. */
export function edgePath(node: GraphNode, rowHeight: number): string {
  if (!node.from) return "";
  const x0 = laneX(node.from.lane);
  const x1 = laneX(node.lane);
  const y1 = node.row * rowHeight + rowHeight / 2;
  const y0 = Math.max(y1 - 24, node.from.row * rowHeight + rowHeight / 2);
  if (x1 <= x0) return `M${x0} ${y0}V${y1}`;
  if (x1 - x0 <= LANE_WIDTH) return `M${x0} ${y0}C${x0} ${y0 + 15} ${x1} ${y0 + 7} ${x1} ${y1}`;
  return `M${x0} ${y1 - 22}C${x0} ${y1 - 5} ${x0 + 4} ${y1} ${x0 + LANE_WIDTH} ${y1}H${x1}`;
}

/** A trunk ends where the curve of its last child leaves it. */
export function trunkPath(trunk: Graph["trunks"][number], graph: Graph, rowHeight: number): string {
  const last = graph.nodes[trunk.lastRow];
  const near = last ? laneX(last.lane) - laneX(trunk.lane) <= LANE_WIDTH : true;
  const end = trunk.lastRow * rowHeight + rowHeight / 2 - (near ? 24 : 22);
  return `M${laneX(trunk.lane)} ${trunk.row * rowHeight + rowHeight / 2}V${Math.max(end, trunk.row * rowHeight + rowHeight / 2)}`;
}
