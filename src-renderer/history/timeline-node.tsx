import type { BranchView } from "#shared/views.ts";
import { laneColor } from "../branches/hues.ts";
import type { TimelineRow } from "./history-rows.ts";

const WIDTH = 36;
const HEIGHT = 28;
const X = 20;
const MIDDLE = HEIGHT / 2;

interface NodeProps {
  readonly row: TimelineRow;
  readonly branch: BranchView;
  readonly first: boolean;
  readonly last: boolean;
}

/** One row's piece of the line: its own hue above the fork point, the parent's below; dashed where the head is not. */
export function TimelineNode({ row, branch, first, last }: NodeProps) {
  const own = laneColor(branch.name);
  const parent = laneColor(branch.forkedFrom?.branch ?? branch.name);
  const inherited = row.type === "version" ? row.version.inherited : row.type === "fold" ? Boolean(row.versions[0]?.inherited) : false;
  const colour = inherited ? parent : own;
  const off = row.type === "unsaved" || (row.type === "version" && row.version.place === "ahead");
  return (
    <svg width={WIDTH} height={HEIGHT} aria-hidden className="block">
      {row.type === "fork-point" ? (
        <>
          <path d={`M${X} 0V${MIDDLE}`} stroke={own} strokeWidth={2} />
          <path d={`M${X} ${MIDDLE}V${HEIGHT}`} stroke={parent} strokeWidth={2} />
        </>
      ) : (
        <path
          d={`M${X} ${first ? MIDDLE : 0}V${last ? MIDDLE : HEIGHT}`}
          stroke={colour}
          strokeWidth={2}
          strokeDasharray={off ? "2 4" : undefined}
        />
      )}
      <Dot row={row} colour={colour} />
    </svg>
  );
}

function Dot({ row, colour }: { readonly row: TimelineRow; readonly colour: string }) {
  if (row.type === "fork-point") return null;
  if (row.type === "fold")
    return <rect x={X - 4} y={MIDDLE - 4} width={8} height={8} rx={2} fill="var(--canvas)" stroke={colour} strokeWidth={2} />;
  if (row.type === "unsaved") return <circle cx={X} cy={MIDDLE} r={4} fill="var(--canvas)" stroke={colour} strokeWidth={2} />;
  const { place, checkpoints } = row.version;
  if (place === "side" || place === "ahead")
    return <circle cx={X} cy={MIDDLE} r={3.5} fill="var(--canvas)" stroke={colour} strokeWidth={1.5} />;
  return <circle cx={X} cy={MIDDLE} r={place === "head" ? 5 : checkpoints.length > 0 ? 4 : 3} fill={colour} />;
}
