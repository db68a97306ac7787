/** Undo and redo: a new operation that swaps before and after of an earlier one. */
import type { RequestInput } from "#shared/contract.ts";
import type { OperationId } from "#shared/ids.ts";
import type { OperationView, UndoPreview, UndoResult } from "#shared/views.ts";
import type { Move, OperationRecord } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { operationView, viewOf } from "./branch-views.ts";
import { FilePlan } from "./file-plan.ts";
import { commit } from "./operation.ts";
import type { Parts } from "./parts.ts";
import { findDatabase } from "./resolve.ts";

export function previewUndo(parts: Parts, id: number): UndoPreview {
  const operation = findOperation(parts, id);
  return { operation: operationView(parts, operation), blockedBy: parts.catalog.blockers(operation).map((each) => operationView(parts, each)), moves: parts.catalog.describeMoves(operation) };
}

/**
 * Without an operation: the caller's own last one, in the database or store named. Errors: `nothing-to-undo`,
 * `undo-blocked` (with the chain, newest first), `checkout-busy`, `name-taken`.
 */
export async function undo(parts: Parts, input: RequestInput<"operation.undo">, work: Work = {}): Promise<UndoResult> {
  const operation = input.operation === undefined ? lastUndoable(parts, input.database) : findOperation(parts, input.operation);
  const blockers = parts.catalog.blockers(operation);
  if (blockers.length > 0 && !input.chain) {
    throw new EngineError("undo-blocked", `Operation ${operation.id} cannot be undone yet: ${blockers.length} later ${blockers.length === 1 ? "operation moved" : "operations moved"} the same refs`, {
      hint: `Undo those first (${blockers.map((each) => each.id).join(", ")}), or use --chain to undo them together`,
      untouched: "Nothing was changed.",
      details: { operations: blockers.map((each) => each.id) },
    });
  }
  const undone: OperationView[] = [];
  const warnings: string[] = [];
  let last: OperationRecord | null = null;
  for (const each of [...blockers, operation]) {
    const result = await reverse(parts, each, "undo", input.waitMs, work);
    last = result.operation;
    warnings.push(...result.warnings);
    undone.push(operationView(parts, each));
  }
  return { ...resultOf(parts, last), undone, warnings };
}

/** Reapplies the caller's last undone operation; a new operation of theirs clears the list. */
export async function redo(parts: Parts, input: RequestInput<"operation.redo">, work: Work = {}): Promise<UndoResult> {
  const database = input.database === undefined ? null : findDatabase(parts, input.database).id;
  const operation = parts.catalog.lastRedoable(parts.actor, database);
  if (!operation) throw new EngineError("nothing-to-undo", "There is nothing to redo", { untouched: "Nothing was changed." });
  const original = operation.reverses === null ? operation : findOperation(parts, operation.reverses);
  const result = await reverse(parts, operation, "redo", input.waitMs, work);
  return { ...resultOf(parts, result.operation), undone: [operationView(parts, original)], warnings: result.warnings };
}

function lastUndoable(parts: Parts, databaseName: string | undefined): OperationRecord {
  const database = databaseName === undefined ? null : findDatabase(parts, databaseName).id;
  const operation = parts.catalog.lastUndoable(parts.actor, database);
  if (operation) return operation;
  throw new EngineError("nothing-to-undo", `${parts.actor} has nothing to undo here`, { hint: "Name an operation to undo somebody else's: undo OP", untouched: "Nothing was changed." });
}

function findOperation(parts: Parts, id: number): OperationRecord {
  const operation = parts.catalog.operation(id as OperationId);
  if (operation) return operation;
  throw new EngineError("operation-not-found", `There is no operation ${id}`, { details: { name: String(id) } });
}

async function reverse(parts: Parts, operation: OperationRecord, kind: "undo" | "redo", waitMs: number | undefined, work: Work): Promise<{ operation: OperationRecord; warnings: string[] }> {
  const database = operation.database === null ? null : parts.catalog.database(operation.database);
  const moves = parts.catalog.inverseMoves(operation);
  if (!database || moves === null) throw new EngineError("undo-blocked", `Operation ${operation.id} (${operation.kind}) is permanent`, { untouched: "Nothing was changed." });
  const base = { moves, reverses: operation.id, branch: operation.branch };
  if (rebasesFileOnly(parts, operation)) return { operation: await commit(parts, kind, { database }, { ...base, facts: rebasedFacts(parts, moves) }), warnings: [] };
  const plan = await FilePlan.prepare(parts, database, moves, { waitMs, giveBack: operation.autosave });
  try {
    const done = await commit(parts, kind, { database }, { ...base, ...plan.draft });
    const { warnings } = await plan.carryOut(done, work);
    return { operation: done, warnings };
  } finally {
    await plan.release();
  }
}

/** Undoing a checkpoint leaves the file alone: its pages become unsaved changes again (and saved ones with redo). */
function rebasesFileOnly(parts: Parts, operation: OperationRecord): boolean {
  let original: OperationRecord | null = operation;
  while (original?.reverses != null) original = parts.catalog.operation(original.reverses);
  return original?.kind === "checkpoint" || (original?.kind === "fork" && original.newVersions.length > 0 && original.moves.length > 0);
}

function rebasedFacts(parts: Parts, moves: readonly Move[]) {
  return moves.flatMap((move) => {
    if (move.ref !== "head" || typeof move.after !== "number") return [];
    const fact = parts.catalog.fact(move.branch);
    return fact && fact.base === move.before ? [{ branch: move.branch, fact: { ...fact, base: move.after } }] : [];
  });
}

function resultOf(parts: Parts, operation: OperationRecord | null): Pick<UndoResult, "operation" | "branch"> {
  const database = operation?.database == null ? null : parts.catalog.database(operation.database);
  return { operation: operation && operationView(parts, operation), branch: database && operation?.branch != null ? viewOf(parts, database, operation.branch) : null };
}
