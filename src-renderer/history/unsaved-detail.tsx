import { Bookmark, Copy, RotateCcw, Trash2 } from "lucide-react";
import type { BranchView } from "#shared/views.ts";
import { useRequest } from "../api/queries.ts";
import { FileBadge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { Facts, Section } from "../ui/facts.tsx";
import { Bytes } from "../ui/figures.tsx";
import { describeHolder } from "../ui/states.tsx";
import type { HistoryActs } from "./history-acts.ts";

/** Work in the branch's file that no version holds. */
export function UnsavedDetail({ branch, acts }: { readonly branch: BranchView; readonly acts: HistoryActs }) {
  const { checkout } = branch;
  const conflict = checkout.state === "conflict";
  return (
    <>
      <header className="flex flex-col gap-2.5 p-3">
        <div className="flex min-w-0 items-center gap-2">
          <h2 className="name-cut text-md font-semibold">Unsaved changes</h2>
          <FileBadge state={conflict ? "conflict" : "unsaved"} />
        </div>
        {conflict ? <ConflictChoice acts={acts} /> : <UnsavedChoice acts={acts} />}
      </header>
      <FileFacts branch={branch} />
    </>
  );
}

function UnsavedChoice({ acts }: { readonly acts: HistoryActs }) {
  return (
    <>
      <p className="text-xs text-ink-2">The file was changed since the last version. Discarding keeps an autosave, so it can be undone.</p>
      <div className="grid grid-cols-2 gap-2">
        <Button variant="primary" icon={Bookmark} disabled={acts.busy !== null} onClick={acts.checkpoint}>
          Checkpoint…
        </Button>
        <Button icon={Trash2} busy={acts.busy} onClick={acts.discard}>
          Discard
        </Button>
      </div>
    </>
  );
}

function ConflictChoice({ acts }: { readonly acts: HistoryActs }) {
  return (
    <>
      <p className="text-xs text-ink-2">
        The branch moved to another version while the file was being changed. Nothing is lost with either choice.
      </p>
      <div className="flex flex-col gap-2">
        <Button variant="primary" icon={Bookmark} busy={acts.busy} onClick={acts.putMineOnTop}>
          Save mine on top of the head
        </Button>
        <Button icon={RotateCcw} disabled={acts.busy !== null} onClick={acts.takeTheirs}>
          Take the head, keep mine as an autosave
        </Button>
      </div>
    </>
  );
}

function FileFacts({ branch }: { readonly branch: BranchView }) {
  const { checkout } = branch;
  const detail = useRequest("branch.get", { database: branch.database, branch: branch.name });
  const holders = detail.data?.holders ?? [];
  return (
    <Section title="File">
      <Facts
        facts={[
          { label: "Made from", value: checkout.base === null ? "unknown" : `v${checkout.base}` },
          { label: "Head", value: `v${branch.head}` },
          { label: "Size", value: <Bytes value={checkout.fileBytes} /> },
          { label: "WAL", value: <Bytes value={checkout.walBytes} /> },
          {
            label: "Opened by",
            value: holders.length > 0 ? holders.map(describeHolder).join("; ") : null,
            title: holders.map(describeHolder).join("\n"),
          },
        ]}
      />
      <div className="flex items-center gap-1">
        <span className="name-cut flex-1 font-mono text-2xs [direction:rtl]" title={checkout.path}>
          <bdi>{checkout.path}</bdi>
        </span>
        <IconButton icon={Copy} label="Copy path" onClick={() => void copyText(checkout.path, "path")} />
      </div>
    </Section>
  );
}
