import { ChevronsUpDown, FileText } from "lucide-react";
import { useState } from "react";
import { formatBytes } from "#shared/units.ts";
import type { DiffSideInput, DiffSideView } from "#shared/diff-views.ts";
import type { BranchView } from "#shared/views.ts";
import { BranchMark, StateChoices, type CurrentState } from "../branches/state-choices.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Popover } from "../ui/popover.tsx";
import { sideName, sidePlace, sideText } from "./side-text.ts";

interface SidePickerProps {
  readonly label: string;
  readonly database: string;
  readonly side: DiffSideInput | null;
  readonly view: DiffSideView | null;
  readonly onChoose: (side: DiffSideInput) => void;
}

/** One side of a comparison: says what it is, and lets another be chosen: any state of any branch, or a file. */
export function SidePicker({ label, database, side, view, onChoose }: SidePickerProps) {
  return (
    <Popover
      label={label}
      className="w-160 p-3"
      trigger={
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
      }
    >
      {(close) => (
        <Choices
          database={database}
          side={side}
          onChoose={(chosen) => {
            close();
            onChoose(chosen);
          }}
        />
      )}
    </Popover>
  );
}

function Mark({ side }: { readonly side: DiffSideInput | null }) {
  if (side === null) return null;
  if (side.kind === "file") return <FileText size={14} aria-hidden className="shrink-0 text-ink-2" />;
  return <BranchMark name={side.branch} isRing={side.kind === "unsaved"} />;
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
  const [file, setFile] = useState(side?.kind === "file" ? side.path : "");
  return (
    <div className="flex flex-col gap-2.5">
      <StateChoices
        chosen={side && side.kind !== "file" ? side.branch : null}
        current={currentStates}
        onCurrent={({ name }, id) => onChoose({ kind: id === "unsaved" ? "unsaved" : "state", database, branch: name })}
        onVersion={({ name }, version) => onChoose({ kind: "state", database, branch: name, at: `v${version}` })}
      />
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

/** What a branch can be compared as besides its versions. */
function currentStates(branch: BranchView): readonly CurrentState[] {
  const hasUnsaved = branch.checkout.state === "unsaved" || branch.checkout.state === "conflict";
  return [
    { id: "head", label: `Head, v${branch.head}`, at: branch.headAt },
    ...(hasUnsaved ? [{ id: "unsaved", label: "With unsaved changes", at: null }] : []),
  ];
}
