import Database from "better-sqlite3";
import type { ImportNote, ImportReport } from "#shared/views.ts";
import type { SourceCopy } from "./copy-source.ts";
import type { PhasedWork } from "./long-work.ts";
import type { RecoveredCopy } from "./recover-copy.ts";
import { contentReport, sqliteMessage } from "./report-content.ts";
import { fileNotes, warning } from "./report-file.ts";
import { missingNotes } from "./report-missing.ts";
import { listTables, schemaNotes, type SchemaTable } from "./report-schema.ts";

/**
 * Looks into a recovered copy with SQLite and reports what was found. Changes nothing. The caller has no descriptor open
 * on the copy. Throws `cancelled`.
 */
export async function inspectCopy(copy: string, source: SourceCopy, recovered: RecoveredCopy, work: PhasedWork): Promise<ImportReport> {
  work.phase?.("Checking");
  const { header, pageCount } = recovered;
  const content = await lookInside(copy, pageCount * header.pageSize, work);
  return {
    source: source.source,
    sourceBytes: source.bytes,
    sourceSha256: source.sha256,
    pageSize: header.pageSize,
    pageCount,
    encoding: header.encoding,
    journal: header.journal === "wal" ? "WAL" : "rollback",
    autoVacuum: header.autoVacuum,
    applicationId: header.applicationId,
    userVersion: header.userVersion,
    tables: content.tables,
    rows: content.rows,
    checks: [...fileNotes(source, recovered), ...content.notes],
    canImport: true,
  };
}

async function lookInside(
  copy: string,
  bytes: number,
  work: PhasedWork,
): Promise<{ tables: number; rows: number | null; notes: readonly ImportNote[] }> {
  // Read-write, because a file in WAL mode cannot be read without a `-shm`; the pragma keeps its content as it is.
  const database = new Database(copy, { fileMustExist: true });
  try {
    for (const pragma of ["query_only = ON", "trusted_schema = OFF", "foreign_keys = OFF", "cell_size_check = ON"]) database.pragma(pragma);
    const tables = readSchema(database);
    if (typeof tables === "string")
      return { tables: 0, rows: null, notes: [warning("Schema", `SQLite here cannot read it: ${tables}`, "Bytes kept as they are")] };
    const schema = schemaNotes(database, tables);
    const content = await contentReport(database, tables, bytes, work);
    const missing = await missingNotes(database, tables, work);
    return {
      tables: tables.filter((table) => table.type !== "shadow").length,
      rows: content.rows,
      notes: [...schema, ...content.notes, ...missing],
    };
  } finally {
    database.close();
  }
}

/** A sentence when the schema cannot be parsed: damaged, or written in the SQL of a newer SQLite. */
function readSchema(database: Database.Database): SchemaTable[] | string {
  try {
    return listTables(database);
  } catch (error) {
    return sqliteMessage(error);
  }
}
