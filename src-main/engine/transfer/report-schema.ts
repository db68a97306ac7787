/** What the import report says about the schema: counts, special tables, names. */
import type Database from "better-sqlite3";
import type { ImportNote } from "#shared/views.ts";
import { counted, note, ok } from "./report-file.ts";

export interface SchemaTable {
  readonly name: string;
  /** Shadow tables belong to a virtual one. */
  readonly type: "table" | "virtual" | "shadow";
  readonly withoutRowid: boolean;
  readonly strict: boolean;
}

const SPECIAL_MODULES: Readonly<Record<string, string>> = {
  fts3: "Full-text search",
  fts4: "Full-text search",
  fts5: "Full-text search",
  rtree: "R-tree",
  rtree_i32: "R-tree",
  geopoly: "R-tree",
};

/** Tables of the file, without SQLite's own and without views. */
export function listTables(database: Database.Database): SchemaTable[] {
  const rows = database
    .prepare(
      "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all() as { name: string; type: SchemaTable["type"]; wr: number; strict: number }[];
  return rows.map((row) => ({ name: row.name, type: row.type, withoutRowid: row.wr === 1, strict: row.strict === 1 }));
}

export function schemaNotes(database: Database.Database, tables: readonly SchemaTable[]): ImportNote[] {
  return [countsNote(database, tables), ...virtualNotes(database, tables), ...featureNotes(database, tables), ...nameNotes(tables)];
}

function countsNote(database: Database.Database, tables: readonly SchemaTable[]): ImportNote {
  const count = (type: string): number => Number(database.prepare("SELECT count(*) FROM sqlite_schema WHERE type = ?").pluck().get(type));
  const own = tables.filter((table) => table.type !== "shadow").length;
  return ok(
    "Schema",
    [
      counted(own, "table"),
      counted(count("index"), "index", "indexes"),
      counted(count("view"), "view"),
      counted(count("trigger"), "trigger"),
    ].join(", "),
    "Kept",
  );
}

function virtualNotes(database: Database.Database, tables: readonly SchemaTable[]): ImportNote[] {
  const shadows = tables.filter((table) => table.type === "shadow");
  return tables
    .filter((table) => table.type === "virtual")
    .map((table) => {
      const own = shadows.filter((shadow) => shadow.name.startsWith(`${table.name}_`)).length;
      const module = moduleOf(database, table.name);
      return ok(
        SPECIAL_MODULES[module.toLowerCase()] ?? `Virtual table (${module})`,
        `${table.name}, ${counted(own, "shadow table")}`,
        "Kept, folded under their owner",
      );
    });
}

/** The word after USING in the table's SQL. */
export function moduleOf(database: Database.Database, table: string): string {
  const sql = String(database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?").pluck().get(table));
  return /\bUSING\s+["'`[]?(\w+)/i.exec(sql)?.[1] ?? "unknown module";
}

function featureNotes(database: Database.Database, tables: readonly SchemaTable[]): ImportNote[] {
  const strict = tables.filter((table) => table.strict).length;
  const withoutRowid = tables.filter((table) => table.withoutRowid && table.type === "table").length;
  const generated = Number(
    database
      .prepare(
        "SELECT count(*) FROM pragma_table_list l, pragma_table_xinfo(l.name) x WHERE l.schema = 'main' AND l.type = 'table' AND x.hidden IN (2, 3)",
      )
      .pluck()
      .get(),
  );
  const found = [
    strict > 0 ? `${strict} STRICT` : "",
    withoutRowid > 0 ? `${withoutRowid} WITHOUT ROWID` : "",
    generated > 0 ? counted(generated, "generated column") : "",
  ].filter(Boolean);
  return found.length > 0 ? [ok("Table features", found.join(", "), "Kept")] : [];
}

function nameNotes(tables: readonly SchemaTable[]): ImportNote[] {
  const odd = tables.filter((table) => table.type !== "shadow" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(table.name));
  if (odd.length === 0) return [];
  return [note("Names", `${counted(odd.length, "table")} with names that need quotes, e.g. ${JSON.stringify(odd[0]?.name)}`, "Kept")];
}
