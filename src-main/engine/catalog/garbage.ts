/**
 * What can be removed for good. A version is kept while something refers to it or descends from it:
 *
 * - heads, fork points and checkpoints of branches that are live or stay in the trash,
 * - versions that checkouts were made from or hold,
 * - versions that an operation inside the undo window needs, to be undone or redone. One that this purge strands anyway,
 *   because a branch it needs goes, keeps nothing.
 *
 * Parents are kept with their children, so a kept version's chain, whose segments all end at it or at an ancestor, is
 * kept too. A plan names everything it removes and is refused (`apply-purge.ts`) once anything happened since.
 */
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import type { Catalog } from "./catalog.ts";
import type { BranchRecord, DatabaseRecord, OperationRecord, PurgeDraft, SegmentRecord } from "./records.ts";
import { isStrandedWith, versionsOf, visitClaims, type UndoWindow } from "./claims.ts";
import { versionKey, versionOfKey } from "./schema.ts";

export interface GarbageRequest extends UndoWindow {
  /** Trash to purge: usually what is due. */
  readonly branches: readonly BranchRecord[];
  readonly databases: readonly DatabaseRecord[];
}

export interface GarbagePlan {
  readonly purge: PurgeDraft;
  /** Segments that go, inline ones included. */
  readonly segments: readonly SegmentRecord[];
  /** Stored bytes of those segments. */
  readonly segmentBytes: number;
  /** Nothing to do. */
  readonly empty: boolean;
}

/** Reads one state of the catalog; changes nothing. */
export function planGarbage(catalog: Catalog, request: GarbageRequest): GarbagePlan {
  return catalog.snapshot(() => {
    const databases = request.databases.map(({ id }) => id);
    const branches = branchesToPurge(catalog, request);
    const versions = removableVersions(catalog, { ...request, branches: new Set(branches), databases: new Set(databases) });
    const removed = new Set(versions.flatMap(({ database, numbers }) => numbers.map((number) => versionKey(database, number))));
    const segments = segmentsOf(catalog, versions);
    const purge: PurgeDraft = {
      plannedAt: catalog.operations.lastId(),
      branches,
      databases,
      versions,
      strands: findStranded(catalog, removed, new Set(branches), new Set(databases)),
    };
    const empty = branches.length === 0 && databases.length === 0 && versions.length === 0;
    return { purge, segments, segmentBytes: segments.reduce((sum, { bytes }) => sum + bytes, 0), empty };
  });
}

/** A purged database takes all its branches along. */
function branchesToPurge(catalog: Catalog, request: GarbageRequest): BranchId[] {
  const ids = new Set(request.branches.map(({ id }) => id));
  for (const { id } of request.databases) {
    const rows = catalog.connection.all<{ id: BranchId }>("SELECT id FROM branches WHERE database = ? AND state < 2", id);
    for (const row of rows) ids.add(row.id);
  }
  return [...ids].toSorted((a, b) => a - b);
}

/** What is purged, and when. */
export interface Purged extends UndoWindow {
  readonly branches: ReadonlySet<number>;
  readonly databases: ReadonlySet<number>;
}

/** Stored versions that nothing keeps once these branches and databases are gone, by database, the newest first. */
export function removableVersions(catalog: Catalog, purged: Purged): PurgeDraft["versions"] {
  const kept = new KeptVersions(catalog, purged.databases);
  visitClaims(catalog, purged, ({ database, version, branches }) => {
    if (!branches.some((branch) => purged.branches.has(branch))) kept.keep(database, version);
  });
  return kept.removable();
}

/** One byte for each version number that a database ever gave out. */
class KeptVersions {
  readonly #catalog: Catalog;
  readonly #marks = new Map<number, Uint8Array>();

  constructor(catalog: Catalog, purged: ReadonlySet<number>) {
    this.#catalog = catalog;
    const rows = catalog.connection.all<{ id: DatabaseId; last: number }>("SELECT id, last_version AS last FROM databases WHERE state < 2");
    for (const { id, last } of rows) this.#marks.set(id, new Uint8Array(purged.has(id) ? 0 : last + 1));
  }

  keep(database: number, number: number): void {
    const marks = this.#marks.get(database);
    if (marks) marks[number] = 1;
  }

  /** Stored versions that nothing keeps, by database. */
  removable(): { database: DatabaseId; numbers: VersionNumber[] }[] {
    const result: { database: DatabaseId; numbers: VersionNumber[] }[] = [];
    for (const [database, marks] of this.#marks) {
      const numbers: VersionNumber[] = [];
      // Children first: a kept one keeps its parent, which is always older.
      const sql = "SELECT key, parent FROM versions WHERE key BETWEEN ? AND ? ORDER BY key DESC";
      const range = [versionKey(database, 0), versionKey(database + 1, 0) - 1] as const;
      for (const { key, parent } of this.#catalog.connection.iterate<{ key: number; parent: number | null }>(sql, ...range)) {
        const { number } = versionOfKey(key);
        if (!marks[number]) numbers.push(number as VersionNumber);
        else if (parent !== null) marks[parent] = 1;
      }
      if (numbers.length > 0) result.push({ database: database as DatabaseId, numbers });
    }
    return result;
  }
}

function segmentsOf(catalog: Catalog, versions: PurgeDraft["versions"]): SegmentRecord[] {
  const segments: SegmentRecord[] = [];
  for (const { database, numbers } of versions) {
    const removed = new Set(numbers);
    for (const segment of catalog.versions.segments(database)) if (removed.has(segment.to)) segments.push(segment);
  }
  return segments;
}

function findStranded(
  catalog: Catalog,
  removed: ReadonlySet<number>,
  branches: ReadonlySet<number>,
  databases: ReadonlySet<number>,
): OperationId[] {
  if (removed.size === 0 && branches.size === 0 && databases.size === 0) return [];
  const stranded: OperationId[] = [];
  for (const operation of catalog.operations.forwards({}, 0 as OperationId)) {
    if (operation.state === "permanent" || operation.reverses !== null) continue;
    if (isStranded(operation, removed, branches, databases)) stranded.push(operation.id);
  }
  return stranded;
}

function isStranded(
  operation: OperationRecord,
  removed: ReadonlySet<number>,
  branches: ReadonlySet<number>,
  databases: ReadonlySet<number>,
): boolean {
  const { database } = operation;
  if (isStrandedWith(operation, branches, databases)) return true;
  return database !== null && versionsOf(operation).some((number) => removed.has(versionKey(database, number)));
}
