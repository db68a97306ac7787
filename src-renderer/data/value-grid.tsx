import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import type { DataValue } from "#shared/query-views.ts";
import { MenuAt, type MenuEntry } from "../ui/menu.tsx";
import { GridFoot } from "./grid-foot.tsx";
import { GridHead } from "./grid-head.tsx";
import { useWidths } from "./use-widths.ts";
import { copyEntries, copyRange, editEntries, type CopySource } from "./grid-acts.ts";
import { GridRow, ROW_PX, type OpenEditor } from "./grid-row.tsx";
import {
  TOP_LEFT,
  clampPlace,
  isInside,
  rangeOf,
  stepSelection,
  wholeRows,
  type GridPlace,
  type GridRange,
  type GridSelection,
} from "./grid-selection.ts";

const HEAD_PX = 28;
/** Rows from an end at which more are asked for. */
const AHEAD_ROWS = 100;

export interface GridColumn {
  readonly name: string;
  /** As declared; empty where it is not. */
  readonly type: string;
  readonly isKey: boolean;
  /** On hover. */
  readonly title?: string;
}

export interface GridOrder {
  readonly column: string;
  readonly descending: boolean;
}

/** What a row is marked with; the sign is printed. */
export interface RowMark {
  readonly sign: "+" | "−" | "~" | "!";
  readonly word: string;
}

export interface GridEditing {
  /** Why this cell cannot be edited; null when it can. */
  readonly whyNot: (row: number, column: number) => string | null;
  /** What the editor starts with. */
  readonly textOf: (row: number, column: number) => string;
  /** Takes what was typed; answers what is wrong with it, or null. */
  readonly commit: (row: number, column: number, text: string) => string | null;
  readonly setNull: (range: GridRange) => void;
  readonly deleteRows: (range: GridRange) => void;
  readonly revert: (range: GridRange) => void;
  readonly isChanged: (row: number, column: number) => boolean;
}

export interface ValueGridProps {
  readonly label: string;
  readonly columns: readonly GridColumn[];
  /** Rows known. */
  readonly count: number;
  /** Values in order of `columns`; null while the row is not here. */
  readonly rowAt: (index: number) => readonly DataValue[] | null;
  /** More rows are wanted behind the last one, or before the first one. */
  readonly onEnd?: (() => void) | undefined;
  readonly onStart?: (() => void) | undefined;
  /** Counts the rows that were put before the first one since the grid was shown, less those that were let go of there. */
  readonly shift?: number;
  /** Changes when other rows are shown: what the columns need is measured again. */
  readonly filled?: number;
  /** What the row is numbered as; null where nobody knows. Default: from 1. */
  readonly numberAt?: (index: number) => number | null;
  readonly order?: GridOrder | null;
  readonly onOrder?: (column: string) => void;
  /** Double-click and Enter, where the cell is not edited. */
  readonly onOpenValue?: (row: number, column: number) => void;
  /** The cell with the keyboard. */
  readonly onFocusCell?: (place: GridPlace | null) => void;
  readonly rowMark?: ((index: number) => RowMark | null) | undefined;
  /** Cells that stand out in a marked row, where nothing is edited. */
  readonly isChangedAt?: ((row: number, column: number) => boolean) | undefined;
  /** What is said in place of a value that is not there yet, such as the default of a new row; null where there is one. */
  readonly absentAt?: ((row: number, column: number) => string | null) | undefined;
  readonly editing?: GridEditing | undefined;
  /** The whole of a value of which `rowAt` has the beginning. */
  readonly readWhole?: ((row: number, column: number) => Promise<DataValue>) | undefined;
  /** Names the table in SQL that is copied. */
  readonly table?: string;
  /** Left in the bar beneath. */
  readonly status?: ReactNode;
  /** Acts on the cell with the keyboard, above the others in the menu. */
  readonly entries?: ((place: GridPlace) => readonly MenuEntry[]) | undefined;
  /** Gives the keyboard to a cell; once for each id. */
  readonly reveal?: { readonly id: number; readonly place: GridPlace } | null;
  /** Ctrl/⌘-Home and -End, where more rows exist than are known. Answers whether it was done. */
  readonly onJump?: (to: "start" | "end") => boolean;
}

/** Rows of exact values, virtualised both ways: one cell has the keyboard, a rectangle of cells is chosen. */
export function ValueGrid(props: ValueGridProps) {
  const { columns, count, rowAt, onEnd, onStart } = props;
  const gridId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [selection, setSelection] = useState<GridSelection>(TOP_LEFT);
  const [editor, setEditor] = useState<OpenEditor | null>(null);
  const [menuAt, setMenuAt] = useState<{ readonly x: number; readonly y: number } | null>(null);
  const numberPx = 28 + String(Math.max(props.numberAt?.(count - 1) ?? count, 100)).length * 7;
  const { widths, numeric, resize, fit } = useWidths(columns, count, rowAt, props.filled ?? 0);
  const rows = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 12 });
  const cells = useVirtualizer({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widths[index] ?? 0,
    overscan: 4,
  });
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the widths are what it measures
  useLayoutEffect(() => cells.measure(), [cells, widths]);
  useShift(props.shift ?? 0, scroller, setSelection);
  const size = { rows: count, columns: columns.length };
  const focus = clampPlace(selection.focus, size);
  const range = rangeOf(selection, size);
  const items = rows.getVirtualItems();
  const [firstShown, lastShown] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    if (onEnd && lastShown >= count - AHEAD_ROWS) onEnd();
  }, [onEnd, lastShown, count]);
  useEffect(() => {
    if (onStart && firstShown <= AHEAD_ROWS) onStart();
  }, [onStart, firstShown, count]);
  const { onFocusCell, reveal } = props;
  const isEmpty = range === null;
  const { row: focusRow, column: focusColumn } = focus;
  useEffect(() => onFocusCell?.(isEmpty ? null : { row: focusRow, column: focusColumn }), [onFocusCell, isEmpty, focusRow, focusColumn]);

  const select = (next: GridSelection) => {
    setSelection(next);
    const place = clampPlace(next.focus, size);
    revealRow(scroller.current, place.row);
    revealColumn(scroller.current, place.column, widths, numberPx);
  };
  const revealed = useRef(reveal?.id ?? 0);
  useEffect(() => {
    if (!reveal || reveal.id === revealed.current) return;
    revealed.current = reveal.id;
    setSelection({ anchor: reveal.place, focus: reveal.place });
    revealRow(scroller.current, reveal.place.row);
    scroller.current?.focus();
  }, [reveal]);
  const source: CopySource = { ...props, range };
  const open = (place: GridPlace) => {
    const why = props.editing ? props.editing.whyNot(place.row, place.column) : "";
    if (props.editing && why === null) setEditor({ place, text: props.editing.textOf(place.row, place.column), problem: null });
    else props.onOpenValue?.(place.row, place.column);
  };
  const openMenu = (x: number, y: number) => range && setMenuAt({ x, y });
  const acts = { open: () => open(focus), openValue: () => props.onOpenValue?.(focus.row, focus.column) };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const page = Math.max(1, Math.floor((scroller.current.clientHeight - ROW_PX) / ROW_PX) - 1);
    if (jumps(event, props.onJump) || actOnKey(event, source, acts, openMenu, scroller.current)) return event.preventDefault();
    const next = stepSelection(selection, event, size, page);
    if (next === null) return;
    event.preventDefault();
    select(next);
  };
  const finish = (text: string, move: GridPlace) => {
    if (!editor || !props.editing) return;
    const problem = props.editing.commit(editor.place.row, editor.place.column, text);
    if (problem !== null) return setEditor({ ...editor, text, problem });
    setEditor(null);
    scroller.current?.focus();
    const focused = clampPlace({ row: editor.place.row + move.row, column: editor.place.column + move.column }, size);
    select({ anchor: focused, focus: focused });
  };
  const onMouseDown = (event: MouseEvent) => {
    const place = placeAt(event);
    if (!place || event.button === 1) return;
    if (event.button === 2 && range && isInside(range, place.row, place.column < 0 ? range.left : place.column)) return;
    if (place.column < 0) setSelection(wholeRows(place.row, event.shiftKey ? selection.anchor.row : place.row, size));
    else setSelection({ anchor: event.shiftKey ? selection.anchor : place, focus: place });
  };
  return (
    <>
      <div
        ref={scroller}
        role="grid"
        tabIndex={0}
        data-pane-focus
        aria-label={props.label}
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable
        aria-activedescendant={range ? `${gridId}-${focus.row}-${focus.column}` : undefined}
        onKeyDown={onKeyDown}
        onMouseDown={onMouseDown}
        // oxlint-disable-next-line jsx-a11y/mouse-events-have-key-events -- with Shift, the keys choose a rectangle too
        onMouseOver={(event) => {
          const place = event.buttons === 1 ? placeAt(event) : null;
          if (place && !editor)
            setSelection({ ...selection, focus: place.column < 0 ? { row: place.row, column: columns.length - 1 } : place });
        }}
        onDoubleClick={(event) => {
          const place = placeAt(event);
          if (place && place.column >= 0) open(place);
        }}
        onContextMenu={(event) => {
          event.preventDefault();
          openMenu(event.clientX, event.clientY);
        }}
        className="group/values relative min-h-0 flex-1 overflow-auto outline-none select-none"
      >
        <div className="relative min-w-full" style={{ width: cells.getTotalSize() + numberPx, height: rows.getTotalSize() + HEAD_PX }}>
          <GridHead
            columns={columns}
            numeric={numeric}
            items={cells.getVirtualItems()}
            numberPx={numberPx}
            order={props.order ?? null}
            onOrder={props.onOrder}
            onResize={resize}
            onFit={fit}
          />
          {items.map((item) => (
            <GridRow
              key={item.key}
              gridId={gridId}
              grid={props}
              numeric={numeric}
              index={item.index}
              top={item.start + HEAD_PX}
              items={cells.getVirtualItems()}
              numberPx={numberPx}
              range={range}
              focus={item.index === focus.row ? focus.column : null}
              editor={editor?.place.row === item.index ? editor : null}
              onFinish={finish}
              onCancel={() => {
                setEditor(null);
                scroller.current?.focus();
              }}
            />
          ))}
        </div>
      </div>
      <GridFoot status={props.status} source={source} />
      <MenuAt
        label={props.label}
        at={menuAt}
        entries={menuAt ? [...menuOf(props.entries?.(focus) ?? []), ...editEntries(source, acts), ...copyEntries(source)] : []}
        onClose={() => {
          setMenuAt(null);
          scroller.current?.focus();
        }}
      />
    </>
  );
}

function menuOf(entries: readonly MenuEntry[]): readonly MenuEntry[] {
  return entries.length === 0 ? [] : [...entries, { kind: "separator", id: "acts" }];
}

/** A column of -1 is the row's number. */
function placeAt(event: MouseEvent): GridPlace | null {
  const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-cell]") : null;
  const [row, column] = (cell?.dataset["cell"] ?? "").split(":").map(Number);
  return row === undefined || column === undefined ? null : { row, column };
}

function jumps(event: KeyboardEvent, onJump: ValueGridProps["onJump"]): boolean {
  if (!onJump || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey)) return false;
  if (event.key === "Home") return onJump("start");
  return event.key === "End" && onJump("end");
}

/** Keys that act on what is chosen; answers whether it was one. */
function actOnKey(
  event: KeyboardEvent,
  source: CopySource,
  acts: { readonly open: () => void },
  openMenu: (x: number, y: number) => void,
  grid: HTMLElement,
): boolean {
  const { range, editing } = source;
  const mod = event.ctrlKey || event.metaKey;
  if (range === null || event.altKey) return false;
  if (mod && event.key.toLowerCase() === "c") void copyRange("raw", source);
  else if (mod) return false;
  else if (event.key === "Enter" || event.key === "F2") acts.open();
  else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) {
    const box = (grid.querySelector("[data-focused]") ?? grid).getBoundingClientRect();
    openMenu(box.left + 16, Math.min(box.bottom, window.innerHeight - 40));
  } else if (editing && event.key === "Delete") editing.deleteRows(range);
  else if (editing && event.key === "Backspace") editing.setNull(range);
  else return false;
  return true;
}

/** Rows that come before the first one must not move what is on the screen. */
function useShift(
  shift: number,
  scroller: { readonly current: HTMLDivElement | null },
  setSelection: (change: (selection: GridSelection) => GridSelection) => void,
): void {
  const shown = useRef(shift);
  useLayoutEffect(() => {
    const moved = shift - shown.current;
    shown.current = shift;
    if (moved === 0) return;
    scroller.current?.scrollBy(0, moved * ROW_PX);
    const move = (place: GridPlace): GridPlace => ({ ...place, row: Math.max(0, place.row + moved) });
    setSelection(({ anchor, focus }) => ({ anchor: move(anchor), focus: move(focus) }));
  }, [shift, scroller, setSelection]);
}

/** The names of columns cover the upper edge: a row is revealed beneath them. Rows are of one height: nothing is measured. */
function revealRow(scroller: HTMLDivElement | null, row: number): void {
  if (!scroller) return;
  const shown = scroller.clientHeight - HEAD_PX;
  const top = row * ROW_PX;
  if (top < scroller.scrollTop) scroller.scrollTo({ top });
  else if (top + ROW_PX > scroller.scrollTop + shown) scroller.scrollTo({ top: top + ROW_PX - shown });
}

/** The row's number covers the left edge: a column is revealed beside it. */
function revealColumn(scroller: HTMLDivElement | null, column: number, widths: readonly number[], numberPx: number): void {
  if (!scroller) return;
  const start = widths.slice(0, column).reduce((sum, width) => sum + width, 0);
  const end = start + (widths[column] ?? 0);
  const shown = scroller.clientWidth - numberPx;
  if (start < scroller.scrollLeft) scroller.scrollLeft = start;
  else if (end > scroller.scrollLeft + shown) scroller.scrollLeft = Math.min(start, end - shown);
}
