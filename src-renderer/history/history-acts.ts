/** What can be done with the rows of the timeline: one list for the menu, the buttons and the keyboard. */
import {
  Bookmark,
  BookmarkX,
  ClipboardCopy,
  Download,
  FileLock2,
  GitCompareArrows,
  GitFork,
  PencilLine,
  RotateCcw,
  RotateCw,
  Table2,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { useState } from "react";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import { performOrReport, requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { openDialog } from "../app-state.ts";
import { openData, placeOf } from "../data/data-session.ts";
import { openDiffOf } from "../diff/diff-session.ts";
import { copyText } from "../ui/copy.ts";
import type { MenuEntry } from "../ui/menu.tsx";
import type { TimelineRow } from "./history-rows.ts";

export interface CheckpointRef {
  readonly branch: string;
  readonly name: string;
}

export interface HistoryActs {
  /** The act under way, as a button says it; null when none is. */
  readonly busy: string | null;
  /** Read-only files made in this session, by version number. */
  readonly readOnlyPaths: ReadonlyMap<number, string>;
  readonly checkpoint: () => void;
  readonly fork: (version: HistoryRow) => void;
  readonly moveTo: (version: HistoryRow) => void;
  readonly discard: () => void;
  /** Conflict: the file becomes the head again; what it held is kept as an autosave. */
  readonly takeTheirs: () => void;
  /** Conflict: the file's state becomes a new version on top of the head. */
  readonly putMineOnTop: () => void;
  /** "parent": what this version changed, shown at a table, or with null at the schema. "head": what changed since. */
  readonly diff: (version: HistoryRow, against: "parent" | "head", table?: string | null) => void;
  readonly browse: (version: HistoryRow) => void;
  readonly openReadOnly: (version: HistoryRow) => void;
  readonly exportFile: (version: HistoryRow) => void;
  readonly renameCheckpoint: (checkpoint: CheckpointRef) => void;
  readonly deleteCheckpoint: (checkpoint: CheckpointRef) => void;
}

/** `onExport` opens the export dialog, the only one that belongs to this screen. */
export function useHistoryActs(branch: BranchView, onExport: (version: HistoryRow) => void): HistoryActs {
  const api = useApi();
  const [busy, setBusy] = useState<string | null>(null);
  const [readOnlyPaths, setReadOnlyPaths] = useState<ReadonlyMap<number, string>>(new Map());
  const on = { database: branch.database, branch: branch.name };
  const run = async (label: string, act: () => Promise<unknown>) => {
    setBusy(label);
    try {
      await act();
    } finally {
      setBusy(null);
    }
  };
  const rollBack = (to: string, label: string) => void run(label, () => performOrReport(api, "branch.rollback", { ...on, to }));
  return {
    busy,
    readOnlyPaths,
    checkpoint: () => openDialog({ kind: "checkpoint", branch: branch.name }),
    fork: (version) => openDialog({ kind: "fork", branch: branch.name, at: `v${version.number}` }),
    moveTo: (version) => rollBack(`v${version.number}`, version.place === "ahead" ? "Rolling forward…" : "Rolling back…"),
    discard: () => rollBack(`v${branch.head}`, "Discarding…"),
    takeTheirs: () => void run("Replacing…", () => performOrReport(api, "branch.checkout", { ...on, resolve: "take-theirs" })),
    putMineOnTop: () => void run("Saving…", () => performOrReport(api, "branch.checkpoint", { ...on, resolve: "put-mine-on-top" })),
    diff: (version, against, table) => {
      const state = (number: number) => ({ kind: "state", ...on, at: `v${number}` }) as const;
      const own = state(version.number);
      if (against === "head") void openDiffOf(api, own, { kind: "state", ...on });
      else if (version.parent !== null) void openDiffOf(api, state(version.parent), own, table);
    },
    browse: (version) => openData(placeOf(branch, `v${version.number}`)),
    openReadOnly: (version) =>
      void run("Opening…", async () => {
        const opened = await requestOrReport(api, "checkpoint.open", { ...on, at: `v${version.number}` });
        if (opened) setReadOnlyPaths((paths) => new Map([...paths, [version.number, opened.path]]));
      }),
    exportFile: onExport,
    renameCheckpoint: (checkpoint) => openDialog({ kind: "rename-checkpoint", branch: checkpoint.branch, name: checkpoint.name }),
    deleteCheckpoint: (checkpoint) =>
      void run("Deleting…", () =>
        performOrReport(api, "checkpoint.delete", { database: branch.database, branch: checkpoint.branch, name: checkpoint.name }),
      ),
  };
}

/** The verb that brings a branch's head to this version, or null when it is there already. */
export function moveLabel(version: HistoryRow): { readonly label: string; readonly icon: LucideIcon } | null {
  if (version.place === "head") return null;
  if (version.place === "ahead") return { label: "Roll forward to here", icon: RotateCw };
  return { label: "Roll back to here", icon: RotateCcw };
}

/** The context menu of a row. */
export function rowEntries(row: TimelineRow, acts: HistoryActs): MenuEntry[] {
  if (row.type === "unsaved") {
    if (row.conflict) {
      return [
        { kind: "item", id: "mine", label: "Save mine on top of the head", icon: Bookmark, run: acts.putMineOnTop },
        { kind: "item", id: "theirs", label: "Take the head, keep mine as an autosave", icon: RotateCcw, run: acts.takeTheirs },
      ];
    }
    return [
      { kind: "item", id: "checkpoint", label: "Checkpoint…", icon: Bookmark, shortcut: "Mod+S", run: acts.checkpoint },
      { kind: "item", id: "discard", label: "Discard unsaved changes", icon: Trash2, run: acts.discard },
    ];
  }
  return row.type === "version" ? versionEntries(row.version, acts) : [];
}

function versionEntries(version: HistoryRow, acts: HistoryActs): MenuEntry[] {
  const move = moveLabel(version);
  const own = version.checkpoints[0];
  return [
    { kind: "item", id: "fork", label: "Fork here…", icon: GitFork, shortcut: "N", run: () => acts.fork(version) },
    ...(move ? [{ kind: "item", id: "move", label: move.label, icon: move.icon, run: () => acts.moveTo(version) } as const] : []),
    ...(version.parent === null
      ? []
      : ([
          {
            kind: "item",
            id: "diff",
            label: "Diff with the version before",
            icon: GitCompareArrows,
            run: () => acts.diff(version, "parent"),
          },
        ] as const)),
    ...(version.place === "head"
      ? []
      : ([
          { kind: "item", id: "diff-head", label: "Diff with the head", icon: GitCompareArrows, run: () => acts.diff(version, "head") },
        ] as const)),
    { kind: "item", id: "data", label: "Browse its data", icon: Table2, run: () => acts.browse(version) },
    { kind: "item", id: "open", label: "Open read-only", icon: FileLock2, run: () => acts.openReadOnly(version) },
    { kind: "item", id: "export", label: "Export…", icon: Download, run: () => acts.exportFile(version) },
    { kind: "separator", id: "copying" },
    {
      kind: "item",
      id: "copy",
      label: `Copy v${version.number}`,
      icon: ClipboardCopy,
      shortcut: "Mod+C",
      run: () => void copyText(`v${version.number}`, "version"),
    },
    { kind: "item", id: "checksum", label: "Copy checksum", icon: ClipboardCopy, run: () => void copyText(version.checksum, "checksum") },
    ...(own
      ? ([
          { kind: "separator", id: "naming" },
          {
            kind: "item",
            id: "rename",
            label: `Rename checkpoint ${own.name}…`,
            icon: PencilLine,
            shortcut: "F2",
            run: () => acts.renameCheckpoint(own),
          },
          {
            kind: "item",
            id: "delete",
            label: `Delete checkpoint ${own.name}`,
            icon: BookmarkX,
            danger: true,
            run: () => acts.deleteCheckpoint(own),
          },
        ] as const)
      : []),
  ];
}
