/** Runs the statements of a script one after another, and tells what each found. Runs in the process for that. */
import Database from "better-sqlite3";
import { LIMITS } from "#shared/limits.ts";
import type { DataValue, SqlProblem } from "#shared/query-views.ts";
import { RowDigest } from "./row-digest.ts";
import { splitSql, type SqlStatement } from "#shared/split-sql.ts";
import { errorPosition } from "./error-position.ts";
import type { Opening, ScriptEvent, ScriptOrder, ScriptOutcome } from "./query-protocol.ts";
import { readRows, viewRow } from "./read-rows.ts";
import { hasOwnTransactions, isQuestion } from "./script-rules.ts";
import { toSqlError, withDatabase, type OpenedFile } from "./sqlite-file.ts";

/** Resolves when the reader wants more. */
export type Emit = (event: ScriptEvent) => Promise<void>;

/**
 * Whether a script writes. Its statements are compiled, none is run: the first one that writes decides, and the first one
 * that cannot be compiled ends it, because a script that reads fails there.
 */
export function classify(opening: Opening & { readonly sql: string }): Promise<{ writes: boolean }> {
  const { sql } = opening;
  return withDatabase(opening, "read", ({ database }) => {
    for (const statement of splitSql(sql)) {
      try {
        if (!database.prepare(statement.text).readonly && !isQuestion(sql, statement)) return { writes: true };
      } catch (error) {
        const known = toSqlError(error, opening.path);
        if (known === error || isCompileError(error)) return { writes: false };
        throw known;
      }
    }
    return { writes: false };
  });
}

/**
 * Runs a script. In mode "read" all statements see one state. In mode "write" they are one transaction, unless the script
 * has its own: then one that it leaves open is rolled back. A statement that fails ends the script.
 */
export function runScript(order: ScriptOrder, emit: Emit): Promise<ScriptOutcome> {
  return withDatabase(order, order.mode === "write" ? "write" : "read", async (file) => {
    const { database } = file;
    const statements = splitSql(order.sql);
    const isOwn = hasOwnTransactions(order.sql, statements);
    const isOne = order.mode === "write" && !isOwn;
    if (order.mode !== "plan" && !isOwn) database.exec(isOne ? "BEGIN IMMEDIATE" : "BEGIN");
    const run = new ScriptRun(order, file, emit);
    let isComplete = true;
    for (const [index, statement] of statements.entries()) {
      isComplete = await run.run(statement, order.expectChanges?.[index] ?? null);
      if (!isComplete) break;
    }
    const notes: string[] = [];
    if (isOne && database.inTransaction) database.exec(isComplete ? "COMMIT" : "ROLLBACK");
    else if (database.inTransaction) {
      database.exec("ROLLBACK");
      if (isOwn && order.mode === "write") notes.push("The script left a transaction open: what was in it was rolled back");
    }
    const transaction = order.mode === "write" ? (isOne ? "one" : "own") : "read";
    return { transaction, isComplete, changes: isOne && !isComplete ? 0 : run.changes, notes };
  });
}

class ScriptRun {
  readonly #order: ScriptOrder;
  readonly #file: OpenedFile;
  readonly #emit: Emit;
  /** Characters of rows that were given out. */
  #chars = 0;
  changes = 0;

  constructor(order: ScriptOrder, file: OpenedFile, emit: Emit) {
    this.#order = order;
    this.#file = file;
    this.#emit = emit;
  }

  /** False when it failed, or changed another number of rows than was expected. */
  async run(statement: SqlStatement, expected: number | null): Promise<boolean> {
    const began = performance.now();
    let found: Found = { truncated: false, changes: 0, note: null, digest: null };
    let error: SqlProblem | null = null;
    let isTold = false;
    try {
      const compiled = this.#compile(statement);
      const columns = compiled.reader ? compiled.columns().map(({ name }) => name) : null;
      await this.#emit({ kind: "statement", start: statement.start, end: statement.end, columns });
      isTold = true;
      found = columns === null ? { ...found, changes: compiled.run().changes } : await this.#read(compiled, this.#text(statement));
      if (expected !== null && found.changes !== expected)
        throw new Refused(`It changed ${found.changes} rows, and ${expected} were expected`);
    } catch (failure) {
      error = this.#problem(statement, failure);
      if (!isTold) await this.#emit({ kind: "statement", start: statement.start, end: statement.end, columns: null });
    }
    this.changes += found.changes;
    await this.#emit({ kind: "end", ...found, durationMs: performance.now() - began, error });
    return error === null;
  }

  #text({ text }: SqlStatement): string {
    return this.#order.mode === "plan" && !/^\s*explain\b/i.test(text) ? `EXPLAIN QUERY PLAN ${text}` : text;
  }

  #compile(statement: SqlStatement): Database.Statement {
    const compiled = this.#file.database.prepare(this.#text(statement));
    if (this.#order.mode === "read" && !compiled.readonly && !isQuestion(this.#order.sql, statement))
      throw new Refused("This statement writes, and the state is open for reading only");
    return compiled;
  }

  async #read(compiled: Database.Statement, sql: string): Promise<Found> {
    const { database, encoding } = this.#file;
    const { rowsMax, charsMax, valueBytesMax } = this.#order;
    const batch = new Batch(this.#emit);
    const before = totalChanges(database);
    const digest = this.#order.withDigest ? new RowDigest(compiled.columns().map(({ name }) => name)) : null;
    let [count, truncated, isExact] = [0, false, true];
    for (const found of readRows({ database, encoding, sql, values: [] })) {
      if ((rowsMax !== null && count >= rowsMax) || (charsMax !== null && this.#chars >= charsMax)) {
        truncated = true;
        // A statement that writes and returns rows is run to its end.
        if (compiled.readonly) break;
        continue;
      }
      const { values, chars } = viewRow(found.row, valueBytesMax);
      digest?.add(found.row);
      isExact &&= found.isExact;
      count += 1;
      this.#chars += chars;
      if (batch.add(values, chars)) await batch.flush();
    }
    await batch.flush();
    return {
      truncated,
      changes: totalChanges(database) === before ? 0 : changesOfLast(database),
      note: isExact ? null : "Text that is not valid in the database's encoding is shown with replacement characters",
      digest: digest?.finish(truncated) ?? null,
    };
  }

  #problem(statement: SqlStatement, failure: unknown): SqlProblem {
    if (failure instanceof Refused) return { message: failure.message, code: null, position: statement.start };
    if (failure instanceof Database.SqliteError) {
      const inside = isCompileError(failure) ? errorPosition(this.#file.database, statement.text, failure.message) : null;
      return { message: failure.message, code: failure.code, position: inside === null ? null : statement.start + inside };
    }
    // better-sqlite3's own checks: parameters without values, for example.
    if (failure instanceof RangeError || failure instanceof TypeError)
      return { message: describe(failure), code: null, position: statement.start };
    throw failure;
  }
}

interface Found {
  readonly truncated: boolean;
  readonly changes: number;
  readonly note: string | null;
  readonly digest: string | null;
}

class Refused extends Error {}

/** Rows on their way to the reader. */
class Batch {
  readonly #emit: Emit;
  #rows: DataValue[][] = [];
  #chars = 0;
  #since = performance.now();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** True when it is time to flush. */
  add(row: DataValue[], chars: number): boolean {
    this.#rows.push(row);
    this.#chars += chars;
    const isFull = this.#rows.length >= LIMITS.queryBatchRows || this.#chars >= LIMITS.queryBatchBytes;
    return isFull || performance.now() - this.#since > LIMITS.queryBatchMs;
  }

  async flush(): Promise<void> {
    if (this.#rows.length > 0) await this.#emit({ kind: "rows", rows: this.#rows });
    this.#rows = [];
    this.#chars = 0;
    this.#since = performance.now();
  }
}

function isCompileError(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code === "SQLITE_ERROR";
}

/** Rows that the last statement which changed any changed itself: those of triggers are not among them, as in better-sqlite3's own count. */
function changesOfLast(database: Database.Database): number {
  return Number(database.prepare("SELECT changes()").pluck().get());
}

function totalChanges(database: Database.Database): number {
  return Number(database.prepare("SELECT total_changes()").pluck().get());
}

function describe(error: Error): string {
  return /parameter/i.test(error.message) ? "The statement has parameters, and nothing says what they are" : error.message;
}
