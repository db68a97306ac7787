/** The statements that turn the rows of one table into those of the other side. */
import { quoteName } from "#shared/sql-literal.ts";
import { EngineError } from "../io/errors.ts";
import type { SqlValue } from "../format/record.ts";
import type { SqlLiterals } from "./sql-literal.ts";
import type { RowChange } from "./table-comparison.ts";
import type { TablePair } from "./table-pair.ts";

/** How rows are written: `changes` is asked for twice where rows that go must be gone before others come. */
export interface RowTarget {
  readonly pair: TablePair;
  /** Table to write to, as SQL names it. */
  readonly table: string;
  /** Names of its columns, by position among the paired ones; null for those that are not written. */
  readonly columns: readonly (string | null)[];
  /** Nothing but a key of it keeps rows apart. */
  readonly isFree: boolean;
}

export async function* rowStatements(
  target: RowTarget,
  changes: () => AsyncIterable<RowChange>,
  literals: SqlLiterals,
): AsyncGenerator<string, void> {
  const writer = new RowWriter(target, literals);
  for await (const change of changes()) {
    if (change.kind === "delete" || (change.kind === "update" && !writer.canUpdate)) yield writer.remove(change.old ?? []);
  }
  for await (const change of changes()) {
    if (change.kind === "insert" || (change.kind === "update" && !writer.canUpdate)) yield writer.insert(change.new ?? []);
    else if (change.kind === "update") yield writer.update(change);
  }
}

class RowWriter {
  readonly #target: RowTarget;
  readonly #literals: SqlLiterals;
  /** An update could meet another UNIQUE value on its way that goes later. */
  readonly canUpdate: boolean;
  readonly #written: readonly number[];

  constructor(target: RowTarget, literals: SqlLiterals) {
    this.#target = target;
    this.#literals = literals;
    const shape = target.pair.right?.shape;
    const others = (shape?.uniqueCount ?? 0) - (target.pair.identity.by === "unique" ? 1 : 0);
    this.canUpdate = target.isFree || others <= 0;
    this.#written = target.columns.flatMap((name, index) => (name === null ? [] : [index]));
  }

  insert(values: readonly SqlValue[]): string {
    const { table, columns } = this.#target;
    const names = this.#written.map((index) => quoteName(columns[index] ?? ""));
    if (names.length === 0) return `INSERT INTO ${table} DEFAULT VALUES;`;
    return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${this.#written.map((index) => this.#literal(values, index)).join(", ")});`;
  }

  remove(values: readonly SqlValue[]): string {
    return `DELETE FROM ${this.#target.table} WHERE ${this.#where(values)};`;
  }

  update({ old, new: current, changed }: RowChange): string {
    const { table, columns } = this.#target;
    const set = changed
      .filter((index) => columns[index] != null)
      .map((index) => `${quoteName(columns[index] ?? "")} = ${this.#literal(current ?? [], index)}`);
    return set.length === 0 ? "" : `UPDATE ${table} SET ${set.join(", ")} WHERE ${this.#where(old ?? [])};`;
  }

  #literal(values: readonly SqlValue[], index: number): string {
    return this.#literals.write(values[index] ?? null);
  }

  /** By the key; a row without one by all its values, and then one of those that are equal. */
  #where(values: readonly SqlValue[]): string {
    const { pair, columns, table } = this.#target;
    const key = pair.identity.parts.map(({ column }) => column);
    if (key.length > 0 && key.every((index) => columns[index] != null && values[index] !== null))
      return key.map((index) => `${quoteName(columns[index] ?? "")} = ${this.#literal(values, index)}`).join(" AND ");
    const rowid = rowidName(columns.map((name) => name ?? "").concat(pair.columns.map(({ name }) => name)), table);
    const all = this.#written.map((index) => this.#equals(values, index));
    return `${rowid} = (SELECT ${rowid} FROM ${table} WHERE ${all.length > 0 ? all.join(" AND ") : "1"} LIMIT 1)`;
  }

  /** IS alone would take 1 for 1.0, and a collation 'a' for 'A'. */
  #equals(values: readonly SqlValue[], index: number): string {
    const name = quoteName(this.#target.columns[index] ?? "");
    const value = values[index] ?? null;
    if (value === null) return `${name} IS NULL`;
    if (typeof value === "bigint") return `${name} IS ${this.#literal(values, index)} AND typeof(${name}) = 'integer'`;
    if (typeof value === "number") return `${name} IS ${this.#literal(values, index)} AND typeof(${name}) = 'real'`;
    return `${name} IS ${this.#literal(values, index)} COLLATE BINARY`;
  }
}

/** A name for the rowid that no column hides. */
function rowidName(columns: readonly string[], table: string): string {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  const free = ["rowid", "_rowid_", "oid"].find((name) => !taken.has(name));
  if (free !== undefined) return free;
  throw new EngineError(
    "unsupported",
    `${table} has rows without a key and columns that hide every name of the rowid: SQL cannot name one of them`,
    {
      untouched: "Nothing was changed.",
    },
  );
}
