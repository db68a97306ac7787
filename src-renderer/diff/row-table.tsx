import { useVirtualizer } from "@tanstack/react-virtual";
import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import type { DiffColumnView, DiffValue, RowChangeView, RowKind, TableDiffView } from "#shared/diff-views.ts";
import { copyText } from "../ui/copy.ts";
import { cx } from "../ui/cx.ts";
import { formatPlural } from "../ui/format.ts";
import { CellDetail } from "./cell-detail.tsx";
import { toggleAllColumns } from "./diff-session.ts";
import { fullText, valuesOf, valueText } from "../ui/value-text.ts";
import type { VisibleColumn } from "./visible-columns.ts";

const ROW_PX = 24;
const SIGN_PX = 36;
/** Rows from the end at which the next page is asked for. */
const AHEAD_ROWS = 200;

const LOOKS: Readonly<
  Record<RowKind, { readonly sign: string; readonly word: string; readonly row: string; readonly cell: string; readonly ink: string }>
> = {
  insert: { sign: "+", word: "added", row: "bg-add-bg", cell: "bg-add-cell", ink: "text-add" },
  delete: { sign: "−", word: "deleted", row: "bg-del-bg text-ink-2", cell: "bg-del-cell", ink: "text-del" },
  update: { sign: "~", word: "changed", row: "", cell: "bg-mod-cell", ink: "text-mod" },
};

interface RowTableProps {
  readonly table: TableDiffView;
  readonly columns: readonly VisibleColumn[];
  /** Columns that are not shown. */
  readonly hidden: number;
  readonly rows: readonly RowChangeView[];
  readonly layout: "unified" | "split";
  readonly status: string;
  readonly onEnd: (() => void) | null;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

/** Changed rows, virtualised; one cell has the keyboard and is shown whole beneath. */
export function RowTable({ table, columns, hidden, rows, layout, status, onEnd }: RowTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>({ row: 0, column: 0 });
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 16,
  });
  const items = virtual.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (onEnd && lastShown >= rows.length - AHEAD_ROWS) onEnd();
  }, [onEnd, lastShown, rows.length]);
  const at = { row: Math.min(place.row, rows.length - 1), column: Math.min(place.column, columns.length - 1) };
  const row = rows[at.row];
  const column = columns[at.column];
  const widths = columns.map(({ widthPx }) => `${widthPx}px`).join(" ");
  const template = layout === "split" ? `${SIGN_PX}px ${widths} 1px ${widths} minmax(0,1fr)` : `${SIGN_PX}px ${widths} minmax(0,1fr)`;

  const onKeyDown = (event: KeyboardEvent) => {
    const step = stepOf(event, Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 2), rows.length);
    if (step) {
      const next = {
        row: Math.max(0, Math.min(rows.length - 1, at.row + step.row)),
        column: Math.max(0, Math.min(columns.length - 1, at.column + step.column)),
      };
      setPlace(next);
      virtual.scrollToIndex(next.row);
    } else if (event.key === "c" && (event.ctrlKey || event.metaKey) && row && column && !window.getSelection()?.toString()) {
      const [old, current] = valuesOf(row, column.index, column.column);
      void copyText(fullText(current === undefined ? old : current), column.column.name);
    } else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        ref={scroller}
        role="grid"
        tabIndex={0}
        data-pane-focus
        aria-label={`Changed rows of ${table.name}`}
        aria-rowcount={rows.length}
        aria-activedescendant={row ? `change-${at.row}-${at.column}` : undefined}
        onKeyDown={onKeyDown}
        className="group/rows min-h-0 flex-1 overflow-auto outline-none"
      >
        <div className="relative min-w-max" style={{ height: virtual.getTotalSize() + ROW_PX + 4 }}>
          <Head columns={columns} layout={layout} template={template} />
          {items.map((item) => {
            const change = rows[item.index];
            return change ? (
              <ChangeRow
                key={item.key}
                change={change}
                index={item.index}
                top={item.start + ROW_PX + 4}
                columns={columns}
                layout={layout}
                template={template}
                focused={item.index === at.row ? at.column : null}
                onFocus={(focused) => setPlace({ row: item.index, column: focused })}
              />
            ) : null;
          })}
        </div>
      </div>
      <div className="flex h-6 flex-none items-center justify-between border-t border-line px-3 text-xs text-ink-3 tabular-nums">
        <span role="status">{status}</span>
        {hidden > 0 ? (
          <span>
            {formatPlural(hidden, "column")} not shown{" "}
            <button type="button" className="font-medium text-accent hover:underline" onClick={toggleAllColumns}>
              Show all
            </button>
          </span>
        ) : null}
      </div>
      {row && column ? <CellDetail table={table} row={row} column={column} /> : null}
    </>
  );
}

function stepOf(event: KeyboardEvent, page: number, rows: number): Place | null {
  const modified = event.ctrlKey || event.metaKey;
  const steps: Readonly<Record<string, Place>> = {
    ArrowDown: { row: 1, column: 0 },
    ArrowUp: { row: -1, column: 0 },
    ArrowRight: { row: 0, column: 1 },
    ArrowLeft: { row: 0, column: -1 },
    PageDown: { row: page, column: 0 },
    PageUp: { row: -page, column: 0 },
    Home: modified ? { row: -rows, column: 0 } : { row: 0, column: -10_000 },
    End: modified ? { row: rows, column: 0 } : { row: 0, column: 10_000 },
  };
  return event.altKey ? null : (steps[event.key] ?? null);
}

interface LineProps {
  readonly columns: readonly VisibleColumn[];
  readonly layout: "unified" | "split";
  readonly template: string;
}

function Head({ columns, layout, template }: LineProps) {
  const heads = (side: string) =>
    columns.map(({ column }) => (
      <span
        key={side + column.name}
        role="columnheader"
        title={`${column.name} ${column.type}`}
        className={cx("name-cut px-2.5", isNumeric(column.type) && "text-right")}
      >
        {column.formerName === null ? column.name : `${column.formerName} → ${column.name}`}{" "}
        {column.isKey ? <KeyRound size={11} aria-label="key" className="inline align-[-1px]" /> : null}
      </span>
    ));
  return (
    <div
      role="row"
      className="sticky top-0 z-10 grid h-7 items-center border-b border-line bg-sunken text-2xs font-medium text-ink-3"
      style={{ gridTemplateColumns: template }}
    >
      <span role="columnheader" aria-label="Kind" />
      {heads("a")}
      {layout === "split" ? (
        <>
          <span aria-hidden className="h-full bg-line-strong" />
          {heads("b")}
        </>
      ) : null}
    </div>
  );
}

interface ChangeRowProps extends LineProps {
  readonly change: RowChangeView;
  readonly index: number;
  readonly top: number;
  /** Column with the keyboard; null in other rows. */
  readonly focused: number | null;
  readonly onFocus: (column: number) => void;
}

function ChangeRow({ change, index, top, columns, layout, template, focused, onFocus }: ChangeRowProps) {
  const looks = LOOKS[change.kind];
  const cell = (side: "old" | "new" | "both", { column, index: at }: VisibleColumn, position: number) => (
    <ChangeCell
      key={side + column.name}
      {...(side === "old" ? {} : { id: `change-${index}-${position}` })}
      change={change}
      at={at}
      side={side}
      column={column}
      focused={side !== "old" && focused === position}
      onFocus={() => onFocus(position)}
    />
  );
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={cx(
        "absolute inset-x-0 grid items-stretch border-b border-line/60 font-mono text-xs leading-[23px]",
        layout === "unified" && looks.row,
      )}
      style={{ top, height: ROW_PX, gridTemplateColumns: template }}
    >
      <span role="gridcell" aria-label={looks.word} className={cx("text-center font-semibold", looks.cell, looks.ink)}>
        {looks.sign}
      </span>
      {layout === "unified" ? (
        columns.map((column, position) => cell("both", column, position))
      ) : (
        <>
          {columns.map((column, position) => cell("old", column, position))}
          <span aria-hidden className="bg-line-strong" />
          {columns.map((column, position) => cell("new", column, position))}
        </>
      )}
    </div>
  );
}

interface CellProps {
  readonly id?: string;
  readonly change: RowChangeView;
  readonly at: number;
  readonly side: "old" | "new" | "both";
  readonly column: DiffColumnView;
  readonly focused: boolean;
  readonly onFocus: () => void;
}

function ChangeCell({ id, change, at, side, column, focused, onFocus }: CellProps) {
  const isChanged = change.kind === "update" && change.changed.includes(at);
  const [old, current] = valuesOf(change, at, column);
  const isAbsent = (side === "old" && change.old === null) || (side === "new" && change.new === null);
  const tint = isChanged ? (side === "old" ? "bg-del-cell" : side === "new" ? "bg-add-cell" : "bg-mod-cell") : sideTint(change.kind, side);
  return (
    <span
      id={id}
      role="gridcell"
      tabIndex={-1}
      onMouseDown={onFocus}
      className={cx(
        "name-cut px-2.5",
        isNumeric(column.type) && "text-right tabular-nums",
        isAbsent ? "bg-sunken" : tint,
        !isChanged && !column.isKey && change.kind === "update" && "text-ink-3",
        focused && "outline-2 -outline-offset-2 outline-line-strong group-focus-within/rows:outline-focus",
      )}
    >
      {isAbsent ? null : side === "both" && isChanged ? (
        <>
          {old === undefined ? (
            <Value value={old} />
          ) : (
            <s className="text-ink-2 decoration-ink-3">
              <Value value={old} />
            </s>
          )}
          <span className="mx-1.5 text-ink-3">→</span>
          <b className="font-semibold">
            <Value value={current} />
          </b>
        </>
      ) : (
        <Value value={side === "old" || change.kind === "delete" ? old : current} />
      )}
    </span>
  );
}

function sideTint(kind: RowKind, side: "old" | "new" | "both"): string {
  if (side === "old") return kind === "delete" ? "bg-del-bg" : "";
  return side === "new" && kind === "insert" ? "bg-add-bg" : "";
}

function Value({ value }: { readonly value: DiffValue | undefined }) {
  const { text, kind } = valueText(value);
  if (kind === "text" || kind === "number") return <>{text}</>;
  return (
    <span className="rounded-sm border border-line-strong bg-canvas px-1 font-sans text-[10px] leading-3.5 font-medium tracking-wide text-ink-2">
      {text}
    </span>
  );
}

function isNumeric(type: string): boolean {
  return /int|real|floa|doub|num|dec/i.test(type);
}
