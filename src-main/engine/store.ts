/**
 * The facade: opens a store, wires the engine's parts, and offers every verb. This is the library's entry.
 *
 *   import { openStore } from "coppice";
 *   const store = await openStore("./.coppice");
 *   await store.fork({ database: "shop", branch: "main", newBranch: "try" });
 */
import { userInfo } from "node:os";
import type { RequestInput, RequestName, RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { RepairReport, StoreView } from "#shared/views.ts";
import { listBranches, changedBranches } from "./branches/branch-lists.ts";
import { branchDetail, databaseView } from "./branches/branch-views.ts";
import { checkout, openVersion } from "./branches/checkout.ts";
import { checkpoint } from "./branches/checkpoint.ts";
import { create, exportDatabase, inspect } from "./branches/create.ts";
import { fork } from "./branches/fork.ts";
import { history } from "./branches/history.ts";
import { deleteCheckpoint, protect, rename, renameCheckpoint, renameDatabase, setMeta, touch } from "./branches/labels.ts";
import { Lineages } from "./branches/lineages.ts";
import { promote, rollback } from "./branches/move.ts";
import { listOperations } from "./branches/operation-list.ts";
import type { Parts } from "./branches/parts.ts";
import { findBranch } from "./branches/resolve.ts";
import { locateStore, StorePaths } from "./branches/store-paths.ts";
import { WarmPool } from "./branches/warm-pool.ts";
import { destroy, drop, listTrash, reapExpired, restore } from "./branches/trash.ts";
import { previewUndo, redo, undo } from "./branches/undo.ts";
import { WritersGate } from "./branches/writers-gate.ts";
import { Catalog } from "./catalog/catalog.ts";
import { createCheckoutFiles } from "./checkouts/keeper-client.ts";
import type { ChangeCounts } from "./diff/change-counts.ts";
import type { Diff } from "./diff/open-diff.ts";
import type { OpenDiffs } from "./diff/open-diffs.ts";
import { systemClock, systemRandomness, type Clock, type Randomness } from "./io/clock.ts";
import type { Disk } from "./io/disk.ts";
import { EngineError } from "./io/errors.ts";
import { loadNative } from "./io/load-native.ts";
import type { Native } from "./io/native.ts";
import { nodeDisk } from "./io/node-disk.ts";
import { ProcessLock } from "./io/process-lock.ts";
import { LocalObjectStore } from "./objects/local-object-store.ts";
import { FrameCache } from "./segments/frame-cache.ts";
import { parseInput } from "./parse-request.ts";
import type { AcrossReader, Queries, RanScript } from "./query/queries.ts";
import type { OnEvent } from "./query/query-children.ts";
import type { OpenOptions, Store } from "./store-api.ts";
import type { PhasedWork } from "./transfer/long-work.ts";
import { manageCaches } from "./upkeep/caches.ts";
import { purgeTime } from "./upkeep/clock-guard.ts";
import { Activity } from "./upkeep/activity.ts";
import { gc } from "./upkeep/gc.ts";
import { Merger } from "./upkeep/merger.ts";
import { TemporaryFolder } from "./upkeep/temporary-folder.ts";
import { verify } from "./upkeep/verify.ts";

export type { OpenOptions, Store } from "./store-api.ts";
export { EngineError } from "./io/errors.ts";

/** What a test can put in the place of the machine. */
export interface StorePorts {
  readonly disk?: Disk;
  readonly native?: Native;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
  /** How many segments one merged segment covers: few, and short histories are merged. */
  readonly mergeFanIn?: number;
  /** Whether files are made ready in the background: by default not where `ownProcess` is, which ends soon. */
  readonly makesReady?: boolean;
}

/**
 * Makes a new store in a folder that does not exist or is empty, and opens it. Errors: `store-exists`, `bad-store-spec`,
 * `file-exists` (the folder holds something else), `permission-denied`, `disk-full`.
 */
export async function createStore(spec: string, options: OpenOptions = {}, ports: StorePorts = {}): Promise<Store> {
  const { disk, native, clock, randomness } = machine(ports);
  const paths = new StorePaths(locateStore(spec));
  if (disk.stat(paths.catalog))
    throw new EngineError("store-exists", `There already is a store at ${paths.root}`, {
      hint: "Open it instead",
      untouched: "It is unchanged.",
      details: { path: paths.root },
    });
  const strangers = disk.list(paths.root).filter((name) => !name.startsWith("catalog."));
  if (strangers.length > 0)
    throw new EngineError("file-exists", `${paths.root} is not empty: it holds ${strangers.slice(0, 3).join(", ")}`, {
      hint: "Choose a new or empty folder",
      untouched: "It is unchanged.",
      details: { path: paths.root },
    });
  for (const folder of [paths.root, paths.segments, paths.checkouts, paths.temporary]) disk.makeDirectory(folder);
  Catalog.create(paths.catalog, { disk, native }, { uid: randomness.bytes(16), at: clock.now() });
  disk.syncDirectory(paths.root);
  return openStore(spec, options, ports);
}

/**
 * Opens an existing store. Reaps what its TTL has run out for and sweeps what dead processes left, unless the disk is
 * read-only. Errors: `store-not-found`, `store-newer`, `store-corrupt`, `bad-store-spec`, `permission-denied`.
 */
export async function openStore(spec: string, options: OpenOptions = {}, ports: StorePorts = {}): Promise<Store> {
  const opened = openParts(new StorePaths(locateStore(spec)), options, machine(ports));
  if (!opened.parts.catalog.readOnly) await reapExpired(opened.parts, purgeTime(opened.parts));
  return new LocalStore(opened);
}

/**
 * Makes a new catalog for a store that lost its own, or whose own is damaged, out of its segments and checkouts; see
 * `upkeep/repair.ts`. The store must not be open anywhere. A sound store is left as it is.
 */
export async function repairStore(
  spec: string,
  options: OpenOptions = {},
  work: PhasedWork = {},
  ports: StorePorts = {},
): Promise<RepairReport> {
  const paths = new StorePaths(locateStore(spec));
  const withParts = async <T>(act: (parts: Parts) => Promise<T>): Promise<T> => {
    const opened = openParts(paths, options, machine(ports));
    try {
      return await act(opened.parts);
    } finally {
      await new LocalStore(opened).close();
    }
  };
  const { repairStore: repair } = await import("./upkeep/repair-store.ts");
  return repair(paths, machine(ports), withParts, work);
}

interface OpenedParts {
  readonly parts: Parts;
  readonly temporary: TemporaryFolder | null;
  readonly merger: Merger;
  readonly activity: Activity;
}

/** Wires the engine on a store's folder. */
function openParts(
  paths: StorePaths,
  options: OpenOptions,
  { disk, native, clock, randomness, mergeFanIn, makesReady }: Machine,
): OpenedParts {
  if (!disk.stat(paths.catalog)) throw noCatalog(disk, paths);
  const catalog = Catalog.open(paths.catalog, { disk, native });
  const temporary = catalog.readOnly ? null : new TemporaryFolder(disk, native, paths.temporary);
  const temporaryFolder = temporary?.path ?? paths.temporary;
  const segments = {
    disk,
    native,
    randomness,
    objects: new LocalObjectStore(disk, paths.segments, native),
    frames: new FrameCache(LIMITS.pageCacheBytes),
    temporaryFolder,
  };
  const files = createCheckoutFiles({
    ownProcess: options.ownProcess ?? false,
    disk,
    native,
    temporary: temporaryFolder,
    shadows: paths.shadows,
  });
  const lineages = new Lineages(catalog, segments);
  const writers = new WritersGate(() => ProcessLock.open(paths.writersLock, { disk, native }));
  const activity = new Activity();
  const merger = new Merger({ catalog, segments, lineages, writers }, activity, mergeFanIn);
  const pool = new WarmPool({ paths, disk, native, clock, randomness, catalog, segments, lineages }, activity, {
    refills: (makesReady ?? !(options.ownProcess ?? false)) && !catalog.readOnly,
  });
  const parts: Parts = {
    paths,
    disk,
    native,
    clock,
    randomness,
    catalog,
    segments,
    files,
    copySource: (request, work) => files.copySource(request, work),
    lineages,
    pool,
    writers,
    noteVersion: (database, version, parent) => merger.note(database, version, parent),
    actor: options.actor ?? process.env["COPPICE_ACTOR"] ?? userName(),
  };
  return { parts, temporary, merger, activity };
}

function noCatalog(disk: Disk, paths: StorePaths): EngineError {
  const details = { path: paths.root };
  return disk.stat(paths.segments) === null
    ? new EngineError("store-not-found", `There is no store at ${paths.root}`, { hint: "Make one first", details })
    : new EngineError("store-corrupt", `The store at ${paths.root} has lost its catalog`, {
        hint: "Repair it: a new catalog is made of what its segments and checkouts prove.",
        untouched: "Its segments and checkouts are as they were.",
        details,
      });
}

type Machine = Required<Omit<StorePorts, "makesReady">> & Pick<StorePorts, "makesReady">;

function machine(ports: StorePorts): Machine {
  return {
    disk: ports.disk ?? nodeDisk,
    native: ports.native ?? loadNative(),
    clock: ports.clock ?? systemClock,
    randomness: ports.randomness ?? systemRandomness,
    mergeFanIn: ports.mergeFanIn ?? LIMITS.mergeFanIn,
    ...(ports.makesReady === undefined ? {} : { makesReady: ports.makesReady }),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the system's user database.
    return process.env["USER"] ?? "unknown";
  }
}

class LocalStore implements Store {
  readonly path: string;
  readonly #parts: Parts;
  readonly #temporary: TemporaryFolder | null;
  readonly #merger: Merger;
  readonly #activity: Activity;
  #openDiffs: OpenDiffs | null = null;
  #changeCounts: ChangeCounts | null = null;
  #queries: Queries | null = null;
  #isClosed = false;

  constructor({ parts, temporary, merger, activity }: OpenedParts) {
    this.path = parts.paths.root;
    this.#parts = parts;
    this.#temporary = temporary;
    this.#merger = merger;
    this.#activity = activity;
  }

  async status(): Promise<StoreView> {
    const { catalog, paths } = this.#parts;
    const databases = catalog.databases.live();
    const last = catalog.operations.page({}, null, 1)[0];
    return {
      spec: paths.root,
      path: paths.root,
      uid: Buffer.from(catalog.identity.uid).toString("hex"),
      formatVersion: catalog.identity.formatVersion,
      createdAt: catalog.identity.createdAt,
      databases: databases.length,
      branches: databases.reduce((sum, database) => sum + catalog.branches.count(database.id), 0),
      trashed: catalog.branches.trashedCount() + catalog.databases.trashed().length,
      lastOperation: last?.id ?? 0,
      durableAt: last?.at ?? null,
      warnings: [
        ...(catalog.readOnly ? ["The store is on a disk that cannot be written: it can only be looked at"] : []),
        ...this.#parts.lineages.damaged.map(
          ({ name, problem }) =>
            `The merged ${name} is damaged. What it says is read from others, more slowly, until gc makes it anew: ${problem}`,
        ),
        ...(this.#merger.problem === null ? [] : [`Chains are not being merged, so old versions read slowly: ${this.#merger.problem}`]),
      ],
    };
  }

  verify = this.#verb("store.verify", (parts, _input, work) => verify(parts, work));
  gc = this.#verb("store.gc", async (parts, input, work) => {
    const report = await gc(parts, input, work);
    if (!input.dryRun) {
      await this.#merger.catchUp(work);
      parts.pool.sweep();
    }
    return report;
  });
  usage = this.#verb("usage.store", async (parts, input, work) => (await import("./upkeep/usage.ts")).storeUsage(parts, input, work));
  branchUsage = this.#verb("usage.branch", async (parts, input, work) =>
    (await import("./upkeep/usage-branch.ts")).branchUsage(parts, input, work),
  );
  freed = this.#verb("usage.free", async (parts, input, work) => (await import("./upkeep/usage-free.ts")).predictFreed(parts, input, work));
  cache = this.#verb("store.cache", manageCaches);
  databases = this.#verb("database.list", (parts) => parts.catalog.databases.live().map((database) => databaseView(parts, database)));
  inspect = this.#verb("database.inspect", inspect);
  create = this.#verb("database.create", create);
  drop = this.#verb("database.drop", drop, "publishes");
  renameDatabase = this.#verb("database.rename", renameDatabase);
  export = this.#verb("database.export", exportDatabase);
  branches = this.#verb("branch.list", listBranches);
  branchChanges = this.#verb("branch.changes", changedBranches);
  branch = this.#verb("branch.get", (parts, input) => branchDetail(parts, findBranch(parts, input.database, input.branch)));
  history = this.#verb("branch.history", history);
  checkout = this.#verb("branch.checkout", checkout, "publishes");
  checkpoint = this.#verb("branch.checkpoint", checkpoint, "publishes");
  fork = this.#verb("branch.fork", (parts, input) =>
    input.withUnsaved ? parts.writers.whilePublishing(() => fork(parts, input)) : fork(parts, input),
  );
  rollback = this.#verb("branch.rollback", rollback, "publishes");
  promote = this.#verb("branch.promote", promote, "publishes");
  destroy = this.#verb("branch.destroy", destroy, "publishes");
  restore = this.#verb("branch.restore", restore);
  rename = this.#verb("branch.rename", rename);
  protect = this.#verb("branch.protect", protect);
  touch = this.#verb("branch.touch", touch);
  setMeta = this.#verb("branch.setMeta", setMeta);
  renameCheckpoint = this.#verb("checkpoint.rename", renameCheckpoint);
  deleteCheckpoint = this.#verb("checkpoint.delete", deleteCheckpoint);
  openCheckpoint = this.#verb("checkpoint.open", openVersion);
  trash = this.#verb("trash.list", listTrash);
  operations = this.#verb("operation.list", listOperations);
  previewUndo = this.#verb("operation.preview", (parts, input) => previewUndo(parts, input.operation));
  undo = this.#verb("operation.undo", undo, "publishes");
  redo = this.#verb("operation.redo", redo, "publishes");
  openDiff = this.#verb("diff.open", async (_, input, work) => (await this.#diffs()).open(input, work));
  diffSummary = this.#verb("diff.summary", async (_, input, work) => (await this.#diffs()).summary(input, work));
  diffRows = this.#verb("diff.rows", async (_, input, work) => (await this.#diffs()).rows(input, work));
  exportDiff = this.#verb("diff.export", async (_, input, work) => (await this.#diffs()).export(input, work));
  closeDiff = this.#verb("diff.close", async (_, { id }) => {
    (await this.#diffs()).close(id);
    return null;
  });
  rowHistory = this.#verb("row.history", async (parts, input, work) =>
    (await import("./diff/row-history.ts")).rowHistory(parts, input, work),
  );

  /** Not among the verbs that background work gives way to: it is such work itself. */
  async changes(input: RequestInput<"version.changes">, work: PhasedWork = {}): Promise<RequestOutput<"version.changes">> {
    const parsed = parseInput("version.changes", input);
    const { ChangeCounts: Counts } = await import("./diff/change-counts.ts");
    this.#changeCounts ??= new Counts(this.#parts, () => this.#activity.idle());
    return this.#changeCounts.answer(parsed, work);
  }

  dataSchema = this.#verb("data.schema", async (_, input, work) => (await this.#questions()).schema(input, work));
  dataRows = this.#verb("data.rows", async (_, input, work) => (await this.#questions()).rows(input, work));
  countRows = this.#verb("data.count", async (_, input, work) => (await this.#questions()).count(input, work));
  dataValue = this.#verb("data.value", async (_, input, work) => (await this.#questions()).value(input, work));
  runQuery = this.#verb("query.run", async (_, input, work) => (await this.#questions()).run(input, work));
  exportQuery = this.#verb("query.export", async (_, input, work) => (await this.#questions()).export(input, work));
  queryAcross = this.#verb("query.across", async (_, input) => (await this.#questions()).across(input));
  queryResults = this.#verb("query.results", async (_, input, work) => (await this.#questions()).results(input, work));
  closeQuery = this.#verb("query.close", async (_, input) => {
    await (await this.#questions()).closeQuestion(input);
    return null;
  });

  /** Loaded with the first question: most runs of the program ask none. */
  async #questions(): Promise<Queries> {
    const { Queries: Loaded } = await import("./query/queries.ts");
    this.#queries ??= new Loaded(this.#parts);
    return this.#queries;
  }

  async streamQuery(
    input: Omit<RequestInput<"query.run">, "limit">,
    rowsMax: number | null,
    onEvent: OnEvent,
    work: PhasedWork = {},
  ): Promise<RanScript> {
    const parsed = parseInput("query.run", input);
    return (await this.#questions()).stream(parsed, rowsMax, onEvent, work);
  }

  async askAcross(input: RequestInput<"query.across">, reader: AcrossReader, work: PhasedWork = {}): Promise<void> {
    const parsed = parseInput("query.across", input);
    await (await this.#questions()).askAll(parsed, reader, work);
  }

  async diff(input: RequestInput<"diff.open">, work: PhasedWork = {}): Promise<Diff> {
    const parsed = parseInput("diff.open", input);
    return (await this.#diffs()).diff(parsed, work);
  }

  /** Loaded with the first comparison: most runs of the program make none. */
  async #diffs(): Promise<OpenDiffs> {
    const { OpenDiffs: Diffs } = await import("./diff/open-diffs.ts");
    this.#openDiffs ??= new Diffs(this.#parts);
    return this.#openDiffs;
  }

  checkoutPath(database: string, branch: string): string {
    return this.#parts.paths.checkout(database, branch);
  }

  lastOperation(): number {
    return this.#parts.catalog.lastOperation();
  }

  unsavedBranches(databaseName: string): readonly string[] {
    const { catalog, files, paths } = this.#parts;
    const database = catalog.databases.byName(databaseName);
    if (!database) return [];
    return catalog.facts().flatMap(({ branch: id, fact }) => {
      const branch = catalog.branches.byId(id);
      if (branch?.state !== "live" || branch.database !== database.id) return [];
      const isUnsaved =
        fact.content !== fact.base || files.check(paths.checkout(database.name, branch.name), fact.fingerprint) === "unknown";
      return isUnsaved ? [branch.name] : [];
    });
  }

  /** Ends what is under way and lets go of every file. Closing again does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#activity.end();
    this.#openDiffs?.closeAll();
    await this.#changeCounts?.close();
    await this.#queries?.close();
    await this.#parts.pool.close();
    await this.#merger.close();
    await this.#parts.files.close();
    this.#parts.segments.objects.close();
    this.#parts.catalog.close();
    this.#parts.writers.close();
    this.#temporary?.remove();
  }

  /**
   * Checks the input, then acts. What "publishes" may write segment files: gc is kept away until its operation has
   * committed.
   */
  #verb<K extends RequestName>(
    name: K,
    act: (parts: Parts, input: RequestInput<K>, work: PhasedWork) => RequestOutput<K> | Promise<RequestOutput<K>>,
    kind?: "publishes",
  ) {
    return async (input: RequestInput<K>, work: PhasedWork = {}): Promise<RequestOutput<K>> => {
      const parsed = parseInput(name, input);
      return this.#activity.during(async () =>
        kind === "publishes"
          ? this.#parts.writers.whilePublishing(async () => act(this.#parts, parsed, work))
          : act(this.#parts, parsed, work),
      );
    };
  }
}
