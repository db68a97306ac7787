import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { cx } from "./cx.ts";
import { MenuAt, type MenuEntry } from "./menu.tsx";
import { stepRow } from "./step-row.ts";

const ROW_PX = 28;
/** Rows from the end at which older ones are asked for. */
const AHEAD_ROWS = 100;
const ALL = () => true;

export interface RowPlace {
  readonly first: boolean;
  readonly last: boolean;
  readonly selected: boolean;
}

export interface RowGridProps<Row> {
  readonly label: string;
  /** Grid classes shared by the heads and every row. */
  readonly columns: string;
  /** Column heads, one element a column. */
  readonly head: ReactNode;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly selected: Row | null;
  readonly onSelect: (key: string) => void;
  /** Rows that are only read, such as separators. Default: all can be selected. */
  readonly isSelectable?: (row: Row) => boolean;
  /** Keys with a meaning on the selected row; answers whether it was one of them. Moving and Enter are built in. */
  readonly onKey?: (row: Row, event: KeyboardEvent) => boolean;
  readonly onOpen?: (row: Row) => void;
  /** The context menu; Enter opens it too. */
  readonly entries?: (row: Row) => readonly MenuEntry[];
  /** Asks for the next page; null when all rows are here or on their way. */
  readonly onEnd?: (() => void) | null;
  /** The cells of one row: elements with role "gridcell". */
  readonly children: (row: Row, place: RowPlace) => ReactNode;
}

/** A long table with one selected row: virtualised, complete by keyboard, the same everywhere. */
export function RowGrid<Row>(props: RowGridProps<Row>) {
  const { rows, keyOf, selected, onSelect, onEnd, entries, isSelectable = ALL } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [menuAt, setMenuAt] = useState<{ readonly x: number; readonly y: number } | null>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (index) => (rows[index] === undefined ? index : keyOf(rows[index])),
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd && lastShown >= rows.length - AHEAD_ROWS) onEnd();
  }, [onEnd, lastShown, rows.length]);

  const select = (index: number) => {
    const row = rows[index];
    if (row === undefined) return;
    onSelect(keyOf(row));
    virtual.scrollToIndex(index);
  };
  const openMenu = () => {
    const box = scroller.current?.querySelector("[aria-selected=true]")?.getBoundingClientRect();
    if (box && entries) setMenuAt({ x: box.left + 48, y: box.bottom });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (selected === null || event.altKey || event.target !== scroller.current) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    if (step !== undefined) select(stepRow(rows, rows.indexOf(selected), step, isSelectable));
    else if (props.onKey?.(selected, event)) {
      // Done by the screen.
    } else if (event.key === "Enter" && entries) openMenu();
    else return;
    event.preventDefault();
  };
  const onContextMenu = (event: MouseEvent) => {
    const key = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")?.dataset["row"];
    if (!entries) return;
    event.preventDefault();
    // The menu key has no place of its own: it means the selected row.
    if (key === undefined || event.button !== 2) return openMenu();
    onSelect(key);
    setMenuAt({ x: event.clientX, y: event.clientY });
  };
  return (
    <>
      <div
        aria-hidden
        className={cx(
          props.columns,
          "h-row flex-none overflow-hidden border-b border-line bg-sunken text-2xs font-medium text-ink-3 [scrollbar-gutter:stable]",
        )}
      >
        {props.head}
      </div>
      <div
        ref={scroller}
        role="grid"
        tabIndex={0}
        data-pane-focus
        aria-label={props.label}
        aria-rowcount={rows.length}
        aria-activedescendant={selected === null ? undefined : rowId(keyOf(selected))}
        onKeyDown={onKeyDown}
        onContextMenu={onContextMenu}
        className="group/grid min-h-0 flex-1 overflow-y-auto outline-none [scrollbar-gutter:stable]"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const place = { first: item.index === 0, last: item.index === rows.length - 1, selected: row === selected };
            return (
              <Line key={item.key} {...props} row={row} index={item.index} top={item.start} place={place} selectable={isSelectable(row)} />
            );
          })}
        </div>
      </div>
      <MenuAt
        label={props.label}
        at={menuAt}
        entries={selected !== null && entries ? entries(selected) : []}
        onClose={() => setMenuAt(null)}
      />
    </>
  );
}

function rowId(key: string): string {
  return `row-${key}`;
}

interface LineProps<Row> extends RowGridProps<Row> {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly place: RowPlace;
  readonly selectable: boolean;
}

const SELECTED =
  "bg-selected-quiet group-focus-within/grid:bg-selected group-focus-within/grid:shadow-[inset_2px_0_0_var(--accent)] group-focus-visible/grid:outline-2 group-focus-visible/grid:-outline-offset-2 group-focus-visible/grid:outline-focus";

function Line<Row>({ row, index, top, place, selectable, columns, keyOf, onSelect, onOpen, children }: LineProps<Row>) {
  const key = keyOf(row);
  const shared = { id: rowId(key), "aria-rowindex": index + 1, style: { transform: `translateY(${top}px)` } } as const;
  const className = cx(columns, "group/row absolute inset-x-0 h-row text-xs");
  if (!selectable) {
    return (
      <div role="row" {...shared} className={className}>
        {children(row, place)}
      </div>
    );
  }
  return (
    <div
      role="row"
      {...shared}
      data-row={key}
      aria-selected={place.selected}
      onMouseDown={() => onSelect(key)}
      onDoubleClick={onOpen ? () => onOpen(row) : undefined}
      className={cx(className, place.selected ? SELECTED : "hover:bg-hover")}
    >
      {children(row, place)}
    </div>
  );
}

/** A cell whose text is cut off when it is too long. */
export function Cell({
  className,
  title,
  children,
}: {
  readonly className?: string;
  readonly title?: string;
  readonly children?: ReactNode;
}) {
  return (
    <span role="gridcell" title={title} className={cx("name-cut", className)}>
      {children}
    </span>
  );
}
