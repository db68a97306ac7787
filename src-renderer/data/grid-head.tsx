import type { VirtualItem } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, KeyRound } from "lucide-react";
import type { PointerEvent } from "react";
import { cx } from "../ui/cx.ts";
import type { GridColumn, GridOrder } from "./value-grid.tsx";

interface GridHeadProps {
  readonly columns: readonly GridColumn[];
  /** Columns whose values stand at the right. */
  readonly numeric: readonly boolean[];
  readonly items: readonly VirtualItem[];
  readonly numberPx: number;
  readonly order: GridOrder | null;
  readonly onOrder: ((column: string) => void) | undefined;
  readonly onResize: (index: number, px: number) => void;
  readonly onFit: (index: number) => void;
}

/** Names of columns: a press sorts, the edge is dragged for the width, and fits it when pressed twice. */
export function GridHead({ columns, numeric, items, numberPx, order, onOrder, onResize, onFit }: GridHeadProps) {
  return (
    <div role="row" aria-rowindex={1} className="sticky top-0 z-20 h-7 border-b border-line bg-sunken text-2xs font-medium text-ink-3">
      <span
        role="columnheader"
        aria-label="Row"
        className="sticky left-0 z-20 block h-full border-r border-line bg-sunken"
        style={{ width: numberPx }}
      />
      {items.map((item) => {
        const column = columns[item.index];
        return column ? (
          <HeadCell
            key={item.key}
            column={column}
            isRight={numeric[item.index] ?? false}
            index={item.index}
            left={item.start + numberPx}
            width={item.size}
            sorted={order?.column === column.name ? (order.descending ? "descending" : "ascending") : null}
            onOrder={onOrder}
            onResize={onResize}
            onFit={onFit}
          />
        ) : null;
      })}
    </div>
  );
}

interface HeadCellProps extends Pick<GridHeadProps, "onOrder" | "onResize" | "onFit"> {
  readonly column: GridColumn;
  readonly isRight: boolean;
  readonly index: number;
  readonly left: number;
  readonly width: number;
  readonly sorted: "ascending" | "descending" | null;
}

function HeadCell({ column, isRight, index, left, width, sorted, onOrder, onResize, onFit }: HeadCellProps) {
  const Arrow = sorted === "descending" ? ArrowDown : ArrowUp;
  const title = column.title ?? `${column.name} ${column.type}`.trim();
  const text = (
    <>
      <span className="name-cut">{column.name}</span>
      {column.isKey ? <KeyRound size={11} aria-label="key" className="shrink-0" /> : null}
      {sorted ? <Arrow size={12} aria-hidden className="shrink-0 text-ink" /> : null}
    </>
  );
  const box = cx("flex h-full w-full min-w-0 items-center gap-1 px-2.5", isRight && "justify-end");
  return (
    <span
      role="columnheader"
      aria-colindex={index + 2}
      aria-sort={sorted ?? "none"}
      className="absolute top-0 h-full"
      style={{ left, width }}
    >
      {onOrder ? (
        <button
          type="button"
          tabIndex={-1}
          title={title}
          onClick={() => onOrder(column.name)}
          className={cx(box, "hover:bg-hover", sorted && "text-ink")}
        >
          {text}
        </button>
      ) : (
        <span title={title} className={box}>
          {text}
        </span>
      )}
      <span
        aria-hidden
        onPointerDown={(event) => drag(event, (px) => onResize(index, px), width)}
        onDoubleClick={() => onFit(index)}
        className="absolute top-0 -right-1 z-10 h-full w-2 cursor-col-resize after:absolute after:inset-y-1.5 after:left-[3px] after:w-px after:bg-line-strong hover:after:bg-accent"
      />
    </span>
  );
}

function drag(event: PointerEvent<HTMLElement>, onWidth: (px: number) => void, width: number): void {
  const handle = event.currentTarget;
  const startX = event.clientX;
  event.preventDefault();
  handle.setPointerCapture(event.pointerId);
  const move = (moved: globalThis.PointerEvent): void => onWidth(width + moved.clientX - startX);
  handle.addEventListener("pointermove", move);
  handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
}
