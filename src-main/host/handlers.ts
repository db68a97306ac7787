import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { formatTarget } from "#shared/ids.ts";
import type { JobView } from "#shared/views.ts";
import type { Store, StoreVerbs } from "#engine/store-api.ts";
import type { BenchService } from "./bench-service.ts";
import { openDemoStore } from "./demo-store.ts";
import type { EngineEntry } from "./engine-entry.ts";
import type { EngineRequestName } from "./engine-protocol.ts";
import type { JobRegistry } from "./jobs.ts";
import type { OpenedStore } from "./opened-store.ts";
import { readTypedPaths } from "./typed-path.ts";

/** Requests about the open store that are one verb of it. */
const VERBS = {
  "store.status": "status",
  "store.verify": "verify",
  "store.gc": "gc",
  "usage.store": "usage",
  "usage.branch": "branchUsage",
  "usage.free": "freed",
  "store.cache": "cache",
  "database.list": "databases",
  "database.create": "create",
  "database.drop": "drop",
  "database.rename": "renameDatabase",
  "database.export": "export",
  "branch.list": "branches",
  "branch.changes": "branchChanges",
  "branch.get": "branch",
  "branch.history": "history",
  "branch.checkout": "checkout",
  "branch.checkpoint": "checkpoint",
  "branch.fork": "fork",
  "branch.rollback": "rollback",
  "branch.promote": "promote",
  "branch.destroy": "destroy",
  "branch.restore": "restore",
  "branch.rename": "rename",
  "branch.protect": "protect",
  "branch.touch": "touch",
  "branch.setMeta": "setMeta",
  "checkpoint.rename": "renameCheckpoint",
  "checkpoint.delete": "deleteCheckpoint",
  "checkpoint.open": "openCheckpoint",
  "trash.list": "trash",
  "operation.list": "operations",
  "operation.preview": "previewUndo",
  "operation.undo": "undo",
  "operation.redo": "redo",
  "diff.open": "openDiff",
  "diff.summary": "diffSummary",
  "diff.rows": "diffRows",
  "diff.export": "exportDiff",
  "diff.close": "closeDiff",
  "row.history": "rowHistory",
  "version.changes": "changes",
  "data.schema": "dataSchema",
  "data.rows": "dataRows",
  "data.count": "countRows",
  "data.value": "dataValue",
  "query.run": "runQuery",
  "query.export": "exportQuery",
  "query.across": "queryAcross",
  "query.results": "queryResults",
  "query.close": "closeQuery",
} as const satisfies Partial<Record<EngineRequestName, keyof StoreVerbs>>;
type VerbRequest = keyof typeof VERBS;
export type OwnRequest = Exclude<EngineRequestName, VerbRequest>;

type JobAbout<K extends EngineRequestName> = { readonly unit: JobView["unit"]; readonly title: (input: RequestInput<K>) => string };

/** Verbs that may take long, and what they are called while they run. */
const JOBS: { readonly [K in VerbRequest]?: JobAbout<K> } = {
  "store.verify": { unit: "pages", title: () => "Verify the store" },
  "store.gc": { unit: "items", title: ({ dryRun }) => (dryRun ? "See what can be freed" : "Free space") },
  "usage.store": { unit: "items", title: ({ database }) => `Measure what ${database ?? "the store"} takes` },
  "usage.branch": { unit: "items", title: (input) => `Measure what ${formatTarget(input)} takes` },
  "usage.free": { unit: "items", title: () => "See what branches would free" },
  "store.cache": { unit: "items", title: ({ clear }) => (clear ? "Clear caches" : "Look at caches") },
  "database.create": { unit: "pages", title: ({ database, from }) => (from === undefined ? `Create ${database}` : `Import ${database}`) },
  "database.export": { unit: "pages", title: (input) => `Export ${formatTarget(input)}` },
  "branch.checkout": { unit: "pages", title: (input) => `Check out ${formatTarget(input)}` },
  "branch.checkpoint": { unit: "pages", title: (input) => `Checkpoint ${formatTarget(input)}` },
  "branch.fork": { unit: "items", title: (input) => `Fork ${formatTarget(input)}` },
  "branch.rollback": { unit: "pages", title: (input) => `Roll back ${formatTarget(input)}` },
  "branch.promote": { unit: "pages", title: ({ source, onto }) => `Promote ${source} onto ${onto}` },
  "checkpoint.open": { unit: "pages", title: (input) => `Open ${formatTarget(input)}@${input.at}` },
  "operation.undo": { unit: "pages", title: () => "Undo" },
  "operation.redo": { unit: "pages", title: () => "Redo" },
  "diff.open": { unit: "pages", title: ({ left, right }) => `Compare ${nameSide(left)} with ${nameSide(right)}` },
  "diff.summary": { unit: "items", title: () => "Count what differs" },
  "diff.rows": { unit: "items", title: ({ table }) => `Compare rows of ${table}` },
  "diff.export": { unit: "items", title: ({ file }) => `Write the comparison to ${file}` },
  "data.schema": { unit: "items", title: (input) => `Read the schema of ${formatTarget(input)}` },
  "data.rows": { unit: "items", title: ({ table }) => `Read rows of ${table}` },
  "data.count": { unit: "items", title: ({ table }) => `Count rows of ${table}` },
  "data.value": { unit: "items", title: ({ table, column }) => `Read ${column} of ${table}` },
  "query.run": { unit: "items", title: (input) => `Run SQL on ${formatTarget(input)}` },
  "query.export": { unit: "items", title: ({ file }) => `Write rows to ${file}` },
  "query.results": { unit: "items", title: () => "Run SQL on several states" },
  "row.history": { unit: "items", title: ({ table, key }) => `History of ${table} ${key.join(", ")}` },
};

function nameSide(side: DiffSideInput): string {
  if (side.kind === "file") return side.path;
  return side.kind === "unsaved"
    ? `${formatTarget(side)} with unsaved work`
    : formatTarget(side) + (side.at === undefined ? "" : `@${side.at}`);
}

export interface HandlerParts {
  readonly entry: EngineEntry;
  readonly jobs: JobRegistry;
  readonly opened: OpenedStore;
  readonly bench: BenchService;
}

/** Answers one validated request or throws `EngineError`. */
export async function handle(parts: HandlerParts, name: EngineRequestName, asked: unknown): Promise<unknown> {
  const input = readTypedPaths(asked);
  if (!isVerb(name)) return await (OWN[name] as (parts: HandlerParts, input: unknown) => Promise<unknown>)(parts, input);
  const store = parts.opened.require(name);
  const verb = store[VERBS[name]] as (this: Store, input: unknown, work?: object) => Promise<unknown>;
  const about = JOBS[name] as JobAbout<EngineRequestName> | undefined;
  if (!about) return await verb.call(store, input);
  const title = about.title(input as RequestInput<EngineRequestName>);
  return await parts.jobs.run({ title, unit: about.unit, ...jobId(input) }, (work) => verb.call(store, input, work));
}

/** Where the client has named the job. */
function jobId(input: unknown): { readonly id?: string } {
  const id = typeof input === "object" && input !== null && "job" in input ? input.job : undefined;
  return typeof id === "string" ? { id } : {};
}

function isVerb(name: EngineRequestName): name is VerbRequest {
  return Object.hasOwn(VERBS, name);
}

type OwnHandlers = { readonly [K in OwnRequest]: (parts: HandlerParts, input: RequestInput<K>) => Promise<RequestOutput<K>> };

const OWN: OwnHandlers = {
  "store.open": ({ entry, opened }, { spec }) => opened.replace(() => entry.openStore(spec, {})),
  "store.create": ({ entry, opened }, { spec }) => opened.replace(() => entry.createStore(spec, {})),
  "store.demo": ({ entry, jobs, opened }) =>
    opened.replace(() => jobs.run({ title: "Make the demo", unit: "items" }, (work) => openDemoStore(entry, work))),
  "store.close": async ({ opened }) => {
    await opened.close();
    return null;
  },
  "store.repair": ({ entry, jobs }, { spec }) =>
    jobs.run({ title: "Repair the store", unit: "bytes" }, (work) => entry.repairStore(spec, work)),
  "store.doctor": ({ entry, opened }) => entry.diagnose(opened.store),
  "database.inspect": ({ entry, jobs, opened }, input) =>
    jobs.run({ title: `Inspect ${input.file}`, unit: "bytes" }, (work) =>
      opened.store ? opened.store.inspect(input, work) : entry.inspectFile(input, work),
    ),
  "bench.suites": ({ bench }) => bench.suites(),
  "bench.start": ({ bench }, input) => bench.start(input),
  "bench.stop": async ({ bench }, { run }) => bench.stop(run),
  "bench.runs": async ({ bench }) => bench.runs(),
  "bench.run": async ({ bench }, { run }) => bench.run(run),
  "bench.remove": async ({ bench }, { run }) => bench.remove(run),
  "job.list": async ({ jobs }) => jobs.list(),
  "job.cancel": async ({ jobs }, { id }) => {
    jobs.cancel(id);
    return null;
  },
};
