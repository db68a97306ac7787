/**
 * What a store takes on its disk, and for what. "Stored" bytes are sizes of files, or of what the catalog holds inside its
 * own; "physical" ones are blocks of the disk, a block that several files share counted once. Null where the file system
 * does not tell.
 */
import type { UnixMs } from "./ids.ts";

/**
 * Each byte of a store's folder belongs to one of these. Segments, by who needs them: one branch ("unique"), two or more
 * ("shared"), only versions that the undo window keeps ("history"), only branches in the trash ("trash"), nobody ("garbage":
 * gc removes them). Then files: those of branches ("files"), what only saves time ("caches"), what is being made
 * ("temporary"), what was put aside and benchmark runs ("kept"), catalog, locks and settings ("catalog").
 */
export type UsagePartName = "unique" | "shared" | "history" | "trash" | "garbage" | "files" | "caches" | "temporary" | "kept" | "catalog";

export interface UsagePart {
  readonly name: UsagePartName;
  /** Of `unit`. */
  readonly count: number;
  readonly unit: "branches" | "versions" | "segments" | "files";
  readonly storedBytes: number;
  readonly physicalBytes: number | null;
}

/** Only saves time: "ready files" wait to become files of branches. */
export interface CacheUsage {
  readonly name: "ready files" | "read-only files" | "shadows" | "change counts";
  readonly files: number;
  readonly bytes: number;
}

/** Another branch that holds part of the same history, and how many more do. */
export interface SharedWith {
  /** The parent, else a branch that was forked from this one; null when nothing is shared. */
  readonly branch: string | null;
  readonly others: number;
}

/** A live branch. */
export interface UsageRow {
  readonly database: string;
  readonly branch: string;
  readonly isProtected: boolean;
  /** Size of the file that the branch's head is. */
  readonly logicalBytes: number;
  /**
   * Stored bytes that nothing but this branch needs: freed when only it goes, once it is purged. Its share of the part
   * "unique", and besides what only its own undo keeps of "history".
   */
  readonly uniqueBytes: number;
  /** Stored bytes that it needs and something else does too. */
  readonly sharedBytes: number;
  readonly sharedWith: SharedWith;
  /** Its file with the WAL; 0 without one. */
  readonly fileBytes: number;
}

export interface UsageView {
  /** Null: the whole store. */
  readonly database: string | null;
  readonly measuredAt: UnixMs;
  /** Of all live branches' heads together. */
  readonly logicalBytes: number;
  /** Sums of `parts`. Of the whole store: the sizes of all files in its folder. */
  readonly storedBytes: number;
  readonly physicalBytes: number | null;
  readonly parts: readonly UsagePart[];
  readonly caches: readonly CacheUsage[];
  /** The most unique bytes first. */
  readonly rows: readonly UsageRow[];
}

export interface CheckpointUsageRow {
  readonly name: string;
  readonly version: number;
  /** Stored bytes that nothing but this checkpoint needs: freed some time after it is deleted, with the undo window. */
  readonly uniqueBytes: number;
  readonly sharedBytes: number;
}

/** What a branch's checkpoints cost. */
export interface BranchUsageView {
  readonly row: UsageRow;
  readonly checkpoints: readonly CheckpointUsageRow[];
}

/** What goes when some branches go together, and their trash is purged. */
export interface FreedView {
  /** What the store's folder shrinks by: `segmentBytes` and the files of the branches. */
  readonly bytes: number;
  readonly segmentBytes: number;
  /** With WALs and shadows. */
  readonly fileBytes: number;
  /** Of their files what stays in the folder as ready files for the next branches, until caches are cleared: in no other sum. */
  readonly readyBytes: number;
  /** Of `segmentBytes`: what each one of them needs alone, and what only several of them need. */
  readonly uniqueBytes: number;
  readonly amongThemBytes: number;
  /** Those that refuse to go without force. */
  readonly protected: readonly string[];
}
