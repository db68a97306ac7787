/**
 * Rows of the catalog as records. Each table's select list stands beside the function that reads it.
 *
 * What other tables add comes by scalar subqueries, not by joins: SQLite prepares a join anew whenever a value is bound
 * that a column is compared with (its planner looks at the value), which costs ten times as much as the query.
 */
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import type { Meta } from "#shared/views.ts";
import { operationKindOf, operationStateOf, versionKindOf } from "./codes.ts";
import { decodeDetail, parseMeta } from "./operation-detail.ts";
import type { BranchRecord, CheckpointRecord, DatabaseRecord, OperationRecord, SegmentRecord, VersionRecord } from "./records.ts";
import { segmentOfKey, STATE, versionOfKey } from "./schema.ts";

const NO_META: Meta = Object.freeze({});

export function metaOf(text: string | null): Meta {
  return text === null ? NO_META : parseMeta(text);
}
export function metaText(meta: Meta): string | null {
  return Object.keys(meta).length === 0 ? null : JSON.stringify(meta);
}

function timeOf(operation: string): string {
  return `(SELECT at FROM operations WHERE id = ${operation})`;
}
function actorOf(operation: string): string {
  return `(SELECT name FROM actors WHERE id = (SELECT actor FROM operations WHERE id = ${operation}))`;
}

export interface DatabaseRow {
  readonly id: number;
  readonly uid: Uint8Array;
  readonly name: string;
  readonly state: number;
  readonly created_by: number;
  readonly created_at: number;
  readonly actor: string;
  readonly last_version: number;
  readonly stored_bytes: number;
  readonly journal: number;
  readonly source: string | null;
  readonly trashed_by: number | null;
  readonly trashed_at: number | null;
  readonly purge_at: number | null;
}
export const SELECT_DATABASE = `SELECT d.id, d.uid, d.name, d.state, d.created_by, ${timeOf("d.created_by")} AS created_at, ${actorOf("d.created_by")} AS actor,
  d.last_version, d.stored_bytes, d.journal, d.source, d.trashed_by, ${timeOf("d.trashed_by")} AS trashed_at, d.purge_at
  FROM databases d`;

export function databaseOfRow(row: DatabaseRow): DatabaseRecord {
  return {
    id: row.id as DatabaseId,
    uid: row.uid,
    name: row.name,
    state: row.state === STATE.live ? "live" : "trashed",
    createdBy: row.created_by as OperationId,
    createdAt: row.created_at,
    actor: row.actor,
    lastVersion: row.last_version,
    storedBytes: row.stored_bytes,
    journal: row.journal === 2 ? "wal" : "rollback",
    source: row.source,
    trashedBy: row.trashed_by as OperationId | null,
    trashedAt: row.trashed_at,
    purgeAt: row.purge_at,
  };
}

export interface BranchRow {
  readonly id: number;
  readonly database: number;
  readonly name: string;
  readonly state: number;
  readonly head: number;
  readonly fork_version: number | null;
  readonly parent: number | null;
  readonly created_by: number;
  readonly created_at: number;
  readonly actor: string;
  readonly touched_at: number | null;
  readonly ttl: number | null;
  readonly protected: number;
  readonly meta: string | null;
  readonly epoch: number;
  readonly trashed_by: number | null;
  readonly trashed_at: number | null;
  readonly purge_at: number | null;
}
export const SELECT_BRANCH = `SELECT b.id, b.database, b.name, b.state, b.head, b.fork_version, b.parent, b.created_by,
  ${timeOf("b.created_by")} AS created_at, ${actorOf("b.created_by")} AS actor, b.touched_at, b.ttl, b.protected, b.meta, b.epoch,
  b.trashed_by, ${timeOf("b.trashed_by")} AS trashed_at, b.purge_at
  FROM branches b`;

export function branchOfRow(row: BranchRow): BranchRecord {
  return {
    id: row.id as BranchId,
    database: row.database as DatabaseId,
    name: row.name,
    state: row.state === STATE.live ? "live" : "trashed",
    head: row.head as VersionNumber,
    forkVersion: row.fork_version as VersionNumber | null,
    parent: row.parent as BranchId | null,
    createdBy: row.created_by as OperationId,
    createdAt: row.created_at,
    actor: row.actor,
    touchedAt: row.touched_at ?? row.created_at,
    ttlMs: row.ttl,
    protected: row.protected === 1,
    meta: metaOf(row.meta),
    epoch: row.epoch,
    trashedBy: row.trashed_by as OperationId | null,
    trashedAt: row.trashed_at,
    purgeAt: row.purge_at,
  };
}

export interface VersionRow {
  readonly key: number;
  readonly parent: number | null;
  readonly kind: number;
  readonly operation: number;
  readonly created_at: number;
  readonly actor: string;
  readonly branch: number;
  readonly page_size: number;
  readonly page_count: number;
  readonly checksum: Uint8Array;
  readonly changed_pages: number;
  readonly message: string | null;
  readonly meta: string | null;
}
export const SELECT_VERSION = `SELECT v.key, v.parent, v.kind, v.operation, ${timeOf("v.operation")} AS created_at, ${actorOf("v.operation")} AS actor,
  v.branch, v.page_size, v.page_count, v.checksum, v.changed_pages, v.message, v.meta
  FROM versions v`;

export function versionOfRow(row: VersionRow): VersionRecord {
  const { database, number } = versionOfKey(row.key);
  return {
    database: database as DatabaseId,
    number: number as VersionNumber,
    parent: row.parent as VersionNumber | null,
    kind: versionKindOf(row.kind),
    operation: row.operation as OperationId,
    createdAt: row.created_at,
    actor: row.actor,
    branch: row.branch as BranchId,
    pageSize: 2 ** row.page_size,
    pageCount: row.page_count,
    checksum: row.checksum,
    changedPages: row.changed_pages,
    message: row.message,
    meta: metaOf(row.meta),
  };
}

export interface SegmentRow {
  readonly key: number;
  readonly from_version: number | null;
  readonly bytes: number;
  readonly parts: number;
  readonly data: Uint8Array | string;
}
/** A level 0 segment's `from` is its version's parent, an inline segment's size is its length: neither is stored. */
export const SELECT_SEGMENT = `SELECT s.key, CASE WHEN s.key % 16 = 0 THEN (SELECT parent FROM versions WHERE key = s.key / 16)
  ELSE s.from_version END AS from_version, coalesce(s.bytes, length(s.data)) AS bytes, s.parts, s.data
  FROM segments s`;

export function segmentOfRow(row: SegmentRow): SegmentRecord {
  const { version, level } = segmentOfKey(row.key);
  const { database, number } = versionOfKey(version);
  return {
    database: database as DatabaseId,
    to: number as VersionNumber,
    level,
    from: row.from_version as VersionNumber | null,
    bytes: row.bytes,
    inline: typeof row.data === "string" ? null : row.data,
    file: typeof row.data === "string" ? row.data : null,
    parts: row.parts,
  };
}

export interface OperationRow {
  readonly id: number;
  readonly uid: Uint8Array;
  readonly kind: number;
  readonly at: number;
  readonly actor: string;
  readonly database: number | null;
  readonly branch: number | null;
  readonly state: number;
  readonly detail: Uint8Array | null;
}
export const SELECT_OPERATION = `SELECT o.id, o.uid, o.kind, o.at, (SELECT name FROM actors WHERE id = o.actor) AS actor, o.database,
  o.branch, o.state, o.detail FROM operations o`;

export function operationOfRow(row: OperationRow): OperationRecord {
  return {
    id: row.id as OperationId,
    uid: row.uid,
    kind: operationKindOf(row.kind),
    at: row.at,
    actor: row.actor,
    database: row.database as DatabaseId | null,
    branch: row.branch as BranchId | null,
    state: operationStateOf(row.state),
    ...decodeDetail(row.detail),
  };
}

export interface CheckpointRow {
  readonly branch: number;
  readonly name: string;
  readonly version: number;
  readonly operation: number;
  readonly created_at: number;
  readonly actor: string;
}
/**
 * Named checkpoints, and versions that carry an automatic name on the branch that made them. `version` is a key.
 * Filters by branch or version reach into both halves.
 */
export const CHECKPOINTS = `SELECT c.branch, c.name, c.version, c.operation, ${timeOf("c.operation")} AS created_at, ${actorOf("c.operation")} AS actor
  FROM (
    SELECT branch, name, version, operation FROM checkpoints
    UNION ALL
    SELECT branch, 'auto-' || (key & 268435455), key, operation FROM versions WHERE kind >= 16
  ) c`;

/** One by branch and name: the list above would go through all versions of the branch to make their names. */
export const NAMED_CHECKPOINT = `SELECT c.branch, c.name, c.version, c.operation, ${timeOf("c.operation")} AS created_at,
  ${actorOf("c.operation")} AS actor FROM checkpoints c WHERE c.branch = ? AND c.name = ?`;
/** One by its name, its branch and the number in the name. */
export const AUTOMATIC_CHECKPOINT_OF = `SELECT b.id AS branch, ? AS name, v.key AS version, v.operation, ${timeOf("v.operation")} AS created_at,
  ${actorOf("v.operation")} AS actor
  FROM branches b JOIN versions v ON v.key = b.database * 268435456 + ? AND v.branch = b.id AND v.kind >= 16 WHERE b.id = ?`;

export function checkpointOfRow(row: CheckpointRow): CheckpointRecord {
  return {
    branch: row.branch as BranchId,
    name: row.name,
    version: versionOfKey(row.version).number as VersionNumber,
    operation: row.operation as OperationId,
    createdAt: row.created_at,
    actor: row.actor,
  };
}
