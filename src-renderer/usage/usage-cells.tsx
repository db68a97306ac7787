import { Bookmark, Check, ChevronDown, ChevronRight, Lock, Minus } from "lucide-react";
import type { CheckpointUsageRow } from "#shared/usage-views.ts";
import { laneColor } from "../branches/hues.ts";
import { folderOf } from "../branches/rows.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Bytes } from "../ui/figures.tsx";
import { formatCount } from "../ui/format.ts";
import { Cell } from "../ui/row-grid.tsx";
import {
  databaseOf,
  describeSharedWith,
  figuresOf,
  isEntry,
  nameOf,
  type Entry,
  type LineFigures,
  type NoteLine,
  type UsageLine,
} from "./usage-rows.ts";

export type Ticked = "all" | "some" | "none";

/** As the picture has it: the mark says it, the row's `aria-selected` tells it. */
export function CheckMark({ ticked, className }: { readonly ticked: Ticked; readonly className?: string }) {
  return (
    <span
      aria-hidden
      className={cx(
        "grid size-3.5 flex-none place-items-center rounded-[3px] border",
        ticked === "none" ? "border-line-strong bg-raised" : "border-accent bg-accent text-accent-ink",
        className,
      )}
    >
      {ticked === "all" ? <Check size={11} strokeWidth={3} /> : ticked === "some" ? <Minus size={11} strokeWidth={3} /> : null}
    </span>
  );
}

/** Its shape says what it stands for: a dot a branch, a capsule a bundle, a square a folder. */
function Glyph({ entry }: { readonly entry: Entry }) {
  const shape = { branch: "size-2 rounded-full", bundle: "h-2 w-3.5 rounded-full", folder: "size-2 rounded-[2px]" }[entry.kind];
  return <span aria-hidden className={cx("flex-none", shape)} style={{ background: laneColor(nameOf(entry)) }} />;
}

function ShareBar({ figures }: { readonly figures: LineFigures }) {
  const { uniqueBytes, sharedBytes, logicalBytes } = figures;
  // A long history can take more than the file that it leads to.
  const whole = Math.max(logicalBytes, uniqueBytes + sharedBytes, 1);
  const part = (bytes: number) => ({ width: `${(bytes / whole) * 100}%`, minWidth: bytes > 0 ? 2 : 0 });
  const percent = ((uniqueBytes + sharedBytes) / Math.max(logicalBytes, 1)) * 100;
  return (
    <span
      title={`${formatCount(uniqueBytes)} unique + ${formatCount(sharedBytes)} shared of ${formatCount(logicalBytes)} bytes (${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %)`}
      className="flex h-2 w-full overflow-hidden rounded-[2px] bg-line"
    >
      <span className="h-full flex-none bg-(--bytes-unique)" style={part(uniqueBytes)} />
      <span className="h-full flex-none bg-(--bytes-shared)" style={part(sharedBytes)} />
    </span>
  );
}

interface NameProps {
  readonly line: UsageLine;
  readonly withDatabase: boolean;
  readonly onToggle: () => void;
}

export function NameCell({ line, withDatabase, onToggle }: NameProps) {
  const Chevron = line.expanded ? ChevronDown : ChevronRight;
  return (
    <div role="gridcell" className="flex min-w-0 items-center gap-2 text-sm" style={{ paddingLeft: (line.level - 1) * 16 }}>
      {line.expandable ? (
        <button
          type="button"
          tabIndex={-1}
          aria-label={line.expanded ? "Close" : "Open"}
          className={cx(
            "-mr-1 -ml-1.5 grid size-5 flex-none place-items-center rounded-sm text-ink-3 hover:bg-selected-quiet hover:text-ink",
            line.kind === "branch" && !line.expanded && "opacity-0 group-hover:opacity-100 group-data-[focused=true]:opacity-100",
          )}
          onClick={(event) => {
            event.stopPropagation();
            onToggle();
          }}
        >
          <Chevron size={14} aria-hidden />
        </button>
      ) : null}
      {isEntry(line) ? (
        <EntryName entry={line} withDatabase={withDatabase} />
      ) : line.kind === "checkpoint" ? (
        <>
          <Bookmark size={12} aria-hidden className="ml-3 flex-none text-ink-3" />
          <span title={line.checkpoint.name} className="name-cut text-xs">
            {line.checkpoint.name}
          </span>
          <span className="flex-none text-xs text-ink-3 tabular-nums">v{line.checkpoint.version}</span>
        </>
      ) : null}
    </div>
  );
}

/** Too long a name loses the end of its folder first: the rest is what tells it from its neighbours. */
function CutName({ name }: { readonly name: string }) {
  const folder = folderOf(name.replace(/\/$/, ""));
  return (
    <span title={name} className="flex min-w-0">
      {folder === "" ? null : <span className="name-cut">{folder}</span>}
      <span className="name-cut max-w-full flex-none">{name.slice(folder.length)}</span>
    </span>
  );
}

function EntryName({ entry, withDatabase }: { readonly entry: Entry; readonly withDatabase: boolean }) {
  return (
    <>
      <Glyph entry={entry} />
      <CutName name={entry.kind === "bundle" ? `${entry.prefix}*` : nameOf(entry)} />
      {entry.kind !== "branch" ? (
        <span className="flex-none text-ink-3 tabular-nums">× {formatCount(entry.members.length)}</span>
      ) : entry.row.isProtected ? (
        <Lock size={12} role="img" aria-label="protected" className="flex-none text-ink-3" />
      ) : null}
      {withDatabase ? <span className="flex-none text-xs text-ink-3">{databaseOf(entry)}</span> : null}
    </>
  );
}

/** The cells of a branch or of several, from the bar on. */
export function FigureCells({ entry }: { readonly entry: Entry }) {
  const figures = figuresOf(entry);
  const shared = describeSharedWith(entry);
  const isGroup = entry.kind !== "branch";
  return (
    <>
      <div role="gridcell" className="tiny:hidden">
        <ShareBar figures={figures} />
      </div>
      <Cell className="text-right font-medium">
        <Bytes value={figures.uniqueBytes} />
      </Cell>
      <Cell className="text-right text-ink-2">
        {isGroup ? <span title={`At most ${formatCount(figures.sharedBytes)} bytes of any one of them`}>≤ </span> : null}
        <Bytes value={figures.sharedBytes} />
      </Cell>
      <Cell className="text-right text-ink-2 tiny:hidden">
        <Bytes value={figures.logicalBytes} />
      </Cell>
      <Cell className="text-right text-ink-2 tiny:hidden">
        {figures.fileBytes > 0 ? <Bytes value={figures.fileBytes} /> : <span className="text-ink-3">–</span>}
      </Cell>
      <Cell title={shared} className="text-ink-2 tiny:hidden">
        {shared}
      </Cell>
    </>
  );
}

export function CheckpointCells({ checkpoint }: { readonly checkpoint: CheckpointUsageRow }) {
  return (
    <>
      <div role="gridcell" className="tiny:hidden" />
      <Cell className="text-right">
        <Bytes value={checkpoint.uniqueBytes} />
      </Cell>
      <Cell className="text-right text-ink-2">
        <Bytes value={checkpoint.sharedBytes} />
      </Cell>
      <div role="gridcell" className="tiny:hidden" />
      <div role="gridcell" className="tiny:hidden" />
      <div role="gridcell" className="tiny:hidden" />
    </>
  );
}

/** Spans the figures: there are none. */
export function NoteCell({ line, onRetry }: { readonly line: NoteLine; readonly onRetry: () => void }) {
  const error = line.costs?.error ?? null;
  const text = error ? error.message : line.costs ? "No checkpoints: all that it needs is its head's" : "Looking at its checkpoints…";
  return (
    <div role="gridcell" className="col-start-2 col-end-[-1] flex min-w-0 items-center gap-2 pl-9 text-xs">
      <span title={text} className={cx("name-cut", error ? "text-bad" : "text-ink-3")}>
        {text}
      </span>
      {error ? (
        <Button size="sm" tabIndex={-1} onClick={onRetry}>
          Retry
        </Button>
      ) : null}
    </div>
  );
}
