/**
 * What the catalog holds, as the rest of the engine sees it. An operation is a set of compare-and-swap moves of refs
 * plus the immutable versions and segments it brings; `apply` is the only code that carries one out.
 */
import type { BranchId, DatabaseId, OperationId, UnixMs, VersionNumber } from "#shared/ids.ts";
import type { Meta, OperationKind, VersionKind } from "#shared/views.ts";

export interface DatabaseRecord {
  readonly id: DatabaseId;
  /** 16 bytes. */
  readonly uid: Uint8Array;
  readonly name: string;
  readonly state: "live" | "trashed";
  readonly createdBy: OperationId;
  readonly createdAt: UnixMs;
  readonly actor: string;
  /** Versions ever made; the next one gets this number plus one. */
  readonly lastVersion: number;
  /** Bytes of its segments, inline ones included. */
  readonly storedBytes: number;
  /** Journal mode to give back on export: header bytes 18 and 19 of the imported file. */
  readonly journal: "wal" | "rollback";
  /** Where it was imported from; null for a new one. */
  readonly source: string | null;
  readonly trashedBy: OperationId | null;
  readonly trashedAt: UnixMs | null;
  readonly purgeAt: UnixMs | null;
}

export interface BranchRecord {
  readonly id: BranchId;
  readonly database: DatabaseId;
  readonly name: string;
  readonly state: "live" | "trashed";
  readonly head: VersionNumber;
  readonly forkVersion: VersionNumber | null;
  readonly parent: BranchId | null;
  readonly createdBy: OperationId;
  readonly createdAt: UnixMs;
  /** Who made it. */
  readonly actor: string;
  readonly touchedAt: UnixMs;
  readonly ttlMs: number | null;
  readonly protected: boolean;
  readonly meta: Meta;
  readonly epoch: number;
  readonly trashedBy: OperationId | null;
  readonly trashedAt: UnixMs | null;
  readonly purgeAt: UnixMs | null;
}

export interface VersionRecord {
  readonly database: DatabaseId;
  readonly number: VersionNumber;
  readonly parent: VersionNumber | null;
  readonly kind: VersionKind;
  readonly operation: OperationId;
  readonly createdAt: UnixMs;
  readonly actor: string;
  readonly branch: BranchId | null;
  readonly pageSize: number;
  readonly pageCount: number;
  /** State checksum, 16 bytes. */
  readonly checksum: Uint8Array;
  readonly changedPages: number;
  readonly message: string | null;
  readonly meta: Meta;
}

/** Level 0: changes against the parent. 1…14: merged, against `from`. BASE_LEVEL: all pages. */
export const BASE_LEVEL = 15;

/** One segment: the pages that changed from version `from` (exclusive) to version `to`. */
export interface SegmentRecord {
  readonly database: DatabaseId;
  readonly to: VersionNumber;
  readonly level: number;
  /** Null for a base. */
  readonly from: VersionNumber | null;
  /** Stored bytes, all parts. */
  readonly bytes: number;
  /** The segment itself when it is small; else null and it is in files. */
  readonly inline: Uint8Array | null;
  /** Name of its files under `segments/`: `<file>-<part>.seg`, part 0 … parts - 1. */
  readonly file: string | null;
  readonly parts: number;
}

export interface CheckpointRecord {
  readonly branch: BranchId;
  readonly name: string;
  readonly version: VersionNumber;
  /** The operation that put the name there. */
  readonly operation: OperationId;
  readonly createdAt: UnixMs;
  readonly actor: string;
}

/**
 * The name of a checkpoint that was given none is `auto-` and its version's number, and is not stored. A draft, which
 * does not know the number yet, writes this instead; no name may contain a question mark.
 */
export const AUTOMATIC_CHECKPOINT = "auto-?";

/** A version that the operation brings, referred to by its place in the draft until `apply` gives it a number. */
export interface NewVersionRef {
  readonly new: number;
}
export type VersionRef = VersionNumber | NewVersionRef;

/** One ref, moved from what it must be to what it becomes. Undo swaps the two. */
export type Move =
  | { readonly ref: "head"; readonly branch: BranchId; readonly before: VersionRef; readonly after: VersionRef }
  | { readonly ref: "branch-state"; readonly branch: BranchId; readonly before: "live" | "trashed"; readonly after: "live" | "trashed" }
  | { readonly ref: "branch-name"; readonly branch: BranchId; readonly before: string; readonly after: string }
  | { readonly ref: "protected"; readonly branch: BranchId; readonly before: boolean; readonly after: boolean }
  | { readonly ref: "ttl"; readonly branch: BranchId; readonly before: number | null; readonly after: number | null }
  | { readonly ref: "meta"; readonly branch: BranchId; readonly before: Meta; readonly after: Meta }
  | { readonly ref: "epoch"; readonly branch: BranchId; readonly before: number; readonly after: number }
  | {
      readonly ref: "checkpoint";
      readonly branch: BranchId;
      readonly name: string;
      readonly before: VersionRef | null;
      readonly after: VersionRef | null;
    }
  | {
      readonly ref: "database-state";
      readonly database: DatabaseId;
      readonly before: "live" | "trashed";
      readonly after: "live" | "trashed";
    }
  | { readonly ref: "database-name"; readonly database: DatabaseId; readonly before: string; readonly after: string };

export interface NewVersion {
  readonly parent: VersionRef | null;
  readonly kind: VersionKind;
  /** The branch that makes it; null = the first branch that the same operation brings. */
  readonly branch: BranchId | null;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly checksum: Uint8Array;
  readonly changedPages: number;
  readonly message: string | null;
  readonly meta: Meta;
  readonly segment: {
    readonly level: number;
    readonly bytes: number;
    readonly inline: Uint8Array | null;
    readonly file: string | null;
    readonly parts: number;
  };
}

/** New branches of a fork: one record, however many. Row numbers are assigned in `apply`, ascending. */
export interface NewBranches {
  readonly names: readonly string[];
  /** The head they start at. */
  readonly head: VersionRef;
  readonly parent: BranchId | null;
  readonly forkVersion: VersionRef | null;
  readonly ttlMs: number | null;
  readonly meta: Meta;
}

/** What the engine asks `commit` to do. Times, uids and randomness are in here, never taken by `apply`. */
export interface OperationDraft {
  /** 16 random bytes. */
  readonly uid: Uint8Array;
  readonly kind: OperationKind;
  readonly at: UnixMs;
  readonly actor: string;
  readonly database: DatabaseId | null;
  /** The branch it is about, for lists and filters. Head moves name no other branch. */
  readonly branch: BranchId | null;
  /** The other branch it takes from: what was promoted. */
  readonly source?: BranchId;
  readonly moves: readonly Move[];
  readonly versions?: readonly NewVersion[];
  readonly newDatabase?: {
    readonly uid: Uint8Array;
    readonly name: string;
    readonly journal: "wal" | "rollback";
    readonly source: string | null;
  };
  readonly newBranches?: NewBranches;
  /** Heads that must still be as seen, besides those the moves name. */
  readonly expectHeads?: readonly { readonly branch: BranchId; readonly head: VersionNumber }[];
  /** The operation this one reverses (undo) or reapplies (redo). */
  readonly reverses?: OperationId;
  /**
   * A checkout whose unsaved work the operation saved beside the head: `version` holds it, on top of `base`. Undo gives
   * it back as unsaved work.
   */
  readonly autosave?: { readonly branch: BranchId; readonly version: VersionRef; readonly base: VersionNumber };
  /** What a purge removes for good. */
  readonly purge?: PurgeDraft;
  /** Facts about checkouts that become true with the operation, in the same transaction. Not part of the log. */
  readonly facts?: readonly { readonly branch: BranchId; readonly fact: CheckoutFactDraft }[];
}

/** Made by `planGarbage` (garbage.ts). Refused as stale when any operation came after `plannedAt`. */
export interface PurgeDraft {
  /** Last operation that the plan saw. */
  readonly plannedAt: OperationId;
  readonly branches: readonly BranchId[];
  readonly databases: readonly DatabaseId[];
  readonly versions: readonly { readonly database: DatabaseId; readonly numbers: readonly VersionNumber[] }[];
  /** Operations that can no longer be undone or redone afterwards. */
  readonly strands: readonly OperationId[];
}

export interface OperationRecord {
  readonly id: OperationId;
  readonly uid: Uint8Array;
  readonly kind: OperationKind;
  readonly at: UnixMs;
  readonly actor: string;
  readonly database: DatabaseId | null;
  readonly branch: BranchId | null;
  readonly source: BranchId | null;
  /** As of now: "permanent" is a purge, or an operation that a purge stranded. */
  readonly state: "done" | "undone" | "permanent";
  /** With every version resolved to its number. */
  readonly moves: readonly Move[];
  readonly newBranches: { readonly first: BranchId; readonly count: number } | null;
  readonly newDatabase: DatabaseId | null;
  readonly newVersions: readonly VersionNumber[];
  readonly reverses: OperationId | null;
  readonly autosave: { readonly branch: BranchId; readonly version: VersionNumber; readonly base: VersionNumber } | null;
  readonly purged: { readonly branches: readonly BranchId[]; readonly databases: readonly DatabaseId[]; readonly versions: number } | null;
}

/**
 * What is known about a branch's file. The file equals version `content` as long as `fingerprint` matches; it was made
 * from `base`. Unsaved work exists when the fingerprint does not match, or when `content` is not `base`.
 */
export interface CheckoutFact {
  readonly base: VersionNumber;
  readonly content: VersionNumber;
  /** Compact text made and read by `checkouts/fingerprint.ts`; null = nothing proven, compare the bytes. */
  readonly fingerprint: string | null;
}
export interface CheckoutFactDraft {
  readonly base: VersionRef;
  readonly content: VersionRef;
  readonly fingerprint: string | null;
}
