import type { VirtualItem } from "@tanstack/react-virtual";
import { memo, useEffect, useRef } from "react";
import { isNumber } from "#shared/row-text.ts";
import { formatBytes } from "#shared/units.ts";
import type { DataValue } from "#shared/query-views.ts";
import { cx } from "../ui/cx.ts";
import { shortText } from "./column-widths.ts";
import { isInside, isSingle, type GridPlace, type GridRange } from "./grid-selection.ts";
import type { RowMark, ValueGridProps } from "./value-grid.tsx";

export const ROW_PX = 24;
const MARKS: Readonly<Record<RowMark["sign"], { readonly row: string; readonly head: string }>> = {
  "+": { row: "bg-add-bg", head: "bg-add-cell text-add" },
  "−": { row: "bg-del-bg text-ink-2", head: "bg-del-cell text-del" },
  "~": { row: "", head: "bg-mod-cell text-mod" },
  "!": { row: "", head: "bg-bad-bg text-bad" },
};

/** A cell that is typed into. */
export interface OpenEditor {
  readonly place: GridPlace;
  readonly text: string;
  readonly problem: string | null;
}

interface GridRowProps {
  /** What ids of cells begin with: two grids may be on the screen. */
  readonly gridId: string;
  readonly grid: ValueGridProps;
  /** Which columns hold numbers. */
  readonly numeric: readonly boolean[];
  readonly index: number;
  readonly top: number;
  readonly items: readonly VirtualItem[];
  readonly numberPx: number;
  readonly range: GridRange | null;
  /** Column with the keyboard; null in other rows. */
  readonly focus: number | null;
  readonly editor: OpenEditor | null;
  readonly onFinish: (text: string, move: GridPlace) => void;
  readonly onCancel: () => void;
}

export function GridRow({ gridId, grid, numeric, index, top, items, numberPx, range, focus, editor, onFinish, onCancel }: GridRowProps) {
  const values = grid.rowAt(index);
  const mark = grid.rowMark?.(index) ?? null;
  const number = grid.numberAt ? grid.numberAt(index) : index + 1;
  const isRange = range !== null && !isSingle(range);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={cx("absolute left-0 w-full border-b border-line/60 font-mono text-xs leading-[23px]", mark ? MARKS[mark.sign].row : "")}
      style={{ top, height: ROW_PX }}
    >
      <span
        role="rowheader"
        data-cell={`${index}:-1`}
        aria-label={mark ? `${mark.word} row` : undefined}
        className={cx(
          "sticky left-0 z-10 block h-full border-r border-line px-2 text-right font-sans text-2xs leading-[23px] tabular-nums",
          mark ? MARKS[mark.sign].head : "bg-surface text-ink-3",
        )}
        style={{ width: numberPx }}
      >
        {mark ? <b className="float-left font-semibold">{mark.sign}</b> : null}
        {number ?? ""}
      </span>
      {items.map((item) => {
        const column = grid.columns[item.index];
        if (!column) return null;
        const box = { left: item.start + numberPx, width: item.size };
        if (editor && editor.place.column === item.index)
          return <CellEditor key={item.key} editor={editor} box={box} label={column.name} onFinish={onFinish} onCancel={onCancel} />;
        return (
          <GridCell
            key={item.key}
            id={`${gridId}-${index}-${item.index}`}
            place={`${index}:${item.index}`}
            colIndex={item.index + 2}
            isNumeric={numeric[item.index] ?? false}
            value={values === null ? undefined : (values[item.index] ?? null)}
            isChanged={grid.editing?.isChanged(index, item.index) ?? grid.isChangedAt?.(index, item.index) ?? false}
            isChosen={isRange && isInside(range, index, item.index)}
            absent={grid.absentAt?.(index, item.index) ?? null}
            isFocused={focus === item.index}
            left={box.left}
            width={box.width}
          />
        );
      })}
    </div>
  );
}

interface GridCellProps {
  readonly id: string;
  readonly place: string;
  readonly colIndex: number;
  /** Of the column: NULLs stand where its other values do. */
  readonly isNumeric: boolean;
  /** Undefined while it is on its way. */
  readonly value: DataValue | undefined;
  readonly absent: string | null;
  readonly isChanged: boolean;
  readonly isChosen: boolean;
  readonly isFocused: boolean;
  readonly left: number;
  readonly width: number;
}

/** Drawn again only when something about it changed: a step of the keyboard changes two of hundreds. */
const GridCell = memo(function GridCell(props: GridCellProps) {
  const { id, place, colIndex, isNumeric, value, absent, isChanged, isChosen, isFocused, left, width } = props;
  const isRight = value === null ? isNumeric : isNumber(value);
  return (
    <span
      id={id}
      role="gridcell"
      aria-colindex={colIndex}
      aria-selected={isChosen || isFocused}
      data-cell={place}
      data-changed={isChanged ? "" : undefined}
      data-focused={isFocused ? "" : undefined}
      className={cx(
        "absolute top-0 flex h-full items-center overflow-hidden px-2.5 whitespace-pre",
        isRight && "justify-end tabular-nums",
        isChanged && "bg-mod-cell",
        isChosen && "bg-selected-quiet group-focus-within/values:bg-selected",
        isFocused && "outline-2 -outline-offset-2 outline-line-strong group-focus-within/values:outline-focus",
      )}
      style={{ left, width }}
    >
      {absent === null ? value === undefined ? null : <CellValue value={value} /> : <i className="font-sans text-ink-3">{absent}</i>}
    </span>
  );
});

/** Text and numbers as they are; everything else says what it is. */
function CellValue({ value }: { readonly value: DataValue }) {
  const { text, kind } = shortText(value);
  if (kind !== "text" && kind !== "number") return <Pill text={text} />;
  const cut = typeof value === "object" && value !== null && "text" in value ? value.bytes : null;
  return (
    <>
      <span className={cx("min-w-0", kind === "text" && "name-cut")}>{text}</span>
      {cut === null ? null : <Pill text={formatBytes(cut)} />}
    </>
  );
}

function Pill({ text }: { readonly text: string }) {
  return (
    <span className="ml-1.5 shrink-0 rounded-sm border border-line-strong bg-canvas px-1 font-sans text-[10px] leading-3.5 font-medium tracking-wide text-ink-2 first:ml-0">
      {text}
    </span>
  );
}

interface CellEditorProps {
  readonly editor: OpenEditor;
  readonly box: { readonly left: number; readonly width: number };
  readonly label: string;
  readonly onFinish: GridRowProps["onFinish"];
  readonly onCancel: () => void;
}

const EDITOR_PX = 160;

/** Enter takes what is typed and goes down, Tab to the right, Escape leaves the cell as it was. */
function CellEditor({ editor, box, label, onFinish, onCancel }: CellEditorProps) {
  const input = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  return (
    <span role="gridcell" aria-selected className="absolute top-0 z-[15] h-full" style={{ ...box, width: Math.max(box.width, EDITOR_PX) }}>
      <input
        ref={input}
        aria-label={`Value of ${label}`}
        aria-invalid={editor.problem === null ? undefined : true}
        aria-describedby={editor.problem === null ? undefined : "cell-problem"}
        defaultValue={editor.text}
        spellCheck={false}
        autoComplete="off"
        onKeyDown={(event) => {
          const move = { Enter: { row: 1, column: 0 }, Tab: { row: 0, column: event.shiftKey ? -1 : 1 } }[event.key];
          if (event.key !== "Escape" && !move) return;
          event.preventDefault();
          event.stopPropagation();
          isDone.current = true;
          // What cannot be taken leaves the editor open.
          setTimeout(() => (isDone.current = false));
          if (move) onFinish(event.currentTarget.value, move);
          else onCancel();
        }}
        onBlur={(event) => {
          if (!isDone.current && editor.problem === null) onFinish(event.currentTarget.value, { row: 0, column: 0 });
        }}
        className="h-full w-full border-2 border-focus bg-raised px-2 text-xs outline-none select-text"
      />
      {editor.problem === null ? null : (
        <span
          id="cell-problem"
          role="alert"
          className="float absolute top-full left-0 z-30 mt-1 px-2 py-1 font-sans text-xs whitespace-nowrap text-bad"
        >
          {editor.problem}
        </span>
      )}
    </span>
  );
}
