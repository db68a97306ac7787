/**
 * The facade: opens a store, wires the engine's parts, and offers every verb. This is the library's entry.
 *
 *   import { openStore } from "coppice";
 *   const store = await openStore("./.coppice");
 *   await store.fork({ database: "shop", branch: "main", newBranch: "try" });
 */
import { userInfo } from "node:os";
import { LIMITS } from "#shared/limits.ts";
import type { StoreView } from "#shared/views.ts";
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
import { destroy, drop, listTrash, reapExpired, restore } from "./branches/trash.ts";
import { previewUndo, redo, undo } from "./branches/undo.ts";
import { WritersGate } from "./branches/writers-gate.ts";
import { Catalog } from "./catalog/catalog.ts";
import { createCheckoutFiles } from "./checkouts/keeper-client.ts";
import { systemClock, systemRandomness, type Clock, type Randomness } from "./io/clock.ts";
import type { Disk } from "./io/disk.ts";
import { EngineError } from "./io/errors.ts";
import { loadNative } from "./io/load-native.ts";
import type { Native } from "./io/native.ts";
import { nodeDisk } from "./io/node-disk.ts";
import { ProcessLock } from "./io/process-lock.ts";
import { LocalObjectStore } from "./objects/local-object-store.ts";
import { FrameCache } from "./segments/frame-cache.ts";
import type { OpenOptions, Store } from "./store-api.ts";
import { purgeTime } from "./upkeep/clock-guard.ts";
import { gc } from "./upkeep/gc.ts";
import { TemporaryFolder } from "./upkeep/temporary-folder.ts";
import { usage } from "./upkeep/usage.ts";
import { verify } from "./upkeep/verify.ts";

export type { OpenOptions, Store } from "./store-api.ts";
export { EngineError } from "./io/errors.ts";

/** What a test can put in the place of the machine. */
export interface StorePorts {
  readonly disk?: Disk;
  readonly native?: Native;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/**
 * Makes a new store in a folder that does not exist or is empty, and opens it. Errors: `store-exists`, `bad-store-spec`,
 * `file-exists` (the folder holds something else), `permission-denied`, `disk-full`.
 */
export async function createStore(spec: string, options: OpenOptions = {}, ports: StorePorts = {}): Promise<Store> {
  const { disk, native, clock, randomness } = machine(ports);
  const paths = new StorePaths(locateStore(spec));
  if (disk.stat(paths.catalog)) throw new EngineError("store-exists", `There already is a store at ${paths.root}`, { hint: "Open it instead", untouched: "It is unchanged.", details: { path: paths.root } });
  const strangers = disk.list(paths.root).filter((name) => !name.startsWith("catalog."));
  if (strangers.length > 0) throw new EngineError("file-exists", `${paths.root} is not empty: it holds ${strangers.slice(0, 3).join(", ")}`, { hint: "Choose a new or empty folder", untouched: "It is unchanged.", details: { path: paths.root } });
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
  const { disk, native, clock, randomness } = machine(ports);
  const paths = new StorePaths(locateStore(spec));
  if (!disk.stat(paths.catalog)) throw new EngineError("store-not-found", `There is no store at ${paths.root}`, { hint: "Make one with `coppice init`", details: { path: paths.root } });
  const catalog = Catalog.open(paths.catalog, { disk, native });
  const temporary = catalog.readOnly ? null : new TemporaryFolder(disk, native, paths.temporary);
  const temporaryFolder = temporary?.path ?? paths.temporary;
  const segments = { disk, native, randomness, objects: new LocalObjectStore(disk, paths.segments), frames: new FrameCache(LIMITS.pageCacheBytes), temporaryFolder };
  const files = createCheckoutFiles({ ownProcess: options.ownProcess ?? false, disk, native, temporary: temporaryFolder });
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
    lineages: new Lineages(catalog, segments),
    writers: new WritersGate(() => ProcessLock.open(paths.writersLock, { disk, native })),
    actor: options.actor ?? process.env["COPPICE_ACTOR"] ?? userName(),
  };
  if (!catalog.readOnly) await reapExpired(parts, purgeTime(parts));
  return new LocalStore(parts, temporary);
}

function machine(ports: StorePorts): Required<StorePorts> {
  return { disk: ports.disk ?? nodeDisk, native: ports.native ?? loadNative(), clock: ports.clock ?? systemClock, randomness: ports.randomness ?? systemRandomness };
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
  #isClosed = false;

  constructor(parts: Parts, temporary: TemporaryFolder | null) {
    this.path = parts.paths.root;
    this.#parts = parts;
    this.#temporary = temporary;
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
      trashed: listTrash(this.#parts).length,
      lastOperation: last?.id ?? 0,
      durableAt: last?.at ?? null,
      warnings: catalog.readOnly ? ["The store is on a disk that cannot be written: it can only be looked at"] : [],
    };
  }

  verify: Store["verify"] = (_input, work) => verify(this.#parts, work);
  gc: Store["gc"] = (input, work) => gc(this.#parts, input, work);
  usage: Store["usage"] = async (input) => usage(this.#parts, input);
  databases: Store["databases"] = async () => this.#parts.catalog.databases.live().map((database) => databaseView(this.#parts, database));
  inspect: Store["inspect"] = (input, work) => inspect(this.#parts, input, work);
  create: Store["create"] = (input, work) => create(this.#parts, input, work);
  drop: Store["drop"] = (input) => this.#publish(() => drop(this.#parts, input));
  renameDatabase: Store["renameDatabase"] = (input) => renameDatabase(this.#parts, input);
  export: Store["export"] = (input, work) => exportDatabase(this.#parts, input, work);
  branches: Store["branches"] = async (input) => listBranches(this.#parts, input);
  branchChanges: Store["branchChanges"] = async (input) => changedBranches(this.#parts, input);
  branch: Store["branch"] = async (input) => branchDetail(this.#parts, findBranch(this.#parts, input.database, input.branch));
  history: Store["history"] = async (input) => history(this.#parts, input);
  checkout: Store["checkout"] = (input, work) => this.#publish(() => checkout(this.#parts, input, work));
  checkpoint: Store["checkpoint"] = (input) => this.#publish(() => checkpoint(this.#parts, input));
  fork: Store["fork"] = (input) => (input.withUnsaved ? this.#publish(() => fork(this.#parts, input)) : fork(this.#parts, input));
  rollback: Store["rollback"] = (input, work) => this.#publish(() => rollback(this.#parts, input, work));
  promote: Store["promote"] = (input, work) => this.#publish(() => promote(this.#parts, input, work));
  destroy: Store["destroy"] = (input) => this.#publish(() => destroy(this.#parts, input));
  restore: Store["restore"] = (input) => restore(this.#parts, input);
  rename: Store["rename"] = (input) => rename(this.#parts, input);
  protect: Store["protect"] = (input) => protect(this.#parts, input);
  touch: Store["touch"] = (input) => touch(this.#parts, input);
  setMeta: Store["setMeta"] = (input) => setMeta(this.#parts, input);
  renameCheckpoint: Store["renameCheckpoint"] = (input) => renameCheckpoint(this.#parts, input);
  deleteCheckpoint: Store["deleteCheckpoint"] = (input) => deleteCheckpoint(this.#parts, input);
  openCheckpoint: Store["openCheckpoint"] = (input, work) => openVersion(this.#parts, input, work);
  trash: Store["trash"] = async () => listTrash(this.#parts);
  operations: Store["operations"] = async (input) => listOperations(this.#parts, input);
  previewUndo: Store["previewUndo"] = async (input) => previewUndo(this.#parts, input.operation);
  undo: Store["undo"] = (input, work) => this.#publish(() => undo(this.#parts, input, work));
  redo: Store["redo"] = (input, work) => this.#publish(() => redo(this.#parts, input, work));

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
      const isUnsaved = fact.content !== fact.base || files.check(paths.checkout(database.name, branch.name), fact.fingerprint) === "unknown";
      return isUnsaved ? [branch.name] : [];
    });
  }

  /** Ends what is under way and lets go of every file. Closing again does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#parts.files.close();
    this.#parts.segments.objects.close();
    this.#parts.catalog.close();
    this.#parts.writers.close();
    this.#temporary?.remove();
  }

  /** Verbs that may write segment files keep gc away until their operation has committed. */
  #publish<T>(act: () => Promise<T>): Promise<T> {
    return this.#parts.writers.whilePublishing(act);
  }
}
