import type { BranchId, DatabaseId, OperationId } from "#shared/ids.ts";
import type { OperationKind } from "#shared/views.ts";
import { operationKindCode, operationKindOf } from "./codes.ts";
import type { Connection } from "./connection.ts";
import type { OperationRecord } from "./records.ts";
import { operationOfRow, SELECT_OPERATION, type OperationRow } from "./rows.ts";

export interface OperationFilter {
  readonly database?: DatabaseId | undefined;
  readonly branch?: BranchId | undefined;
  readonly actor?: string | undefined;
  readonly kind?: OperationKind | undefined;
}

export class OperationQueries {
  readonly #catalog: Connection;
  constructor(catalog: Connection) {
    this.#catalog = catalog;
  }

  lastId(): OperationId {
    return (this.#catalog.get<{ id: number | null }>("SELECT max(id) AS id FROM operations")?.id ?? 0) as OperationId;
  }

  byId(id: OperationId): OperationRecord | null {
    const row = this.#catalog.get<OperationRow>(`${SELECT_OPERATION} WHERE o.id = ?`, id);
    return row ? operationOfRow(row) : null;
  }

  /** Who put what is in the trash there, and by which kind of operation. */
  trashing(): Map<OperationId, Pick<OperationRecord, "kind" | "actor">> {
    const sql = `SELECT o.id, o.kind, (SELECT name FROM actors WHERE id = o.actor) AS actor FROM operations o WHERE o.id IN
      (SELECT trashed_by FROM branches WHERE state = 1 UNION SELECT trashed_by FROM databases WHERE state = 1)`;
    const rows = this.#catalog.all<Pick<OperationRow, "id" | "kind" | "actor">>(sql);
    return new Map(rows.map(({ id, kind, actor }) => [id as OperationId, { kind: operationKindOf(kind), actor }]));
  }

  /** Looks only at operations after `since`: uids have no index. */
  byUid(uid: Uint8Array, since: OperationId): OperationRecord | null {
    const row = this.#catalog.get<OperationRow>(`${SELECT_OPERATION} WHERE o.id > ? AND o.uid = ?`, since, uid);
    return row ? operationOfRow(row) : null;
  }

  /** The newest first, from below `before` on (null: from the newest). */
  page(filter: OperationFilter, before: number | null, limit: number): OperationRecord[] {
    const { where, values } = conditions(filter);
    const sql = `${SELECT_OPERATION} WHERE o.id < ?${where} ORDER BY o.id DESC LIMIT ?`;
    return this.#catalog.all<OperationRow>(sql, before ?? Number.MAX_SAFE_INTEGER, ...values, limit).map(operationOfRow);
  }

  count(filter: OperationFilter): number {
    const { where, values } = conditions(filter);
    return this.#catalog.get<{ n: number }>(`SELECT count(*) AS n FROM operations o WHERE true${where}`, ...values)?.n ?? 0;
  }

  /** The newest first, one by one, down to the one after `since`. Nothing may be committed meanwhile. */
  *backwards(filter: OperationFilter, since = 0): Generator<OperationRecord, void> {
    const { where, values } = conditions(filter);
    const sql = `${SELECT_OPERATION} WHERE o.id > ?${where} ORDER BY o.id DESC`;
    for (const row of this.#catalog.iterate<OperationRow>(sql, since, ...values)) yield operationOfRow(row);
  }

  /** The oldest first, one by one, after `since`. Nothing may be committed meanwhile. */
  *forwards(filter: OperationFilter, since: OperationId): Generator<OperationRecord, void> {
    const { where, values } = conditions(filter);
    for (const row of this.#catalog.iterate<OperationRow>(`${SELECT_OPERATION} WHERE o.id > ?${where} ORDER BY o.id`, since, ...values)) {
      yield operationOfRow(row);
    }
  }

  /**
   * As `forwards`, without undos and what was undone. They are left out before they are read: whoever takes back thousands,
   * one by one, leaves as many behind.
   */
  *standing(filter: OperationFilter, since: OperationId): Generator<OperationRecord, void> {
    const { where, values } = conditions(filter);
    const sql = `${SELECT_OPERATION} WHERE o.id > ?${where} AND (o.kind = ? OR o.state <> 1 AND o.kind <> ?) ORDER BY o.id`;
    const rows = this.#catalog.iterate<OperationRow>(sql, since, ...values, operationKindCode("redo"), operationKindCode("undo"));
    for (const row of rows) yield operationOfRow(row);
  }
}

function conditions(filter: OperationFilter): { where: string; values: (number | string)[] } {
  const parts: string[] = [];
  const values: (number | string)[] = [];
  const add = (condition: string, value: number | string | undefined): void => {
    if (value === undefined) return;
    parts.push(` AND ${condition}`);
    values.push(value);
  };
  add("o.database = ?", filter.database);
  add("o.branch = ?", filter.branch);
  // `actors` is the outer loop of no plan here: the log's order decides.
  add("+o.actor = (SELECT id FROM actors WHERE name = ?)", filter.actor);
  add("o.kind = ?", filter.kind === undefined ? undefined : operationKindCode(filter.kind));
  return { where: parts.join(""), values };
}
