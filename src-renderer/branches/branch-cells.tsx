import { ChevronDown, ChevronRight, Ellipsis, Folder, FolderOpen, GitFork, Lock, type LucideIcon } from "lucide-react";
import type { MouseEvent, ReactNode } from "react";
import { nameProblem } from "#shared/ids.ts";
import type { BranchView, CheckoutState } from "#shared/views.ts";
import { useState } from "react";
import { FileBadge, StatusBadge } from "../ui/badge.tsx";
import { cx } from "../ui/cx.ts";
import { Countdown, RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { ChangeColumns, changesByTable } from "../ui/change-figures.tsx";
import { useBranchChanges } from "./branch-changes.ts";
import { statusOf, type Row, type Tally } from "./rows.ts";

const NONE = <span className="text-ink-3">–</span>;
const QUIET_STATES: Readonly<
  Record<Extract<CheckoutState, "clean" | "stale" | "none">, { readonly word: ReactNode; readonly title: string }>
> = {
  clean: { word: "Clean", title: "The file equals the head" },
  stale: { word: "Stale", title: "The head has moved on; the file holds nothing unsaved and is renewed when it is opened" },
  none: { word: NONE, title: "No file yet: it is made when the branch is opened" },
};

export function FileCell({ state }: { readonly state: CheckoutState }) {
  if (state === "unsaved" || state === "conflict" || state === "missing") return <FileBadge state={state} />;
  const quiet = QUIET_STATES[state];
  return <span title={quiet.title}>{quiet.word}</span>;
}

export function describeFork(branch: BranchView): string {
  const from = branch.forkedFrom;
  if (!from) return "root";
  return `${from.branch ?? "(purged)"}@${from.checkpoint ?? `v${from.version}`}`;
}

export function Cell({
  children,
  className,
  title,
}: {
  readonly children?: ReactNode;
  readonly className?: string;
  readonly title?: string;
}) {
  return (
    <div role="gridcell" title={title} className={cx("name-cut text-xs text-ink-2", className)}>
      {children}
    </div>
  );
}

function RenameInput({ branch, onDone }: { readonly branch: BranchView; readonly onDone: (to: string | null) => void }) {
  const [text, setText] = useState(branch.name);
  const problem = text === branch.name ? null : nameProblem("branch", text);
  return (
    <input
      autoFocus
      aria-label={`New name of ${branch.name}`}
      aria-invalid={problem !== null || undefined}
      title={problem ?? ""}
      spellCheck={false}
      value={text}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => onDone(null)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onDone(null);
        if (event.key === "Enter" && problem === null) onDone(text === branch.name ? null : text);
      }}
      className={cx("h-6 min-w-0 flex-1 rounded-sm border bg-raised px-1 text-sm outline-none", problem ? "border-bad" : "border-accent")}
    />
  );
}

export interface RowActions {
  readonly onToggle: (row: Row) => void;
  readonly onMenu: (row: Row, event: MouseEvent) => void;
  readonly onFork: (branch: BranchView) => void;
  readonly onRename: (branch: BranchView, to: string | null) => void;
}

function NameText({ row }: { readonly row: Row }) {
  if (row.kind === "folder") {
    return (
      <>
        {row.expanded ? (
          <FolderOpen size={14} aria-hidden className="shrink-0 text-ink-3" />
        ) : (
          <Folder size={14} aria-hidden className="shrink-0 text-ink-3" />
        )}
        <span className="name-cut font-medium">{row.path}</span>
        <span className="shrink-0 text-xs text-ink-3 tabular-nums">{formatPlural(row.tally.count, "branch", "branches")}</span>
      </>
    );
  }
  if (row.kind === "bundle") {
    return (
      <>
        <span className="name-cut">{row.prefix}*</span>
        <span className="shrink-0 text-ink-3 tabular-nums">× {formatCount(row.tally.count)}</span>
      </>
    );
  }
  if (row.kind === "group") {
    const words: Readonly<Record<string, string>> = { pass: "passed", fail: "failed", none: "without status" };
    return <span className="name-cut">{`${formatCount(row.tally.count)} ${words[row.status] ?? row.status}`}</span>;
  }
  return (
    <>
      <span className={cx("name-cut", row.context && "text-ink-3")}>{row.label}</span>
      {row.branch.forkedFrom === null && row.branch.name === "main" ? (
        <span className="shrink-0 text-xs font-normal text-ink-3">default</span>
      ) : null}
    </>
  );
}

/** Plain, because a list that scrolls makes hundreds of them: the menu and the keys offer the same. */
function QuickAction(props: { readonly icon: LucideIcon; readonly label: string; readonly onClick: (event: MouseEvent) => void }) {
  const Icon = props.icon;
  return (
    <button
      type="button"
      tabIndex={-1}
      title={props.label}
      aria-label={props.label}
      className="grid size-control-sm place-items-center rounded-md text-ink-2 hover:bg-selected-quiet"
      onClick={(event) => {
        event.stopPropagation();
        props.onClick(event);
      }}
    >
      <Icon size={14} aria-hidden />
    </button>
  );
}

export function NameCell(props: { readonly row: Row; readonly inset: number; readonly renaming: boolean; readonly actions: RowActions }) {
  const { row, actions } = props;
  const Chevron = row.expanded ? ChevronDown : ChevronRight;
  return (
    <div
      role="gridcell"
      className={cx("flex h-full min-w-0 items-center gap-1.5", row.kind === "folder" && "col-span-full")}
      style={{ paddingLeft: props.inset + Math.max(0, row.level - 2) * 14 }}
    >
      {row.expandable ? (
        <button
          type="button"
          tabIndex={-1}
          // For the mouse only: the row itself says whether it is open, and the arrow keys change it.
          aria-hidden
          data-toggle
          className="-mx-1 grid size-5.5 shrink-0 place-items-center rounded-sm text-ink-3 hover:bg-selected-quiet"
          onClick={(event) => {
            event.stopPropagation();
            actions.onToggle(row);
          }}
        >
          <Chevron size={14} aria-hidden />
        </button>
      ) : (
        <span className="w-3.5 shrink-0" />
      )}
      {row.kind === "branch" && props.renaming ? (
        <RenameInput branch={row.branch} onDone={(to) => actions.onRename(row.branch, to)} />
      ) : (
        <NameText row={row} />
      )}
      {props.renaming ? null : (
        <span className="ml-auto hidden shrink-0 group-hover:flex">
          {row.kind === "branch" ? <QuickAction icon={GitFork} label="Fork" onClick={() => actions.onFork(row.branch)} /> : null}
          <QuickAction icon={Ellipsis} label="Actions" onClick={(event) => actions.onMenu(row, event)} />
        </span>
      )}
    </div>
  );
}

interface TallyPart {
  readonly count: number;
  readonly word: string;
  readonly text: string;
  readonly bar: string | null;
}

function tallyParts(tally: Tally): readonly TallyPart[] {
  return [
    { count: tally.pass, word: "pass", text: "text-ok", bar: "bg-ok" },
    { count: tally.fail, word: "fail", text: "text-bad", bar: "bg-bad" },
    { count: tally.running, word: "running", text: "text-ink", bar: "bg-busy" },
    { count: tally.unsaved, word: "unsaved", text: "text-warn", bar: null },
  ].filter((part) => part.count > 0);
}

/** "3 pass, 509 fail": the words stand beside the colours. */
function TallyText({ parts }: { readonly parts: readonly TallyPart[] }) {
  return (
    <Cell className="tiny:hidden text-right" title={parts.map((part) => `${formatCount(part.count)} ${part.word}`).join(", ")}>
      {parts.map((part, index) => (
        <span key={part.word}>
          {index > 0 ? ", " : ""}
          <b className={cx("font-semibold tabular-nums", part.text)}>{formatCount(part.count)}</b> {part.word}
        </span>
      ))}
    </Cell>
  );
}

/** The same as a bar of all members; no part is too thin to be seen, those without a status are the rest. */
function TallyBar({ parts, total }: { readonly parts: readonly TallyPart[]; readonly total: number }) {
  const shown = parts.filter((part) => part.bar !== null);
  const rest = total - shown.reduce((sum, part) => sum + part.count, 0);
  if (shown.length === 0) return null;
  return (
    <span aria-hidden className="flex h-1.5 w-18 max-w-full gap-px overflow-hidden rounded-xs">
      {shown.map((part) => (
        <i key={part.word} className={cx("min-w-1", part.bar)} style={{ flex: part.count }} />
      ))}
      {rest > 0 ? <i className="bg-line-strong" style={{ flex: rest }} /> : null}
    </span>
  );
}

function ChangesCell({ branch }: { readonly branch: BranchView }) {
  const counts = useBranchChanges(branch);
  return (
    <Cell className="tiny:hidden" title={counts ? changesByTable(counts) : undefined}>
      {branch.forkedFrom ? <ChangeColumns counts={counts} /> : null}
    </Cell>
  );
}

/** Everything right of the name. */
export function RowCells({ row }: { readonly row: Row }) {
  if (row.kind === "folder") return null;
  if (row.kind !== "branch") {
    const parts = tallyParts(row.tally);
    return (
      <>
        <Cell className="tiny:hidden" title={describeFork(row.sample)}>
          {row.kind === "bundle" ? describeFork(row.sample) : null}
        </Cell>
        <Cell className="tiny:hidden" />
        <Cell className="tiny:hidden text-right">
          <RelativeTime at={row.tally.headAt} />
        </Cell>
        <TallyText parts={row.kind === "bundle" ? parts : []} />
        <Cell className="tiny:hidden narrow:hidden middle:hidden" />
        <Cell className="tiny:hidden" />
        <Cell className="tiny:hidden text-right">{row.tally.expiresAt === null ? NONE : <Countdown until={row.tally.expiresAt} />}</Cell>
        <Cell className="tiny:hidden flex items-center">
          {row.kind === "bundle" ? <TallyBar parts={parts} total={row.tally.count} /> : <StatusBadge status={row.status} />}
        </Cell>
        <Cell className="tiny:hidden" />
      </>
    );
  }
  const { branch } = row;
  const status = statusOf(branch);
  return (
    <>
      <Cell title={describeFork(branch)} className={cx("tiny:hidden", !branch.forkedFrom && "text-ink-3")}>
        {describeFork(branch)}
      </Cell>
      <Cell className="tiny:hidden" title={`v${branch.head}`}>
        {branch.headCheckpoint ?? <span className="text-ink-3 tabular-nums">v{branch.head}</span>}
      </Cell>
      <Cell className="tiny:hidden text-right">
        <RelativeTime at={branch.headAt} />
      </Cell>
      <ChangesCell branch={branch} />
      <Cell className="tiny:hidden text-right tabular-nums narrow:hidden middle:hidden">
        {branch.checkpoints === 0 ? NONE : formatCount(branch.checkpoints)}
      </Cell>
      <Cell className="flex items-center pl-1.5 narrow:pl-0">
        <FileCell state={branch.checkout.state} />
      </Cell>
      <Cell className="tiny:hidden text-right">{branch.expiresAt === null ? NONE : <Countdown until={branch.expiresAt} />}</Cell>
      <Cell className="tiny:hidden flex items-center">{status === "none" ? NONE : <StatusBadge status={status} />}</Cell>
      <Cell className="tiny:hidden grid place-items-center">
        {branch.protected ? <Lock size={14} role="img" aria-label="Protected" /> : null}
      </Cell>
    </>
  );
}
