import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import type { UsageRow } from "#shared/usage-views.ts";
import { moveInGrid } from "../branches/grid-keys.ts";
import { cx } from "../ui/cx.ts";
import { CheckMark, CheckpointCells, FigureCells, NameCell, NoteCell, type Ticked } from "./usage-cells.tsx";
import { isEntry, keysBetween, keysOfLine, nameOf, type UsageLine } from "./usage-rows.ts";
import { changeUsage, NONE, sortBy, toggleLine, toggleSelected, useUsage, type UsageColumn } from "./usage-state.ts";

const ROW_HEIGHT = 28;
const GRID =
  "grid grid-cols-[14px_minmax(150px,1.9fr)_minmax(56px,.7fr)_66px_76px_66px_66px_minmax(84px,1fr)] items-center gap-x-3 pr-3 pl-4 tiny:grid-cols-[14px_minmax(0,1fr)_76px_84px]";

const COLUMNS: readonly {
  readonly column: UsageColumn | null;
  readonly title: string;
  readonly hint: string;
  readonly wideOnly?: boolean;
}[] = [
  { column: "name", title: "Branch", hint: "" },
  {
    column: null,
    title: "Of logical",
    hint: "How much of a full copy is stored: dark what is unique, light what is shared",
    wideOnly: true,
  },
  { column: "unique", title: "Unique", hint: "Freed when only this goes. Of several: the sum of what each needs alone" },
  { column: "shared", title: "Shared", hint: "What it needs and something else does too. Of several: the most of any of them" },
  { column: "logical", title: "Logical", hint: "Size of the file that its head is", wideOnly: true },
  { column: "file", title: "File", hint: "Its working file with the WAL", wideOnly: true },
];

function tickedOf(keys: readonly string[], selection: ReadonlySet<string>): Ticked {
  if (keys.length === 0 || selection.size === 0) return "none";
  let count = 0;
  for (const key of keys) if (selection.has(key)) count += 1;
  return count === 0 ? "none" : count === keys.length ? "all" : "some";
}

function Head({ keys }: { readonly keys: readonly string[] }) {
  const sort = useUsage((state) => state.sort);
  const selection = useUsage((state) => state.selection);
  const ticked = tickedOf(keys, selection);
  const Arrow = sort.descending ? ArrowDown : ArrowUp;
  return (
    <div role="row" className={cx(GRID, "sticky top-0 z-10 h-row border-b border-line bg-surface text-2xs font-medium text-ink-3")}>
      <div role="columnheader" className="flex">
        <button
          type="button"
          role="checkbox"
          aria-checked={ticked === "some" ? "mixed" : ticked === "all"}
          aria-label="All branches"
          onClick={() => changeUsage({ selection: ticked === "all" ? NONE : new Set(keys) })}
        >
          <CheckMark ticked={ticked} />
        </button>
      </div>
      {COLUMNS.map(({ column, title, hint, wideOnly }) => {
        const on = column !== null && sort.column === column;
        return (
          <div
            key={title}
            role="columnheader"
            title={hint}
            aria-sort={on ? (sort.descending ? "descending" : "ascending") : undefined}
            className={cx("name-cut", column !== null && column !== "name" && "text-right", wideOnly && "tiny:hidden")}
          >
            {column === null ? (
              title
            ) : (
              <button
                type="button"
                className={cx("inline-flex items-center gap-1 hover:text-ink", on && "text-ink")}
                onClick={() => sortBy(column)}
              >
                {title}
                {on ? <Arrow size={12} aria-hidden /> : null}
              </button>
            )}
          </div>
        );
      })}
      <div role="columnheader" title="Its parent, else a fork of it, and how many others" className="name-cut tiny:hidden">
        Shared with
      </div>
    </div>
  );
}

interface LineActions {
  readonly onPress: (line: UsageLine, event: MouseEvent) => void;
  readonly onTick: (line: UsageLine) => void;
  readonly onToggle: (line: UsageLine) => void;
  readonly onRetry: (row: UsageRow) => void;
}

interface LineProps {
  readonly line: UsageLine;
  readonly index: number;
  readonly ticked: Ticked;
  readonly focused: boolean;
  readonly gridFocused: boolean;
  readonly withDatabase: boolean;
  readonly actions: LineActions;
}

const Line = memo(function Line(props: LineProps) {
  const { line, actions, ticked } = props;
  const selected = ticked === "all";
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the treegrid has the keyboard for all its rows
    <div
      role="row"
      id={`usage-${line.key}`}
      tabIndex={-1}
      data-focused={props.focused}
      aria-label={isEntry(line) ? nameOf(line) : undefined}
      aria-level={line.level}
      aria-rowindex={props.index + 2}
      aria-selected={isEntry(line) ? selected : undefined}
      aria-expanded={line.expandable ? line.expanded : undefined}
      onClick={(event) => actions.onPress(line, event)}
      onDoubleClick={() => line.expandable && actions.onToggle(line)}
      className={cx(
        GRID,
        "group absolute inset-x-0 h-row text-xs border-b border-line/60 outline-none contain-strict select-none",
        selected ? (props.gridFocused ? "bg-selected shadow-[inset_2px_0_0_var(--accent)]" : "bg-selected-quiet") : "hover:bg-hover",
        !isEntry(line) && "bg-surface",
        props.focused && props.gridFocused && "row-focus",
      )}
      style={{ top: props.index * ROW_HEIGHT }}
    >
      {isEntry(line) ? (
        <div role="gridcell" className="flex">
          {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- Space does the same */}
          <span
            data-tick
            className="-m-2 p-2"
            onClick={(event) => {
              if (event.shiftKey) return;
              event.stopPropagation();
              actions.onTick(line);
            }}
          >
            <CheckMark ticked={ticked} />
          </span>
        </div>
      ) : (
        <div role="gridcell" />
      )}
      {line.kind === "note" ? (
        <NoteCell line={line} onRetry={() => actions.onRetry(line.row)} />
      ) : (
        <NameCell line={line} withDatabase={props.withDatabase} onToggle={() => actions.onToggle(line)} />
      )}
      {isEntry(line) ? <FigureCells entry={line} /> : line.kind === "checkpoint" ? <CheckpointCells checkpoint={line.checkpoint} /> : null}
    </div>
  );
});

interface UsageGridProps {
  readonly lines: readonly UsageLine[];
  /** Keys of all branches that are listed, also of those inside closed lines. */
  readonly keys: readonly string[];
  readonly withDatabase: boolean;
  readonly onRetry: (row: UsageRow) => void;
  readonly onDelete: () => void;
}

/** The table of branches. One tab stop: the keyboard's row is told to screen readers by `aria-activedescendant`. */
export function UsageGrid({ lines, keys, withDatabase, onRetry, onDelete }: UsageGridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const focusedKey = useUsage((state) => state.focusedKey);
  const selection = useUsage((state) => state.selection);
  const [gridFocused, setGridFocused] = useState(false);
  const anchorKey = useUsage((state) => state.anchorKey);
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollPaddingStart: ROW_HEIGHT,
    getItemKey: (index) => lines[index]?.key ?? index,
  });
  const focusedIndex = useRef(0);
  const current = useRef({ lines, anchorKey, onRetry });
  current.current = { lines, anchorKey, onRetry };

  // Lines move under the keyboard when the store is measured again: it stays with its line, else with its place.
  useLayoutEffect(() => {
    const index = lines.findIndex((line) => line.key === focusedKey);
    if (index >= 0) focusedIndex.current = index;
    else if (focusedKey !== null) changeUsage({ focusedKey: lines[Math.min(focusedIndex.current, lines.length - 1)]?.key ?? null });
  }, [lines, focusedKey]);

  useEffect(() => {
    const index = current.current.lines.findIndex((line) => line.key === focusedKey);
    if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
  }, [focusedKey, virtualizer]);

  const actions = useMemo<LineActions>(
    () => ({
      onPress: (line, event) => {
        if (event.shiftKey) extendTo(current.current.lines, current.current.anchorKey, line.key);
        else if (!isEntry(line)) changeUsage({ focusedKey: line.key });
        else if (event.ctrlKey || event.metaKey) tick(line);
        else changeUsage({ focusedKey: line.key, anchorKey: line.key, selection: new Set(keysOfLine(line)) });
      },
      onTick: tick,
      onToggle: (line) => toggleLine(line.key, !line.expanded),
      onRetry: (row) => current.current.onRetry(row),
    }),
    [],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    // A press of a row gives it the keyboard; the buttons in it, and in the head, have keys of their own.
    if (event.altKey || (event.target instanceof Element && event.target.closest("button"))) return;
    const line = lines.find((each) => each.key === focusedKey);
    if (event.key === "Escape" && selection.size > 0) changeUsage({ selection: NONE });
    else if (event.key === "Delete") onDelete();
    else if (event.key === "Enter" && line?.expandable) toggleLine(line.key, !line.expanded);
    else if (!move(event)) return;
    event.preventDefault();
  };
  const move = (event: KeyboardEvent): boolean => {
    const pageRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2);
    const pressed = { key: event.key, shift: event.shiftKey, mod: event.ctrlKey || event.metaKey };
    const step = moveInGrid(lines, focusedKey, pressed, pageRows);
    if (step?.kind === "select-all") changeUsage({ selection: new Set(keys) });
    else if (step?.kind === "toggle") toggleLine(step.key, step.open);
    else if (step?.kind === "select-toggle") tick(lines.find((line) => line.key === step.key));
    else if (step?.kind === "focus" && step.extend) extendTo(lines, anchorKey ?? focusedKey, step.key);
    else if (step?.kind === "focus") changeUsage({ focusedKey: step.key, anchorKey: step.key });
    else return false;
    return true;
  };
  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label="Usage of branches"
      aria-multiselectable
      aria-rowcount={lines.length + 1}
      aria-activedescendant={focusedKey === null ? undefined : `usage-${focusedKey}`}
      tabIndex={0}
      data-pane-focus
      onKeyDown={onKeyDown}
      onFocus={() => {
        setGridFocused(true);
        if (focusedKey === null && lines[0]) changeUsage({ focusedKey: lines[0].key });
      }}
      onBlur={(event) => setGridFocused(event.currentTarget.contains(event.relatedTarget))}
      className="relative min-h-0 flex-1 overflow-auto outline-none"
    >
      <Head keys={keys} />
      <div role="rowgroup" className="relative" style={{ height: lines.length * ROW_HEIGHT }}>
        {virtualizer.getVirtualItems().map(({ index }) => {
          const line = lines[index];
          if (!line) return null;
          return (
            <Line
              key={line.key}
              line={line}
              index={index}
              ticked={tickedOf(keysOfLine(line), selection)}
              focused={line.key === focusedKey}
              gridFocused={gridFocused}
              withDatabase={withDatabase}
              actions={actions}
            />
          );
        })}
      </div>
    </div>
  );
}

function tick(line: UsageLine | undefined): void {
  if (!line || !isEntry(line)) return;
  toggleSelected(keysOfLine(line));
  changeUsage({ focusedKey: line.key, anchorKey: line.key });
}

/** A range takes the place of what was selected, and keeps its beginning. */
function extendTo(lines: readonly UsageLine[], anchorKey: string | null, key: string): void {
  changeUsage({ focusedKey: key, anchorKey: anchorKey ?? key, selection: keysBetween(lines, anchorKey, key) });
}
