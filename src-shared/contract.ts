/**
 * Every request and event once: name → input schema and output type. The desktop bridge, the web host, the worker
 * client and the request validation are all derived from this file; the CLI and the library return the same views.
 */
import * as v from "valibot";
import { LIMITS } from "./limits.ts";
import { nameProblem, parseAt, type NameKind } from "./ids.ts";
import type * as bench from "./bench-views.ts";
import type * as diff from "./diff-views.ts";
import type * as query from "./query-views.ts";
import type * as usage from "./usage-views.ts";
import type * as view from "./views.ts";

const name = (kind: NameKind) =>
  v.pipe(
    v.string(),
    v.check(
      (text) => nameProblem(kind, text) === null,
      (issue) => nameProblem(kind, String(issue.input)) ?? "bad name",
    ),
  );
const database = name("database");
const branch = name("branch");
const checkpoint = name("checkpoint");
/** A custom schema, so that its failure is told from a bad name. */
const at = v.custom<string>((text) => typeof text === "string" && parseAt(text) !== null, "Expected a checkpoint name, v12 or an ISO time");
const count = (max: number) => v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(max));
const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
const ttlMs = v.pipe(v.number(), v.integer(), v.minValue(LIMITS.ttlMsMin), v.maxValue(LIMITS.ttlMsMax));
const message = v.pipe(v.string(), v.maxLength(LIMITS.messageCharsMax));
const meta = v.record(v.string(), v.string());
const waitMs = v.optional(count(3_600_000));
/** Names the job, so that it can be cancelled before it is announced. */
const job = v.optional(v.pipe(v.string(), v.regex(/^[\w-]{8,64}$/)));
const on = { database, branch };
/** See `TrashView`. */
const trashEntry = v.strictObject({ kind: v.picklist(["branch", "database"]), id: count(Number.MAX_SAFE_INTEGER) });
/** One side of a comparison: see `DiffSideInput`. */
const diffSide = v.variant("kind", [
  v.strictObject({ kind: v.literal("state"), ...on, at: v.optional(at) }),
  v.strictObject({ kind: v.literal("unsaved"), ...on }),
  v.strictObject({ kind: v.literal("file"), path }),
]);
const tableName = v.pipe(v.string(), v.maxLength(LIMITS.diffNameCharsMax));
/** See `DataValue`. */
const dataValue = v.union([
  v.null(),
  v.string(),
  v.pipe(v.number(), v.finite()),
  v.strictObject({ integer: v.pipe(v.string(), v.regex(/^-?\d{1,19}$/)) }),
  v.strictObject({ real: v.pipe(v.string(), v.regex(/^-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)$/)) }),
  v.strictObject({ text: v.string(), bytes: count(Number.MAX_SAFE_INTEGER) }),
  v.strictObject({ invalidText: v.pipe(v.string(), v.regex(/^([0-9a-f]{2})*$/)), bytes: count(Number.MAX_SAFE_INTEGER) }),
  v.strictObject({ blob: v.pipe(v.string(), v.regex(/^([0-9a-f]{2})*$/)), bytes: count(Number.MAX_SAFE_INTEGER) }),
]);
const filters = v.optional(
  v.pipe(
    v.array(
      v.strictObject({
        column: tableName,
        operator: v.picklist(["=", "<>", "<", "<=", ">", ">=", "is", "is not", "contains", "starts with"]),
        value: dataValue,
      }),
    ),
    v.maxLength(LIMITS.dataFiltersMax),
  ),
);
const sql = v.pipe(v.string(), v.maxLength(LIMITS.querySqlCharsMax));
const queryRows = v.optional(v.pipe(count(LIMITS.pageRowsMax), v.minValue(1)));
const rowFilter = {
  kinds: v.optional(v.array(v.picklist(["insert", "delete", "update"]))),
  /** Only these columns count: an update of none of them is left out. */
  columns: v.optional(v.array(tableName)),
};

export interface RequestOutputs {
  "app.hello": {
    contractVersion: number;
    program: string;
    platform: string;
    host: "electron" | "web";
    home: string;
    recent: view.RecentStore[];
    store: view.StoreView | null;
    startWith: string | null;
  };
  "app.chooseFile": string | null;
  "app.chooseFolder": string | null;
  "app.chooseSaveFile": string | null;
  "app.reveal": null;
  "app.settings": { readonly theme: "system" | "light" | "dark"; readonly layout: string };
  "app.saveSettings": null;
  "app.forgetRecent": view.RecentStore[];
  "store.open": view.StoreView;
  "store.create": view.StoreView;
  "store.demo": view.StoreView;
  "store.close": null;
  "store.status": view.StoreView;
  "store.repair": view.RepairReport;
  "store.doctor": view.DoctorView;
  "store.verify": view.VerifyReport;
  "store.gc": view.GcReport;
  "store.cache": view.CacheView;
  "usage.store": usage.UsageView;
  "usage.branch": usage.BranchUsageView;
  "usage.free": usage.FreedView;
  "database.list": readonly view.DatabaseView[];
  "database.inspect": view.ImportReport;
  "database.create": view.CreateResult;
  "database.drop": view.VerbResult;
  "database.rename": view.VerbResult;
  "database.export": { readonly path: string; readonly bytes: number };
  "branch.list": { readonly branches: readonly view.BranchView[]; readonly total: number; readonly lastOperation: number };
  "branch.changes": {
    readonly changed: readonly view.BranchView[];
    readonly removed: readonly number[];
    readonly total: number;
    readonly lastOperation: number;
  };
  "branch.get": view.BranchDetail;
  "branch.history": view.HistoryView;
  "branch.checkout": view.VerbResult & { readonly path: string; readonly checkout: string };
  "branch.checkpoint": view.CheckpointResult;
  "branch.fork": view.ForkResult;
  "branch.rollback": view.MoveResult;
  "branch.promote": view.MoveResult;
  "branch.destroy": view.VerbResult;
  "branch.restore": view.VerbResult;
  "branch.rename": view.VerbResult;
  "branch.protect": view.VerbResult;
  "branch.touch": view.VerbResult;
  "branch.setMeta": view.VerbResult;
  "checkpoint.rename": view.VerbResult;
  "checkpoint.delete": view.VerbResult;
  "checkpoint.open": { readonly path: string };
  "trash.list": readonly view.TrashView[];
  "operation.list": { readonly operations: readonly view.OperationView[]; readonly total: number };
  "operation.preview": view.UndoPreview;
  "operation.undo": view.UndoResult;
  "operation.redo": view.UndoResult;
  "diff.open": diff.DiffView;
  "diff.summary": diff.DiffSummaryView;
  "diff.rows": diff.DiffRowsView;
  "diff.export": { readonly path: string; readonly bytes: number };
  "diff.close": null;
  "row.history": diff.RowHistoryView;
  "version.changes": readonly diff.ChangeCountsView[];
  "data.schema": query.DataSchemaView;
  "data.rows": query.DataRowsView;
  "data.count": query.DataCountView;
  "data.value": query.DataValueView;
  "query.run": query.QueryRunView;
  "query.export": { readonly path: string; readonly bytes: number; readonly rows: number };
  "query.across": query.AcrossView;
  "query.results": query.AcrossResultsView;
  "query.close": null;
  "bench.suites": {
    readonly suites: readonly bench.BenchSuiteView[];
    readonly references: readonly bench.BenchReference[];
    readonly folder: string;
  };
  "bench.start": bench.BenchRunHead;
  "bench.stop": null;
  "bench.runs": readonly bench.BenchRunHead[];
  "bench.run": bench.BenchRun;
  "bench.remove": null;
  "job.list": readonly view.JobView[];
  "job.cancel": null;
}

export const REQUESTS = {
  "app.hello": v.object({}),
  "app.chooseFile": v.object({ title: v.string() }),
  "app.chooseFolder": v.object({ title: v.string() }),
  "app.chooseSaveFile": v.object({ title: v.string(), suggested: v.string() }),
  "app.reveal": v.object({ path }),
  "app.settings": v.object({}),
  /** `layout` is the renderer's own JSON (open screens, tabs, unsent text): kept, never interpreted by the host. */
  "app.saveSettings": v.object({ theme: v.picklist(["system", "light", "dark"]), layout: v.pipe(v.string(), v.maxLength(1024 * 1024)) }),
  "app.forgetRecent": v.object({ path }),
  "store.open": v.object({ spec: path }),
  "store.create": v.object({ spec: path }),
  /** Makes (or opens) the demo store. */
  "store.demo": v.object({}),
  "store.close": v.object({}),
  "store.status": v.object({}),
  /** A store whose catalog is lost or damaged gets a new one. It must not be open. */
  "store.repair": v.object({ spec: path }),
  "store.doctor": v.object({}),
  "store.verify": v.object({}),
  /** `purge`: entries of the trash that do not wait for their date; `purgeAllTrash`: none does. */
  "store.gc": v.object({
    dryRun: v.boolean(),
    purgeAllTrash: v.optional(v.boolean()),
    purge: v.optional(v.pipe(v.array(trashEntry), v.maxLength(LIMITS.usageSelectionMax))),
  }),
  /** Looks, and before that sets the budget of ready files (null: the default) and clears what is asked for. */
  "store.cache": v.object({
    budgetBytes: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LIMITS.readyBudgetMax)))),
    clear: v.optional(v.boolean()),
  }),
  /** Of one database, or of the whole store. */
  "usage.store": v.object({ database: v.optional(database) }),
  "usage.branch": v.object(on),
  /** Looks only: what would be freed if these branches went, together. */
  "usage.free": v.object({ branches: v.pipe(v.array(v.strictObject(on)), v.maxLength(LIMITS.usageSelectionMax)) }),
  "database.list": v.object({}),
  /** Import report without importing. */
  "database.inspect": v.object({ file: path }),
  "database.create": v.object({ database, from: v.optional(path) }),
  "database.drop": v.object({ database, force: v.optional(v.boolean()) }),
  "database.rename": v.object({ database, to: database }),
  "database.export": v.object({ ...on, at: v.optional(at), file: path, overwrite: v.optional(v.boolean()) }),
  /** Pages through a database's live branches in order of id; `after` is the last id seen. */
  "branch.list": v.object({ database, after: v.optional(count(Number.MAX_SAFE_INTEGER)), limit: v.optional(count(LIMITS.pageRowsMax)) }),
  /** What moved since an operation, so that a list of 10,000 stays current without being sent again. */
  "branch.changes": v.object({ database, since: count(Number.MAX_SAFE_INTEGER) }),
  "branch.get": v.object(on),
  "branch.history": v.object({ ...on, offset: v.optional(count(Number.MAX_SAFE_INTEGER)), limit: v.optional(count(LIMITS.pageRowsMax)) }),
  "branch.checkout": v.object({ ...on, resolve: v.optional(v.picklist(["take-theirs", "put-mine-on-top"])), waitMs }),
  "branch.checkpoint": v.object({
    ...on,
    name: v.optional(checkpoint),
    message: v.optional(message),
    meta: v.optional(meta),
    replace: v.optional(v.boolean()),
    resolve: v.optional(v.picklist(["put-mine-on-top"])),
    waitMs,
  }),
  "branch.fork": v.object({
    ...on,
    at: v.optional(at),
    newBranch: branch,
    count: v.optional(v.pipe(count(LIMITS.forkCountMax), v.minValue(1))),
    ttlMs: v.optional(ttlMs),
    meta: v.optional(meta),
    withUnsaved: v.optional(v.boolean()),
  }),
  "branch.rollback": v.object({ ...on, to: at, force: v.optional(v.boolean()), dryRun: v.optional(v.boolean()), waitMs }),
  "branch.promote": v.object({
    database,
    source: branch,
    onto: branch,
    force: v.optional(v.boolean()),
    dryRun: v.optional(v.boolean()),
    waitMs,
  }),
  "branch.destroy": v.object({ ...on, force: v.optional(v.boolean()) }),
  /** `id` from trash.list. */
  "branch.restore": v.object({ kind: v.picklist(["branch", "database"]), id: count(Number.MAX_SAFE_INTEGER), as: v.optional(branch) }),
  "branch.rename": v.object({ ...on, to: branch, force: v.optional(v.boolean()) }),
  "branch.protect": v.object({ ...on, protected: v.boolean() }),
  /** `ttlMs: null` clears the TTL; left out, only the clock restarts. */
  "branch.touch": v.object({ ...on, ttlMs: v.optional(v.nullable(ttlMs)), force: v.optional(v.boolean()) }),
  "branch.setMeta": v.object({ ...on, meta }),
  "checkpoint.rename": v.object({ ...on, name: checkpoint, to: checkpoint }),
  "checkpoint.delete": v.object({ ...on, name: checkpoint }),
  /** A read-only file of one version. */
  "checkpoint.open": v.object({ ...on, at }),
  "trash.list": v.object({}),
  "operation.list": v.object({
    database: v.optional(database),
    branch: v.optional(branch),
    actor: v.optional(v.string()),
    before: v.optional(count(Number.MAX_SAFE_INTEGER)),
    limit: v.optional(count(LIMITS.pageRowsMax)),
  }),
  "operation.preview": v.object({ operation: count(Number.MAX_SAFE_INTEGER) }),
  /** Without `operation`: the caller's own last one. `chain` also undoes what stands in the way. */
  "operation.undo": v.object({
    operation: v.optional(count(Number.MAX_SAFE_INTEGER)),
    database: v.optional(database),
    chain: v.optional(v.boolean()),
    waitMs,
  }),
  "operation.redo": v.object({ database: v.optional(database), waitMs }),
  /** Compares two states and keeps both open until `diff.close`. "Left" is what was, "right" is what is. */
  "diff.open": v.object({ left: diffSide, right: diffSide }),
  /** What was counted since the last answer: asked again until it is complete. */
  "diff.summary": v.object({ id: v.string() }),
  /** One page of the rows of a table that differ, in order of their keys; `after` is `next` of the page before. */
  "diff.rows": v.object({
    id: v.string(),
    table: tableName,
    ...rowFilter,
    after: v.optional(v.string()),
    limit: v.optional(v.pipe(count(LIMITS.pageRowsMax), v.minValue(1))),
  }),
  /** To a file outside the store: the script that turns left into right, or the rows of some tables. */
  "diff.export": v.object({
    id: v.string(),
    format: v.picklist(["sql", "csv", "json", "markdown"]),
    tables: v.optional(v.array(tableName)),
    ...rowFilter,
    file: path,
    overwrite: v.optional(v.boolean()),
  }),
  "diff.close": v.object({ id: v.string() }),
  /** `folder`: where runs go when none is named. */
  "bench.suites": v.object({}),
  /** Starts a run in a process of its own; `folder` is on the disk to measure. One run at a time. */
  "bench.start": v.object({
    suite: v.picklist(["goals", "cow", "isolation", "branchbench", "micro", "density", "write-amplification"]),
    size: v.picklist(["quick", "S", "M", "L"]),
    options: v.optional(v.record(v.string(), v.string())),
    folder: v.optional(path),
  }),
  /** Keeps what was measured, as a partial run. */
  "bench.stop": v.object({ run: v.string() }),
  /** Newest first, the running one included. */
  "bench.runs": v.object({}),
  "bench.run": v.object({ run: v.string() }),
  "bench.remove": v.object({ run: v.string() }),
  /** Versions in which one row changed; `key` has a value for each column of its key. `versions`: how many to look at. */
  "row.history": v.object({
    ...on,
    at: v.optional(at),
    table: tableName,
    key: v.array(v.string()),
    limit: v.optional(v.pipe(count(LIMITS.pageRowsMax), v.minValue(1))),
    versions: v.optional(v.pipe(count(LIMITS.rowHistoryVersionsMax), v.minValue(1))),
  }),
  /** Counts what changed between versions. `from: null`: since the version that `to` was made from. */
  "version.changes": v.object({
    database,
    pairs: v.pipe(
      v.array(v.strictObject({ from: v.nullable(count(Number.MAX_SAFE_INTEGER)), to: count(Number.MAX_SAFE_INTEGER) })),
      v.maxLength(LIMITS.changePairsMax),
    ),
  }),
  /** Tables, columns and the rest, of one table only when it is named. Without `at`: the branch as its file is now. */
  "data.schema": v.object({ ...on, at: v.optional(at), table: v.optional(tableName) }),
  /**
   * One page of a table or view, in the order of a column or of its key. `after` and `before`: `next` and `previous` of
   * another page with the same order and filters. `last`: the page at the end.
   */
  "data.rows": v.object({
    ...on,
    at: v.optional(at),
    table: tableName,
    order: v.optional(v.strictObject({ column: tableName, descending: v.optional(v.boolean()) })),
    filters,
    after: v.optional(v.string()),
    before: v.optional(v.string()),
    last: v.optional(v.boolean()),
    limit: queryRows,
    job,
  }),
  "data.count": v.object({ ...on, at: v.optional(at), table: tableName, filters, job }),
  /** One value, whole: `limit` bytes of it from `offset` on. `key` as `data.rows` names it. */
  "data.value": v.object({
    ...on,
    at: v.optional(at),
    table: tableName,
    key: v.pipe(v.array(dataValue), v.minLength(1)),
    column: tableName,
    offset: v.optional(count(Number.MAX_SAFE_INTEGER)),
    limit: v.optional(v.pipe(count(LIMITS.dataSliceBytesMax), v.minValue(1))),
  }),
  /**
   * Runs a script. One that writes needs `write`, and `force` on a protected branch. `plan`: nothing runs, each statement
   * answers with its query plan. `limit`: rows kept of each statement. `expectChanges`: how many rows each statement must
   * insert, update or delete: one that does otherwise fails, and nothing of the script takes effect.
   */
  "query.run": v.object({
    ...on,
    at: v.optional(at),
    sql,
    limit: queryRows,
    write: v.optional(v.boolean()),
    force: v.optional(v.boolean()),
    plan: v.optional(v.boolean()),
    expectChanges: v.optional(v.array(count(Number.MAX_SAFE_INTEGER))),
    waitMs,
    job,
  }),
  /** Runs one statement that reads, and writes all its rows, whole, to a file outside the store. `table`: of INSERTs. */
  "query.export": v.object({
    ...on,
    at: v.optional(at),
    sql,
    format: v.picklist(["csv", "json", "markdown", "sql"]),
    table: v.optional(tableName),
    file: path,
    overwrite: v.optional(v.boolean()),
    job,
  }),
  /**
   * Puts one query to many states: branches by pattern (`attempt-*`), each as of `at` where that is given, and single
   * ones. Its results are asked for with `query.results`.
   */
  "query.across": v.object({
    database,
    patterns: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(4 * LIMITS.nameCharsMax))), v.maxLength(1_000))),
    at: v.optional(at),
    targets: v.optional(v.pipe(v.array(v.strictObject({ branch, at: v.optional(at) })), v.maxLength(LIMITS.acrossTargetsMax))),
    sql,
    limit: queryRows,
  }),
  /** What was found since the last answer: asked again until it is complete. */
  "query.results": v.object({ id: v.string() }),
  /** Stops the question. */
  "query.close": v.object({ id: v.string() }),
  "job.list": v.object({}),
  "job.cancel": v.object({ id: v.string() }),
} as const satisfies Record<keyof RequestOutputs, v.GenericSchema>;

export type RequestName = keyof RequestOutputs;
export type RequestInput<K extends RequestName> = v.InferOutput<(typeof REQUESTS)[K]>;
export type RequestOutput<K extends RequestName> = RequestOutputs[K];

/** Sent by a host to its clients, in order. */
export type HostEvent =
  /** Something in the store moved, whoever moved it. */
  | { readonly type: "store-changed"; readonly lastOperation: number }
  /** Files of these branches changed (unsaved work appeared or went). */
  | { readonly type: "checkouts-changed"; readonly database: string; readonly branches: readonly string[] }
  | { readonly type: "job"; readonly job: view.JobView }
  | { readonly type: "bench"; readonly update: bench.BenchUpdate }
  /** A command chosen in the application menu. */
  | { readonly type: "command"; readonly command: string }
  /** A file was given to the app from outside: by argument, or opened with it. */
  | { readonly type: "open-file"; readonly path: string }
  | { readonly type: "connection"; readonly state: "open" | "lost" };
