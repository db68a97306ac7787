/** Removes for good what a purge names. Its plan (`garbage.ts`) holds only while nothing else happened. */
import type { OperationId } from "#shared/ids.ts";
import { stale } from "./apply-moves.ts";
import type { Connection } from "./connection.ts";
import type { OperationRecord, PurgeDraft } from "./records.ts";
import { STATE, versionKey } from "./schema.ts";

/** Throws `stale-precondition` when an operation, or a fact about a file, came after the plan. */
export function applyPurge(catalog: Connection, purge: PurgeDraft, operation: OperationId): NonNullable<OperationRecord["purged"]> {
  if (operation !== purge.plannedAt + 1) throw stale("the store", `at operation ${purge.plannedAt}`, `at operation ${operation - 1}`);
  for (const database of purge.databases) {
    requireTrashed(catalog, "databases", database);
    catalog.run("UPDATE databases SET state = 2, trashed_by = NULL, purge_at = NULL, source = NULL WHERE id = ?", database);
  }
  for (const branch of purge.branches) {
    const { database } = requireTrashed(catalog, "branches", branch, purge.databases);
    catalog.run("DELETE FROM checkpoints WHERE branch = ? AND version >= ?", branch, versionKey(database, 0));
    catalog.run("DELETE FROM facts WHERE branch = ?", branch);
    catalog.run("UPDATE branches SET state = 2, trashed_by = NULL, purge_at = NULL, ttl = NULL, meta = NULL WHERE id = ?", branch);
  }
  let versions = 0;
  for (const { database, numbers } of purge.versions) {
    versions += numbers.length;
    let freed = 0;
    for (const number of numbers) freed += removeVersion(catalog, versionKey(database, number));
    catalog.run("UPDATE databases SET stored_bytes = stored_bytes - ? WHERE id = ?", freed, database);
    refuseUsedFacts(catalog, database, new Set(numbers));
  }
  for (const stranded of purge.strands) catalog.run("UPDATE operations SET state = 2 WHERE id = ?", stranded);
  return { branches: purge.branches, databases: purge.databases, versions };
}

/** Branches of a purged database go with it, whatever their state. */
function requireTrashed(
  catalog: Connection,
  table: "databases" | "branches",
  id: number,
  databases: readonly number[] = [],
): { database: number } {
  const column = table === "branches" ? "database" : "id";
  const sql = `SELECT name, state, ${column} AS database FROM ${table} WHERE id = ?`;
  const row = catalog.get<{ name: string; state: number; database: number }>(sql, id);
  if (row && row.state !== STATE.purged && (row.state === STATE.trashed || databases.includes(row.database))) return row;
  throw stale(
    `${table === "branches" ? "branch" : "database"} ${row?.name ?? id}`,
    "trashed",
    row ? (row.state === STATE.live ? "live" : "purged") : "missing",
  );
}

/** Returns the bytes of its segments. */
function removeVersion(catalog: Connection, key: number): number {
  const range = [key * 16, key * 16 + 15] as const;
  const bytes = catalog.get<{ bytes: number | null }>(
    "SELECT sum(coalesce(bytes, length(data))) AS bytes FROM segments WHERE key BETWEEN ? AND ?",
    ...range,
  );
  catalog.run("DELETE FROM segments WHERE key BETWEEN ? AND ?", ...range);
  catalog.run("DELETE FROM versions WHERE key = ?", key);
  return bytes?.bytes ?? 0;
}

/** Facts are no operations, so one may have come since the plan. */
function refuseUsedFacts(catalog: Connection, database: number, removed: ReadonlySet<number>): void {
  const facts = catalog.all<{ base: number; content: number; name: string }>(
    "SELECT f.base, f.content, b.name FROM facts f JOIN branches b ON b.id = f.branch WHERE b.database = ?",
    database,
  );
  for (const fact of facts) {
    const used = [fact.base, fact.content].find((number) => removed.has(number));
    if (used !== undefined) throw stale(`version v${used}`, "unused", `in the file of ${fact.name}`);
  }
}
