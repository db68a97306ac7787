import type { DatabaseId, OperationId, UnixMs } from "#shared/ids.ts";
import type { Connection } from "./connection.ts";
import type { DatabaseRecord } from "./records.ts";
import { databaseOfRow, SELECT_DATABASE, type DatabaseRow } from "./rows.ts";

const BY_ID = `${SELECT_DATABASE} WHERE d.id = ? AND d.state < 2`;
const BY_NAME = `${SELECT_DATABASE} WHERE d.name = ? AND d.state = 0`;

export class DatabaseQueries {
  readonly #catalog: Connection;
  constructor(catalog: Connection) {
    this.#catalog = catalog;
  }

  /** Live ones, by name. */
  live(): DatabaseRecord[] {
    return this.#catalog.all<DatabaseRow>(`${SELECT_DATABASE} WHERE d.state = 0 ORDER BY d.name`).map(databaseOfRow);
  }

  /** In the trash, the latest first. */
  trashed(): DatabaseRecord[] {
    return this.#catalog.all<DatabaseRow>(`${SELECT_DATABASE} WHERE d.state = 1 ORDER BY d.trashed_by DESC, d.id DESC`).map(databaseOfRow);
  }

  /** Trashed ones whose purge date has come. */
  duePurges(now: UnixMs): DatabaseRecord[] {
    return this.#catalog.all<DatabaseRow>(`${SELECT_DATABASE} WHERE d.state = 1 AND d.purge_at <= ? ORDER BY d.id`, now).map(databaseOfRow);
  }

  /** Live or trashed. */
  byId(id: DatabaseId): DatabaseRecord | null {
    const row = this.#catalog.get<DatabaseRow>(BY_ID, id);
    return row ? databaseOfRow(row) : null;
  }

  /** Name of a live or trashed one. */
  nameOf(id: DatabaseId): string | null {
    return this.#catalog.get<{ name: string }>("SELECT name FROM databases WHERE id = ? AND state < 2", id)?.name ?? null;
  }

  /** A live one. */
  byName(name: string): DatabaseRecord | null {
    const row = this.#catalog.get<DatabaseRow>(BY_NAME, name);
    return row ? databaseOfRow(row) : null;
  }

  /** The name it had right after an operation; of purged ones too. */
  nameAt(id: DatabaseId, operation: OperationId): string {
    const sql = `SELECT coalesce(
      (SELECT name FROM former_names WHERE owner = -d.id AND until > ? ORDER BY until LIMIT 1), d.name) AS name FROM databases d WHERE d.id = ?`;
    return this.#catalog.get<{ name: string }>(sql, operation, id)?.name ?? `#${id}`;
  }
}
