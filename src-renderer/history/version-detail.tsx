import { BookmarkX, Copy, Ellipsis, FileLock2, GitFork, PencilLine } from "lucide-react";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { ChangeList, OpenDiff } from "../ui/change-figures.tsx";
import { Facts, Section } from "../ui/facts.tsx";
import { Bytes, RelativeTime } from "../ui/figures.tsx";
import { formatCount } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { moveLabel, rowEntries, type HistoryActs } from "./history-acts.ts";
import { kindWord, versionTitle } from "./history-rows.ts";
import { useVersionChanges } from "./version-changes.ts";

interface VersionDetailProps {
  readonly version: HistoryRow;
  readonly branch: BranchView;
  readonly acts: HistoryActs;
  readonly onSelectVersion: (number: number) => void;
}

export function VersionDetail({ version, branch, acts, onSelectVersion }: VersionDetailProps) {
  const move = moveLabel(version);
  const path = acts.readOnlyPaths.get(version.number);
  return (
    <>
      <header className="flex flex-col gap-2.5 p-3">
        <div className="flex min-w-0 items-center gap-2">
          <h2 className="name-cut text-md font-semibold" title={versionTitle(version, branch.name)}>
            {versionTitle(version, branch.name)}
          </h2>
          {version.place === "head" ? <Badge tone="info">Head</Badge> : null}
          {version.place === "ahead" ? <Badge tone="busy">Left by rollback</Badge> : null}
          {version.inherited ? <Badge tone="busy">Inherited</Badge> : null}
          <span className="ml-auto" />
          <Menu
            label="More acts"
            align="end"
            entries={rowEntries({ type: "version", key: `v${version.number}`, version, folded: false }, acts)}
          >
            <IconButton icon={Ellipsis} label="More acts" />
          </Menu>
        </div>
        {version.message ? <p className="text-xs wrap-anywhere whitespace-pre-wrap text-ink-2">{version.message}</p> : null}
        <div className="flex flex-wrap gap-2">
          {move ? (
            <Button variant="primary" icon={move.icon} className="w-full" busy={acts.busy} onClick={() => acts.moveTo(version)}>
              {move.label}
            </Button>
          ) : null}
          <Button icon={GitFork} className="flex-auto" onClick={() => acts.fork(version)}>
            Fork here
          </Button>
          <Button icon={FileLock2} className="flex-auto" disabled={acts.busy !== null} onClick={() => acts.openReadOnly(version)}>
            Open read-only
          </Button>
        </div>
      </header>
      {path === undefined ? null : <ReadOnlyFile path={path} />}
      <Section title="Version">
        <Facts facts={versionFacts(version, onSelectVersion)} />
      </Section>
      {version.parent === null ? null : <Changes version={version} parent={version.parent} database={branch.database} acts={acts} />}
      <Checkpoints version={version} acts={acts} />
      {Object.keys(version.meta).length > 0 ? (
        <Section title="Labels">
          <Facts facts={Object.entries(version.meta).map(([label, value]) => ({ label, value, title: value }))} />
        </Section>
      ) : null}
    </>
  );
}

function versionFacts(version: HistoryRow, onSelectVersion: (number: number) => void) {
  const { parent } = version;
  return [
    { label: "Number", value: `v${version.number}` },
    { label: "Kind", value: kindWord(version.kind) },
    { label: "Made", value: <RelativeTime at={version.createdAt} suffix=" ago" /> },
    { label: "By", value: version.actor, title: version.actor },
    { label: "On branch", value: version.branch, title: version.branch ?? "" },
    {
      label: "Parent",
      value:
        parent === null ? (
          "none"
        ) : (
          <button type="button" className="text-accent hover:underline" onClick={() => onSelectVersion(parent)}>
            v{parent}
          </button>
        ),
    },
    { label: "Changed", value: `${formatCount(version.changedPages)} of ${formatCount(version.pageCount)} pages` },
    { label: "Added", value: <Bytes value={version.storedBytes} /> },
    { label: "File size", value: <Bytes value={version.pageCount * version.pageSize} /> },
    { label: "Head of", value: version.heads.length > 0 ? version.heads.join(", ") : null, title: version.heads.join(", ") },
    {
      label: "Checksum",
      value: (
        <span className="flex items-center gap-1">
          <span className="name-cut font-mono text-2xs">{version.checksum}</span>
          <IconButton
            icon={Copy}
            label="Copy checksum"
            className="size-5! shrink-0"
            onClick={() => void copyText(version.checksum, "checksum")}
          />
        </span>
      ),
      title: version.checksum,
    },
  ];
}

interface ChangesProps {
  readonly version: HistoryRow;
  readonly parent: number;
  readonly database: string;
  readonly acts: HistoryActs;
}

function Changes({ version, parent, database, acts }: ChangesProps) {
  const counts = useVersionChanges(database, version);
  return (
    <Section title={`Changes since v${parent}`} aside={<OpenDiff onClick={() => acts.diff(version, "parent")} />}>
      <ChangeList counts={counts} onOpen={(table) => acts.diff(version, "parent", table)} />
    </Section>
  );
}

function ReadOnlyFile({ path }: { readonly path: string }) {
  return (
    <Section title="Read-only file">
      <div className="flex items-center gap-1">
        <span className="name-cut flex-1 font-mono text-2xs [direction:rtl]" title={path}>
          <bdi>{path}</bdi>
        </span>
        <IconButton icon={Copy} label="Copy path" onClick={() => void copyText(path, "path")} />
      </div>
    </Section>
  );
}

function Checkpoints({ version, acts }: { readonly version: HistoryRow; readonly acts: HistoryActs }) {
  if (version.checkpoints.length === 0) return null;
  return (
    <Section title="Checkpoints" aside={formatCount(version.checkpoints.length)}>
      <ul>
        {version.checkpoints.map((checkpoint) => (
          <li key={`${checkpoint.branch}@${checkpoint.name}`} className="group flex h-row items-center gap-2 text-xs">
            <span className="name-cut flex-1">
              <span className="font-medium">{checkpoint.name}</span> <span className="text-ink-3">on {checkpoint.branch}</span>
            </span>
            <IconButton icon={PencilLine} label={`Rename ${checkpoint.name}`} onClick={() => acts.renameCheckpoint(checkpoint)} />
            <IconButton icon={BookmarkX} label={`Delete ${checkpoint.name}`} onClick={() => acts.deleteCheckpoint(checkpoint)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
