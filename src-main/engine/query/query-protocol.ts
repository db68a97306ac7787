/**
 * What goes between a program and a process that runs SQL for it. One job at a time: `start`, events while it runs, an
 * answer. After an event with rows, and now and then after others, the process waits for `more`, so that neither side holds
 * more than a batch.
 * Everything travels as JSON: values are `DataValue`s by then.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { DataFilter, DataObjectView, DataRowsView, DataTableView, DataValue, DataValueView, SqlProblem } from "#shared/query-views.ts";

export interface Opening {
  readonly path: string;
  /** A branch's file, which others may be writing; else a file of one version, which nobody writes. */
  readonly isShared: boolean;
  /** A file of our own in WAL mode, which stays as it is while it is open. */
  readonly isScratch?: boolean;
  /** Waiting for another program's transaction. */
  readonly busyMs: number;
}

export interface ScriptOrder extends Opening {
  readonly sql: string;
  readonly mode: "read" | "write" | "plan";
  /** Of each statement; null for all. */
  readonly rowsMax: number | null;
  /** Characters of all rows; null without a bound. */
  readonly charsMax: number | null;
  /** Bytes of a text or blob. */
  readonly valueBytesMax: number;
  /** Rows that each statement must change, else the script fails; null where nothing is expected. */
  readonly expectChanges: readonly number[] | null;
  /** Each statement ends with a digest of its columns and of the rows that are given out, whole. */
  readonly withDigest: boolean;
}

export type ScriptEvent =
  | { readonly kind: "statement"; readonly start: number; readonly end: number; readonly columns: readonly string[] | null }
  | { readonly kind: "rows"; readonly rows: readonly (readonly DataValue[])[] }
  | {
      readonly kind: "end";
      readonly truncated: boolean;
      readonly changes: number;
      readonly durationMs: number;
      readonly error: SqlProblem | null;
      readonly note: string | null;
      readonly digest: string | null;
    };

export interface ScriptOutcome {
  readonly transaction: "read" | "one" | "own";
  readonly isComplete: boolean;
  readonly changes: number;
  readonly notes: readonly string[];
}

export interface TableOrder extends Opening {
  readonly table: string;
  readonly filters: readonly DataFilter[];
}

export interface RowsOrder extends TableOrder {
  readonly order: { readonly column: string; readonly descending: boolean } | null;
  /** Null: the beginning. */
  readonly cursor: { readonly from: string; readonly direction: "after" | "before" } | "last" | null;
  readonly limit: number;
}

export type FoundRows = Omit<DataRowsView, "source">;

export interface FoundSchema {
  readonly encoding: string;
  readonly pageSize: number;
  readonly pageCount: number;
  readonly tables: readonly DataTableView[];
  readonly objects: readonly DataObjectView[];
  readonly unlisted: number;
}

export interface QueryJobs {
  /** Whether a script writes, as far as it can be compiled without running it. */
  classify: { input: Opening & { readonly sql: string }; output: { readonly writes: boolean } };
  script: { input: ScriptOrder; output: ScriptOutcome };
  schema: { input: Opening & { readonly table: string | null }; output: FoundSchema };
  rows: { input: RowsOrder; output: FoundRows };
  count: { input: TableOrder; output: { readonly count: number } };
  value: {
    input: Opening & {
      readonly table: string;
      readonly key: readonly DataValue[];
      readonly column: string;
      readonly offset: number;
      readonly limit: number;
    };
    output: DataValueView;
  };
}

export type QueryJobName = keyof QueryJobs;

export type QueryCall = { [K in QueryJobName]: { readonly job: K; readonly input: QueryJobs[K]["input"] } }[QueryJobName];
export type QueryMessage = QueryCall | { readonly more: true };

export type QueryReply =
  /** `asks`: it waits for `more`. */
  | { readonly event: ScriptEvent; readonly asks: boolean }
  | { readonly ok: true; readonly output: QueryJobs[QueryJobName]["output"] }
  | { readonly ok: false; readonly error: ErrorView };
