import { memo } from "react";
import { laneColor } from "./hues.ts";
import { edgePath, laneX, trunkPath, type Graph, type GraphNode } from "./lanes.ts";
import { bundlePrefix, isBundled, type Row } from "./rows.ts";

/** All of a bundle share one hue: they differ in their number only. */
function colorOf(row: Row): string {
  if (row.kind === "folder") return "none";
  if (row.kind === "branch" && !isBundled(row)) return laneColor(row.branch.name);
  return laneColor(bundlePrefix(row.kind === "branch" ? row.branch.name : row.sample.name));
}

/** Filled dot: clean. Ring: unsaved work. Capsule: bundle. Square: a folded group of it. */
function NodeMark({
  node,
  row,
  color,
  y,
  fill,
}: {
  readonly node: GraphNode;
  readonly row: Row;
  readonly color: string;
  readonly y: number;
  readonly fill: string;
}) {
  const x = laneX(node.lane);
  if (row.kind === "bundle") {
    return (
      <g>
        <rect x={x - 5} y={y - 7} width={10} height={14} rx={5} fill={fill} stroke={color} />
        <circle cx={x} cy={y - 3} r={1.4} fill={color} stroke="none" />
        <circle cx={x} cy={y + 3} r={1.4} fill={color} stroke="none" />
      </g>
    );
  }
  if (row.kind === "group") return <rect x={x - 4} y={y - 4} width={8} height={8} rx={2} fill={fill} stroke={color} />;
  if (row.kind === "branch" && (row.branch.checkout.state === "unsaved" || row.branch.checkout.state === "conflict"))
    return <circle cx={x} cy={y} r={4.5} fill={fill} stroke={color} />;
  return <circle cx={x} cy={y} r={5} fill={color} stroke="none" />;
}

/** The lanes beside the rows on the screen; everything else is not drawn. */
export const BranchGraph = memo(function BranchGraph(props: {
  readonly graph: Graph;
  readonly rows: readonly Row[];
  /** First and last row on the screen. */
  readonly first: number;
  readonly last: number;
  readonly rowHeight: number;
  readonly width: number;
  readonly selected: ReadonlySet<number>;
}) {
  const { graph, rows, first, last, rowHeight, width } = props;
  const top = first * rowHeight;
  const height = (last - first + 1) * rowHeight;
  const trunks = graph.trunks.filter((trunk) => trunk.row <= last && trunk.lastRow >= first);
  const visible = graph.nodes.slice(first, last + 1).filter((node) => node !== null);
  return (
    <svg
      aria-hidden
      className="pointer-events-none absolute left-0"
      style={{ top }}
      width={width}
      height={height}
      viewBox={`0 ${top} ${width} ${height}`}
      fill="none"
      strokeWidth={2}
    >
      {visible.map((node) => {
        const row = rows[node.row];
        return row && node.from ? <path key={row.key} d={edgePath(node, rowHeight)} stroke={colorOf(row)} /> : null;
      })}
      {trunks.map((trunk) => {
        const row = rows[trunk.row];
        return row ? <path key={row.key} d={trunkPath(trunk, graph, rowHeight)} stroke={colorOf(row)} /> : null;
      })}
      {visible.map((node) => {
        const row = rows[node.row];
        if (!row) return null;
        const isSelected = row.kind === "branch" && props.selected.has(row.branch.id);
        const y = node.row * rowHeight + rowHeight / 2;
        return (
          <NodeMark
            key={row.key}
            node={node}
            row={row}
            color={colorOf(row)}
            y={y}
            fill={isSelected ? "var(--selected)" : "var(--canvas)"}
          />
        );
      })}
    </svg>
  );
});
