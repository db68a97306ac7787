/**
 * What SQL finds in a state of a database, as its viewers get it. Values travel exactly: see `DiffValue`. A `DataValue`
 * goes both ways: what an answer names as a key is given back as it is.
 */
import type { DiffValue } from "./diff-views.ts";
import type { ErrorView } from "./error-codes.ts";

export type DataValue = DiffValue;

/** What was read. A branch is read as its file is now, unsaved work included; without a file, and with `at`, a version is. */
export interface DataSourceView {
  /** "shop@main", "shop@main@v12". */
  readonly label: string;
  /** Of a branch's own file: the version that it stands on. */
  readonly version: number;
  readonly kind: "file" | "version";
  /** SQL that writes is possible: the head of a branch, not an earlier state. */
  readonly isWritable: boolean;
}

export interface DataColumnView {
  readonly name: string;
  /** As declared; empty where it is not. */
  readonly type: string;
  /** Position in the primary key from 1; 0 outside it. */
  readonly keyPosition: number;
  readonly notNull: boolean;
  /** SQL of its default. */
  readonly default: string | null;
  readonly generated: "no" | "virtual" | "stored";
  /** Of a virtual table: not part of `SELECT *`. */
  readonly isHidden: boolean;
}

/**
 * How rows are told apart. "rowid": by `columns[0]`, a name that means the rowid, which is a column of the table only when
 * it is an INTEGER PRIMARY KEY. "none": by nothing; pages are counted off.
 */
export interface DataKeyView {
  readonly kind: "rowid" | "primary key" | "none";
  readonly columns: readonly string[];
  /** A rowid that is no column: VACUUM may give the row another. */
  readonly isStable: boolean;
}

export interface DataTableView {
  readonly name: string;
  readonly kind: "table" | "virtual" | "shadow" | "view";
  /** Null for SQLite's own, and where there were too many to list (ask with `table`). */
  readonly sql: string | null;
  readonly isStrict: boolean;
  readonly withoutRowid: boolean;
  /** Null where there were too many to list (ask with `table`), or the table cannot be read. */
  readonly columns: readonly DataColumnView[] | null;
  readonly key: DataKeyView | null;
  /** Why it cannot be read: a missing module, function or table. */
  readonly problem: string | null;
}

export interface DataObjectView {
  readonly type: "index" | "trigger";
  readonly name: string;
  readonly table: string;
  /** Null for the index of a PRIMARY KEY or UNIQUE. */
  readonly sql: string | null;
}

export interface DataSchemaView {
  readonly source: DataSourceView;
  readonly encoding: string;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly tables: readonly DataTableView[];
  readonly objects: readonly DataObjectView[];
  /** Tables and objects that were left out, because there are too many. */
  readonly unlisted: number;
}

/** "is" and "is not" compare with NULL too; "contains" and "starts with" look at the value as text, without case. */
export type FilterOperator = "=" | "<>" | "<" | "<=" | ">" | ">=" | "is" | "is not" | "contains" | "starts with";

export interface DataFilter {
  readonly column: string;
  readonly operator: FilterOperator;
  readonly value: DataValue;
}

export interface DataRowView {
  /** Values of the key's columns; null without a key. */
  readonly key: readonly DataValue[] | null;
  /** In order of `columns`; long ones cut, with their whole length (`data.value` has the rest). */
  readonly values: readonly DataValue[];
}

export interface DataRowsView {
  readonly source: DataSourceView;
  readonly columns: readonly DataColumnView[];
  readonly key: DataKeyView;
  readonly rows: readonly DataRowView[];
  /** Give them back as `after` or `before`; null at the end and at the beginning. */
  readonly next: string | null;
  readonly previous: string | null;
}

export interface DataCountView {
  readonly count: number;
}

export interface DataValueView {
  readonly type: "null" | "integer" | "real" | "text" | "blob";
  /** Whole length of a text or blob, as stored; 0 for the others. */
  readonly bytes: number;
  /** The value, for null and numbers; else null. */
  readonly value: DataValue;
  /** Hex of the bytes from `offset`, of texts and blobs. */
  readonly slice: string;
  /** What the bytes of a text are in. */
  readonly encoding: string;
}

/** What went wrong with one statement. */
export interface SqlProblem {
  readonly message: string;
  /** SQLite's name of it, e.g. SQLITE_CONSTRAINT_UNIQUE; null where Coppice refused it. */
  readonly code: string | null;
  /** Characters from the start of the script, where that is known. */
  readonly position: number | null;
}

export interface StatementView {
  /** Where it stands in the script, in characters. */
  readonly start: number;
  readonly end: number;
  /** Null for a statement that returns no rows. */
  readonly columns: readonly string[] | null;
  readonly rows: readonly (readonly DataValue[])[];
  /** There were more rows than were asked for. */
  readonly truncated: boolean;
  /** Rows that it inserted, deleted or updated. */
  readonly changes: number;
  readonly durationMs: number;
  readonly error: SqlProblem | null;
  /** What a reader should know about the rows. */
  readonly note: string | null;
}

export interface QueryRunView {
  readonly source: DataSourceView;
  readonly statements: readonly StatementView[];
  /** Statements that ran and are not listed, because there are too many. */
  readonly unlisted: number;
  /** Of all statements that took effect. */
  readonly changes: number;
  /** It wrote, or tried to: the version that holds what the branch's file held before. Rolling back to it undoes the script. */
  readonly before: number | null;
  /**
   * "read": nothing was written. "one": all of it took effect, or, with an error, nothing. "own": the script has
   * transactions, PRAGMA or VACUUM of its own: each statement took effect by itself.
   */
  readonly transaction: "read" | "one" | "own";
  /** False when a statement failed: those behind it did not run. */
  readonly isComplete: boolean;
  readonly notes: readonly string[];
}

/** One of the states that a query was put to. */
export interface AcrossTargetView {
  readonly label: string;
  readonly branch: string;
  readonly at: string | null;
}

export interface AcrossResultView {
  /** Position in `targets`. */
  readonly target: number;
  readonly version: number | null;
  /** "file": with unsaved work. */
  readonly kind: "file" | "version";
  readonly columns: readonly string[];
  readonly rows: readonly (readonly DataValue[])[];
  readonly truncated: boolean;
  /** Equal for targets whose columns and rows are equal; null with an error. */
  readonly digest: string | null;
  /** Of asking, for the first of the targets that share a version. */
  readonly durationMs: number;
  readonly error: ErrorView | null;
}

export interface AcrossView {
  /** Names the question until it is closed. */
  readonly id: string;
  readonly targets: readonly AcrossTargetView[];
}

export interface AcrossResultsView {
  /** Those found since the last answer, in no order. */
  readonly results: readonly AcrossResultView[];
  readonly isComplete: boolean;
}
