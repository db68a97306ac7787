/**
 * Group commit: drafts that arrive in one turn of the event loop, or while a commit holds it, share the next
 * transaction and its one fsync. Each has its own savepoint, so one that is refused takes no other with it.
 *
 *   lock → BEGIN IMMEDIATE → (SAVEPOINT, apply, RELEASE)… → COMMIT → answers
 *
 * An error before COMMIT means that nothing happened. An error of COMMIT itself means that nobody knows: the frames may
 * be in the WAL, valid, and come back at the next recovery. Then the connection is made anew, the operations are looked
 * up by uid, and a commit of our own on top (the *fence*) makes what was found durable and what was not found
 * impossible, before anybody is told.
 */
import { LIMITS } from "#shared/limits.ts";
import { EngineError, withUntouched } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { apply } from "./apply.ts";
import { isFailedWrite, toCatalogError } from "./catalog-error.ts";
import type { Connection } from "./connection.ts";
import type { OperationDraft, OperationRecord } from "./records.ts";
import { operationOfRow, SELECT_OPERATION, type OperationRow } from "./rows.ts";

/** Excludes other processes, and other catalogs of this one. Throws `store-busy`, naming the holder. */
export interface CommitLock {
  acquire(waitMs: number): void;
  release(): void;
}

interface Waiting {
  readonly draft: OperationDraft;
  readonly resolve: (record: OperationRecord) => void;
  readonly reject: (error: unknown) => void;
}
interface Applied {
  readonly waiting: Waiting;
  readonly record: OperationRecord;
}

export class CommitQueue {
  readonly #connection: Connection;
  readonly #lock: CommitLock;
  readonly #committed: (last: OperationRecord) => void;
  #waiting: Waiting[] = [];
  #scheduled = false;

  constructor(connection: Connection, lock: CommitLock, committed: (last: OperationRecord) => void) {
    this.#connection = connection;
    this.#lock = lock;
    this.#committed = committed;
  }

  push(draft: OperationDraft): Promise<OperationRecord> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ draft, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits everything that waits, before it returns. */
  drain(): void {
    while (this.#waiting.length > 0) this.#commitNext();
  }

  /** After all callers that are ready to run have had their say: they share the commit. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#waiting.length > 0) this.#commitNext();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #commitNext(): void {
    const batch = this.#waiting.splice(0, LIMITS.groupCommitOperationsMax);
    try {
      this.#lock.acquire(LIMITS.catalogLockWaitMs);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    try {
      this.#commitBatch(batch);
    } finally {
      this.#lock.release();
    }
  }

  #commitBatch(batch: readonly Waiting[]): void {
    const connection = this.#connection;
    let applied: Applied[] = [];
    try {
      connection.run("BEGIN IMMEDIATE");
      reach("commit:begun");
      applied = this.#applyAll(batch);
      reach("commit:applied");
    } catch (error) {
      if (connection.inTransaction) connection.run("ROLLBACK");
      for (const { reject } of batch) reject(nothingChanged(error));
      return;
    }
    const [first] = applied;
    if (!first) {
      connection.run("ROLLBACK");
      return;
    }
    try {
      connection.commit();
      reach("commit:done");
    } catch (error) {
      this.#failCommit(applied, error);
      return;
    }
    this.#answer(applied);
  }

  /** Refused drafts are told at once; returns the others, in order. */
  #applyAll(batch: readonly Waiting[]): Applied[] {
    const connection = this.#connection;
    const applied: Applied[] = [];
    for (const waiting of batch) {
      connection.run("SAVEPOINT one");
      try {
        applied.push({ waiting, record: apply(connection, waiting.draft) });
      } catch (error) {
        // Out of space or memory, SQLite may have given up the whole transaction by itself.
        if (!connection.inTransaction) throw error;
        connection.run("ROLLBACK TO one");
        waiting.reject(nothingChanged(error));
      }
      connection.run("RELEASE one");
    }
    return applied;
  }

  #answer(applied: readonly Applied[]): void {
    const last = applied.at(-1);
    if (last) this.#committed(last.record);
    for (const { waiting, record } of applied) waiting.resolve(record);
  }

  #failCommit(applied: readonly Applied[], error: unknown): void {
    const known = isFailedWrite(error);
    const reason = toCatalogError(error, "Committing to", this.#connection.path);
    let found: Set<string>;
    try {
      found = known ? this.#forget() : this.#settle(applied);
    } catch (cause) {
      if (this.#connection.inTransaction) this.#connection.run("ROLLBACK");
      for (const { waiting } of applied) waiting.reject(outcomeUnknown(this.#connection.path, cause));
      return;
    }
    const present = applied.filter(({ record }) => found.has(uidText(record.uid)));
    this.#answer(present);
    for (const { waiting, record } of applied) if (!found.has(uidText(record.uid))) waiting.reject(notCommitted(reason));
  }

  #forget(): Set<string> {
    if (this.#connection.inTransaction) this.#connection.run("ROLLBACK");
    return new Set();
  }

  /** Which of these operations the catalog holds, now and for ever. */
  #settle(applied: readonly Applied[]): Set<string> {
    const connection = this.#connection;
    connection.reopen();
    connection.run("BEGIN IMMEDIATE");
    connection.run("UPDATE meta SET fence = fence + 1");
    connection.commit();
    connection.pragma("wal_checkpoint(PASSIVE)");
    const first = applied[0]?.record.id ?? 0;
    const rows = connection.all<OperationRow>(`${SELECT_OPERATION} WHERE o.id >= ?`, first);
    return new Set(rows.map((row) => uidText(operationOfRow(row).uid)));
  }
}

function uidText(uid: Uint8Array): string {
  return Buffer.from(uid).toString("hex");
}

function nothingChanged(error: unknown): unknown {
  return withUntouched(error, "Nothing was changed.");
}

function notCommitted(reason: unknown): EngineError {
  const untouched = "The operation was not made; nothing was changed.";
  if (reason instanceof EngineError) {
    return new EngineError(reason.code, reason.message, { retryable: true, untouched, details: reason.details, cause: reason });
  }
  const message = `The catalog could not commit: ${reason instanceof Error ? reason.message : String(reason)}`;
  return new EngineError("io-failed", message, { retryable: true, untouched, cause: reason });
}

function outcomeUnknown(path: string, cause: unknown): EngineError {
  return new EngineError("outcome-unknown", `Committing to the catalog ${path} failed, and it cannot be read back`, {
    details: { path },
    hint: "Open the store again and look whether the operation is in its log.",
    cause,
  });
}
