/**
 * What a comparison of two states of a database is to its viewers. "Left" is what was, "right" is what is: a row that
 * only the right side has is an insert.
 */

/** A state to compare: a branch's head or another of its states, what its file holds now, or a file outside the store. */
export type DiffSideInput =
  | { readonly kind: "state"; readonly database: string; readonly branch: string; readonly at?: string | undefined }
  | { readonly kind: "unsaved"; readonly database: string; readonly branch: string }
  | { readonly kind: "file"; readonly path: string };

export interface DiffSideView {
  readonly kind: DiffSideInput["kind"];
  /** "shop@main@v12", or the path of a file. */
  readonly label: string;
  /** Null for unsaved work and files. */
  readonly version: number | null;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly encoding: string;
}

/**
 * A value as JSON can carry it. Plain: NULL, text, an integer that a number holds exactly, a real that has a fraction.
 * Everything else says what it is: other integers and reals as text, text that is not valid in its encoding and blobs in
 * hex. `bytes`: the whole length, where only the beginning is given.
 */
export type DiffValue =
  | null
  | string
  | number
  | { readonly integer: string }
  | { readonly real: string }
  | { readonly text: string; readonly bytes: number }
  | { readonly invalidText: string; readonly bytes: number }
  | { readonly blob: string; readonly bytes: number };

export type RowKind = "insert" | "delete" | "update";

/** "pragma": what stands in the header, e.g. user_version. */
export type SchemaObjectType = "table" | "virtual table" | "index" | "view" | "trigger" | "pragma";

export interface SchemaChangeView {
  readonly type: SchemaObjectType;
  readonly name: string;
  readonly change: "added" | "dropped" | "changed" | "renamed";
  /** The table that an index or trigger belongs to, the virtual table that a shadow table belongs to; else null. */
  readonly table: string | null;
  /** Its name on the left, when renamed. */
  readonly formerName: string | null;
  /** SQL, or the value of a pragma; null where it is not there. */
  readonly left: string | null;
  readonly right: string | null;
}

export interface DiffColumnView {
  readonly name: string;
  readonly formerName: string | null;
  readonly type: string;
  readonly isKey: boolean;
  /** Columns of one side only are not compared, except that an added one counts as its default on the left. */
  readonly side: "both" | "left" | "right";
  /** Virtual columns are computed, not stored: they are not compared. */
  readonly generated: "no" | "virtual" | "stored";
}

export interface TableDiffView {
  readonly name: string;
  /** Its name on the left, when renamed. */
  readonly formerName: string | null;
  /** The virtual table whose data this shadow table holds. */
  readonly owner: string | null;
  readonly side: "both" | "left" | "right";
  readonly columns: readonly DiffColumnView[];
  readonly matchedBy: "primary key" | "unique" | "whole row";
  /** Why the rows cannot be compared; null when they can. */
  readonly notComparable: string | null;
}

/** Rows that differ, as far as they are counted. */
export interface TableCounts {
  readonly name: string;
  readonly inserted: number;
  readonly deleted: number;
  readonly updated: number;
  readonly isComplete: boolean;
  /** A damage that was met on the way. */
  readonly notComparable: string | null;
}

export interface DiffView {
  /** Names the comparison until it is closed. */
  readonly id: string;
  readonly left: DiffSideView;
  readonly right: DiffSideView;
  /** "shared": pages that both have were not read. "full": everything is compared. */
  readonly comparison: "shared" | "full";
  /** Pages that differ; null for a full comparison. */
  readonly changedPages: number | null;
  readonly schema: readonly SchemaChangeView[];
  /** Tables whose rows may differ, in order of their names. The others are known to be equal. */
  readonly tables: readonly TableDiffView[];
  readonly equalTables: number;
  /** What is not compared, and why. */
  readonly notes: readonly string[];
}

export interface RowChangeView {
  readonly kind: RowKind;
  /** Values in order of the table's columns; null on the side where there is no such row. */
  readonly old: readonly DiffValue[] | null;
  readonly new: readonly DiffValue[] | null;
  /** Positions of the columns that changed, of an update. */
  readonly changed: readonly number[];
}

export interface DiffRowsView {
  readonly columns: readonly DiffColumnView[];
  readonly rows: readonly RowChangeView[];
  /** Give it back for the rows that follow; null at the end. */
  readonly next: string | null;
}

export interface DiffSummaryView {
  /** Tables counted since the last answer, and how far the one under way has come. */
  readonly tables: readonly TableCounts[];
  readonly isComplete: boolean;
}

/** One version in which a row changed. */
export interface RowVersionView {
  readonly version: number;
  readonly createdAt: number;
  readonly actor: string;
  readonly message: string | null;
  readonly checkpoints: readonly string[];
  readonly change: RowChangeView;
}

export interface RowHistoryView {
  readonly table: string;
  readonly columns: readonly DiffColumnView[];
  /** The newest first. */
  readonly versions: readonly RowVersionView[];
  /** Versions that were looked at; older ones were not when `isComplete` is false. */
  readonly examined: number;
  readonly isComplete: boolean;
}

/** How much differs between two versions of a database, in rows. */
export interface ChangeCountsView {
  /** Null: the version is the first one, and nothing is compared. */
  readonly from: number | null;
  readonly to: number;
  /** "pending": asked too much at once, to be asked again. "failed": they cannot be compared, see `problem`. */
  readonly state: "known" | "pending" | "failed";
  /** Tables with changed rows, the most changed first, and how many more there are. */
  readonly tables: readonly ChangedTableView[];
  readonly moreTables: number;
  readonly inserted: number;
  readonly deleted: number;
  readonly updated: number;
  readonly schemaChanges: number;
  readonly problem: string | null;
}
export interface ChangedTableView {
  readonly name: string;
  readonly inserted: number;
  readonly deleted: number;
  readonly updated: number;
}
