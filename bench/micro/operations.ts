/**
 * The operations of the microbenchmarks, on the table of orders: by a stock client, `synchronous=OFF`, each in a
 * transaction of its own. What each touches follows from the seed.
 */
import Database from "better-sqlite3";
import { Random } from "#shared/bench-random.ts";
import { FOREIGN_KEYS } from "../branchbench/schema.ts";

export const POINT_OPERATIONS = ["read", "insert", "update", "delete"] as const;
export const RANGE_OPERATIONS = ["range-read", "range-update"] as const;
/** Each pair adds and takes away the same thing, so that the schema ends as it began. */
export const SCHEMA_OPERATIONS = ["add-index", "drop-index", "add-column", "drop-column"] as const;
export const OPERATIONS = [...POINT_OPERATIONS, ...RANGE_OPERATIONS, ...SCHEMA_OPERATIONS] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Ids of orders that no generated database has. */
const FIRST_NEW_ORDER = 20_000_000;
const DAY = "2026-01-03 00:00:00";

type Key = readonly [warehouse: number, district: number, order: number];

/** A connection to one file, and the rows that operations may touch. */
export class Orders {
  readonly #database: Database.Database;
  readonly #random: Random;
  readonly #rangeRows: number;
  readonly #last: number;
  readonly #customers: number;
  readonly #statements = new Map<string, Database.Statement<unknown[], unknown>>();
  /** Inserted by `insert` and not yet deleted. */
  readonly #inserted: Key[] = [];
  #next = FIRST_NEW_ORDER;

  /** Throws SQLite's errors. `stream` keeps the random numbers of several connections apart. */
  constructor(path: string, { seed, stream, rangeRows }: { readonly seed: number; readonly stream: number; readonly rangeRows: number }) {
    this.#database = new Database(path, { fileMustExist: true });
    for (const pragma of ["journal_mode = WAL", "synchronous = OFF", `foreign_keys = ${FOREIGN_KEYS}`]) this.#database.pragma(pragma);
    this.#random = new Random(seed, stream);
    this.#rangeRows = rangeRows;
    this.#last = this.#number("SELECT max(rowid) FROM orders");
    this.#customers = this.#number("SELECT max(o_c_id) FROM orders");
  }

  /** Milliseconds that one operation takes; what it needs beforehand is looked up untimed. */
  time(operation: Operation): number {
    const act = this.#prepare(operation);
    const start = performance.now();
    act();
    return performance.now() - start;
  }

  close(): void {
    this.#database.close();
  }

  #prepare(operation: Operation): () => unknown {
    const statement = this.#statement(operation);
    const run =
      (...values: readonly (string | number)[]) =>
      (): unknown =>
        statement.run(...values);
    switch (operation) {
      case "read": {
        const key = this.#someKey();
        return () => statement.get(...key);
      }
      case "insert": {
        const key: Key = [...this.#place(), (this.#next += 1)];
        this.#inserted.push(key);
        return run(...key, 1 + this.#random.below(this.#customers), DAY, 1, 1, 1);
      }
      case "update":
        return run(
          1 + this.#random.below(this.#customers),
          DAY,
          1 + this.#random.below(10),
          5 + this.#random.below(11),
          1,
          ...this.#someKey(),
        );
      case "delete": {
        if (this.#inserted.length === 0) this.#prepare("insert")();
        return run(...(this.#inserted.pop() ?? this.#someKey()));
      }
      case "range-read": {
        const from = this.#rangeStart();
        return () => statement.all(from, from + this.#rangeRows - 1);
      }
      case "range-update": {
        const from = this.#rangeStart();
        return run(1 + this.#random.below(10), from, from + this.#rangeRows - 1);
      }
      default:
        // Prepared when it runs: a statement about the schema is good for once.
        return () => this.#database.exec(SQL[operation]);
    }
  }

  #statement(operation: Operation): Database.Statement<unknown[], unknown> {
    const found = this.#statements.get(operation) ?? this.#database.prepare(isAboutSchema(operation) ? "SELECT 1" : SQL[operation]);
    this.#statements.set(operation, found);
    return found;
  }

  #someKey(): Key {
    const row = 1 + this.#random.below(this.#last);
    const found = this.#query("SELECT o_w_id, o_d_id, o_id FROM orders WHERE rowid >= ? ORDER BY rowid LIMIT 1", row);
    return [Number(found[0]), Number(found[1]), Number(found[2])];
  }

  #place(): readonly [number, number] {
    const [warehouse, district] = this.#someKey();
    return [warehouse, district];
  }

  #rangeStart(): number {
    return 1 + this.#random.below(Math.max(1, this.#last - this.#rangeRows));
  }

  #number(sql: string): number {
    return Number(this.#query(sql)[0]);
  }

  #query(sql: string, ...values: readonly number[]): unknown[] {
    const statement = this.#statements.get(sql) ?? this.#database.prepare<unknown[], unknown[]>(sql).raw();
    this.#statements.set(sql, statement);
    const row = statement.get(...values);
    return Array.isArray(row) ? row : [];
  }
}

function isAboutSchema(operation: Operation): boolean {
  return SCHEMA_OPERATIONS.some((each) => each === operation);
}

const SQL: Readonly<Record<Operation, string>> = {
  read: "SELECT * FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
  insert: "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry, o_carrier, o_lines, o_all_local) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  update:
    "UPDATE orders SET o_c_id = ?, o_entry = ?, o_carrier = ?, o_lines = ?, o_all_local = ? WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
  delete: "DELETE FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_id = ?",
  "range-read": "SELECT * FROM orders WHERE rowid BETWEEN ? AND ?",
  "range-update": "UPDATE orders SET o_carrier = ? WHERE rowid BETWEEN ? AND ?",
  "add-index": "CREATE INDEX orders_by_customer ON orders (o_c_id)",
  "drop-index": "DROP INDEX orders_by_customer",
  "add-column": "ALTER TABLE orders ADD COLUMN o_note TEXT",
  "drop-column": "ALTER TABLE orders DROP COLUMN o_note",
};
