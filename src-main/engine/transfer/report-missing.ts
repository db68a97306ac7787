/**
 * Finds what the file needs and this SQLite does not have: functions, collations, virtual table modules, tables that a
 * view or trigger names. Found by trying: statements are prepared, which compiles their checks, indexes, generated columns
 * and triggers, and never run. SQLite says what is missing in words only, so its words are matched here and nowhere else.
 *
 * Registers stand-ins on the connection to get past one missing function to the next: the connection is for nothing else
 * afterwards.
 */
import type Database from "better-sqlite3";
import type { ImportNote } from "#shared/views.ts";
import { quoteName } from "#shared/sql-literal.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe } from "./long-work.ts";
import { sqliteMessage } from "./report-content.ts";
import { grouped, note, warning } from "./report-file.ts";
import type { SchemaTable } from "./report-schema.ts";

const OBJECTS_MAX = 2_000;
const FUNCTIONS_A_STATEMENT_MAX = 20;

interface Missing {
  /** Name → the first object that needs it: from then on a stand-in hides it. */
  readonly functions: Map<string, string>;
  /** Name → objects that need it. */
  readonly collations: Map<string, Set<string>>;
  readonly modules: Map<string, Set<string>>;
  /** Missing table → views and tables (through triggers) that name it. */
  readonly tables: Map<string, Set<string>>;
}

export async function missingNotes(database: Database.Database, tables: readonly SchemaTable[], work: Work): Promise<ImportNote[]> {
  const missing: Missing = { functions: new Map(), collations: new Map(), modules: new Map(), tables: new Map() };
  collectIndexCollations(database, missing);
  const views = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all() as string[];
  const own = tables.filter((table) => table.type !== "shadow");
  for (const view of views.slice(0, OBJECTS_MAX)) {
    tryPrepare(database, view, selectFrom(view), missing);
    await breathe(work);
  }
  for (const table of own.slice(0, OBJECTS_MAX)) {
    for (const sql of tableStatements(database, table)) tryPrepare(database, table.name, sql, missing);
    await breathe(work);
  }
  const many = Math.max(views.length, own.length);
  const skipped =
    many > OBJECTS_MAX
      ? [note("Functions and collations", `Looked for in the first ${grouped(OBJECTS_MAX)} of ${grouped(many)} tables or views`, "Kept")]
      : [];
  return [...describe(missing), ...skipped];
}

/** Index collations are listed without being needed. */
function collectIndexCollations(database: Database.Database, missing: Missing): void {
  const known = new Set((database.pragma("collation_list") as { name: string }[]).map((row) => row.name.toUpperCase()));
  const used = database
    .prepare(
      "SELECT DISTINCT i.name AS name, x.coll AS collation FROM sqlite_schema i, pragma_index_xinfo(i.name) x WHERE i.type = 'index' AND x.coll IS NOT NULL",
    )
    .all() as { name: string; collation: string }[];
  for (const { name, collation } of used) if (!known.has(collation.toUpperCase())) add(missing.collations, collation, name);
}

function selectFrom(name: string): string {
  return `SELECT * FROM ${quoteName(name)}`;
}

function tableStatements(database: Database.Database, table: SchemaTable): string[] {
  const name = quoteName(table.name);
  const read = selectFrom(table.name);
  if (table.type === "virtual") return [read];
  const column = database.prepare("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 LIMIT 1").pluck().get(table.name);
  const update = typeof column === "string" ? [`UPDATE ${name} SET ${quoteName(column)} = ${quoteName(column)}`] : [];
  return [read, `INSERT INTO ${name} DEFAULT VALUES`, ...update, `DELETE FROM ${name} WHERE 1`];
}

function tryPrepare(database: Database.Database, object: string, sql: string, missing: Missing): void {
  for (let round = 0; round < FUNCTIONS_A_STATEMENT_MAX; round += 1) {
    const problem = prepareProblem(database, sql);
    if (problem === null) return;
    const name = missingFunction(problem);
    if (name === undefined) return addOther(problem, object, missing);
    missing.functions.set(name, object);
    database.function(name, { varargs: true, deterministic: true }, () => null);
  }
}

/** SQLite has one wording for functions in statements and another for those in the schema. */
function missingFunction(problem: string): string | undefined {
  return /^no such function: (.+)$/.exec(problem)?.[1] ?? /^unknown function: (.+)\(\)$/.exec(problem)?.[1];
}

function prepareProblem(database: Database.Database, sql: string): string | null {
  try {
    database.prepare(sql);
    return null;
  } catch (error) {
    return sqliteMessage(error);
  }
}

function addOther(problem: string, object: string, missing: Missing): void {
  const collation = /^no such collation sequence: (.+)$/.exec(problem)?.[1];
  if (collation !== undefined) add(missing.collations, collation, object);
  const module = /^no such module: (.+)$/.exec(problem)?.[1];
  if (module !== undefined) add(missing.modules, module, object);
  const table = /^no such table: (?:main\.)?(.+)$/.exec(problem)?.[1];
  if (table !== undefined) add(missing.tables, table, object);
}

function describe(missing: Missing): ImportNote[] {
  const notes: ImportNote[] = [];
  for (const [name, users] of missing.collations)
    notes.push(
      warning(
        `Collation ${name}`,
        `Not available here, used by ${usersText(users)}`,
        "Bytes kept; sorting by it needs the program that made the file",
      ),
    );
  for (const [name, user] of missing.functions)
    notes.push(
      warning(
        `Function ${name}`,
        `Not available here, first needed by ${user}`,
        "Bytes kept; using these needs the program that made the file",
      ),
    );
  for (const [name, users] of missing.modules)
    notes.push(
      warning(
        `Module ${name}`,
        `Not available here, used by ${usersText(users)}`,
        "Bytes kept; reading these needs the program that made the file",
      ),
    );
  for (const [name, users] of missing.tables)
    notes.push(note("Missing table", `${name} does not exist, named by ${usersText(users)}`, "Kept"));
  return notes;
}

function usersText(users: ReadonlySet<string>): string {
  const [first = ""] = users;
  return users.size === 1 ? first : `${first} and ${users.size - 1} more`;
}

function add(map: Map<string, Set<string>>, name: string, user: string): void {
  const users = map.get(name) ?? new Set();
  map.set(name, users.add(user));
}
