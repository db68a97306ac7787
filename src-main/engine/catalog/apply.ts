/**
 * Carries out one operation: the only code that writes refs. Everything it decides follows from the catalog and the
 * draft, so the same drafts in the same order make the same catalog anywhere. Runs inside the caller's savepoint: a
 * throw anywhere leaves nothing behind, so checks and writes may alternate.
 */
import { assert } from "#shared/assert.ts";
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import { EngineError } from "../io/errors.ts";
import { applyMove, requireLiveBranch, requireLiveDatabase, stale, takeName } from "./apply-moves.ts";
import { applyPurge } from "./apply-purge.ts";
import { operationKindCode, versionKindCode } from "./codes.ts";
import type { Connection } from "./connection.ts";
import { automaticName, encodeDetail } from "./operation-detail.ts";
import { AUTOMATIC_CHECKPOINT } from "./records.ts";
import type { CheckoutFact, Move, NewVersion, OperationDraft, OperationRecord, VersionRef } from "./records.ts";
import { metaText } from "./rows.ts";
import { DATABASE_ID_MAX, segmentKey, VERSION_NUMBER_MAX, versionKey } from "./schema.ts";

/** Numbers that the draft left open. */
interface Resolved {
  readonly id: OperationId;
  readonly database: DatabaseId | null;
  readonly newVersions: readonly VersionNumber[];
  readonly firstBranch: BranchId | null;
}

/** Throws `stale-precondition`, `name-taken`, `bad-name`, `unsupported`; the caller then rolls back its savepoint. */
export function apply(catalog: Connection, draft: OperationDraft): OperationRecord {
  assert(draft.uid.length === 16, "an operation's uid has 16 bytes");
  assert(Number.isSafeInteger(draft.at), "an operation's time is a whole number of milliseconds");
  const id = (lastId(catalog, "operations") + 1) as OperationId;
  checkScope(catalog, draft);
  const database = draft.newDatabase ? insertDatabase(catalog, id, draft.newDatabase) : draft.database;
  const firstBranch = draft.newBranches ? ((lastId(catalog, "branches") + 1) as BranchId) : null;
  const newVersions = database === null ? [] : insertVersions(catalog, { id, database, firstBranch, versions: draft.versions ?? [] });
  const resolved: Resolved = { id, database, newVersions, firstBranch };

  if (draft.newBranches) insertBranches(catalog, draft, resolved);
  const moves = draft.moves.map((move) => resolveMove(move, newVersions));
  for (const move of moves) applyMove(catalog, move, { operation: id, at: draft.at, database });
  touchBranches(catalog, draft);
  const purged = draft.purge ? applyPurge(catalog, draft.purge, id) : null;
  for (const { branch, fact } of draft.facts ?? []) storeFact(catalog, branch, resolveFact(fact, newVersions));
  if (draft.reverses !== undefined) markReversed(catalog, draft.kind, draft.reverses);

  const autosave = draft.autosave ? { ...draft.autosave, version: resolveVersion(draft.autosave.version, newVersions) } : null;
  const record: OperationRecord = {
    id,
    uid: draft.uid,
    kind: draft.kind,
    at: draft.at,
    actor: draft.actor,
    database,
    branch: draft.branch ?? firstBranch,
    state: draft.kind === "purge" ? "permanent" : "done",
    source: draft.source ?? null,
    moves,
    newBranches: draft.newBranches && firstBranch !== null ? { first: firstBranch, count: draft.newBranches.names.length } : null,
    newDatabase: draft.newDatabase ? database : null,
    newVersions,
    reverses: draft.reverses ?? null,
    autosave,
    purged,
  };
  insertOperation(catalog, record);
  return record;
}

/** What holds before anything is written: the database is live, heads are where they were seen. */
function checkScope(catalog: Connection, draft: OperationDraft): void {
  const restoresDatabase = draft.moves.some((move) => move.ref === "database-state");
  if (draft.database !== null && !restoresDatabase && draft.kind !== "purge") requireLiveDatabase(catalog, draft.database);
  for (const { branch, head } of draft.expectHeads ?? []) {
    const row = requireLiveBranch(catalog, branch);
    if (row.head !== head) throw stale(`head of ${row.name}`, `v${head}`, `v${row.head}`);
  }
  for (const move of draft.moves)
    assert(move.ref !== "head" || move.branch === draft.branch, "a head move is about the operation's branch");
}

function lastId(catalog: Connection, table: "operations" | "branches" | "databases"): number {
  return catalog.get<{ id: number | null }>(`SELECT max(id) AS id FROM ${table}`)?.id ?? 0;
}

function insertDatabase(catalog: Connection, operation: OperationId, draft: NonNullable<OperationDraft["newDatabase"]>): DatabaseId {
  const id = lastId(catalog, "databases") + 1;
  if (id > DATABASE_ID_MAX)
    throw new EngineError("unsupported", `A store holds at most ${DATABASE_ID_MAX} databases, deleted ones counted`);
  takeName("database", draft.name, () =>
    catalog.run(
      "INSERT INTO databases (id, uid, name, created_by, journal, source) VALUES (?, ?, ?, ?, ?, ?)",
      id,
      draft.uid,
      draft.name,
      operation,
      draft.journal === "wal" ? 2 : 1,
      draft.source,
    ),
  );
  return id as DatabaseId;
}

interface NewVersions {
  readonly id: OperationId;
  readonly database: DatabaseId;
  readonly firstBranch: BranchId | null;
  readonly versions: readonly NewVersion[];
}

function insertVersions(catalog: Connection, { id, database, firstBranch, versions }: NewVersions): VersionNumber[] {
  if (versions.length === 0) return [];
  const last = catalog.get<{ last: number }>("SELECT last_version AS last FROM databases WHERE id = ?", database)?.last ?? 0;
  if (last + versions.length > VERSION_NUMBER_MAX)
    throw new EngineError("unsupported", `A database holds at most ${VERSION_NUMBER_MAX} versions`);
  const numbers = versions.map((_, index) => (last + 1 + index) as VersionNumber);
  let storedBytes = 0;
  for (const [index, version] of versions.entries()) {
    const parent = version.parent === null ? null : resolveVersion(version.parent, numbers);
    if (parent !== null && parent <= last) requireVersion(catalog, database, parent);
    const key = versionKey(database, last + 1 + index);
    const branch = version.branch ?? firstBranch;
    assert(branch !== null, "a version is made by a branch");
    assert(Number.isInteger(Math.log2(version.pageSize)) && version.checksum.length === 16, "a version's page size and checksum");
    catalog.run(
      `INSERT INTO versions (key, parent, kind, operation, branch, page_size, page_count, checksum, changed_pages, message, meta)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      key,
      parent,
      versionKindCode(version.kind),
      id,
      branch,
      Math.log2(version.pageSize),
      version.pageCount,
      version.checksum,
      version.changedPages,
      version.message,
      metaText(version.meta),
    );
    insertSegment(catalog, key, parent, version.segment);
    storedBytes += version.segment.bytes;
  }
  catalog.run(
    "UPDATE databases SET last_version = last_version + ?, stored_bytes = stored_bytes + ? WHERE id = ?",
    versions.length,
    storedBytes,
    database,
  );
  return numbers;
}

function insertSegment(catalog: Connection, version: number, parent: number | null, segment: NewVersion["segment"]): void {
  const { level, bytes, inline, file, parts } = segment;
  assert((inline === null) !== (file === null), "a segment is inline or in files");
  assert(inline === null || inline.length === bytes, "an inline segment's size is its length");
  assert(level !== 0 || parent !== null, "a version without parent stands on a base");
  catalog.run(
    "INSERT INTO segments (key, bytes, parts, data) VALUES (?, ?, ?, ?)",
    segmentKey(version, level),
    inline === null ? bytes : null,
    parts,
    inline ?? file,
  );
}

function insertBranches(catalog: Connection, draft: OperationDraft, resolved: Resolved): void {
  const { newBranches } = draft;
  const { database, firstBranch, newVersions } = resolved;
  assert(newBranches !== undefined && database !== null && firstBranch !== null, "new branches have a database");
  if (newBranches.parent !== null) requireLiveBranch(catalog, newBranches.parent);
  const head = resolveVersion(newBranches.head, newVersions);
  requireVersion(catalog, database, head);
  const forkVersion = newBranches.forkVersion === null ? null : resolveVersion(newBranches.forkVersion, newVersions);
  const meta = metaText(newBranches.meta);
  // A branch without TTL was last touched when it was made: NULL. The index of expiries needs the time itself.
  const touchedAt = newBranches.ttlMs === null ? null : draft.at;
  for (const [index, name] of newBranches.names.entries()) {
    takeName("branch", name, () =>
      catalog.run(
        `INSERT INTO branches (id, database, name, head, fork_version, parent, created_by, touched_at, ttl, meta)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        firstBranch + index,
        database,
        name,
        head,
        forkVersion,
        newBranches.parent,
        resolved.id,
        touchedAt,
        newBranches.ttlMs,
        meta,
      ),
    );
  }
}

function requireVersion(catalog: Connection, database: DatabaseId, number: VersionNumber): void {
  const row = catalog.get("SELECT 1 FROM versions WHERE key = ?", versionKey(database, number));
  if (!row) throw stale(`version v${number}`, "stored", "removed");
}

function resolveVersion(ref: VersionRef, newVersions: readonly VersionNumber[]): VersionNumber {
  if (typeof ref === "number") return ref;
  const number = newVersions[ref.new];
  assert(number !== undefined, `the operation brings a version ${ref.new}`);
  return number;
}

function resolveMove(move: Move, newVersions: readonly VersionNumber[]): Move {
  if (move.ref === "head")
    return { ...move, before: resolveVersion(move.before, newVersions), after: resolveVersion(move.after, newVersions) };
  if (move.ref !== "checkpoint") return move;
  const before = move.before === null ? null : resolveVersion(move.before, newVersions);
  const after = move.after === null ? null : resolveVersion(move.after, newVersions);
  const name = move.name === AUTOMATIC_CHECKPOINT ? automaticName(after ?? before ?? 0) : move.name;
  return { ...move, name, before, after };
}

/** TTL counts from the last operation that moved something of the branch. */
function touchBranches(catalog: Connection, draft: OperationDraft): void {
  const touched = new Set<number>();
  for (const move of draft.moves) if ("branch" in move) touched.add(move.branch);
  if (draft.kind === "touch" && draft.branch !== null) touched.add(requireLiveBranch(catalog, draft.branch).id);
  for (const branch of touched) catalog.run("UPDATE branches SET touched_at = ? WHERE id = ?", draft.at, branch);
}

function resolveFact(draft: NonNullable<OperationDraft["facts"]>[number]["fact"], newVersions: readonly VersionNumber[]): CheckoutFact {
  return { ...draft, base: resolveVersion(draft.base, newVersions), content: resolveVersion(draft.content, newVersions) };
}

/** Also used by `Catalog.setFact`. */
export function storeFact(catalog: Connection, branch: BranchId, fact: CheckoutFact | null): void {
  if (fact === null) catalog.run("DELETE FROM facts WHERE branch = ?", branch);
  else
    catalog.run(
      "INSERT OR REPLACE INTO facts (branch, base, content, fingerprint) VALUES (?, ?, ?, ?)",
      branch,
      fact.base,
      fact.content,
      fact.fingerprint,
    );
}

/** An undo marks what it reverses, a redo unmarks it; an operation that is not in the right state refuses. */
function markReversed(catalog: Connection, kind: OperationDraft["kind"], operation: OperationId): void {
  assert(kind === "undo" || kind === "redo", "only undo and redo reverse an operation");
  const [before, after] = kind === "undo" ? [0, 1] : [1, 0];
  const { changes } = catalog.run("UPDATE operations SET state = ? WHERE id = ? AND state = ?", after, operation, before);
  if (changes === 1) return;
  const state = catalog.get<{ state: number }>("SELECT state FROM operations WHERE id = ?", operation)?.state;
  const found = state === undefined ? "no such operation" : (["done", "undone", "permanent"][state] ?? String(state));
  throw stale(`operation ${operation}`, kind === "undo" ? "done" : "undone", found);
}

function insertOperation(catalog: Connection, record: OperationRecord): void {
  catalog.run(
    "INSERT INTO operations (id, uid, kind, at, actor, database, branch, state, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    record.id,
    record.uid,
    operationKindCode(record.kind),
    record.at,
    actorId(catalog, record.actor),
    record.database,
    record.branch,
    record.state === "permanent" ? 2 : 0,
    encodeDetail(record),
  );
}

function actorId(catalog: Connection, name: string): number {
  const known = catalog.get<{ id: number }>("SELECT id FROM actors WHERE name = ?", name);
  return known?.id ?? catalog.run("INSERT INTO actors (name) VALUES (?)", name).lastInsertRowid;
}
