/**
 * Undo and redo. An operation's inverse is its moves swapped, with what it brought (branches, a database) moved to the
 * trash; a redo repeats its moves and takes that out of the trash. Both are operations like any other: they name what
 * each ref must be, and are refused when it is not.
 *
 * Each actor has a cursor of their own, as in an editor: undo takes their newest operation that is done, redo their
 * newest undo that no redo answers, unless they did something new since. Neither keeps state: both are read off the log.
 */
import type { BranchId, DatabaseId, OperationId, UnixMs } from "#shared/ids.ts";
import { EngineError } from "../io/errors.ts";
import type { Catalog } from "./catalog.ts";
import type { BranchRecord, Move, OperationDraft, OperationRecord } from "./records.ts";
import { TouchedRefs } from "./touched-refs.ts";

type Log = Pick<Catalog, "operations" | "branches" | "databases" | "snapshot">;

export interface ReversalPlan {
  readonly kind: "undo" | "redo";
  /** The operation that is reversed or reapplied, never an undo or redo itself. */
  readonly operation: OperationRecord;
  /** What to commit, once the caller adds uid, time, actor and facts. */
  readonly draft: Pick<OperationDraft, "kind" | "database" | "branch" | "moves" | "reverses">;
  /** Later operations in its way, which must be undone first, the newest first. */
  readonly blockedBy: readonly OperationRecord[];
}

/** The moves that take an operation back. */
function inverseMoves(operation: OperationRecord): Move[] {
  const moves = operation.moves.toReversed().map(swap);
  moves.push(...movesOfNew(operation, "live", "trashed"));
  if (operation.newDatabase !== null)
    moves.push({ ref: "database-state", database: operation.newDatabase, before: "live", after: "trashed" });
  return moves;
}

/** The moves that do an operation again after its undo. */
function repeatedMoves(operation: OperationRecord): Move[] {
  const moves: Move[] = [];
  if (operation.newDatabase !== null)
    moves.push({ ref: "database-state", database: operation.newDatabase, before: "trashed", after: "live" });
  return [...moves, ...movesOfNew(operation, "trashed", "live"), ...operation.moves];
}

/** A database's own branches go to the trash and come back with it. */
function movesOfNew(operation: OperationRecord, before: "live" | "trashed", after: "live" | "trashed"): Move[] {
  const { newBranches, newDatabase } = operation;
  if (!newBranches || newDatabase !== null) return [];
  return Array.from({ length: newBranches.count }, (_, index) => ({
    ref: "branch-state",
    branch: (newBranches.first + index) as BranchId,
    before,
    after,
  }));
}

function swap(move: Move): Move {
  switch (move.ref) {
    case "head":
      return { ...move, before: move.after, after: move.before };
    case "branch-state":
    case "database-state":
      return { ...move, before: move.after, after: move.before };
    case "branch-name":
    case "database-name":
      return { ...move, before: move.after, after: move.before };
    case "protected":
      return { ...move, before: move.after, after: move.before };
    case "ttl":
      return { ...move, before: move.after, after: move.before };
    case "meta":
      return { ...move, before: move.after, after: move.before };
    case "epoch":
      return { ...move, before: move.after, after: move.before };
    case "checkpoint":
      return { ...move, before: move.after, after: move.before };
    default:
      return move satisfies never;
  }
}

/**
 * Plans the undo of an operation; given an undo or redo, the reversal of that: a redo or undo of what it was about.
 * Throws `operation-not-found`, `undo-blocked` for a permanent operation, `nothing-to-undo` when it moved nothing or was
 * taken back already: asking twice never does it again.
 */
export function planUndo(log: Log, id: OperationId): ReversalPlan {
  return log.snapshot(() => {
    const given = requireOperation(log, id);
    const operation = given.reverses === null ? given : requireOperation(log, given.reverses);
    const kind = given.kind === "undo" ? "redo" : "undo";
    if (operation.state === (kind === "undo" ? "undone" : "done")) {
      throw new EngineError("nothing-to-undo", `Operation ${id} was taken back already`, {
        ...(kind === "undo" ? { hint: "Redo does it again" } : {}),
        untouched: "Nothing was changed.",
      });
    }
    return plan(log, kind, operation);
  });
}

/** Plans doing an undone operation again. */
export function planRedo(log: Log, operation: OperationRecord): ReversalPlan {
  return log.snapshot(() => plan(log, "redo", operation));
}

function requireOperation(log: Log, id: OperationId): OperationRecord {
  const operation = log.operations.byId(id);
  if (operation) return operation;
  throw new EngineError("operation-not-found", `There is no operation ${id}`, { untouched: "Nothing was changed." });
}

function plan(log: Log, kind: "undo" | "redo", operation: OperationRecord): ReversalPlan {
  const untouched = "Nothing was changed.";
  if (operation.state === "permanent") {
    throw new EngineError(
      "undo-blocked",
      `Operation ${operation.id} cannot be ${kind === "undo" ? "undone" : "redone"}: what it needs was purged`,
      { untouched },
    );
  }
  if (!movesAnything(operation)) throw new EngineError("nothing-to-undo", `Operation ${operation.id} moved nothing`, { untouched });
  const moves = kind === "undo" ? inverseMoves(operation) : repeatedMoves(operation);
  const draft = { kind, database: operation.database, branch: operation.branch, moves, reverses: operation.id } as const;
  return { kind, operation, draft, blockedBy: findBlockers(log, operation, moves) };
}

function movesAnything(operation: OperationRecord): boolean {
  return operation.moves.length > 0 || operation.newBranches !== null || operation.newDatabase !== null;
}

/**
 * Done operations that moved the same refs later, and those that in turn moved theirs: the chain, the newest first. Throws
 * `undo-blocked` when one of them can never be undone.
 */
function findBlockers(log: Log, operation: OperationRecord, moves: readonly Move[]): OperationRecord[] {
  const since = lastTurn(log, operation);
  const database = scopeOf(operation);
  let { blockers, final } = collectBlockers(log, operation, moves, log.operations.standing(database, since));
  // Only undos tell whether what a purge made permanent was taken back before.
  if (final.size > 0) ({ blockers, final } = collectBlockers(log, operation, moves, log.operations.forwards(database, since)));
  const [first] = final;
  if (first !== undefined)
    throw new EngineError(
      "undo-blocked",
      `Operation ${operation.id} cannot be undone any more: operation ${first} stands on it, and what that one needs was purged`,
      { hint: "Roll back to the version that you want", untouched: "Nothing was changed.", details: { operations: [...final] } },
    );
  return [...blockers.values()].toReversed();
}

/** From the oldest on: what is in the way, and of that what can never be undone. */
function collectBlockers(
  log: Log,
  operation: OperationRecord,
  moves: readonly Move[],
  entries: Iterable<OperationRecord>,
): { readonly blockers: ReadonlyMap<OperationId, OperationRecord>; readonly final: ReadonlySet<OperationId> } {
  const refs = new TouchedRefs();
  refs.add(operation);
  const blockers = new Map<OperationId, OperationRecord>();
  const final = new Set<OperationId>();
  const nameTakers = new Set(findNameTakers(log, operation, moves));
  for (const entry of entries) {
    // What a purge made permanent stays as it was last done or undone.
    if (entry.kind === "undo" && entry.reverses !== null) final.delete(entry.reverses);
    const later = entry.kind === "redo" && entry.reverses !== null ? log.operations.byId(entry.reverses) : entry;
    if (!later || later.id === operation.id || later.reverses !== null || later.state === "undone") continue;
    if (!refs.meets(later) && !nameTakers.has(later.id)) continue;
    if (later.state === "permanent") {
      final.add(later.id);
      continue;
    }
    refs.add(later);
    for (const taker of findNameTakers(log, later, inverseMoves(later))) nameTakers.add(taker);
    // A redone operation stands where it was last done.
    blockers.delete(later.id);
    blockers.set(later.id, later);
  }
  return { blockers, final };
}

/** The entry that last did or undid an operation: what came before it does not stand in the way. */
function lastTurn(log: Log, operation: OperationRecord): OperationId {
  if (operation.reverses !== null) return operation.id;
  // What is done was last redone, if anything; what is undone was last undone.
  const kind = operation.state === "undone" ? "undo" : "redo";
  for (const entry of log.operations.backwards({ ...scopeOf(operation), kind }, operation.id)) {
    if (entry.reverses === operation.id) return entry.id;
  }
  return operation.id;
}

function scopeOf(operation: OperationRecord): { database?: DatabaseId } {
  return operation.database === null ? {} : { database: operation.database };
}

/** Operations that gave a name, which one of these moves needs, to something else. */
function findNameTakers(log: Log, operation: OperationRecord, moves: readonly Move[]): OperationId[] {
  const takers: OperationId[] = [];
  for (const move of moves) {
    const holder = nameHolder(log, operation, move);
    if (holder) takers.push(lastNaming(log, holder));
  }
  return takers;
}

interface NameHolder {
  readonly branch: BranchId | null;
  readonly database: DatabaseId;
  readonly createdBy: OperationId;
}

function nameHolder(log: Log, operation: OperationRecord, move: Move): NameHolder | null {
  if (move.ref === "branch-name" || (move.ref === "branch-state" && move.after === "live")) {
    const holder = move.ref === "branch-name" ? branchNamed(log, operation, move.after) : namesakeOf(log, move.branch);
    return holder && holder.id !== move.branch ? { branch: holder.id, database: holder.database, createdBy: holder.createdBy } : null;
  }
  if (move.ref === "database-name" || (move.ref === "database-state" && move.after === "live")) {
    const name = move.ref === "database-name" ? move.after : log.databases.byId(move.database)?.name;
    const holder = name === undefined ? null : log.databases.byName(name);
    return holder && holder.id !== move.database ? { branch: null, database: holder.id, createdBy: holder.createdBy } : null;
  }
  return null;
}

function branchNamed(log: Log, operation: OperationRecord, name: string): BranchRecord | null {
  return operation.database === null ? null : log.branches.byName(operation.database, name);
}
function namesakeOf(log: Log, branch: BranchId): BranchRecord | null {
  const holder = log.branches.namesake(branch);
  return holder === null ? null : log.branches.byId(holder);
}

function lastNaming(log: Log, holder: NameHolder): OperationId {
  for (const entry of log.operations.backwards({ database: holder.database }, holder.createdBy)) {
    if (entry.state !== "done" || entry.reverses !== null) continue;
    if (entry.moves.some((move) => namesHolder(move, holder))) return entry.id;
  }
  return holder.createdBy;
}

function namesHolder(move: Move, holder: NameHolder): boolean {
  if (move.ref === "branch-name" || move.ref === "branch-state") return move.branch === holder.branch;
  return holder.branch === null && (move.ref === "database-name" || move.ref === "database-state") && move.database === holder.database;
}

export interface CursorScope {
  readonly actor: string;
  readonly database?: DatabaseId | undefined;
  /** Operations from before this time are not taken by themselves. */
  readonly since: UnixMs;
}

/** What `undo` without an argument takes; null when the actor has nothing to undo. */
export function lastUndoable(log: Log, scope: CursorScope): OperationRecord | null {
  for (const entry of log.operations.backwards({ actor: scope.actor, database: scope.database })) {
    if (entry.at < scope.since) return null;
    if (isFresh(entry) && entry.state === "done") return entry;
  }
  return null;
}

/** What `redo` takes; null when the actor has nothing to redo. */
export function lastRedoable(log: Log, scope: CursorScope): OperationRecord | null {
  const answered = new Map<OperationId, number>();
  for (const entry of log.operations.backwards({ actor: scope.actor, database: scope.database })) {
    if (isFresh(entry) || entry.at < scope.since) return null;
    if (entry.reverses === null) continue;
    const redone = answered.get(entry.reverses) ?? 0;
    if (entry.kind === "redo") {
      answered.set(entry.reverses, redone + 1);
    } else if (redone > 0) {
      answered.set(entry.reverses, redone - 1);
    } else {
      const operation = log.operations.byId(entry.reverses);
      // Somebody else may have redone it meanwhile.
      if (operation?.state === "undone") return operation;
    }
  }
  return null;
}

/** Something the actor did and can take back: expiry is no one's act, a purge is for good. */
function isFresh(entry: OperationRecord): boolean {
  return entry.reverses === null && entry.kind !== "expire" && entry.kind !== "purge" && movesAnything(entry);
}
