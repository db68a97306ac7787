/**
 * What every face (screens, CLI `--json`, library) gets to see. Times are Unix milliseconds, sizes are bytes, versions
 * are numbers inside their database. These shapes are the public contract: see `contract-version.ts`.
 */
import type { Holder } from "./error-codes.ts";
import type { UnixMs } from "./ids.ts";
import type { CacheUsage } from "./usage-views.ts";

export type Meta = Readonly<Record<string, string>>;

export interface StoreView {
  readonly spec: string;
  /** Absolute folder. */
  readonly path: string;
  /** Random 128-bit identity, hex. */
  readonly uid: string;
  readonly formatVersion: number;
  readonly createdAt: UnixMs;
  readonly databases: number;
  readonly branches: number;
  readonly trashed: number;
  readonly lastOperation: number;
  /** When the last operation became durable; null in a new store. */
  readonly durableAt: UnixMs | null;
  readonly warnings: readonly string[];
}

export interface DatabaseView {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: UnixMs;
  readonly branches: number;
  readonly versions: number;
  /** Of main's head. */
  readonly pageSize: number;
  readonly pageCount: number;
  /** Bytes of its segments in the store, inline ones included. */
  readonly storedBytes: number;
  readonly source: string | null;
}

export type VersionKind = "import" | "checkpoint" | "autosave" | "flush" | "rollback-safety" | "merge" | "rescue";

export interface VersionView {
  readonly number: number;
  readonly parent: number | null;
  readonly kind: VersionKind;
  readonly createdAt: UnixMs;
  readonly actor: string;
  readonly message: string | null;
  readonly meta: Meta;
  readonly pageSize: number;
  readonly pageCount: number;
  /** Pages that differ from the parent. */
  readonly changedPages: number;
  readonly storedBytes: number;
  /** 128-bit state checksum, hex. */
  readonly checksum: string;
  /** Names put on this version, on any branch. */
  readonly checkpoints: readonly { readonly branch: string; readonly name: string }[];
  /** Branches whose head this is. */
  readonly heads: readonly string[];
}

export type CheckoutState =
  | "none"
  /** The file equals the head. */
  | "clean"
  /** The file holds work that no version holds. */
  | "unsaved"
  /** The file belongs to a version that is no longer the head, and holds nothing unsaved. */
  | "stale"
  /** Both: unsaved work on top of a version that is no longer the head. */
  | "conflict"
  /** A recorded file is gone. */
  | "missing";

export interface CheckoutView {
  readonly state: CheckoutState;
  /** Where the file is, or would be. */
  readonly path: string;
  /** Version the file was made from; null without a file. */
  readonly base: number | null;
  readonly fileBytes: number;
  readonly walBytes: number;
}

export interface BranchView {
  readonly id: number;
  readonly database: string;
  readonly name: string;
  readonly head: number;
  /** When and by whom the head's version was made. */
  readonly headAt: UnixMs;
  readonly headActor: string;
  /** A name on the head's version, own branch first; null when it has none. */
  readonly headCheckpoint: string | null;
  /** Where it was forked; null for main. `branch` is null when the parent was purged. */
  readonly forkedFrom: {
    readonly branchId: number | null;
    readonly branch: string | null;
    readonly version: number;
    readonly checkpoint: string | null;
  } | null;
  readonly createdAt: UnixMs;
  readonly actor: string;
  /** Last operation on it or change seen in its file; TTL counts from here. */
  readonly touchedAt: UnixMs;
  readonly ttlMs: number | null;
  readonly expiresAt: UnixMs | null;
  readonly protected: boolean;
  readonly meta: Meta;
  /** Own checkpoints. */
  readonly checkpoints: number;
  readonly checkout: CheckoutView;
}

/** What the inspector asks for when one branch is selected. */
export interface BranchDetail extends BranchView {
  readonly pageSize: number;
  readonly pageCount: number;
  /** Size of the exported file. */
  readonly logicalBytes: number;
  /** Stored bytes of the versions made on this branch since its fork. */
  readonly storedBytes: number;
  readonly ownCheckpoints: readonly CheckpointView[];
  readonly inheritedCheckpoints: number;
  readonly children: number;
  readonly holders: readonly Holder[];
}

export interface CheckpointView {
  readonly branch: string;
  readonly name: string;
  readonly version: number;
  readonly createdAt: UnixMs;
  readonly actor: string;
  readonly message: string | null;
  readonly meta: Meta;
  readonly storedBytes: number;
}

/** Rows of a branch's history, newest first. */
export interface HistoryView {
  readonly branch: BranchView;
  /** Lineage of the head and, marked, versions rolled back from that can be rolled forward to. */
  readonly versions: readonly HistoryRow[];
  readonly total: number;
}
export interface HistoryRow extends VersionView {
  /** The branch that made it. */
  readonly branch: string | null;
  /** "head" = is the head; "ancestor" = below it; "ahead" = left behind by a rollback, still reachable; "side" = autosave. */
  readonly place: "head" | "ancestor" | "ahead" | "side";
  /** True when it comes from before the fork point. */
  readonly inherited: boolean;
}

export type OperationKind =
  | "create-database"
  | "drop-database"
  | "restore-database"
  | "rename-database"
  | "fork"
  | "checkpoint"
  | "autosave"
  | "rollback"
  | "promote"
  | "destroy"
  | "restore"
  | "rename"
  | "protect"
  | "unprotect"
  | "touch"
  | "set-meta"
  | "rename-checkpoint"
  | "delete-checkpoint"
  | "expire"
  | "purge"
  | "undo"
  | "redo";

export interface OperationView {
  readonly id: number;
  readonly uid: string;
  readonly kind: OperationKind;
  readonly at: UnixMs;
  readonly actor: string;
  readonly database: string;
  readonly branch: string | null;
  /** One line: "Promoted attempt-2 → main". */
  readonly summary: string;
  /** The operation this one reverses or reapplies. */
  readonly reverses: number | null;
  readonly state: "done" | "undone" | "permanent";
}

export interface UndoPreview {
  readonly operation: OperationView;
  /** Later operations on the same refs that must be undone first, newest first; empty when it can be undone at once. */
  readonly blockedBy: readonly OperationView[];
  /** One line per ref: "main: v12 → v9". */
  readonly moves: readonly string[];
}

/** What a verb did. `operation` is null when nothing had to be done. */
export interface VerbResult {
  readonly operation: OperationView | null;
  readonly branch: BranchView | null;
  readonly warnings: readonly string[];
}
export interface ForkResult extends VerbResult {
  readonly branches: readonly string[];
}
export interface CheckpointResult extends VerbResult {
  readonly version: number;
  readonly name: string;
  readonly changedPages: number;
  readonly storedBytes: number;
}
export interface MoveResult extends VerbResult {
  readonly from: number;
  readonly to: number;
  /** The version that keeps what was unsaved; null when nothing was. */
  readonly autosave: number | null;
  /** What was done to the checkout's file: "patched 50 pages", "rebuilt", "none". */
  readonly checkout: string;
}
export interface UndoResult extends VerbResult {
  readonly undone: readonly OperationView[];
}

export interface ImportNote {
  readonly severity: "ok" | "note" | "warning";
  readonly check: string;
  readonly found: string;
  readonly action: string;
}
export interface ImportReport {
  readonly source: string;
  readonly sourceBytes: number;
  /** SHA-256 of the source's main file, hex, before and after: equal, or the import is refused. */
  readonly sourceSha256: string;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly encoding: string;
  readonly journal: string;
  readonly autoVacuum: string;
  readonly applicationId: number;
  readonly userVersion: number;
  readonly tables: number;
  readonly rows: number | null;
  readonly checks: readonly ImportNote[];
  readonly canImport: boolean;
}
export interface CreateResult extends VerbResult {
  readonly database: DatabaseView;
  readonly report: ImportReport | null;
  readonly storedBytes: number;
}

export interface TrashView {
  readonly kind: "branch" | "database";
  readonly id: number;
  readonly database: string;
  readonly name: string;
  readonly head: number;
  readonly trashedAt: UnixMs;
  readonly actor: string;
  readonly reason: "destroy" | "drop" | "expire" | "undo";
  readonly purgeAt: UnixMs;
}

export interface GcReport {
  readonly dryRun: boolean;
  /** Whole databases by name, branches as `database@branch`. */
  readonly purged: readonly string[];
  readonly versionsRemoved: number;
  readonly segmentsRemoved: number;
  readonly checkoutsRemoved: number;
  readonly orphanFilesRemoved: number;
  /** Bytes that the store's folder shrinks by. */
  readonly bytesFreed: number;
  /** Operations that can no longer be undone. */
  readonly strandedOperations: readonly number[];
}

export interface VerifyProblem {
  readonly object: string;
  readonly problem: string;
}
export interface VerifyReport {
  readonly ok: boolean;
  readonly versions: number;
  readonly segments: number;
  readonly pages: number;
  readonly bytesRead: number;
  readonly checkouts: number;
  readonly problems: readonly VerifyProblem[];
}

export interface RepairReport {
  /** False when the catalog is sound: then nothing was done. */
  readonly repaired: boolean;
  /** What was wrong with the catalog, or that nothing was. */
  readonly reason: string;
  /** Where the damaged catalog lies now; null when there was none. */
  readonly catalogKept: string | null;
  readonly databases: readonly { readonly name: string; readonly versions: number; readonly branches: number; readonly files: number }[];
  /** Segment files that fit nowhere, moved to `kept/segments`. */
  readonly segmentsKept: number;
  readonly problems: readonly VerifyProblem[];
}

export interface DoctorView {
  readonly program: string;
  readonly node: string;
  readonly sqlite: string;
  readonly addon: "loaded" | "missing";
  readonly addonProblem: string | null;
  readonly platform: string;
  readonly store: {
    readonly path: string;
    readonly filesystem: string;
    readonly reflink: boolean;
    readonly network: boolean;
    readonly writable: boolean;
  } | null;
  readonly facilities: readonly { readonly name: string; readonly using: string }[];
  readonly holders: readonly { readonly target: string; readonly holders: readonly Holder[] }[];
  readonly problems: readonly string[];
}

export interface CacheView {
  /** What ready files may take. */
  readonly budgetBytes: number;
  readonly budgetIsDefault: boolean;
  readonly caches: readonly CacheUsage[];
  /** By this request. */
  readonly freedBytes: number;
  /** Files of branches that this program took from the ready ones since it opened the store, and those that it made another way. */
  readonly hits: number;
  readonly misses: number;
}
export interface JobView {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
  readonly unit: "bytes" | "pages" | "rows" | "items" | "percent";
  readonly startedAt: UnixMs;
  readonly state: "running" | "cancelling" | "done" | "cancelled" | "failed";
  readonly cancellable: boolean;
}

export interface RecentStore {
  readonly path: string;
  readonly openedAt: UnixMs;
  readonly exists: boolean;
  readonly databases: number | null;
  readonly branches: number | null;
}
