/**
 * One SQLite connection on the catalog: how it is opened, what is prepared, how its errors read.
 *
 * The WAL is kept and reused. SQLite's last connection to close would fold it in and delete it, so that every process
 * that makes one operation pays for both, and the next one for a growing file (a commit into a reused WAL costs one
 * fdatasync of blocks that exist; into a growing one, a journal commit of the filesystem as well). A shared lock of our
 * own on SQLite's SHARED range, held from before the connection opens until after it is closed, refuses the exclusive
 * lock which that would need. The lock belongs to our descriptor, so it also stands in for SQLite's own shared lock
 * when a descriptor of the same file is closed elsewhere in this process.
 */
import Database from "better-sqlite3";
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import type { Native } from "../io/native.ts";
import { CORRUPT_HINT, toCatalogError } from "./catalog-error.ts";

export interface ConnectionPorts {
  readonly disk: Disk;
  readonly native: Native;
}

/** SQLite's SHARED range: the bytes that readers lock (os_unix.c). */
const SHARED_RANGE = { start: 0x4000_0002, length: 510 };
/** A WAL of this many pages is folded in: about 1 MB, which the next process recovers in about 1 ms. */
export const WAL_PAGES = 256;
/** A WAL beyond this, left by one large commit, is cut when it is next reused. */
const WAL_BYTES_MAX = 4 * 1024 * 1024;

type Value = number | string | Uint8Array | null;

export class Connection {
  readonly path: string;
  readonly readOnly: boolean;
  readonly #ports: ConnectionPorts;
  #keeper: FileDescriptor | null = null;
  /** Null between a failure that nothing could be read back from and the next use. */
  #database: Database.Database | null = null;
  #closed = false;
  #statements = new Map<string, Database.Statement<Value[], unknown>>();

  /** Throws `store-not-found`, `store-corrupt`, `permission-denied`, `store-read-only`. Never creates a file. */
  constructor(path: string, ports: ConnectionPorts, mode: { readonly readOnly: boolean }) {
    this.path = path;
    this.readOnly = mode.readOnly;
    this.#ports = ports;
    this.#connect();
  }

  #connect(): Database.Database {
    assert(!this.#closed, "a closed catalog is not used");
    const stat = this.#ports.disk.stat(this.path);
    if (!stat) throw new EngineError("store-not-found", `There is no catalog at ${this.path}`, { details: { path: this.path } });
    // SQLite takes an empty file for a new database and deletes the WAL beside it.
    if (stat.kind !== "file" || stat.size === 0) throw corruptCatalog(this.path, stat.kind === "file" ? "an empty file" : "a folder");
    if (!this.readOnly) this.#keepWal();
    let database: Database.Database | null = null;
    try {
      database = new Database(this.path, { fileMustExist: true, readonly: this.readOnly, timeout: LIMITS.catalogLockWaitMs });
      if (!this.readOnly) {
        // Reopening a database that is in WAL mode gives NORMAL, whatever it was before.
        database.pragma("synchronous = FULL");
        database.pragma(`wal_autocheckpoint = ${WAL_PAGES}`);
        database.pragma(`journal_size_limit = ${WAL_BYTES_MAX}`);
      }
      this.#database = database;
      return database;
    } catch (error) {
      database?.close();
      this.#releaseKeeper();
      throw toCatalogError(error, "Opening", this.path);
    }
  }

  #keepWal(): void {
    const { disk, native } = this.#ports;
    if (!native.hasRangeLocks) return;
    this.#keeper = disk.open(this.path, "r");
    // Somebody who is just closing may hold it exclusively; without our lock everything still works, only slower.
    native.lockRange(this.#keeper, SHARED_RANGE.start, SHARED_RANGE.length, "shared");
  }

  #releaseKeeper(): void {
    if (this.#keeper !== null) this.#ports.disk.close(this.#keeper);
    this.#keeper = null;
  }

  /** Drops whatever state the connection is in and makes a new one on what is at the path now. */
  reopen(): void {
    this.#disconnect();
    this.#connect();
  }

  close(): void {
    this.#disconnect();
    this.#closed = true;
  }

  #disconnect(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = null;
    this.#releaseKeeper();
  }

  #connected(): Database.Database {
    return this.#database ?? this.#connect();
  }

  get inTransaction(): boolean {
    return this.#database?.inTransaction ?? false;
  }

  /** First row, as an object of its columns. The caller names the row's shape: this is where SQL meets types. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined {
    return this.#run(sql, (statement) => statement.get(...values) as Row | undefined);
  }

  all<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#run(sql, (statement) => statement.all(...values) as Row[]);
  }

  /** Rows one by one; nothing may be written meanwhile. */
  *iterate<Row>(sql: string, ...values: Value[]): Generator<Row, void> {
    // A statement of its own: the cached one could be in use further up.
    const statement = this.#run(sql, () => this.#connected().prepare<Value[], Row>(sql));
    try {
      yield* statement.iterate(...values);
    } catch (error) {
      throw toCatalogError(error, "Reading", this.path);
    }
  }

  run(sql: string, ...values: Value[]): { readonly changes: number; readonly lastInsertRowid: number } {
    return this.#run(sql, (statement) => {
      const result = statement.run(...values);
      return { changes: result.changes, lastInsertRowid: Number(result.lastInsertRowid) };
    });
  }

  /** Errors stay SQLite's own, so that the caller can tell a failed write from an unknown outcome. */
  commit(): void {
    this.#prepare("COMMIT").run();
  }

  pragma(text: string): unknown {
    try {
      return this.#connected().pragma(text, { simple: true });
    } catch (error) {
      throw toCatalogError(error, "Reading", this.path);
    }
  }

  /** Frames that the next process would have to read before it can look at anything. */
  walFrames(): number {
    return this.#useWal("NOOP").log;
  }

  /** Copies what the WAL holds into the catalog, as far as no reader is in the way. Returns whether that was all of it. */
  foldWal(): boolean {
    const { log, checkpointed } = this.#useWal("PASSIVE");
    return checkpointed === log;
  }

  #useWal(mode: "NOOP" | "PASSIVE"): { readonly log: number; readonly checkpointed: number } {
    return this.get<{ log: number; checkpointed: number }>(`PRAGMA wal_checkpoint(${mode})`) ?? { log: 0, checkpointed: 0 };
  }

  execute(script: string): void {
    try {
      this.#connected().exec(script);
    } catch (error) {
      throw toCatalogError(error, "Changing", this.path);
    }
  }

  /** Runs `work` on one unchanging state of the catalog, whatever other processes commit meanwhile. */
  snapshot<T>(work: () => T): T {
    if (this.inTransaction) return work();
    this.run("BEGIN");
    try {
      return work();
    } finally {
      if (this.inTransaction) this.run("ROLLBACK");
    }
  }

  #prepare(sql: string): Database.Statement<Value[], unknown> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connected().prepare<Value[]>(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run<T>(sql: string, use: (statement: Database.Statement<Value[], unknown>) => T): T {
    try {
      return use(this.#prepare(sql));
    } catch (error) {
      throw toCatalogError(error, "Using", this.path);
    }
  }
}

export function corruptCatalog(path: string, found: string): EngineError {
  return new EngineError("store-corrupt", `The catalog ${path} is ${found}, not a Coppice catalog`, {
    details: { path, expected: "a Coppice catalog", found },
    untouched: "The file was not changed.",
    hint: CORRUPT_HINT,
  });
}
