/** Rectangles of what takes the space: branches by what goes with each, its file included, and the other parts whole. Pure. */
import { hierarchy, treemap, treemapSquarify } from "d3-hierarchy";
import type { UsageView } from "#shared/usage-views.ts";
import { laneColor } from "../branches/hues.ts";
import { formatPlural } from "../ui/format.ts";
import { describeCount, PARTS } from "./usage-parts.ts";
import { databaseOf, figuresOf, groupRows, holdsSeveralDatabases, keysOfLine, nameOf } from "./usage-rows.ts";

/** Branches and groups with a rectangle of their own; smaller ones share one. */
const TILES_MAX = 120;
const GAP_PX = 2;

interface Tile {
  readonly key: string;
  readonly label: string;
  /** A third line where there is room. */
  readonly note: string;
  readonly bytes: number;
  readonly color: string;
  /** Branches that a press selects; none for parts. */
  readonly branches: readonly string[];
}

export interface PlacedTile extends Tile {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** What is drawn, with the largest first; what takes nothing is left out. */
export function listTiles(view: UsageView): readonly Tile[] {
  const withDatabase = holdsSeveralDatabases(view);
  const groups = groupRows(view.rows, new Set())
    .map((entry): Tile => ({
      key: entry.key,
      label: entry.kind === "bundle" ? `${nameOf(entry)}*` : nameOf(entry),
      note: entry.kind === "branch" ? (withDatabase ? databaseOf(entry) : "") : formatPlural(entry.members.length, "branch", "branches"),
      bytes: figuresOf(entry).uniqueBytes + figuresOf(entry).fileBytes,
      color: laneColor(nameOf(entry)),
      branches: keysOfLine(entry),
    }))
    .filter((tile) => tile.bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
  const rest = groups.slice(TILES_MAX);
  const tiles = groups.slice(0, TILES_MAX);
  if (rest.length > 0) {
    const branches = rest.flatMap((tile) => tile.branches);
    const bytes = rest.reduce((sum, tile) => sum + tile.bytes, 0);
    tiles.push({ key: "rest", label: formatPlural(branches.length, "other"), note: "", bytes, color: PARTS.unique.color, branches });
  }
  const ofBranches = view.rows.reduce((sum, row) => sum + row.fileBytes, 0);
  for (const part of view.parts) {
    const bytes = part.name === "unique" ? 0 : part.name === "files" ? part.storedBytes - ofBranches : part.storedBytes;
    if (bytes <= 0) continue;
    const { short, color } = PARTS[part.name];
    tiles.push({ key: part.name, label: short, note: part.name === "files" ? "" : describeCount(part), bytes, color, branches: [] });
  }
  return tiles.toSorted((a, b) => b.bytes - a.bytes);
}

/** Squarified: Bruls, Huizing and van Wijk, 2000. Sizes in CSS pixels; what is thinner than half a pixel is left out. */
export function placeTiles(tiles: readonly Tile[], width: number, height: number): readonly PlacedTile[] {
  if (tiles.length === 0 || width <= 0 || height <= 0) return [];
  interface Node {
    readonly tile: Tile | null;
    readonly children?: readonly Node[];
  }
  const root = hierarchy<Node>({ tile: null, children: tiles.map((tile) => ({ tile })) }, (node) => node.children).sum(
    (node) => node.tile?.bytes ?? 0,
  );
  const placed = treemap<Node>().tile(treemapSquarify).size([width, height]).paddingInner(GAP_PX)(root);
  return placed.leaves().flatMap(({ data: { tile }, x0, x1, y0, y1 }) => {
    if (!tile || x1 - x0 < 0.5 || y1 - y0 < 0.5) return [];
    return [{ ...tile, left: x0, top: y0, width: x1 - x0, height: y1 - y0 }];
  });
}
