/**
 * The catalog: refs, operation log, versions, small segments and facts about checkouts, in one SQLite file. Reads go
 * through the query objects; everything that changes a ref goes through `commit`.
 */
import { dirname, join } from "node:path";
import { assert } from "#shared/assert.ts";
import type { BranchId, DatabaseId, OperationId, UnixMs, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { EngineError } from "../io/errors.ts";
import { ProcessLock } from "../io/process-lock.ts";
import { storeFact } from "./apply.ts";
import { BranchQueries } from "./branch-queries.ts";
import { CheckpointQueries } from "./checkpoint-queries.ts";
import { CommitQueue } from "./commit-queue.ts";
import { Connection, WAL_PAGES, type ConnectionPorts } from "./connection.ts";
import { createCatalogFile, reserveWal } from "./catalog-file.ts";
import { DatabaseQueries } from "./database-queries.ts";
import { KNOWN_FORMATS, migrateCatalog, readIdentity, type StoreIdentity } from "./format-version.ts";
import { OperationQueries } from "./operation-queries.ts";
import { openReadOnly, type ReadOnlyCatalog } from "./read-only.ts";
import { deleteMerged, insertMerged } from "./merged-segments.ts";
import type { CheckoutFact, OperationDraft, OperationRecord, SegmentRecord } from "./records.ts";
import { VersionQueries } from "./version-queries.ts";

export type CatalogPorts = ConnectionPorts;

export class Catalog {
  readonly path: string;
  /** True on a disk that cannot be written: reads work, commits throw `store-read-only`. */
  readonly readOnly: boolean;
  readonly identity: StoreIdentity;
  readonly databases: DatabaseQueries;
  readonly branches: BranchQueries;
  readonly versions: VersionQueries;
  readonly checkpoints: CheckpointQueries;
  readonly operations: OperationQueries;
  /** For this folder's own modules. */
  readonly connection: Connection;
  readonly #lock: ProcessLock | null;
  readonly #queue: CommitQueue | null;
  readonly #discard: () => void;
  #last: OperationId;
  #seenChange: number;
  #closed = false;

  private constructor(opened: ReadOnlyCatalog, lock: ProcessLock | null, identity: StoreIdentity) {
    const { connection } = opened;
    this.path = opened.path;
    this.readOnly = lock === null;
    this.identity = identity;
    this.connection = connection;
    this.#discard = opened.discard;
    this.#lock = lock;
    this.databases = new DatabaseQueries(connection);
    this.branches = new BranchQueries(connection);
    this.versions = new VersionQueries(connection);
    this.checkpoints = new CheckpointQueries(connection);
    this.operations = new OperationQueries(connection);
    this.#last = this.operations.lastId();
    this.#seenChange = this.#changeCount();
    this.#queue = lock ? new CommitQueue(connection, lock, (last) => (this.#last = last.id)) : null;
  }

  /** Makes an empty catalog; `store-exists` when something is there. `uid`: 16 random bytes. */
  static create(path: string, ports: CatalogPorts, identity: { readonly uid: Uint8Array; readonly at: UnixMs }): void {
    assert(identity.uid.length === 16, "a store's uid has 16 bytes");
    const lock = ProcessLock.open(lockPath(path), ports);
    try {
      lock.acquire(LIMITS.catalogLockWaitMs);
      createCatalogFile(path, ports.disk, identity);
    } finally {
      lock.close();
    }
  }

  /**
   * Throws `store-not-found`, `store-newer`, `store-corrupt`, `permission-denied`. A store on a disk that cannot be
   * written is opened for reading.
   */
  static open(path: string, ports: CatalogPorts): Catalog {
    if (!ports.disk.stat(path)) throw new EngineError("store-not-found", `There is no catalog at ${path}`, { details: { path } });
    const lock = openLock(path, ports);
    const opened = lock
      ? { path, connection: new Connection(path, ports, { readOnly: false }), discard: () => {} }
      : openReadOnly(path, ports);
    try {
      if (lock && readIdentity(opened.connection, path).formatVersion < KNOWN_FORMATS.format) migrateLocked(opened.connection, ports, lock);
      if (lock) reserveWal(path, ports, lock);
      return new Catalog(opened, lock, readIdentity(opened.connection, path));
    } catch (error) {
      opened.connection.close();
      opened.discard();
      lock?.close();
      throw error;
    }
  }

  /** Id of the last operation, 0 in a new store. Reads one counter in shared memory unless another process wrote. */
  lastOperation(): OperationId {
    const change = this.#changeCount();
    if (change !== this.#seenChange) {
      this.#seenChange = change;
      this.#last = this.operations.lastId();
    }
    return this.#last;
  }

  /** Moves whenever another connection commits. */
  #changeCount(): number {
    return this.connection.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
  }

  /**
   * Durable when it resolves. Rejects with `stale-precondition`, `name-taken`, `bad-name`, `store-read-only`,
   * `store-busy`, `disk-full`, `io-failed` (nothing changed), or `outcome-unknown`.
   */
  async commit(draft: OperationDraft): Promise<OperationRecord> {
    return this.#writable().push(draft);
  }

  /**
   * Records what is known about a branch's file, and that its file was seen to change. Not durable: after a crash the
   * file proves itself or is compared.
   */
  setFact(branch: BranchId, fact: CheckoutFact | null, touchedAt: UnixMs | null = null): void {
    this.#writable();
    this.#write("NORMAL", () => {
      storeFact(this.connection, branch, fact);
      if (touchedAt !== null) this.connection.run("UPDATE branches SET touched_at = ? WHERE id = ?", touchedAt, branch);
    });
  }

  /**
   * Adds a merged segment whose files are durable. The row itself is not waited for: without it the files are orphans, and
   * the range is merged again. False when a version it names is gone, or somebody else was first. Throws `store-busy`
   * after `waitMs`.
   */
  addMerged(segment: SegmentRecord, waitMs: number): boolean {
    this.#writable();
    let added = false;
    this.#write("NORMAL", () => (added = insertMerged(this.connection, segment)), waitMs);
    return added;
  }

  /** Removes the row of a merged segment that is damaged; its files are orphans then. False when that changed nothing. */
  removeMerged(segment: SegmentRecord): boolean {
    this.#writable();
    let removed = false;
    this.#write("FULL", () => (removed = deleteMerged(this.connection, segment)));
    return removed;
  }

  fact(branch: BranchId): CheckoutFact | null {
    return this.connection.get<CheckoutFact>("SELECT base, content, fingerprint FROM facts WHERE branch = ?", branch) ?? null;
  }

  /** Facts of all branches, trashed ones included, in order of branch. */
  facts(): { readonly branch: BranchId; readonly fact: CheckoutFact }[] {
    const rows = this.connection.all<CheckoutFact & { branch: BranchId }>(
      "SELECT branch, base, content, fingerprint FROM facts ORDER BY branch",
    );
    return rows.map(({ branch, ...fact }) => ({ branch, fact }));
  }

  /** Branches of a database that have a file, by how near the version in it is to one. */
  filesNear(database: DatabaseId, version: VersionNumber, limit: number): string[] {
    const rows = this.connection.all<{ readonly name: string }>(
      `SELECT branches.name FROM branches JOIN facts ON facts.branch = branches.id
       WHERE branches.database = ? AND branches.state = 0 ORDER BY abs(facts.content - ?), facts.branch LIMIT ?`,
      database,
      version,
      limit,
    );
    return rows.map(({ name }) => name);
  }

  /** Facts of the branches made just before and just after one, its own left out, the nearest first. */
  factsNear(branch: BranchId, limit: number): { readonly branch: BranchId; readonly fact: CheckoutFact }[] {
    const columns = "SELECT branch, base, content, fingerprint FROM facts";
    const below = this.connection.all<CheckoutFact & { branch: BranchId }>(
      `${columns} WHERE branch < ? ORDER BY branch DESC LIMIT ?`,
      branch,
      limit,
    );
    const above = this.connection.all<CheckoutFact & { branch: BranchId }>(
      `${columns} WHERE branch > ? ORDER BY branch LIMIT ?`,
      branch,
      limit,
    );
    const near = [...below, ...above].toSorted((a, b) => Math.abs(a.branch - branch) - Math.abs(b.branch - branch));
    return near.slice(0, limit).map(({ branch: id, ...fact }) => ({ branch: id, fact }));
  }

  /** Runs queries on one state of the catalog. */
  snapshot<T>(work: () => T): T {
    return this.connection.snapshot(work);
  }

  /** Gives the pages that a purge left empty back to the disk. Returns the bytes by which the file shrank. */
  shrink(): number {
    this.#writable();
    const before = this.#fileBytes();
    this.#write("FULL", () => this.connection.execute("PRAGMA incremental_vacuum"));
    this.connection.pragma("wal_checkpoint(FULL)");
    return before - this.#fileBytes();
  }

  #fileBytes(): number {
    return Number(this.connection.pragma("page_count")) * Number(this.connection.pragma("page_size"));
  }

  #write(synchronous: "NORMAL" | "FULL", change: () => void, waitMs: number = LIMITS.catalogLockWaitMs): void {
    const connection = this.connection;
    this.#lock?.acquire(waitMs);
    try {
      if (synchronous === "NORMAL") connection.pragma("synchronous = NORMAL");
      connection.run("BEGIN IMMEDIATE");
      change();
      connection.run("COMMIT");
    } finally {
      if (connection.inTransaction) connection.run("ROLLBACK");
      if (synchronous === "NORMAL") connection.pragma("synchronous = FULL");
      this.#lock?.release();
    }
  }

  #writable(): CommitQueue {
    assert(!this.#closed, "a closed catalog is not used");
    if (this.#queue) return this.#queue;
    throw new EngineError("store-read-only", `The store ${dirname(this.path)} cannot be written`, {
      details: { path: this.path },
      untouched: "Nothing was changed.",
    });
  }

  /** Commits what waits, then lets go of the file. Closing twice does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue?.drain();
    this.#restartWal();
    this.connection.close();
    this.#discard();
    this.#lock?.close();
  }

  /**
   * SQLite starts a WAL anew when a commit follows another by which all of it was folded in, in one process: what it knows
   * of that goes with the last process. Commands that commit once each would make it longer for ever, and each would
   * read all of it first. So whoever leaves with a long one makes that commit.
   */
  #restartWal(): void {
    try {
      if (!this.#lock || this.connection.walFrames() < WAL_PAGES || !this.connection.foldWal()) return;
      this.#write("NORMAL", () => this.connection.run("UPDATE meta SET fence = fence + 1"), 0);
    } catch (error) {
      // Another process is at work, or the disk is full: the next to leave does it.
      if (!(error instanceof EngineError)) throw error;
    }
  }
}

function lockPath(path: string): string {
  return join(dirname(path), "catalog.lock");
}

function migrateLocked(connection: Connection, ports: CatalogPorts, lock: ProcessLock): void {
  lock.acquire(LIMITS.catalogLockWaitMs);
  try {
    migrateCatalog(connection, ports.disk);
  } finally {
    lock.release();
  }
}

/** Null where nothing can be written. */
function openLock(path: string, ports: CatalogPorts): ProcessLock | null {
  try {
    return ProcessLock.open(lockPath(path), ports);
  } catch (error) {
    if (error instanceof EngineError && (error.code === "store-read-only" || error.code === "permission-denied")) return null;
    throw error;
  }
}
