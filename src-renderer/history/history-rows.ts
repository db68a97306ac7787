/**
 * The timeline as a flat list for the virtual list: unsaved work on top, versions newest first, runs of automatic
 * versions folded into one row, and a separator where the branch was forked off.
 */
import type { BranchView, HistoryRow, VersionKind } from "#shared/views.ts";

export type TimelineRow =
  | { readonly type: "unsaved"; readonly key: string; readonly conflict: boolean }
  | { readonly type: "version"; readonly key: string; readonly version: HistoryRow; readonly folded: boolean }
  | { readonly type: "fold"; readonly key: string; readonly versions: readonly HistoryRow[]; readonly open: boolean }
  | { readonly type: "fork-point"; readonly key: string; readonly label: string };

/** Kinds that nobody asked for by name: they fold, unless something points at them. */
const AUTOMATIC: ReadonlySet<VersionKind> = new Set(["autosave", "flush", "rollback-safety"]);

/** A shorter run is as quick to read as the row that would replace it. */
const FOLD_FROM = 2;

function folds(version: HistoryRow): boolean {
  return AUTOMATIC.has(version.kind) && version.checkpoints.length === 0 && version.heads.length === 0 && version.place !== "head";
}

/** `open` holds the keys of folds that the user opened. */
export function buildTimeline(branch: BranchView, versions: readonly HistoryRow[], open: ReadonlySet<string>): TimelineRow[] {
  const rows: TimelineRow[] = [];
  const state = branch.checkout.state;
  if (state === "unsaved" || state === "conflict") rows.push({ type: "unsaved", key: "unsaved", conflict: state === "conflict" });
  let run: HistoryRow[] = [];
  const flush = () => {
    rows.push(...foldRun(run, open));
    run = [];
  };
  let separated = false;
  for (const version of versions) {
    if (version.inherited && !separated) {
      flush();
      rows.push({ type: "fork-point", key: "fork-point", label: forkPointLabel(branch) });
      separated = true;
    }
    if (folds(version)) run.push(version);
    else {
      flush();
      rows.push(versionRow(version, false));
    }
  }
  flush();
  return rows;
}

function foldRun(run: readonly HistoryRow[], open: ReadonlySet<string>): TimelineRow[] {
  const newest = run[0];
  if (!newest) return [];
  if (run.length < FOLD_FROM) return run.map((version) => versionRow(version, false));
  // Keyed by its oldest member: newer automatic versions join the fold without closing it.
  const key = `fold-${run[run.length - 1]?.number}`;
  const isOpen = open.has(key);
  const fold: TimelineRow = { type: "fold", key, versions: run, open: isOpen };
  return isOpen ? [fold, ...run.map((version) => versionRow(version, true))] : [fold];
}

function versionRow(version: HistoryRow, folded: boolean): TimelineRow {
  return { type: "version", key: `v${version.number}`, version, folded };
}

function forkPointLabel(branch: BranchView): string {
  const from = branch.forkedFrom;
  if (!from) return "Inherited";
  const name = from.branch ?? "a branch that was purged";
  return `Forked from ${name} at ${from.checkpoint ? `${from.checkpoint}, v${from.version}` : `v${from.version}`}`;
}

/** Rows that can be selected; separators are only read. */
export function isSelectable(row: TimelineRow): boolean {
  return row.type !== "fork-point";
}

const KIND_WORDS: Readonly<Record<VersionKind, string>> = {
  import: "Imported",
  checkpoint: "Checkpoint",
  autosave: "Autosave",
  flush: "Flush",
  "rollback-safety": "Saved before rollback",
  merge: "Merge",
  rescue: "Rescued",
};

export function kindWord(kind: VersionKind): string {
  return KIND_WORDS[kind];
}

/** What the timeline prints as the row's name: its checkpoints, own branch first, else what made it. */
export function versionTitle(version: HistoryRow, branch: string): string {
  const own = version.checkpoints.filter((checkpoint) => checkpoint.branch === branch).map((checkpoint) => checkpoint.name);
  const others = version.checkpoints.filter((checkpoint) => checkpoint.branch !== branch).map((checkpoint) => checkpoint.name);
  const names = [...new Set([...own, ...others])];
  return names.length > 0 ? names.join(", ") : kindWord(version.kind);
}
