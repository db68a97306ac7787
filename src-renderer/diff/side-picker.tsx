import { ChevronsUpDown, FileText, ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import { Popover as Radix } from "radix-ui";
import { formatBytes } from "#shared/units.ts";
import type { DiffSideInput, DiffSideView } from "#shared/diff-views.ts";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import { toErrorView } from "../api/api-error.ts";
import { useRequest } from "../api/queries.ts";
import { useBranchList } from "../branches/branch-list.ts";
import { laneColor } from "../branches/hues.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { Field, TextInput } from "../ui/field.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatPlural } from "../ui/format.ts";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { sideName, sidePlace, sideText } from "./side-text.ts";

/** Branches and versions listed at once; the filter finds the others. */
const LISTED_MAX = 200;

interface SidePickerProps {
  readonly label: string;
  readonly database: string;
  readonly side: DiffSideInput | null;
  readonly view: DiffSideView | null;
  readonly onChoose: (side: DiffSideInput) => void;
}

/** One side of a comparison: says what it is, and lets another be chosen: any state of any branch, or a file. */
export function SidePicker({ label, database, side, view, onChoose }: SidePickerProps) {
  const [open, setOpen] = useState(false);
  return (
    <Radix.Root open={open} onOpenChange={setOpen}>
      <Radix.Trigger asChild>
        <button
          type="button"
          aria-label={`${label}: ${side ? sideText(side) : "not chosen"}`}
          className="flex h-11 min-w-0 items-center gap-2.5 rounded-md border border-line-strong bg-raised px-2.5 text-left leading-4 hover:bg-hover"
        >
          <Mark side={side} />
          <span className="min-w-0 flex-1">
            <span className="name-cut block text-sm">
              {side ? (
                <>
                  <b className="font-semibold">{sideName(side)}</b> <span className="text-ink-2">{sidePlace(side)}</span>
                </>
              ) : (
                <span className="text-ink-2">Choose a state…</span>
              )}
            </span>
            <span className="name-cut block text-2xs text-ink-3 tabular-nums">{view ? describeSide(view) : label}</span>
          </span>
          <ChevronsUpDown size={14} aria-hidden className="shrink-0 text-ink-3" />
        </button>
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          align="start"
          sideOffset={6}
          collisionPadding={8}
          className="float z-50 w-160 max-w-[calc(100vw-32px)] p-3"
        >
          <Choices
            database={database}
            side={side}
            onChoose={(chosen) => {
              setOpen(false);
              onChoose(chosen);
            }}
          />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Mark({ side }: { readonly side: DiffSideInput | null }) {
  if (side === null) return null;
  if (side.kind === "file") return <FileText size={14} aria-hidden className="shrink-0 text-ink-2" />;
  const color = laneColor(side.branch);
  const isRing = side.kind === "unsaved";
  return (
    <svg width="10" height="10" aria-hidden className="shrink-0">
      <circle cx="5" cy="5" r={isRing ? 4 : 5} fill={isRing ? "none" : color} stroke={isRing ? color : "none"} strokeWidth="2" />
    </svg>
  );
}

function describeSide({ version, pageSize, pageCount, encoding }: DiffSideView): string {
  return [version === null ? null : `v${version}`, formatBytes(pageSize * pageCount), encoding].filter(Boolean).join(" · ");
}

interface ChoicesProps {
  readonly database: string;
  readonly side: DiffSideInput | null;
  readonly onChoose: (side: DiffSideInput) => void;
}

function Choices({ database, side, onChoose }: ChoicesProps) {
  const branches = useBranchList((state) => state.branches);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string | null>(side && side.kind !== "file" ? side.branch : null);
  const [file, setFile] = useState(side?.kind === "file" ? side.path : "");
  const found = useMemo(() => branches.filter((branch) => branch.name.toLowerCase().includes(text.trim().toLowerCase())), [branches, text]);
  const branch = found.find(({ name }) => name === chosen) ?? found[0] ?? null;
  return (
    <div className="flex flex-col gap-2.5">
      <TextInput
        autoFocus
        icon={ListFilter}
        aria-label="Find a branch"
        placeholder="Find a branch"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !branch) return;
          event.preventDefault();
          onChoose({ kind: "state", database, branch: branch.name });
        }}
      />
      <div className="grid h-72 grid-cols-[minmax(0,2fr)_minmax(0,3fr)] overflow-hidden rounded-md border border-line">
        <div role="listbox" aria-label="Branch" className="overflow-y-auto border-r border-line py-1">
          {found.slice(0, LISTED_MAX).map((each) => (
            <button
              key={each.id}
              type="button"
              role="option"
              aria-selected={each === branch}
              onClick={() => setChosen(each.name)}
              className={cx(
                "flex h-6 w-full items-center gap-2 px-2 text-left text-xs",
                each === branch ? "bg-selected" : "hover:bg-hover",
              )}
            >
              <Mark side={{ kind: "state", database, branch: each.name }} />
              <span className="name-cut">{each.name}</span>
            </button>
          ))}
          {found.length > LISTED_MAX ? (
            <p className="px-2 py-1 text-2xs text-ink-3">{formatPlural(found.length - LISTED_MAX, "more branch", "more branches")}</p>
          ) : null}
          {found.length === 0 ? <p className="px-2 py-1 text-xs text-ink-2">No branch matches.</p> : null}
        </div>
        {branch ? <States key={branch.id} branch={branch} onChoose={onChoose} /> : <span />}
      </div>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (file.trim() !== "") onChoose({ kind: "file", path: file.trim() });
        }}
      >
        <div className="flex-1">
          <Field
            label="Or a SQLite file on the machine that runs Coppice"
            value={file}
            placeholder="/home/you/shop.db"
            onChange={(event) => setFile(event.target.value)}
          />
        </div>
        <Button type="submit" disabled={file.trim() === ""}>
          Use the file
        </Button>
      </form>
    </div>
  );
}

/** What a branch can be compared as: its head, its file with unsaved changes, any of its versions. */
function States({ branch, onChoose }: { readonly branch: BranchView; readonly onChoose: (side: DiffSideInput) => void }) {
  const on = { database: branch.database, branch: branch.name };
  const history = useRequest("branch.history", { ...on, limit: LISTED_MAX });
  const hasUnsaved = branch.checkout.state === "unsaved" || branch.checkout.state === "conflict";
  return (
    <div className="overflow-y-auto py-1 text-xs">
      <State label={`Head, v${branch.head}`} at={branch.headAt} onClick={() => onChoose({ kind: "state", ...on })} />
      {hasUnsaved ? <State label="With unsaved changes" at={null} onClick={() => onChoose({ kind: "unsaved", ...on })} /> : null}
      {history.isPending ? <Skeleton lines={6} className="px-2" /> : null}
      {history.error ? <ErrorPanel bare error={toErrorView(history.error)} onRetry={() => void history.refetch()} /> : null}
      {history.data?.versions.map((version) => (
        <State
          key={version.number}
          label={versionLabel(version)}
          at={version.createdAt}
          onClick={() => onChoose({ kind: "state", ...on, at: `v${version.number}` })}
        />
      ))}
    </div>
  );
}

function versionLabel(version: HistoryRow): string {
  const names = version.checkpoints.map(({ name }) => name).join(", ");
  return `v${version.number} ${names || version.kind}${version.message ? ` · ${version.message}` : ""}`;
}

function State({ label, at, onClick }: { readonly label: string; readonly at: number | null; readonly onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} className="flex h-6 w-full items-center gap-2 px-2 text-left hover:bg-hover">
      <span className="name-cut flex-1">{label}</span>
      {at === null ? null : <RelativeTime at={at} className="text-ink-3" />}
    </button>
  );
}
