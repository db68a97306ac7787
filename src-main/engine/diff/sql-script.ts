/**
 * A script for the `sqlite3` shell, or any client, that turns the left state into the right one. Tables whose definition
 * is the same are changed row by row; others are read into a temporary table without rules, changed there, and made anew
 * from it. Triggers of changed tables are absent meanwhile. What SQL cannot change (page size, encoding, auto_vacuum) is
 * said in a comment.
 */
import { quoteName } from "#shared/sql-literal.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "../transfer/long-work.ts";
import type { DiffTable } from "./database-diff.ts";
import type { Diff } from "./open-diff.ts";
import { isVirtual, type SchemaObject } from "./read-schema.ts";
import { SqlLiterals } from "./sql-literal.ts";
import { rowStatements, type RowTarget } from "./sql-rows.ts";
import { TableComparison, type RowChange } from "./table-comparison.ts";
import { pairTables, type TablePair } from "./table-pair.ts";

const UNWRITABLE = new Set(["page_size", "encoding", "auto_vacuum"]);

/** Lines of SQL. Errors: `unsupported` for a table that is not comparable, `database-corrupt`, `cancelled`. */
export async function* sqlScript(diff: Diff, work: Work = {}): AsyncGenerator<string, void> {
  const script = new Script(diff, work);
  try {
    yield* script.lines();
  } finally {
    script.close();
  }
}

type Plan = "rows" | "rebuild" | "create" | "refill" | "drop" | "none";

class Script {
  readonly #diff: Diff;
  readonly #work: Work;
  readonly #literals: SqlLiterals;
  readonly #left: readonly SchemaObject[];
  readonly #right: readonly SchemaObject[];
  /** Virtual tables that are made anew, and what becomes of each table. */
  readonly #remade: ReadonlySet<string>;
  readonly #plans = new Map<DiffTable, Plan>();
  #temporary = 0;

  constructor(diff: Diff, work: Work) {
    this.#diff = diff;
    this.#work = work;
    this.#literals = new SqlLiterals(diff.found.left.pages.header.encoding);
    this.#left = diff.found.left.schema;
    this.#right = diff.found.right.schema;
    const before = new Map(this.#left.filter(isVirtual).map(({ name, sql }) => [name, sql]));
    this.#remade = new Set(
      this.#right.filter((object) => isVirtual(object) && before.get(object.name) !== object.sql).map(({ name }) => name),
    );
  }

  close(): void {
    this.#literals.close();
  }

  async *lines(): AsyncGenerator<string, void> {
    for (const table of this.#diff.tables) this.#plans.set(table, await this.#plan(table));
    const { left, right, schema } = this.#diff.view;
    yield comment(`Turns ${left.label} into ${right.label}`);
    for (const { type, name, left: before, right: after } of schema)
      if (type === "pragma" && UNWRITABLE.has(name))
        yield comment(`Not changed by SQL: ${name} is ${before}, and ${after} on the other side`);
    if (this.#diff.tables.some(({ view }) => view.owner !== null))
      yield comment(
        "Writes to shadow tables of virtual tables: SQLite allows it while SQLITE_DBCONFIG_DEFENSIVE is off (in the shell: .dbconfig defensive off)",
      );
    yield "PRAGMA foreign_keys = OFF;";
    yield "BEGIN;";
    yield* this.#drops();
    for (const [table, plan] of this.#plans) if (table.view.owner === null && !isSqlites(table.view.name)) yield* this.#table(table, plan);
    for (const object of this.#right) if (this.#remade.has(object.name) && isVirtual(object)) yield `${object.sql};`;
    for (const [table, plan] of this.#plans) if (table.view.owner !== null) yield* this.#table(table, plan);
    yield* this.#sqlitesOwn();
    yield* this.#creates();
    for (const { type, name, right: after } of schema) if (type === "pragma" && !UNWRITABLE.has(name)) yield `PRAGMA ${name} = ${after};`;
    yield "COMMIT;";
  }

  async #plan(table: DiffTable): Promise<Plan> {
    const { left, right } = table.objects;
    const shadowOf = table.view.owner;
    if (!right) return shadowOf === null || !this.#isDropped(shadowOf) ? "drop" : "none";
    if (shadowOf !== null && this.#remade.has(shadowOf)) return "refill";
    if (!left) return "create";
    if (left.sql !== right.sql) return "rebuild";
    for await (const _ of this.#diff.changes(table, {}, this.#work)) return "rows";
    return "none";
  }

  #isDropped(virtual: string): boolean {
    return !this.#right.some(({ name, type }) => name === virtual && type === "table");
  }

  /** What goes, what is made anew, and triggers that would fire meanwhile. */
  *#drops(): Generator<string, void> {
    const after = new Map(this.#right.map((object) => [`${object.type} ${object.name}`, object.sql]));
    const touched = this.#touchedTables();
    const goes = ({ type, name, sql, table }: SchemaObject): boolean =>
      after.get(`${type} ${name}`) !== sql || (type === "trigger" && touched.has(table.toLowerCase()));
    for (const type of ["trigger", "view", "index"] as const)
      for (const object of this.#left)
        if (object.type === type && object.sql !== null && goes(object))
          yield `DROP ${type.toUpperCase()} IF EXISTS ${quoteName(object.name)};`;
    for (const object of this.#left)
      if (isVirtual(object) && after.get(`table ${object.name}`) !== object.sql) yield `DROP TABLE ${quoteName(object.name)};`;
    for (const [{ objects }, plan] of this.#plans)
      if (plan === "drop" && objects.left && (!isSqlites(objects.left.name) || /^sqlite_stat/i.test(objects.left.name)))
        yield `DROP TABLE ${quoteName(objects.left.name)};`;
  }

  #touchedTables(): Set<string> {
    const names = [...this.#plans].flatMap(([{ objects }, plan]) => (plan === "none" ? [] : [objects.left?.name, objects.right?.name]));
    return new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])));
  }

  async *#table(table: DiffTable, plan: Plan): AsyncGenerator<string, void> {
    const { pair, objects } = table;
    const changes = () => this.#diff.changes(table, {}, this.#work);
    if (plan === "none" || plan === "drop" || !objects.right) return;
    // `changes` of a table that is not comparable says so.
    if (!pair) for await (const _ of changes()) return;
    if (!pair) return;
    const name = quoteName(objects.right.name);
    const target: RowTarget = { pair, table: name, columns: writableColumns(pair), isFree: false };
    if (plan === "rows") yield* rowStatements(target, changes, this.#literals);
    else if (plan === "rebuild") yield* this.#rebuild(table, target, changes);
    else {
      yield plan === "create" ? `${objects.right.sql};` : `DELETE FROM ${name};`;
      const alone = pairTables(null, pair.right);
      const rows = () => everyRow(alone, this.#work);
      yield* rowStatements({ ...target, pair: alone, columns: writableColumns(alone) }, plan === "create" ? changes : rows, this.#literals);
    }
  }

  async *#rebuild({ objects, pair }: DiffTable, target: RowTarget, changes: () => AsyncIterable<RowChange>): AsyncGenerator<string, void> {
    if (!pair) return;
    this.#temporary += 1;
    const temporary = `temp.coppice_${this.#temporary}`;
    const columns = target.columns.map((name, index) => (name === null ? null : `c${index}`));
    const kept = columns.flatMap((name, index) => (name === null ? [] : [{ name, index }]));
    const names = kept.map(({ name }) => name).join(", ");
    const sources = kept.map(({ index }) => {
      const column = pair.columns[index];
      const before = column ? pair.left?.shape.columns[column.left] : undefined;
      return before ? quoteName(before.name) : this.#literals.write(column?.fallback ?? null);
    });
    yield `CREATE TABLE ${temporary} (${names});`;
    yield `INSERT INTO ${temporary} SELECT ${sources.join(", ")} FROM ${quoteName(objects.left?.name ?? "")};`;
    const key = pair.identity.parts.map(({ column }) => columns[column] ?? "");
    if (key.length > 0) yield `CREATE INDEX ${temporary}_key ON coppice_${this.#temporary} (${key.join(", ")});`;
    yield* rowStatements({ pair, table: temporary, columns, isFree: true }, changes, this.#literals);
    yield `DROP TABLE ${quoteName(objects.left?.name ?? "")};`;
    yield `${objects.right?.sql ?? ""};`;
    const written = kept.map(({ index }) => quoteName(target.columns[index] ?? "")).join(", ");
    yield `INSERT INTO ${target.table} (${written}) SELECT ${names} FROM ${temporary} ORDER BY rowid;`;
    yield `DROP TABLE ${temporary};`;
  }

  /** Tables that SQLite keeps for itself: they cannot be created by name, and what was done above may have changed them. */
  async *#sqlitesOwn(): AsyncGenerator<string, void> {
    const own = this.#right.filter(({ type, name }) => type === "table" && (name === "sqlite_sequence" || /^sqlite_stat[14]$/.test(name)));
    const had = new Set(this.#left.map(({ name }) => name));
    const hasStatistics = own.some(({ name }) => name !== "sqlite_sequence");
    if (own.some(({ name }) => name !== "sqlite_sequence" && !had.has(name))) yield "ANALYZE sqlite_schema;";
    for (const { name } of own) {
      const table = this.#diff.tables.find(({ view }) => view.name === name);
      const isTouched = name === "sqlite_sequence" ? this.#plans.size > 0 : table !== undefined && this.#plans.get(table) !== "none";
      if (!isTouched || (name !== "sqlite_sequence" && !hasStatistics)) continue;
      yield `DELETE FROM ${name};`;
      const alone = this.#diff.rightTable(name);
      if (alone)
        yield* rowStatements(
          { pair: alone, table: name, columns: writableColumns(alone), isFree: true },
          () => everyRow(alone, this.#work),
          this.#literals,
        );
    }
    if (had.has("sqlite_sequence") && !own.some(({ name }) => name === "sqlite_sequence")) yield "DELETE FROM sqlite_sequence;";
  }

  *#creates(): Generator<string, void> {
    const before = new Map(this.#left.map((object) => [`${object.type} ${object.name}`, object.sql]));
    const touched = this.#touchedTables();
    const remade = new Set(
      [...this.#plans].flatMap(([{ objects }, plan]) =>
        plan === "rebuild" || plan === "create" ? [(objects.right?.name ?? "").toLowerCase()] : [],
      ),
    );
    // A view that goes takes its triggers with it.
    const views = new Set(
      this.#right.flatMap(({ type, name, sql }) => (type === "view" && before.get(`view ${name}`) !== sql ? [name] : [])),
    );
    for (const { type, name, table, sql } of this.#right) {
      if (type === "table" || sql === null) continue;
      const isGone = remade.has(table.toLowerCase()) || (type === "trigger" && (touched.has(table.toLowerCase()) || views.has(table)));
      if (isGone || before.get(`${type} ${name}`) !== sql) yield `${sql};`;
    }
  }
}

async function* everyRow(pair: TablePair, work: Work): AsyncGenerator<RowChange, void> {
  const comparison = new TableComparison(pair, null, () => {
    throw new RangeError("rows of one side are not matched");
  });
  for (const difference of comparison.differences()) {
    if (difference) yield comparison.read(difference);
    else await breathe(work);
  }
}

/** Names by position among the paired columns; generated ones are not written, dropped ones are gone. */
function writableColumns({ columns, right }: TablePair): (string | null)[] {
  return columns.map((column) => (column.generated !== "no" || (right !== null && column.right < 0) ? null : column.name));
}

function isSqlites(name: string): boolean {
  return /^sqlite_/i.test(name);
}

function comment(text: string): string {
  return `-- ${text.replaceAll(/[\r\n]/g, " ")}`;
}
