import type { BranchId, DatabaseId, OperationId, UnixMs, VersionNumber } from "#shared/ids.ts";
import type { Connection } from "./connection.ts";
import { decodeDetail, type OperationDetail } from "./operation-detail.ts";
import type { BranchRecord } from "./records.ts";
import { branchOfRow, SELECT_BRANCH, type BranchRow } from "./rows.ts";
import { operationKindOf } from "./codes.ts";

export interface BranchChanges {
  /** Live branches that may read differently now, in order of id. */
  readonly changed: readonly BranchRecord[];
  /** Branches that are no longer live. */
  readonly removed: readonly BranchId[];
}

const BY_ID = `${SELECT_BRANCH} WHERE b.id = ? AND b.state < 2`;
const BY_NAME = `${SELECT_BRANCH} WHERE b.database = ? AND b.name = ? AND b.state = 0`;

export class BranchQueries {
  readonly #catalog: Connection;
  constructor(catalog: Connection) {
    this.#catalog = catalog;
  }

  /** Live or trashed. */
  byId(id: BranchId): BranchRecord | null {
    const row = this.#catalog.get<BranchRow>(BY_ID, id);
    return row ? branchOfRow(row) : null;
  }

  /** Name of a live or trashed one. */
  nameOf(id: BranchId): string | null {
    return this.#catalog.get<{ name: string }>("SELECT name FROM branches WHERE id = ? AND state < 2", id)?.name ?? null;
  }

  /** A live one. */
  byName(database: DatabaseId, name: string): BranchRecord | null {
    const row = this.#catalog.get<BranchRow>(BY_NAME, database, name);
    return row ? branchOfRow(row) : null;
  }

  /** Live ones with a greater id than `after`, in order of id. */
  page(database: DatabaseId, after: number, limit: number): BranchRecord[] {
    // The plus keeps SQLite from collecting the whole database by name and sorting it for every page.
    const sql = `${SELECT_BRANCH} WHERE b.id > ? AND +b.database = ? AND b.state = 0 ORDER BY b.id LIMIT ?`;
    return this.#catalog.all<BranchRow>(sql, after, database, limit).map(branchOfRow);
  }

  /** Names of live ones that begin with a prefix, in order. */
  names(database: DatabaseId, prefix: string, limit: number): string[] {
    const sql = "SELECT name FROM branches WHERE database = ? AND state = 0 AND name >= ? AND name < ? ORDER BY name LIMIT ?";
    return this.#catalog.all<{ name: string }>(sql, database, prefix, `${prefix}\u{10ffff}`, limit).map(({ name }) => name);
  }

  /** The live branch that has this one's name, if that is another. */
  namesake(branch: BranchId): BranchId | null {
    const sql =
      "SELECT h.id FROM branches b JOIN branches h ON h.database = b.database AND h.name = b.name AND h.state = 0 WHERE b.id = ? AND h.id <> b.id";
    return this.#catalog.get<{ id: BranchId }>(sql, branch)?.id ?? null;
  }

  /** Names of live branches that are protected, the first few. */
  protectedNames(database: DatabaseId, limit: number): string[] {
    const sql = "SELECT name FROM branches WHERE database = ? AND state = 0 AND protected = 1 LIMIT ?";
    return this.#catalog.all<{ name: string }>(sql, database, limit).map(({ name }) => name);
  }

  /** Whether a live branch has this name. */
  isTaken(database: DatabaseId, name: string): boolean {
    return this.#catalog.get("SELECT 1 FROM branches WHERE database = ? AND name = ? AND state = 0", database, name) !== undefined;
  }

  /** Branches of one name in the trash, the latest first. */
  trashedByName(database: DatabaseId, name: string): BranchRecord[] {
    const sql = `${SELECT_BRANCH} WHERE b.database = ? AND b.name = ? AND b.state = 1 ORDER BY b.id DESC`;
    return this.#catalog.all<BranchRow>(sql, database, name).map(branchOfRow);
  }

  count(database: DatabaseId): number {
    return this.#catalog.get<{ n: number }>("SELECT count(*) AS n FROM branches WHERE database = ? AND state = 0", database)?.n ?? 0;
  }

  /** Names of the live branches at each version that is a head. */
  headsByVersion(database: DatabaseId): Map<VersionNumber, string[]> {
    const heads = new Map<VersionNumber, string[]>();
    const sql = "SELECT head, name FROM branches WHERE database = ? AND state = 0 ORDER BY id";
    for (const { head, name } of this.#catalog.iterate<{ head: VersionNumber; name: string }>(sql, database)) {
      const names = heads.get(head);
      if (names) names.push(name);
      else heads.set(head, [name]);
    }
    return heads;
  }

  /** Live branches forked from this one. */
  childrenCount(branch: BranchId): number {
    return this.#catalog.get<{ n: number }>("SELECT count(*) AS n FROM branches WHERE parent = ? AND state = 0", branch)?.n ?? 0;
  }

  /** In the trash by themselves (not with their database), the latest first. */
  trashed(): BranchRecord[] {
    const sql = `${SELECT_BRANCH} WHERE b.state = 1 AND b.database IN (SELECT id FROM databases WHERE state = 0) ORDER BY b.trashed_by DESC, b.id DESC`;
    return this.#catalog.all<BranchRow>(sql).map(branchOfRow);
  }

  /** How many `trashed` names. */
  trashedCount(): number {
    const sql = "SELECT count(*) AS n FROM branches WHERE state = 1 AND database IN (SELECT id FROM databases WHERE state = 0)";
    return this.#catalog.get<{ n: number }>(sql)?.n ?? 0;
  }

  /** Live ones whose TTL has run out, the earliest first. */
  dueExpiries(now: UnixMs): BranchRecord[] {
    const sql = `${SELECT_BRANCH} WHERE b.ttl IS NOT NULL AND b.state = 0 AND b.touched_at + b.ttl <= ?
      AND +b.database IN (SELECT id FROM databases WHERE state = 0) ORDER BY b.touched_at + b.ttl, b.id`;
    return this.#catalog.all<BranchRow>(sql, now).map(branchOfRow);
  }

  /** Trashed ones whose purge date has come, the earliest first. */
  duePurges(now: UnixMs): BranchRecord[] {
    return this.#catalog
      .all<BranchRow>(`${SELECT_BRANCH} WHERE b.state = 1 AND b.purge_at <= ? ORDER BY b.purge_at, b.id`, now)
      .map(branchOfRow);
  }

  /** The name it had right after an operation; of purged ones too. */
  nameAt(id: BranchId, operation: OperationId): string {
    const sql = `SELECT coalesce(
      (SELECT name FROM former_names WHERE owner = b.id AND until > ? ORDER BY until LIMIT 1), b.name) AS name FROM branches b WHERE b.id = ?`;
    return this.#catalog.get<{ name: string }>(sql, operation, id)?.name ?? `#${id}`;
  }

  /** What operations after `since` moved in a database. Costs one pass over those operations. */
  changesSince(database: DatabaseId, since: OperationId): BranchChanges {
    const ids = new Set<number>();
    const sql = "SELECT kind, branch, detail FROM operations WHERE id > ? AND database = ?";
    for (const row of this.#catalog.iterate<{ kind: number; branch: number | null; detail: Uint8Array | null }>(sql, since, database)) {
      if (row.branch !== null && operationKindOf(row.kind) === "touch") ids.add(row.branch);
      this.#collect(decodeDetail(row.detail), database, ids);
    }
    const changed: BranchRecord[] = [];
    const removed: BranchId[] = [];
    for (const id of [...ids].toSorted((a, b) => a - b)) {
      const branch = this.byId(id as BranchId);
      if (branch?.state === "live") changed.push(branch);
      else removed.push(id as BranchId);
    }
    return { changed, removed };
  }

  #collect(detail: OperationDetail, database: DatabaseId, ids: Set<number>): void {
    const { newBranches, newVersions, purged } = detail;
    if (newBranches) for (let index = 0; index < newBranches.count; index += 1) ids.add(newBranches.first + index);
    for (const branch of purged?.branches ?? []) ids.add(branch);
    for (const move of detail.moves) {
      if (!("branch" in move)) continue;
      ids.add(move.branch);
      // Others show the name of the branch they were forked from, and names of the versions they stand on.
      if (move.ref === "branch-name") this.#addAll(ids, "SELECT id FROM branches WHERE parent = ?", move.branch);
      if (move.ref !== "checkpoint") continue;
      for (const version of [move.before, move.after]) {
        if (typeof version !== "number" || newVersions.includes(version)) continue;
        this.#addAll(ids, "SELECT id FROM branches WHERE database = ? AND ? IN (head, fork_version)", database, version);
      }
    }
  }

  #addAll(ids: Set<number>, sql: string, ...values: number[]): void {
    for (const { id } of this.#catalog.all<{ id: number }>(sql, ...values)) ids.add(id);
  }
}
