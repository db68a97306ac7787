import type Database from "better-sqlite3";
import { LIMITS } from "#shared/limits.ts";
import type { DataObjectView, DataTableView } from "#shared/query-views.ts";
import type { FoundSchema, Opening } from "./query-protocol.ts";
import { withDatabase } from "./sqlite-file.ts";
import { readColumns, readKey } from "./table-columns.ts";

interface TableRow {
  readonly name: string;
  readonly type: DataTableView["kind"];
  readonly wr: number;
  readonly strict: number;
  readonly sql: string | null;
}

/** Tables that cannot be read (a missing module, function or table) are listed with the reason. */
export function readSchema(opening: Opening & { readonly table: string | null }): Promise<FoundSchema> {
  const { table } = opening;
  return withDatabase(opening, "read", ({ database, encoding }) => {
    database.exec("BEGIN");
    const rows = tableRows(database).filter(({ name }) => table === null || name.toLowerCase() === table.toLowerCase());
    const names = rows.map(nameTable);
    const budget = new Budget(names);
    const tables: DataTableView[] = [];
    for (const [index, name] of names.entries()) {
      if (!budget.hasRoom) break;
      const row = rows[index];
      const view = row && (table !== null || budget.hasRoomForDetails) ? describeTable(database, row, name) : name;
      tables.push(table === null ? budget.takeTable(view, name) : view);
    }
    const all = database
      .prepare<[], DataObjectView>(
        "SELECT type, name, tbl_name AS \"table\", sql FROM sqlite_schema WHERE type IN ('index', 'trigger') ORDER BY tbl_name, type, name",
      )
      .all()
      .filter((object) => table === null || object.table.toLowerCase() === table.toLowerCase());
    const objects: DataObjectView[] = [];
    for (const object of all) {
      if (!budget.hasRoom) break;
      objects.push(budget.take(object));
    }
    return {
      encoding,
      pageSize: Number(database.pragma("page_size", { simple: true })),
      pageCount: Number(database.pragma("page_count", { simple: true })),
      tables,
      objects,
      unlisted: rows.length - tables.length + all.length - objects.length,
    };
  });
}

/** Names find room first. Columns and SQL take what they leave, at most two thirds of all, so that indexes and triggers find some. */
class Budget {
  #chars = 0;
  #detailChars = 0;
  #isFull = false;
  readonly #detailCharsMax: number;

  constructor(names: readonly DataTableView[]) {
    const nameChars = names.reduce((sum, name) => sum + charsOf(name), 0);
    this.#detailCharsMax = Math.min(LIMITS.dataSchemaCharsMax - nameChars, (LIMITS.dataSchemaCharsMax * 2) / 3);
  }

  get hasRoom(): boolean {
    return this.#chars < LIMITS.dataSchemaCharsMax;
  }

  get hasRoomForDetails(): boolean {
    return !this.#isFull;
  }

  /** What there is room for: the table, or its name. The first one that does not fit is the last that is looked at. */
  takeTable(view: DataTableView, name: DataTableView): DataTableView {
    const chars = charsOf(view) - charsOf(name);
    this.#isFull ||= this.#detailChars + chars > this.#detailCharsMax;
    if (this.#isFull) return this.take(name);
    this.#detailChars += chars;
    return this.take(view);
  }

  take<View>(view: View): View {
    this.#chars += charsOf(view);
    return view;
  }
}

function charsOf(view: unknown): number {
  return JSON.stringify(view).length;
}

/** SQLite's own tables are left out, but for sqlite_sequence and sqlite_stat1, which hold data. */
function tableRows(database: Database.Database): TableRow[] {
  return database
    .prepare<[], TableRow>(
      `SELECT l.name, l.type, l.wr, l.strict, s.sql FROM pragma_table_list AS l
       LEFT JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
       WHERE l.schema = 'main' AND l.name NOT IN ('sqlite_schema', 'sqlite_temp_schema') ORDER BY l.name`,
    )
    .all();
}

function nameTable({ name, type, strict, wr }: TableRow): DataTableView {
  return { name, kind: type, sql: null, isStrict: strict === 1, withoutRowid: wr === 1, columns: null, key: null, problem: null };
}

function describeTable(database: Database.Database, row: TableRow, name: DataTableView): DataTableView {
  const about = { ...name, sql: row.sql };
  try {
    const columns = readColumns(database, row.name);
    return { ...about, columns, key: readKey(database, row, columns).key };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ...about, problem: error.message };
  }
}
