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
    const budget = new Budget();
    const rows = tableRows(database).filter(({ name }) => table === null || name.toLowerCase() === table.toLowerCase());
    const tables: DataTableView[] = [];
    for (const row of rows) {
      if (!budget.hasRoom) break;
      const view = describeTable(database, row, budget.hasRoomForColumns || table !== null);
      budget.take(view);
      tables.push(view);
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
      budget.take(object);
      objects.push(object);
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

/** Columns take at most two thirds of what a schema may take, so that all names still find room. */
class Budget {
  #chars = 0;

  get hasRoom(): boolean {
    return this.#chars < LIMITS.dataSchemaCharsMax;
  }

  get hasRoomForColumns(): boolean {
    return this.#chars < (LIMITS.dataSchemaCharsMax * 2) / 3;
  }

  take(view: unknown): void {
    this.#chars += JSON.stringify(view).length;
  }
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

function describeTable(database: Database.Database, row: TableRow, withColumns: boolean): DataTableView {
  const about = { name: row.name, kind: row.type, sql: row.sql, isStrict: row.strict === 1, withoutRowid: row.wr === 1 };
  if (!withColumns) return { ...about, columns: null, key: null, problem: null };
  try {
    const columns = readColumns(database, row.name);
    return { ...about, columns, key: readKey(database, row, columns).key, problem: null };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { ...about, columns: null, key: null, problem: error.message };
  }
}
