import { useMemo, useState, type MouseEvent } from "react";
import type { UsageView } from "#shared/usage-views.ts";
import { formatBytes } from "#shared/units.ts";
import { folderOf } from "../branches/rows.ts";
import { cx } from "../ui/cx.ts";
import { formatCount } from "../ui/format.ts";
import { useSize } from "../ui/use-size.ts";
import { listTiles, placeTiles, type PlacedTile } from "./treemap-model.ts";
import { changeUsage, toggleSelected, useUsage } from "./usage-state.ts";

/** Text needs this much room; a smaller rectangle says what it is when the mouse is on it. */
const LABEL = { width: 44, height: 22 };
/** Of a character of the smaller lines at most, and of the margins beside them. */
const CHARACTER_WIDTH = 6.5;
const MARGINS = 14;
const VALUE_HEIGHT = 38;
const NOTE_HEIGHT = 54;

function pressTile(tile: PlacedTile, event: MouseEvent): void {
  if (tile.branches.length === 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) toggleSelected(tile.branches);
  else changeUsage({ selection: new Set(tile.branches) });
}

/**
 * What takes the space, as areas. A press selects branches; the table beside it does the same by keyboard, so that no
 * rectangle is a tab stop.
 */
export function UsageTreemap({ view }: { readonly view: UsageView }) {
  const [box, size] = useSize<HTMLDivElement>();
  const selection = useUsage((state) => state.selection);
  const [hoveredKey, setHoveredKey] = useState<string | null>(null);
  const tiles = useMemo(() => listTiles(view), [view]);
  const placed = useMemo(() => placeTiles(tiles, size.width, size.height), [tiles, size]);
  const hovered = placed.find((tile) => tile.key === hoveredKey);
  return (
    <section aria-label="What takes the space" className="flex min-h-56 flex-1 flex-col px-4 pt-2 pb-3">
      <div className="flex h-7 flex-none items-center justify-between gap-3 text-2xs">
        <h2 className="flex-none font-semibold text-ink-2">What takes the space</h2>
        <span className="name-cut text-ink-3 tabular-nums">
          {hovered ? (
            <>
              <b className="font-medium text-ink">{hovered.label}</b> · {formatBytes(hovered.bytes)} · {formatCount(hovered.bytes)} bytes
            </>
          ) : (
            "outlined = selected"
          )}
        </span>
      </div>
      <div ref={box} data-treemap className="relative min-h-0 flex-1" onMouseLeave={() => setHoveredKey(null)}>
        {placed.map((tile) => (
          <TileBox
            key={tile.key}
            tile={tile}
            selected={tile.branches.length > 0 && tile.branches.every((key) => selection.has(key))}
            onHover={() => setHoveredKey(tile.key)}
            onPress={(event) => pressTile(tile, event)}
          />
        ))}
      </div>
    </section>
  );
}

function TileBox(props: {
  readonly tile: PlacedTile;
  readonly selected: boolean;
  readonly onHover: () => void;
  readonly onPress: (event: MouseEvent) => void;
}) {
  const { tile, selected } = props;
  const isBranch = tile.branches.length > 0;
  const hasText = tile.width >= LABEL.width && tile.height >= LABEL.height;
  // A figure that is cut is another figure: it is shown whole or not at all.
  const fits = (text: string) => text.length * CHARACTER_WIDTH + MARGINS <= tile.width;
  const size = formatBytes(tile.bytes);
  return (
    <button
      type="button"
      tabIndex={-1}
      data-tile={tile.key}
      aria-pressed={isBranch ? selected : undefined}
      aria-label={`${tile.label}, ${size}`}
      title={`${tile.label}\n${formatCount(tile.bytes)} bytes${tile.note === "" ? "" : `\n${tile.note}`}`}
      onMouseEnter={props.onHover}
      onClick={props.onPress}
      className={cx(
        "absolute overflow-hidden rounded-xs text-left text-2xs leading-3.5 text-ink",
        isBranch ? "hover:brightness-95" : "cursor-default",
        selected && "outline-2 -outline-offset-2 outline-accent",
      )}
      style={{
        left: tile.left,
        top: tile.top,
        width: tile.width,
        height: tile.height,
        background: `color-mix(in srgb, ${tile.color} ${tile.key === "shared" ? 60 : 30}%, var(--canvas))`,
        // The edge tells a branch from a part without its colour.
        ...(isBranch && tile.width >= 8 ? { boxShadow: `inset 3px 0 0 ${tile.color}` } : {}),
      }}
    >
      {hasText ? (
        <span className="absolute inset-x-1.75 top-1 flex flex-col">
          <span className="name-cut text-xs leading-4 font-medium">
            {isBranch ? tile.label.slice(folderOf(tile.label.replace(/\/$/, "")).length) : tile.label}
          </span>
          {tile.height >= VALUE_HEIGHT && fits(size) ? <span className="name-cut tabular-nums">{size}</span> : null}
          {tile.height >= NOTE_HEIGHT && tile.note !== "" && fits(tile.note) ? (
            <span className="name-cut tabular-nums">{tile.note}</span>
          ) : null}
        </span>
      ) : null}
    </button>
  );
}
