import type { BranchId, DatabaseId, VersionNumber } from "#shared/ids.ts";
import type { Connection } from "./connection.ts";
import type { BranchRecord, CheckpointRecord } from "./records.ts";
import { AUTOMATIC_CHECKPOINT_OF, CHECKPOINTS, checkpointOfRow, NAMED_CHECKPOINT, type CheckpointRow } from "./rows.ts";
import { versionKey, versionOfKey } from "./schema.ts";
import { VersionQueries } from "./version-queries.ts";

export class CheckpointQueries {
  readonly #catalog: Connection;
  readonly #versions: VersionQueries;
  constructor(catalog: Connection) {
    this.#catalog = catalog;
    this.#versions = new VersionQueries(catalog);
  }

  /** Own checkpoints of a branch, automatic ones included, the newest version first. */
  ofBranch(branch: BranchId): CheckpointRecord[] {
    return this.#catalog
      .all<CheckpointRow>(`${CHECKPOINTS} WHERE c.branch = ? ORDER BY c.version DESC, c.name`, branch)
      .map(checkpointOfRow);
  }

  countOfBranch(branch: BranchId): number {
    const sql = `SELECT (SELECT count(*) FROM checkpoints WHERE branch = b.id)
      + (SELECT count(*) FROM versions WHERE branch = b.id AND kind >= 16) AS n FROM branches b WHERE b.id = ?`;
    return this.#catalog.get<{ n: number }>(sql, branch)?.n ?? 0;
  }

  /** Names on a version, on any live branch, in order of branch. */
  ofVersion(database: DatabaseId, version: VersionNumber): CheckpointRecord[] {
    const sql = `${CHECKPOINTS} WHERE c.version = ? AND (SELECT state FROM branches WHERE id = c.branch) = 0 ORDER BY c.branch, c.name`;
    return this.#catalog.all<CheckpointRow>(sql, versionKey(database, version)).map(checkpointOfRow);
  }

  /** A version's name as a branch sees it: its own, else that of the first live branch that has one; null without any. */
  nameOfVersion(branch: Pick<BranchRecord, "id" | "database">, version: VersionNumber): string | null {
    const sql = `SELECT c.name FROM (
        SELECT branch, name FROM checkpoints WHERE version = ?
        UNION ALL SELECT branch, 'auto-' || (key & 268435455) FROM versions WHERE key = ? AND kind >= 16
      ) c WHERE (SELECT state FROM branches WHERE id = c.branch) = 0 ORDER BY c.branch <> ?, c.branch, c.name LIMIT 1`;
    const key = versionKey(branch.database, version);
    return this.#catalog.get<{ name: string }>(sql, key, key, branch.id)?.name ?? null;
  }

  /** Some live branch of a database that has a checkpoint of this name, and its version. Looks at all of them. */
  named(database: DatabaseId, name: string): { branch: string; version: VersionNumber } | null {
    const sql = `SELECT b.name AS branch, c.version AS key FROM checkpoints c JOIN branches b ON b.id = c.branch
      WHERE c.name = ? AND b.database = ? AND b.state = 0 LIMIT 1`;
    const row = this.#catalog.get<{ branch: string; key: number }>(sql, name, database);
    return row ? { branch: row.branch, version: versionOfKey(row.key).number as VersionNumber } : null;
  }

  /** An own checkpoint of a branch. */
  own(branch: BranchId, name: string): CheckpointRecord | null {
    const named = this.#catalog.get<CheckpointRow>(NAMED_CHECKPOINT, branch, name);
    if (named) return checkpointOfRow(named);
    const automatic = /^auto-([1-9]\d*)$/.exec(name);
    const made = automatic ? this.#catalog.get<CheckpointRow>(AUTOMATIC_CHECKPOINT_OF, name, Number(automatic[1]), branch) : undefined;
    return made ? checkpointOfRow(made) : null;
  }

  /**
   * What a name means on a branch: its own checkpoint, else that of the nearest branch it descends from, as far as it
   * belongs to the history that the branch was forked with.
   */
  find(branch: BranchRecord, name: string): CheckpointRecord | null {
    const own = this.own(branch.id, name);
    if (own || branch.forkVersion === null) return own;
    for (const ancestor of this.#ancestors(branch)) {
      const found = this.own(ancestor, name);
      if (found && this.#versions.isAncestor(branch.database, found.version, branch.forkVersion)) return found;
    }
    return null;
  }

  /** Checkpoints that a branch sees of the branches it descends from, the nearest branch first. */
  inherited(branch: BranchRecord): CheckpointRecord[] {
    if (branch.forkVersion === null) return [];
    const history = new Set(this.#versions.lineageNumbers(branch.database, branch.forkVersion));
    return this.#ancestors(branch).flatMap((ancestor) => this.ofBranch(ancestor).filter(({ version }) => history.has(version)));
  }

  /** Parent, its parent, and so on; purged ones only lead on. */
  #ancestors(branch: BranchRecord): BranchId[] {
    const sql = `WITH RECURSIVE line (id) AS (
      SELECT ? UNION ALL SELECT b.parent FROM line JOIN branches b ON b.id = line.id WHERE b.parent IS NOT NULL
    ) SELECT id FROM line`;
    return branch.parent === null ? [] : this.#catalog.all<{ id: BranchId }>(sql, branch.parent).map(({ id }) => id);
  }
}
