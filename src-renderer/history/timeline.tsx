import { Bookmark, ChevronDown, ChevronRight, CircleDot, FileInput, GitMerge, LifeBuoy, Save, type LucideIcon } from "lucide-react";
import type { KeyboardEvent } from "react";
import type { BranchView, HistoryRow, VersionKind } from "#shared/views.ts";
import { Badge, FileBadge } from "../ui/badge.tsx";
import { copyText } from "../ui/copy.ts";
import { ChangeLine, changesByTable } from "../ui/change-figures.tsx";
import { cx } from "../ui/cx.ts";
import { Bytes, RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { rowEntries, type HistoryActs } from "./history-acts.ts";
import { isSelectable, kindWord, versionTitle, type TimelineRow } from "./history-rows.ts";
import { useVersionChanges } from "./version-changes.ts";
import { TimelineNode } from "./timeline-node.tsx";

const COLUMNS =
  "grid grid-cols-[36px_minmax(0,1fr)_56px_minmax(150px,230px)_64px_76px_minmax(56px,100px)_60px] narrow:grid-cols-[36px_minmax(0,1fr)_52px_minmax(150px,210px)_72px_minmax(56px,88px)_56px] tiny:grid-cols-[36px_minmax(0,1fr)_44px_64px] items-center gap-x-3 pr-3";

const KIND_ICONS: Readonly<Record<VersionKind, LucideIcon>> = {
  import: FileInput,
  checkpoint: Bookmark,
  autosave: Save,
  flush: Save,
  "rollback-safety": LifeBuoy,
  merge: GitMerge,
  rescue: LifeBuoy,
};

interface TimelineProps {
  readonly branch: BranchView;
  readonly rows: readonly TimelineRow[];
  readonly selected: TimelineRow | null;
  readonly acts: HistoryActs;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (key: string) => void;
  /** Asks for older versions; null when all are here or on their way. */
  readonly onEnd: (() => void) | null;
}

export function Timeline({ branch, rows, selected, acts, onSelect, onToggle, onEnd }: TimelineProps) {
  return (
    <RowGrid
      label={`Versions of ${branch.name}`}
      columns={COLUMNS}
      head={
        <>
          <span />
          <span>Version</span>
          <span>Number</span>
          <span className="tiny:hidden" title="Rows since the version before: + added, − deleted, ~ changed; § changes of the schema">
            Changes
          </span>
          <span className="text-right narrow:hidden">Pages</span>
          <span className="text-right tiny:hidden">Added</span>
          <span className="tiny:hidden">By</span>
          <span className="text-right">Made</span>
        </>
      }
      rows={rows}
      keyOf={(row) => row.key}
      selected={selected}
      onSelect={onSelect}
      isSelectable={isSelectable}
      onKey={(row, event) => pressOn(row, event, acts, onToggle)}
      onOpen={(row) => row.type === "fold" && onToggle(row.key)}
      entries={(row) => rowEntries(row, acts)}
      onEnd={onEnd}
    >
      {(row, { first, last }) => (
        <>
          <span role="gridcell">
            <TimelineNode row={row} branch={branch} first={first} last={last} />
          </span>
          {row.type === "fork-point" ? <ForkPointCells label={row.label} /> : null}
          {row.type === "unsaved" ? <UnsavedCells conflict={row.conflict} walBytes={branch.checkout.walBytes} /> : null}
          {row.type === "fold" ? <FoldCells row={row} onToggle={onToggle} /> : null}
          {row.type === "version" ? <VersionCells version={row.version} folded={row.folded} branch={branch} /> : null}
        </>
      )}
    </RowGrid>
  );
}

/** Keys with a meaning on the selected row; false when this is none of them. */
function pressOn(row: TimelineRow, event: KeyboardEvent, acts: HistoryActs, onToggle: (key: string) => void): boolean {
  if (row.type === "fold") {
    const wanted =
      event.key === "Enter" || event.key === " " || (event.key === "ArrowRight" && !row.open) || (event.key === "ArrowLeft" && row.open);
    if (wanted) onToggle(row.key);
    return wanted;
  }
  if (row.type !== "version") return false;
  const modified = event.ctrlKey || event.metaKey;
  const named = row.version.checkpoints[0];
  if (modified && event.key === "c") void copyText(`v${row.version.number}`, "version");
  else if (!modified && event.key === "n") acts.fork(row.version);
  else if (event.key === "F2" && named) acts.renameCheckpoint(named);
  else return false;
  return true;
}

function ForkPointCells({ label }: { readonly label: string }) {
  return (
    <span role="gridcell" className="col-span-7 narrow:col-span-6 tiny:col-span-3 flex items-center gap-3 text-ink-3">
      <span className="name-cut">{label}</span>
      <span aria-hidden className="h-px min-w-6 flex-1 bg-line" />
    </span>
  );
}

function UnsavedCells({ conflict, walBytes }: { readonly conflict: boolean; readonly walBytes: number }) {
  return (
    <>
      <span role="gridcell" className="col-span-3 flex min-w-0 items-center gap-2">
        <span className="text-sm font-medium">Unsaved changes</span>
        <FileBadge state={conflict ? "conflict" : "unsaved"} />
      </span>
      <span role="gridcell" className="name-cut col-span-4 narrow:col-span-3 text-right text-ink-3 tiny:hidden">
        {walBytes > 0 ? (
          <>
            WAL <Bytes value={walBytes} />
          </>
        ) : null}
      </span>
    </>
  );
}

function FoldCells({ row, onToggle }: { readonly row: Extract<TimelineRow, { type: "fold" }>; readonly onToggle: (key: string) => void }) {
  const Chevron = row.open ? ChevronDown : ChevronRight;
  const newest = row.versions[0];
  const bytes = row.versions.reduce((sum, version) => sum + version.storedBytes, 0);
  return (
    <>
      <span role="gridcell" className="col-span-4 narrow:col-span-3 tiny:col-span-2 min-w-0">
        <button
          type="button"
          tabIndex={-1}
          aria-expanded={row.open}
          onClick={() => onToggle(row.key)}
          className="flex items-center gap-1.5 text-sm text-ink-2"
        >
          <Chevron size={14} aria-hidden />
          {formatPlural(row.versions.length, "automatic version")}
        </button>
      </span>
      <Cell className="text-right text-ink-3 tiny:hidden">
        <Bytes value={bytes} />
      </Cell>
      <Cell className="tiny:hidden" />
      <Cell className="text-right text-ink-3">{newest ? <RelativeTime at={newest.createdAt} /> : null}</Cell>
    </>
  );
}

function ChangesCell(props: { readonly version: HistoryRow; readonly database: string; readonly className: string }) {
  const counts = useVersionChanges(props.database, props.version);
  return (
    <Cell className={cx("tiny:hidden", props.className)} title={counts ? changesByTable(counts) : undefined}>
      <ChangeLine counts={counts} />
    </Cell>
  );
}

function VersionCells({
  version,
  folded,
  branch,
}: {
  readonly version: HistoryRow;
  readonly folded: boolean;
  readonly branch: BranchView;
}) {
  const Icon = KIND_ICONS[version.kind];
  const off = version.place === "ahead" || version.place === "side";
  const named = version.checkpoints.length > 0;
  const quiet = off || version.inherited ? "text-ink-3" : "text-ink-2";
  const others = version.heads.filter((head) => head !== branch.name);
  return (
    <>
      <span role="gridcell" className={cx("flex min-w-0 items-center gap-2", folded && "pl-5")}>
        <Icon size={14} aria-label={kindWord(version.kind)} className={cx("shrink-0", named && !off ? "text-ink-2" : "text-ink-3")} />
        <span className={cx("max-w-[70%] name-cut shrink-0 text-sm", off ? "text-ink-3" : named && "font-medium")}>
          {versionTitle(version, branch.name)}
        </span>
        {version.place === "head" ? (
          <Badge tone="info" icon={CircleDot}>
            Head
          </Badge>
        ) : null}
        {version.place === "ahead" ? <Badge tone="busy">Left by rollback</Badge> : null}
        {others.length > 0 ? (
          <Badge tone="busy" title={`Head of ${others.join(", ")}`}>
            {others.length === 1 ? `head of ${others[0]}` : `head of ${others.length} branches`}
          </Badge>
        ) : null}
        <span className="name-cut text-ink-3">{version.message}</span>
      </span>
      <Cell className={cx("tabular-nums", quiet)}>v{version.number}</Cell>
      <ChangesCell version={version} database={branch.database} className={quiet} />
      <Cell className={cx("text-right tabular-nums narrow:hidden", quiet)}>{formatCount(version.changedPages)}</Cell>
      <Cell className={cx("text-right tiny:hidden", quiet)}>
        <Bytes value={version.storedBytes} />
      </Cell>
      <Cell className={cx("tiny:hidden", quiet)}>{version.actor}</Cell>
      <Cell className={cx("text-right", quiet)}>
        <RelativeTime at={version.createdAt} />
      </Cell>
    </>
  );
}
