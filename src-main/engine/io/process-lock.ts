import Database from "better-sqlite3";
import { assert } from "#shared/assert.ts";
import type { Holder } from "#shared/error-codes.ts";
import type { Disk, FileDescriptor } from "./disk.ts";
import { EngineError } from "./errors.ts";
import { findLockHolders, readProgram } from "./holders.ts";
import type { Native } from "./native.ts";

export type LockMode = "shared" | "exclusive";

/** Tries before the first pause: a commit elsewhere often ends within them. */
const SPIN_TRIES = 20;
const PAUSE_MS_MIN = 0.05;
const PAUSE_MS_MAX = 2;
/** The record of the last exclusive holder, at the start of the file: pid and program, padded with spaces. */
const RECORD_BYTES = 64;

/**
 * A lock between processes, and between two `ProcessLock`s of one process. It goes with its holder, however that ends.
 * One object takes it once at a time: a second attempt fails as if somebody else had it.
 */
export abstract class ProcessLock {
  readonly path: string;
  #isHeld = false;

  protected constructor(path: string) {
    this.path = path;
  }

  /** Makes the file when it is not there. Throws `file-not-found` (no folder), `permission-denied`, `store-read-only`. */
  static open(path: string, ports: { readonly disk: Disk; readonly native: Native }): ProcessLock {
    return ports.native.hasRangeLocks ? new RangeLock(path, ports.disk, ports.native) : new SqliteLock(path, ports.disk);
  }

  /** Does not wait. */
  tryAcquire(mode: LockMode = "exclusive"): boolean {
    if (this.#isHeld) return false;
    this.#isHeld = this.take(mode);
    return this.#isHeld;
  }

  /** Blocks this thread for up to `waitMs`; then throws `store-busy`, naming the holders. */
  acquire(waitMs: number, mode: LockMode = "exclusive"): void {
    assert(!this.#isHeld, "whoever holds a lock does not wait for it");
    // Asked for without a clock first: nearly always it is free.
    if (this.tryAcquire(mode)) return;
    const deadline = performance.now() + waitMs;
    for (let tries = 1; !this.tryAcquire(mode); tries += 1) {
      if (performance.now() >= deadline) throw this.#busy(waitMs);
      if (tries >= SPIN_TRIES) pause(Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (tries - SPIN_TRIES)) * (0.5 + Math.random() / 2));
    }
  }

  release(): void {
    assert(this.#isHeld, "only a lock that is held is given back");
    this.#isHeld = false;
    this.give();
  }

  /** Gives the lock back, too. */
  abstract close(): void;
  protected abstract take(mode: LockMode): boolean;
  protected abstract give(): void;
  protected abstract holders(): readonly Holder[];

  #busy(waitMs: number): EngineError {
    const holders = this.holders();
    const who = holders.map(({ pid, program }) => `${program ?? "a program"} (pid ${pid})`).join(", ");
    return new EngineError("store-busy", `Waited ${waitMs} ms for ${this.path}, which ${who || "another process"} holds`, {
      hint: "Try again. If that process is stopped, continue or end it.",
      untouched: "Nothing was changed.",
      retryable: true,
      details: { path: this.path, holders },
    });
  }
}

/** An open-file-description lock on the first byte. Nothing is opened, synced or, by the only user, written. */
class RangeLock extends ProcessLock {
  readonly #disk: Disk;
  readonly #native: Native;
  readonly #file: FileDescriptor;
  readonly #own = encodeRecord();
  readonly #found = Buffer.alloc(RECORD_BYTES);

  constructor(path: string, disk: Disk, native: Native) {
    super(path);
    this.#disk = disk;
    this.#native = native;
    this.#file = openOrCreate(path, disk);
  }

  close(): void {
    this.#disk.close(this.#file);
  }

  protected take(mode: LockMode): boolean {
    if (!this.#native.lockRange(this.#file, 0, 1, mode)) return false;
    if (mode === "exclusive") this.#sign();
    return true;
  }

  protected give(): void {
    this.#native.unlockRange(this.#file, 0, 1);
  }

  /** The record serves where the processes of others may not be looked at. */
  protected holders(): readonly Holder[] {
    const seen = findLockHolders(this.path);
    return seen.length > 0 ? seen : readRecord(this.#disk, this.#file);
  }

  #sign(): void {
    try {
      this.#disk.read(this.#file, this.#found, 0);
      if (!this.#found.equals(this.#own)) writeRecord(this.#disk, this.#file, this.#own);
    } catch (error) {
      this.give();
      throw error;
    }
  }
}

/** Where there are no such locks: SQLite's own, on a database made for nothing else. The file keeps the record. */
class SqliteLock extends ProcessLock {
  readonly #disk: Disk;
  readonly #file: FileDescriptor;
  readonly #database: Database.Database;

  constructor(path: string, disk: Disk) {
    super(path);
    this.#disk = disk;
    this.#file = openOrCreate(path, disk);
    this.#database = openLockDatabase(`${path}.sqlite`, disk);
  }

  close(): void {
    this.#database.close();
    this.#disk.close(this.#file);
  }

  protected take(mode: LockMode): boolean {
    try {
      if (mode === "exclusive") {
        this.#database.exec("BEGIN EXCLUSIVE");
        writeRecord(this.#disk, this.#file, encodeRecord());
      } else {
        this.#database.exec("BEGIN; SELECT count(*) FROM sqlite_schema");
      }
      return true;
    } catch (error) {
      this.give();
      if (isBusy(error)) return false;
      throw error;
    }
  }

  protected give(): void {
    if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
  }

  protected holders(): readonly Holder[] {
    return readRecord(this.#disk, this.#file);
  }
}

/** The first to come makes a table, so that the file has a page to lock; later ones find it and do not wait here. */
function openLockDatabase(path: string, disk: Disk): Database.Database {
  const isNew = (disk.stat(path)?.size ?? 0) === 0;
  const database = new Database(path, { timeout: isNew ? 5_000 : 0 });
  if (isNew) {
    database.exec("CREATE TABLE IF NOT EXISTS lock (id INTEGER)");
    database.pragma("busy_timeout = 0");
  }
  return database;
}

/** Others may make the file, or sweep it away, between two of these calls. */
function openOrCreate(path: string, disk: Disk): FileDescriptor {
  for (;;) {
    const exists = disk.stat(path) !== null;
    try {
      return disk.open(path, exists ? "r+" : "wx+");
    } catch (error) {
      const moved = exists ? disk.stat(path) === null : error instanceof EngineError && error.code === "file-exists";
      if (!moved) throw error;
    }
  }
}

function encodeRecord(): Buffer {
  const record = Buffer.alloc(RECORD_BYTES, " ");
  record.write(`${process.pid} ${readProgram(process.pid) ?? process.title}\n`.slice(0, RECORD_BYTES));
  return record;
}

/** A full disk may have no room for it: the lock holds without, and what is removed under it may be what makes room. */
function writeRecord(disk: Disk, file: FileDescriptor, record: Uint8Array): void {
  try {
    disk.write(file, record, 0);
  } catch (error) {
    if (!(error instanceof EngineError && error.code === "disk-full")) throw error;
  }
}

/** The last exclusive holder: at most one, and nobody when it has ended. */
function readRecord(disk: Disk, file: FileDescriptor): Holder[] {
  const bytes = Buffer.alloc(RECORD_BYTES);
  disk.read(file, bytes, 0);
  const match = /^(\d+) (.*)\n/.exec(bytes.toString("utf8"));
  const pid = Number(match?.[1]);
  return match && isAlive(pid) ? [{ pid, program: match[2] || null, access: "writing" }] : [];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function pause(ms: number): void {
  Atomics.wait(sleeper, 0, 0, ms);
}
