import Database from "better-sqlite3";
import type { Holder } from "#shared/error-codes.ts";
import type { Disk, FileDescriptor } from "./disk.ts";
import { EngineError } from "./errors.ts";
import { programName } from "./holders.ts";
import type { Native } from "./native.ts";

export type LockMode = "shared" | "exclusive";

/** Longest pause between two tries, and tries before the first pause. */
const PAUSE_MS_MAX = 2;
const SPIN_TRIES = 20;

/**
 * A lock between processes, and between two `ProcessLock`s of one process. It goes with its holder's death. The file
 * says who held it last: pid and program.
 */
export abstract class ProcessLock {
  readonly path: string;

  protected constructor(path: string) {
    this.path = path;
  }

  /** Makes the file when it is not there. Throws `permission-denied` or `store-read-only`. */
  static open(path: string, ports: { readonly disk: Disk; readonly native: Native }): ProcessLock {
    return ports.native.hasRangeLocks ? new RangeLock(path, ports.disk, ports.native) : new SqliteLock(path);
  }

  abstract tryAcquire(mode?: LockMode): boolean;
  abstract release(): void;
  abstract close(): void;
  protected abstract holder(): Holder | null;

  /** Blocks this thread up to `waitMs`; then throws `store-busy`, naming the holder. */
  acquire(waitMs: number, mode: LockMode = "exclusive"): void {
    const deadline = performance.now() + waitMs;
    for (let tries = 0; !this.tryAcquire(mode); tries += 1) {
      if (performance.now() > deadline) throw this.#busy(waitMs);
      if (tries >= SPIN_TRIES) pause(Math.min(PAUSE_MS_MAX, 0.05 * 2 ** (tries - SPIN_TRIES)) * (0.5 + Math.random()));
    }
  }

  #busy(waitMs: number): EngineError {
    const holder = this.holder();
    const who = holder ? `${holder.program ?? "a process"} (pid ${holder.pid})` : "another process";
    return new EngineError("store-busy", `Waited ${waitMs} ms for ${this.path}, held by ${who}`, {
      hint: "Try again; if that process is stopped, continue or end it",
      untouched: "Nothing was changed.",
      retryable: true,
      details: { path: this.path, ...(holder ? { holders: [holder] } : {}) },
    });
  }
}

/** An open-file-description lock on the first byte. */
class RangeLock extends ProcessLock {
  readonly #disk: Disk;
  readonly #native: Native;
  readonly #file: FileDescriptor;
  readonly #signature = Buffer.from(`${process.pid} ${programName(process.pid) ?? "node"}\n`.padEnd(64));

  constructor(path: string, disk: Disk, native: Native) {
    super(path);
    this.#disk = disk;
    this.#native = native;
    if (!disk.stat(path)) disk.close(disk.open(path, "w+"));
    this.#file = disk.open(path, "r+");
  }

  tryAcquire(mode: LockMode = "exclusive"): boolean {
    if (!this.#native.lockRange(this.#file, 0, 1, mode)) return false;
    if (mode === "exclusive") this.#disk.write(this.#file, this.#signature, 0);
    return true;
  }

  release(): void {
    this.#native.unlockRange(this.#file, 0, 1);
  }

  close(): void {
    this.#disk.close(this.#file);
  }

  protected holder(): Holder | null {
    const text = Buffer.from(this.#disk.readWhole(this.path)).toString("utf8").trim();
    const match = /^(\d+) (.*)$/.exec(text);
    return match ? { pid: Number(match[1]), program: match[2] ?? null, access: "writing" } : null;
  }
}

/** Where there are no such locks: SQLite's own, on a database made for nothing else. Does not know its holder. */
class SqliteLock extends ProcessLock {
  readonly #database: Database.Database;

  constructor(path: string) {
    super(path);
    this.#database = new Database(`${path}.sqlite`, { timeout: 0 });
    this.#database.exec("PRAGMA journal_mode = DELETE; CREATE TABLE IF NOT EXISTS lock (holder INTEGER)");
  }

  tryAcquire(mode: LockMode = "exclusive"): boolean {
    try {
      if (mode === "exclusive") this.#database.exec("BEGIN EXCLUSIVE");
      else this.#database.exec("BEGIN; SELECT count(*) FROM lock");
      return true;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return false;
      throw error;
    }
  }

  release(): void {
    if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
  }

  close(): void {
    this.#database.close();
  }

  protected holder(): Holder | null {
    return null;
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

function pause(ms: number): void {
  Atomics.wait(sleeper, 0, 0, ms);
}
