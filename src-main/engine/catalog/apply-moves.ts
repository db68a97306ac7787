/** One move of one ref: checks what it must be, writes what it becomes. */
import Database from "better-sqlite3";
import { assert, assertNever } from "#shared/assert.ts";
import type { BranchId, DatabaseId, OperationId, UnixMs, VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { EngineError } from "../io/errors.ts";
import { AUTOMATIC_FLAG } from "./codes.ts";
import type { Connection } from "./connection.ts";
import { automaticName } from "./operation-detail.ts";
import type { Move } from "./records.ts";
import { metaOf, metaText } from "./rows.ts";
import { STATE, versionKey } from "./schema.ts";

export interface MoveContext {
  readonly operation: OperationId;
  readonly at: UnixMs;
  readonly database: DatabaseId | null;
}

interface BranchState {
  readonly id: number;
  readonly database: number;
  readonly name: string;
  readonly state: number;
  readonly head: number;
  readonly protected: number;
  readonly ttl: number | null;
  readonly meta: string | null;
  readonly epoch: number;
}

export function stale(ref: string, expected: string, found: string): EngineError {
  return new EngineError("stale-precondition", `The store has moved on: ${ref} is ${found}, expected ${expected}`, {
    details: { name: ref, expected, found },
    untouched: "Nothing was changed.",
    hint: "Look at the current state and try again.",
  });
}

/** Runs an insert or update that claims a name; the unique index on live names is what refuses. */
export function takeName(kind: "database" | "branch", name: string, claim: () => unknown): void {
  try {
    claim();
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || error.code !== "SQLITE_CONSTRAINT_UNIQUE") throw error;
    throw new EngineError("name-taken", `There is already a ${kind} named ${name}`, {
      details: { name },
      untouched: "Nothing was changed.",
      cause: error,
    });
  }
}

function findBranch(catalog: Connection, branch: BranchId): BranchState {
  const row = catalog.get<BranchState>(
    "SELECT id, database, name, state, head, protected, ttl, meta, epoch FROM branches WHERE id = ?",
    branch,
  );
  if (!row) throw stale(`branch ${branch}`, "live", "missing");
  return row;
}

function stateWord(state: number): string {
  return state === STATE.live ? "live" : state === STATE.trashed ? "trashed" : "purged";
}

export function requireLiveBranch(catalog: Connection, branch: BranchId): BranchState {
  const row = findBranch(catalog, branch);
  if (row.state !== STATE.live) throw stale(`branch ${row.name}`, "live", stateWord(row.state));
  return row;
}

export function requireLiveDatabase(catalog: Connection, database: DatabaseId): void {
  const row = catalog.get<{ name: string; state: number }>("SELECT name, state FROM databases WHERE id = ?", database);
  if (row?.state !== STATE.live) throw stale(`database ${row?.name ?? database}`, "live", row ? stateWord(row.state) : "missing");
}

/** The move's versions are resolved to numbers. */
export function applyMove(catalog: Connection, move: Move, context: MoveContext): void {
  switch (move.ref) {
    case "head":
      moveHead(catalog, move);
      return;
    case "branch-state":
      moveBranchState(catalog, move, context);
      return;
    case "branch-name": {
      // A trashed one too: it may come back under another name when its own was taken.
      const row = findBranch(catalog, move.branch);
      if (row.state === STATE.purged) throw stale(`branch ${row.name}`, "live or trashed", "purged");
      if (row.name !== move.before) throw stale(`name of branch ${row.id}`, move.before, row.name);
      takeName("branch", move.after, () => catalog.run("UPDATE branches SET name = ? WHERE id = ?", move.after, move.branch));
      rememberName(catalog, move.branch, context.operation, move.before);
      return;
    }
    case "protected": {
      const row = requireLiveBranch(catalog, move.branch);
      if ((row.protected === 1) !== move.before) throw stale(`protection of ${row.name}`, String(move.before), String(!move.before));
      catalog.run("UPDATE branches SET protected = ? WHERE id = ?", Number(move.after), move.branch);
      return;
    }
    case "ttl": {
      const row = requireLiveBranch(catalog, move.branch);
      if (row.ttl !== move.before) throw stale(`TTL of ${row.name}`, String(move.before), String(row.ttl));
      // In one statement with the time it counts from, which a branch without TTL may not have stored.
      catalog.run("UPDATE branches SET ttl = ?, touched_at = ? WHERE id = ?", move.after, context.at, move.branch);
      return;
    }
    case "meta": {
      const row = requireLiveBranch(catalog, move.branch);
      const [before, found] = [metaText(move.before), metaText(metaOf(row.meta))];
      if (before !== found) throw stale(`metadata of ${row.name}`, before ?? "{}", found ?? "{}");
      catalog.run("UPDATE branches SET meta = ? WHERE id = ?", metaText(move.after), move.branch);
      return;
    }
    case "epoch": {
      const row = requireLiveBranch(catalog, move.branch);
      if (row.epoch !== move.before) throw stale(`epoch of ${row.name}`, String(move.before), String(row.epoch));
      catalog.run("UPDATE branches SET epoch = ? WHERE id = ?", move.after, move.branch);
      return;
    }
    case "checkpoint":
      moveCheckpoint(catalog, move, context);
      return;
    case "database-state":
      moveDatabaseState(catalog, move, context);
      return;
    case "database-name":
      moveDatabaseName(catalog, move, context);
      return;
    default:
      assertNever(move);
  }
}

function moveHead(catalog: Connection, move: Extract<Move, { ref: "head" }>): void {
  const row = requireLiveBranch(catalog, move.branch);
  const after = numberOf(move.after);
  if (row.head !== move.before) throw stale(`head of ${row.name}`, `v${numberOf(move.before)}`, `v${row.head}`);
  if (!catalog.get("SELECT 1 FROM versions WHERE key = ?", versionKey(row.database, after)))
    throw stale(`version v${after}`, "stored", "removed");
  catalog.run("UPDATE branches SET head = ? WHERE id = ?", after, move.branch);
}

function moveBranchState(catalog: Connection, move: Extract<Move, { ref: "branch-state" }>, context: MoveContext): void {
  const row = findBranch(catalog, move.branch);
  if (stateWord(row.state) !== move.before) throw stale(`branch ${row.name}`, move.before, stateWord(row.state));
  if (move.after === "trashed") {
    const purgeAt = context.at + LIMITS.trashKeepMs;
    const sql = "UPDATE branches SET state = 1, trashed_by = ?, purge_at = ? WHERE id = ?";
    catalog.run(sql, context.operation, purgeAt, move.branch);
  } else {
    // The time first: a TTL that ran out in the trash starts anew.
    const sql = "UPDATE branches SET touched_at = ?, state = 0, trashed_by = NULL, purge_at = NULL WHERE id = ?";
    takeName("branch", row.name, () => catalog.run(sql, context.at, move.branch));
  }
}

function moveDatabaseState(catalog: Connection, move: Extract<Move, { ref: "database-state" }>, context: MoveContext): void {
  const row = catalog.get<{ name: string; state: number }>("SELECT name, state FROM databases WHERE id = ?", move.database);
  const found = row ? stateWord(row.state) : "missing";
  if (!row || found !== move.before) throw stale(`database ${row?.name ?? move.database}`, move.before, found);
  if (move.after === "trashed") {
    const purgeAt = context.at + LIMITS.trashKeepMs;
    const sql = "UPDATE databases SET state = 1, trashed_by = ?, purge_at = ? WHERE id = ?";
    catalog.run(sql, context.operation, purgeAt, move.database);
  } else {
    const sql = "UPDATE databases SET state = 0, trashed_by = NULL, purge_at = NULL WHERE id = ?";
    takeName("database", row.name, () => catalog.run(sql, move.database));
  }
}

function moveDatabaseName(catalog: Connection, move: Extract<Move, { ref: "database-name" }>, context: MoveContext): void {
  const row = catalog.get<{ name: string }>("SELECT name FROM databases WHERE id = ?", move.database);
  if (row?.name !== move.before) throw stale(`name of database ${move.database}`, move.before, row?.name ?? "missing");
  takeName("database", move.after, () => catalog.run("UPDATE databases SET name = ? WHERE id = ?", move.after, move.database));
  rememberName(catalog, -move.database, context.operation, move.before);
}

/** Keeps the name that an owner (a branch's id, or a database's negated) had until an operation. */
function rememberName(catalog: Connection, owner: number, operation: OperationId, name: string): void {
  catalog.run("INSERT OR IGNORE INTO former_names (owner, until, name) VALUES (?, ?, ?)", owner, operation, name);
}

function moveCheckpoint(catalog: Connection, move: Extract<Move, { ref: "checkpoint" }>, context: MoveContext): void {
  const row = requireLiveBranch(catalog, move.branch);
  const found = checkpointVersion(catalog, row, move.name);
  const before = move.before === null ? null : numberOf(move.before);
  const after = move.after === null ? null : numberOf(move.after);
  if (found !== before) throw stale(`checkpoint ${move.name} of ${row.name}`, versionWord(before), versionWord(found));
  checkAutomaticName(move.name, after);
  if (before !== null) clearCheckpoint(catalog, row, move.name, before);
  if (after !== null) setCheckpoint(catalog, row, { name: move.name, version: after, operation: context.operation });
}

function versionWord(version: number | null): string {
  return version === null ? "none" : `v${version}`;
}

function checkAutomaticName(name: string, version: number | null): void {
  if (version === null || !/^auto-\d+$/.test(name) || name === automaticName(version)) return;
  throw new EngineError("bad-name", `A checkpoint of v${version} cannot be named ${name}: that names v${name.slice(5)}`, {
    details: { name },
    untouched: "Nothing was changed.",
  });
}

/** Version of an own checkpoint of a branch; null when it has none of that name. */
function checkpointVersion(catalog: Connection, branch: BranchState, name: string): number | null {
  const named = catalog.get<{ version: number }>("SELECT version FROM checkpoints WHERE branch = ? AND name = ?", branch.id, name);
  if (named) return named.version - versionKey(branch.database, 0);
  const automatic = /^auto-([1-9]\d*)$/.exec(name);
  if (!automatic) return null;
  const number = Number(automatic[1]);
  const row = catalog.get(
    "SELECT 1 FROM versions WHERE key = ? AND branch = ? AND kind >= 16",
    versionKey(branch.database, number),
    branch.id,
  );
  return row ? number : null;
}

/** An automatic name is a flag on the version when the branch made it, and a row when it only points there. */
function setCheckpoint(
  catalog: Connection,
  branch: BranchState,
  checkpoint: { name: string; version: number; operation: OperationId },
): void {
  const key = versionKey(branch.database, checkpoint.version);
  const version = catalog.get<{ branch: number }>("SELECT branch FROM versions WHERE key = ?", key);
  if (!version) throw stale(`version v${checkpoint.version}`, "stored", "removed");
  if (version.branch === branch.id && checkpoint.name === automaticName(checkpoint.version)) {
    catalog.run(`UPDATE versions SET kind = kind + ${AUTOMATIC_FLAG} WHERE key = ?`, key);
  } else {
    const sql = "INSERT INTO checkpoints (branch, name, version, operation) VALUES (?, ?, ?, ?)";
    catalog.run(sql, branch.id, checkpoint.name, key, checkpoint.operation);
  }
}

function clearCheckpoint(catalog: Connection, branch: BranchState, name: string, version: number): void {
  const { changes } = catalog.run("DELETE FROM checkpoints WHERE branch = ? AND name = ?", branch.id, name);
  if (changes > 0) return;
  catalog.run(`UPDATE versions SET kind = kind - ${AUTOMATIC_FLAG} WHERE key = ?`, versionKey(branch.database, version));
}

function numberOf(version: VersionNumber | { readonly new: number }): VersionNumber {
  assert(typeof version === "number", "a move's versions are resolved");
  return version;
}
