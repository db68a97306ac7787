/**
 * What keeps versions from being removed, one by one: refs of branches, and operations inside the undo window. Garbage
 * collection removes what none of these keeps; usage tells by the same list who would have to go first.
 */
import type { UnixMs } from "#shared/ids.ts";
import type { Catalog } from "./catalog.ts";
import { operationKindOf } from "./codes.ts";
import type { Connection } from "./connection.ts";
import { decodeDetail, type OperationDetail } from "./operation-detail.ts";
import type { OperationRecord } from "./records.ts";
import { STATE, versionOfKey } from "./schema.ts";

export interface UndoWindow {
  readonly now: UnixMs;
  readonly undoWindowMs: number;
}

/** One reason for which a version and its ancestors stay. */
export interface Claim {
  readonly database: number;
  readonly version: number;
  readonly by: "head" | "fork" | "checkpoint" | "file" | "undo";
  /**
   * The branches of which any one ends this reason when it is purged: of a ref its own; of an operation all that its undo
   * would touch, because a purge strands it (`isStrandedWith`). Empty: time alone ends it, or a purge of the database.
   */
  readonly branches: readonly number[];
}

/** Calls `visit` with every reason there is, in one state of the catalog. Single scans: no query for each branch. */
export function visitClaims(catalog: Pick<Catalog, "connection">, undo: UndoWindow, visit: (claim: Claim) => void): void {
  visitBranches(catalog.connection, visit);
  visitCheckpoints(catalog.connection, visit);
  visitUndo(catalog.connection, undo, visit);
}

function visitBranches(connection: Connection, visit: (claim: Claim) => void): void {
  type Refs = { id: number; database: number; head: number; fork: number | null };
  // All at once: of a hundred thousand rows, one by one takes twice as long.
  for (const { id, database, head, fork } of connection.all<Refs>(
    "SELECT id, database, head, fork_version AS fork FROM branches WHERE state < 2",
  )) {
    const branches = [id];
    visit({ database, version: head, by: "head", branches });
    if (fork !== null) visit({ database, version: fork, by: "fork", branches });
  }
  type Fact = { branch: number; database: number; base: number; content: number };
  const facts = "SELECT f.branch, b.database, f.base, f.content FROM facts f JOIN branches b ON b.id = f.branch";
  for (const { branch, database, base, content } of connection.iterate<Fact>(facts)) {
    const branches = [branch];
    visit({ database, version: base, by: "file", branches });
    if (content !== base) visit({ database, version: content, by: "file", branches });
  }
}

/** Automatic names of a purged branch are still on its versions: they count no more. */
function visitCheckpoints(connection: Connection, visit: (claim: Claim) => void): void {
  const sql = `SELECT c.branch, c.version AS key FROM checkpoints c JOIN branches b ON b.id = c.branch WHERE b.state < ${STATE.purged}
    UNION ALL SELECT v.branch, v.key FROM versions v JOIN branches b ON b.id = v.branch WHERE v.kind >= 16 AND b.state < ${STATE.purged}`;
  for (const { branch, key } of connection.iterate<{ branch: number; key: number }>(sql)) {
    const { database, number } = versionOfKey(key);
    visit({ database, version: number, by: "checkpoint", branches: [branch] });
  }
}

function visitUndo(connection: Connection, { now, undoWindowMs }: UndoWindow, visit: (claim: Claim) => void): void {
  type Row = { kind: number; database: number; detail: Uint8Array };
  // An operation without detail moves nothing. State 2: a purge made it permanent.
  const sql = "SELECT kind, database, detail FROM operations WHERE at >= ? AND state <> 2 AND database IS NOT NULL AND detail IS NOT NULL";
  for (const { kind, database, detail } of connection.iterate<Row>(sql, now - undoWindowMs)) {
    const operation = { kind: operationKindOf(kind), ...decodeDetail(detail) };
    const versions = versionsOf(operation);
    if (versions.length === 0) continue;
    const branches = branchesOf(operation);
    for (const version of versions) visit({ database, version, by: "undo", branches });
  }
}

/** Versions that an operation's undo or redo needs. */
export function versionsOf(operation: Pick<OperationRecord, "kind" | "autosave" | "newVersions" | "moves">): number[] {
  const numbers: number[] = operation.autosave ? [operation.autosave.version, operation.autosave.base] : [];
  // Saved before a file was taken away: reached by its number.
  if (operation.kind === "autosave") numbers.push(...operation.newVersions);
  for (const move of operation.moves) {
    if (move.ref !== "head" && move.ref !== "checkpoint") continue;
    for (const version of [move.before, move.after]) if (typeof version === "number") numbers.push(version);
  }
  return numbers;
}

/** Branches that an operation's undo or redo needs. */
function branchesOf({ moves, newBranches }: Pick<OperationDetail, "moves" | "newBranches">): number[] {
  const branches = new Set<number>();
  if (newBranches) for (let index = 0; index < newBranches.count; index += 1) branches.add(newBranches.first + index);
  for (const move of moves) if ("branch" in move) branches.add(move.branch);
  return [...branches];
}

/** Whether a purge of these leaves an operation's undo without a branch, or a database, that it needs. */
export function isStrandedWith(
  operation: Pick<OperationRecord, "database" | "moves" | "newBranches">,
  branches: ReadonlySet<number>,
  databases: ReadonlySet<number>,
): boolean {
  if (operation.database !== null && databases.has(operation.database)) return true;
  return branchesOf(operation).some((branch) => branches.has(branch));
}
