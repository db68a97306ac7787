/** Operations in words, as the Activity screen, toasts and `coppice ops` show them. */
import type { BranchId, DatabaseId, OperationId, VersionNumber } from "#shared/ids.ts";
import { formatDuration } from "#shared/units.ts";
import type { Catalog } from "./catalog.ts";
import type { Move, OperationRecord } from "./records.ts";

/** Names as they were right after the operation that is described. */
export interface NamesThen {
  branch(id: BranchId): string;
  database(id: DatabaseId): string;
  /** Another operation with its own names, for undo and redo; null when the log does not have it. */
  operation(id: OperationId): { readonly record: OperationRecord; readonly names: NamesThen } | null;
}

export function namesAt(catalog: Pick<Catalog, "branches" | "databases" | "operations">, operation: OperationId): NamesThen {
  return {
    branch: (id) => catalog.branches.nameAt(id, operation),
    database: (id) => catalog.databases.nameAt(id, operation),
    operation: (id) => {
      const record = catalog.operations.byId(id);
      return record ? { record, names: namesAt(catalog, id) } : null;
    },
  };
}

/** One line: "Promoted attempt-2 → main". */
export function summariseOperation(operation: OperationRecord, names: NamesThen): string {
  const branch = operation.branch === null ? "" : names.branch(operation.branch);
  const database = operation.database === null ? "" : names.database(operation.database);
  const { kind, moves } = operation;
  switch (kind) {
    case "create-database":
      return `Created ${database}`;
    case "drop-database":
      return `Dropped ${database}`;
    case "restore-database":
      return `Restored ${database}`;
    case "rename-database":
    case "rename":
      return `Renamed ${renamed(moves) ?? (kind === "rename" ? branch : database)}`;
    case "fork":
      return `Forked ${forked(operation, names)} from ${branch}`;
    case "checkpoint":
      return `Checkpoint ${checkpointWords(moves) ?? "made"} on ${branch}`;
    case "autosave":
      return `Saved unsaved changes of ${branch}${onVersion(operation.newVersions[0])}`;
    case "rollback":
      return staysAt(moves) ? `Took ${branch} back to ${staysAt(moves)}` : `Rolled back ${branch} ${headWords(moves)}`.trimEnd();
    case "promote":
      return `Promoted ${operation.source === null ? headWords(moves) : names.branch(operation.source)} → ${branch}`;
    case "destroy":
      return `Moved ${statedBranches(moves, names) ?? branch} to the trash`;
    case "restore":
      return `Restored ${statedBranches(moves, names) ?? branch}`;
    case "expire":
      return `Expired ${statedBranches(moves, names) ?? branch}`;
    case "protect":
      return `Protected ${branch}`;
    case "unprotect":
      return `Unprotected ${branch}`;
    case "touch":
      return ttlWords(moves, branch);
    case "set-meta":
      return `Changed metadata of ${branch}`;
    case "rename-checkpoint":
      return `Renamed checkpoint ${checkpointWords(moves) ?? ""} on ${branch}`;
    case "delete-checkpoint":
      return `Deleted checkpoint ${checkpointWords(moves) ?? ""} on ${branch}`;
    case "purge":
      return purgeWords(operation, names);
    case "undo":
    case "redo":
      return `${kind === "undo" ? "Undid" : "Redid"}: ${reversedWords(operation, names)}`;
    default:
      return kind satisfies never;
  }
}

/** One line per ref that an operation, or a draft, moves: "main: v12 → v9". */
export function describeMoves(moves: readonly Move[], names: NamesThen): string[] {
  const lines: string[] = [];
  const states = moves.filter((move) => move.ref === "branch-state");
  for (const move of moves) {
    if (move.ref === "branch-state" && states.length > STATES_LISTED_MAX) continue;
    lines.push(describeMove(move, names));
  }
  const [first] = states;
  if (first && states.length > STATES_LISTED_MAX) lines.push(`${states.length} branches: ${stateWords(first.before, first.after)}`);
  return lines;
}
const STATES_LISTED_MAX = 10;

function describeMove(move: Move, names: NamesThen): string {
  if (move.ref === "database-state") return `${names.database(move.database)}: ${stateWords(move.before, move.after)}`;
  if (move.ref === "database-name") return `database ${move.before} → ${move.after}`;
  const branch = names.branch(move.branch);
  switch (move.ref) {
    case "head":
      if (move.before === move.after) return `${branch}: the file and its unsaved work, at ${versionWord(move.after)}`;
      return `${branch}: ${versionWord(move.before)} → ${versionWord(move.after)}`;
    case "branch-state":
      return `${branch}: ${stateWords(move.before, move.after)}`;
    case "branch-name":
      return `branch ${move.before} → ${move.after}`;
    case "protected":
      return `${branch}: ${move.after ? "protected" : "no longer protected"}`;
    case "ttl":
      return `${branch}: TTL ${ttlWord(move.before)} → ${ttlWord(move.after)}`;
    case "meta":
      return `${branch}: metadata ${JSON.stringify(move.before)} → ${JSON.stringify(move.after)}`;
    case "epoch":
      return `${branch}: epoch ${move.before} → ${move.after}`;
    case "checkpoint":
      return `${branch}: checkpoint ${move.name} ${versionWord(move.before)} → ${versionWord(move.after)}`;
    default:
      return move satisfies never;
  }
}

function stateWords(before: "live" | "trashed", after: "live" | "trashed"): string {
  return before === "live" && after === "trashed" ? "to the trash" : "back from the trash";
}
function versionWord(version: VersionNumber | { readonly new: number } | null): string {
  return version === null ? "none" : typeof version === "number" ? `v${version}` : "new";
}
function ttlWord(ttlMs: number | null): string {
  return ttlMs === null ? "none" : formatDuration(ttlMs);
}

function renamed(moves: readonly Move[]): string | null {
  const move = moves.find((one) => one.ref === "branch-name" || one.ref === "database-name");
  return move ? `${move.before} → ${move.after}` : null;
}

function forked(operation: OperationRecord, names: NamesThen): string {
  const { newBranches } = operation;
  if (!newBranches) return "nothing";
  const first = names.branch(newBranches.first);
  if (newBranches.count === 1) return first;
  const last = names.branch((newBranches.first + newBranches.count - 1) as BranchId);
  return `${first} … ${last} (${newBranches.count})`;
}

function onVersion(version: VersionNumber | undefined): string {
  return version === undefined ? "" : ` as v${version}`;
}

/** The head that a rollback keeps when it only discards unsaved work. */
function staysAt(moves: readonly Move[]): string | null {
  const move = moves.find((one) => one.ref === "head");
  return move && move.before === move.after ? versionWord(move.after) : null;
}

function headWords(moves: readonly Move[]): string {
  const move = moves.find((one) => one.ref === "head");
  return move ? `${versionWord(move.before)} → ${versionWord(move.after)}` : "";
}

/** "before-migration (v12)", or "old → new (v12)" when one name goes and another comes. */
function checkpointWords(moves: readonly Move[]): string | null {
  const named = moves.filter((move) => move.ref === "checkpoint");
  const gone = named.find((move) => move.after === null);
  const come = named.find((move) => move.after !== null);
  const version = versionWord(come?.after ?? gone?.before ?? null);
  if (gone && come) return `${gone.name} → ${come.name} (${version})`;
  const one = come ?? gone;
  return one ? `${one.name} (${version})` : null;
}

function statedBranches(moves: readonly Move[], names: NamesThen): string | null {
  const stated = moves.filter((move) => move.ref === "branch-state");
  const [first] = stated;
  if (!first) return null;
  return stated.length === 1 ? names.branch(first.branch) : `${names.branch(first.branch)} and ${stated.length - 1} more`;
}

function ttlWords(moves: readonly Move[], branch: string): string {
  const move = moves.find((one) => one.ref === "ttl");
  if (!move) return `Extended ${branch}`;
  return move.after === null ? `Removed the TTL of ${branch}` : `Set the TTL of ${branch} to ${formatDuration(move.after)}`;
}

function purgeWords(operation: OperationRecord, names: NamesThen): string {
  const { branches = [], databases = [], versions = 0 } = operation.purged ?? {};
  const [branch] = branches;
  const [database] = databases;
  const parts: string[] = [];
  if (database !== undefined) parts.push(databases.length === 1 ? names.database(database) : `${databases.length} databases`);
  else if (branch !== undefined) parts.push(branches.length === 1 ? names.branch(branch) : `${branches.length} branches`);
  if (versions > 0 || parts.length === 0) parts.push(`${versions} version${versions === 1 ? "" : "s"}`);
  return `Purged ${parts.join(" and ")}`;
}

function reversedWords(operation: OperationRecord, names: NamesThen): string {
  const reversed = operation.reverses === null ? null : names.operation(operation.reverses);
  return reversed ? summariseOperation(reversed.record, reversed.names) : `operation ${operation.reverses}`;
}
