/** A database comes into the store (new or imported) and leaves it (exported). */
import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { CreateResult, ImportReport } from "#shared/views.ts";
import type { DatabaseRecord } from "../catalog/records.ts";
import { parseSqliteHeader, SQLITE_HEADER_BYTES, type JournalKind } from "../format/sqlite-header.ts";
import { EngineError, withUntouched } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import { materialise } from "../segments/materialise.ts";
import { writeBase, type WrittenVersion } from "../segments/write-base.ts";
import { removeCopy } from "../transfer/copy-source.ts";
import { exportFile } from "../transfer/export-file.ts";
import { FilePages } from "../transfer/file-pages.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { inspectSource, prepareImport } from "../transfer/prepare-import.ts";
import { writeEmptyDatabase } from "../transfer/recover-copy.ts";
import { databaseView, operationView, viewOf } from "./branch-views.ts";
import { commit } from "./operation.ts";
import { newVersion, temporaryPath, type Parts } from "./parts.ts";
import { findBranch, resolveAt } from "./resolve.ts";
import { versionOf } from "./working-file.ts";

/** What an import would do and find, without importing. */
export function inspect(parts: Parts, input: RequestInput<"database.inspect">, work: PhasedWork = {}): Promise<ImportReport> {
  return inspectSource(parts.disk, parts.copySource, copyRequest(parts, input.file), work);
}

/**
 * A new empty database, or a consistent copy of a file that may be in use; `main` is its first branch. The source and
 * its side files are left byte for byte as they were. Errors: `name-taken`, those of `prepareImport`, `disk-full`, …
 */
export async function create(parts: Parts, input: RequestInput<"database.create">, work: PhasedWork = {}): Promise<CreateResult> {
  if (parts.catalog.databases.byName(input.database))
    throw new EngineError("name-taken", `There already is a database "${input.database}"`, {
      details: { name: input.database },
      untouched: "Nothing was changed.",
    });
  const source =
    input.from === undefined ? emptySource(parts) : await prepareImport(parts.disk, parts.copySource, copyRequest(parts, input.from), work);
  try {
    work.phase?.("Storing");
    return await parts.writers.whilePublishing(async () => {
      const version = await storeFile(parts, source.copy, work).catch((error: unknown) => {
        throw withUntouched(error, "Nothing was imported.");
      });
      reach("import:stored");
      return commitDatabase(parts, input.database, version, source.journal, input.from ?? null, source.report);
    });
  } finally {
    removeCopy(parts.disk, source.copy);
  }
}

function copyRequest(parts: Parts, file: string) {
  return { file, into: temporaryPath(parts, "import.db"), waitMs: LIMITS.checkoutBusyWaitMs };
}

function emptySource(parts: Parts): { readonly copy: string; readonly journal: JournalKind; readonly report: null } {
  const copy = temporaryPath(parts, "empty.db");
  writeEmptyDatabase(copy);
  return { copy, journal: "wal", report: null };
}

async function storeFile(parts: Parts, path: string, work: PhasedWork): Promise<WrittenVersion> {
  const pages = new FilePages(parts.disk, path, fileSize(parts, path));
  try {
    return await writeBase(pages, parts.segments, work);
  } finally {
    pages.close();
  }
}

function fileSize(parts: Parts, path: string): { pageSize: number; pageCount: number } {
  const file = parts.disk.open(path, "r");
  try {
    const head = new Uint8Array(SQLITE_HEADER_BYTES);
    parts.disk.read(file, head, 0);
    const header = parseSqliteHeader(head);
    if (typeof header === "string") throw new EngineError("not-sqlite", `${path}: ${header}`, { details: { path } });
    return { pageSize: header.pageSize, pageCount: Math.floor(parts.disk.statFile(file).size / header.pageSize) };
  } finally {
    parts.disk.close(file);
  }
}

async function commitDatabase(
  parts: Parts,
  name: string,
  version: WrittenVersion,
  journal: JournalKind,
  source: string | null,
  report: ImportReport | null,
): Promise<CreateResult> {
  const operation = await commit(parts, "create-database", null, {
    moves: [],
    newDatabase: { uid: parts.randomness.bytes(16), name, journal, source },
    versions: [{ ...version, parent: null, kind: "import", branch: null, message: null, meta: {} }],
    newBranches: { names: ["main"], head: newVersion(), parent: null, forkVersion: null, ttlMs: null, meta: {} },
  });
  const database = databaseOf(parts, name);
  const branch = operation.newBranches ? viewOf(parts, database, operation.newBranches.first) : null;
  return {
    operation: operationView(parts, operation),
    branch,
    warnings: [],
    database: databaseView(parts, database),
    report,
    storedBytes: version.segment.bytes,
  };
}

function databaseOf(parts: Parts, name: string): DatabaseRecord {
  const database = parts.catalog.databases.byName(name);
  if (!database) throw new EngineError("stale-precondition", `Database "${name}" was created, and dropped at once by somebody else`);
  return database;
}

/** A stored version as a plain file outside the store, in the journal mode it was imported with. Never unsaved work. */
export async function exportDatabase(
  parts: Parts,
  input: RequestInput<"database.export">,
  work: PhasedWork = {},
): Promise<RequestOutput<"database.export">> {
  const place = findBranch(parts, input.database, input.branch);
  const version = versionOf(parts, place, resolveAt(parts, place, input.at));
  const chain = await parts.lineages.reader(place.database.id, version.number);
  return exportFile(parts.disk, {
    file: input.file,
    overwrite: input.overwrite ?? false,
    store: parts.paths.root,
    write: (path) =>
      materialise(
        chain,
        {
          disk: parts.disk,
          native: parts.native,
          path,
          journal: place.database.journal,
          changeCounter: version.number,
          checksum: version.checksum,
        },
        work,
      ),
  });
}
