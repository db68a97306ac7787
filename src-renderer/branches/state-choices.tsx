import { ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import { toErrorView } from "../api/api-error.ts";
import { useRequest } from "../api/queries.ts";
import { cx } from "../ui/cx.ts";
import { TextInput } from "../ui/field.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatPlural } from "../ui/format.ts";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { useBranchList } from "./branch-list.ts";
import { laneColor } from "./hues.ts";

/** Branches and versions listed at once; the filter finds the others. */
const LISTED_MAX = 200;

/** A line above the versions of a branch. */
export interface CurrentState {
  readonly id: string;
  readonly label: string;
  readonly at: number | null;
}

interface StateChoicesProps {
  /** Name of the branch that is chosen now. */
  readonly chosen: string | null;
  /** What a branch can be taken as besides its versions; Enter in the filter takes the first. */
  readonly current: (branch: BranchView) => readonly CurrentState[];
  readonly onCurrent: (branch: BranchView, id: string) => void;
  readonly onVersion: (branch: BranchView, version: number) => void;
}

/** Any state of any branch of the database: branches on the left, the states of one of them on the right. */
export function StateChoices({ chosen, current, onCurrent, onVersion }: StateChoicesProps) {
  const branches = useBranchList((state) => state.branches);
  const [text, setText] = useState("");
  const [name, setName] = useState(chosen);
  const found = useMemo(() => branches.filter((branch) => branch.name.toLowerCase().includes(text.trim().toLowerCase())), [branches, text]);
  const branch = found.find((each) => each.name === name) ?? found[0] ?? null;
  return (
    <>
      <TextInput
        autoFocus
        icon={ListFilter}
        aria-label="Find a branch"
        placeholder="Find a branch"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          const first = branch ? current(branch)[0] : undefined;
          if (event.key !== "Enter" || !branch || !first) return;
          event.preventDefault();
          onCurrent(branch, first.id);
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
              onClick={() => setName(each.name)}
              className={cx(
                "flex h-6 w-full items-center gap-2 px-2 text-left text-xs",
                each === branch ? "bg-selected" : "hover:bg-hover",
              )}
            >
              <BranchMark name={each.name} />
              <span className="name-cut">{each.name}</span>
            </button>
          ))}
          {found.length > LISTED_MAX ? (
            <p className="px-2 py-1 text-2xs text-ink-3">{formatPlural(found.length - LISTED_MAX, "more branch", "more branches")}</p>
          ) : null}
          {found.length === 0 ? <p className="px-2 py-1 text-xs text-ink-2">No branch matches.</p> : null}
        </div>
        {branch ? (
          <States
            key={branch.id}
            branch={branch}
            current={current(branch)}
            onCurrent={(id) => onCurrent(branch, id)}
            onVersion={(version) => onVersion(branch, version)}
          />
        ) : (
          <span />
        )}
      </div>
    </>
  );
}

/** A branch's dot; a ring for what no version holds. */
export function BranchMark({ name, isRing = false }: { readonly name: string; readonly isRing?: boolean }) {
  const color = laneColor(name);
  return (
    <svg width="10" height="10" aria-hidden className="shrink-0">
      <circle cx="5" cy="5" r={isRing ? 4 : 5} fill={isRing ? "none" : color} stroke={isRing ? color : "none"} strokeWidth="2" />
    </svg>
  );
}

interface StatesProps {
  readonly branch: BranchView;
  readonly current: readonly CurrentState[];
  readonly onCurrent: (id: string) => void;
  readonly onVersion: (version: number) => void;
}

function States({ branch, current, onCurrent, onVersion }: StatesProps) {
  const history = useRequest("branch.history", { database: branch.database, branch: branch.name, limit: LISTED_MAX });
  return (
    <div className="overflow-y-auto py-1 text-xs">
      {current.map(({ id, label, at }) => (
        <State key={id} label={label} at={at} onClick={() => onCurrent(id)} />
      ))}
      {history.isPending ? <Skeleton lines={6} className="px-2" /> : null}
      {history.error ? <ErrorPanel bare error={toErrorView(history.error)} onRetry={() => void history.refetch()} /> : null}
      {history.data?.versions.map((version) => (
        <State key={version.number} label={versionLabel(version)} at={version.createdAt} onClick={() => onVersion(version.number)} />
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
