/**
 * What a store can do: one method a verb, with the inputs and outputs of the contract. The library, the CLI and the
 * host's handlers all call this. `store.ts` implements it.
 */
import type { RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import type { Diff } from "./diff/open-diff.ts";
import type { AcrossReader, RanScript } from "./query/queries.ts";
import type { OnEvent } from "./query/query-children.ts";
import type { PhasedWork } from "./transfer/long-work.ts";

type Verb<K extends RequestName> = (input: RequestInput<K>, work?: PhasedWork) => Promise<RequestOutput<K>>;

export interface StoreVerbs {
  status: Verb<"store.status">;
  verify: Verb<"store.verify">;
  gc: Verb<"store.gc">;
  usage: Verb<"usage.store">;
  branchUsage: Verb<"usage.branch">;
  freed: Verb<"usage.free">;
  cache: Verb<"store.cache">;
  databases: Verb<"database.list">;
  inspect: Verb<"database.inspect">;
  create: Verb<"database.create">;
  drop: Verb<"database.drop">;
  renameDatabase: Verb<"database.rename">;
  export: Verb<"database.export">;
  branches: Verb<"branch.list">;
  branchChanges: Verb<"branch.changes">;
  branch: Verb<"branch.get">;
  history: Verb<"branch.history">;
  checkout: Verb<"branch.checkout">;
  checkpoint: Verb<"branch.checkpoint">;
  fork: Verb<"branch.fork">;
  rollback: Verb<"branch.rollback">;
  promote: Verb<"branch.promote">;
  destroy: Verb<"branch.destroy">;
  restore: Verb<"branch.restore">;
  rename: Verb<"branch.rename">;
  protect: Verb<"branch.protect">;
  touch: Verb<"branch.touch">;
  setMeta: Verb<"branch.setMeta">;
  renameCheckpoint: Verb<"checkpoint.rename">;
  deleteCheckpoint: Verb<"checkpoint.delete">;
  openCheckpoint: Verb<"checkpoint.open">;
  trash: Verb<"trash.list">;
  operations: Verb<"operation.list">;
  previewUndo: Verb<"operation.preview">;
  undo: Verb<"operation.undo">;
  redo: Verb<"operation.redo">;
  openDiff: Verb<"diff.open">;
  diffSummary: Verb<"diff.summary">;
  diffRows: Verb<"diff.rows">;
  exportDiff: Verb<"diff.export">;
  closeDiff: Verb<"diff.close">;
  rowHistory: Verb<"row.history">;
  changes: Verb<"version.changes">;
  dataSchema: Verb<"data.schema">;
  dataRows: Verb<"data.rows">;
  countRows: Verb<"data.count">;
  dataValue: Verb<"data.value">;
  runQuery: Verb<"query.run">;
  exportQuery: Verb<"query.export">;
  queryAcross: Verb<"query.across">;
  queryResults: Verb<"query.results">;
  closeQuery: Verb<"query.close">;
}

export interface Store extends StoreVerbs {
  /** Absolute folder. */
  readonly path: string;
  /** Where a branch's file is, or would be. No file access. */
  checkoutPath(database: string, branch: string): string;
  /** Id of the last operation, cheap enough to poll: one read of a counter unless another process wrote. */
  lastOperation(): number;
  /** Branch ids whose file differs from what is recorded, among those given (all with a checkout when left out); stat only. */
  unsavedBranches(database: string): readonly string[];
  /** Compares two states, for a program that reads its streams and closes it. */
  diff(input: RequestInput<"diff.open">, work?: PhasedWork): Promise<Diff>;
  /** `query.run` for a program that reads rows as they come, and whole: of each statement `rowsMax`, or all. */
  streamQuery(
    input: Omit<RequestInput<"query.run">, "limit">,
    rowsMax: number | null,
    onEvent: OnEvent,
    work?: PhasedWork,
  ): Promise<RanScript>;
  /** `query.across` for a program that waits for its results. */
  askAcross(input: RequestInput<"query.across">, reader: AcrossReader, work?: PhasedWork): Promise<void>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Default: `COPPICE_ACTOR`, else the operating system's user name. */
  readonly actor?: string;
  /**
   * True only in a process that opens no SQLite connection on checkouts itself: their files are then read in this
   * process instead of a child.
   */
  readonly ownProcess?: boolean;
}
