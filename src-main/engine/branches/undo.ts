/** Undo and redo as verbs: the catalog plans the moves (`catalog/undo.ts`), the files follow here. */
import type { RequestInput } from "#shared/contract.ts";
import type { OperationId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import type { OperationView, UndoPreview, UndoResult } from "#shared/views.ts";
import type { Move, OperationRecord } from "../catalog/records.ts";
import { describeMoves, namesAt } from "../catalog/summary.ts";
import { lastRedoable, lastUndoable, planRedo, planUndo, type CursorScope, type ReversalPlan } from "../catalog/undo.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { operationView, viewOf } from "./branch-views.ts";
import { FilePlan } from "./file-plan.ts";
import { commit } from "./operation.ts";
import type { Parts } from "./parts.ts";
import { findDatabase } from "./resolve.ts";

export function previewUndo(parts: Parts, id: number): UndoPreview {
  const plan = planUndo(parts.catalog, id as OperationId);
  const names = namesAt(parts.catalog, parts.catalog.lastOperation());
  return {
    operation: operationView(parts, plan.operation),
    blockedBy: plan.blockedBy.map((each) => operationView(parts, each)),
    moves: describeMoves(plan.draft.moves, names),
  };
}

/**
 * Without an operation: the caller's own last one, in the database or store named. Errors: `nothing-to-undo`,
 * `undo-blocked` (with the chain, newest first), `checkout-busy`, `name-taken`.
 */
export async function undo(parts: Parts, input: RequestInput<"operation.undo">, work: Work = {}): Promise<UndoResult> {
  const id = input.operation ?? lastUndoable(parts.catalog, scopeOf(parts, input.database))?.id;
  if (id === undefined) throw nothingTo(parts, "undo");
  const plan = planUndo(parts.catalog, id as OperationId);
  if (plan.blockedBy.length > 0 && !input.chain) throw blocked(plan);
  const chain = [...plan.blockedBy.map((each) => each.id), id as OperationId];
  return reverseAll(parts, chain, (each) => planUndo(parts.catalog, each), input.waitMs, work);
}

/** Reapplies the caller's last undone operation; a new operation of theirs clears the list. */
export async function redo(parts: Parts, input: RequestInput<"operation.redo">, work: Work = {}): Promise<UndoResult> {
  const operation = lastRedoable(parts.catalog, scopeOf(parts, input.database));
  if (!operation) throw nothingTo(parts, "redo");
  const plan = planRedo(parts.catalog, operation);
  if (plan.blockedBy.length > 0) throw blocked(plan);
  return reverseAll(parts, [operation.id], () => plan, input.waitMs, work);
}

function scopeOf(parts: Parts, databaseName: string | undefined): CursorScope {
  const database = databaseName === undefined ? undefined : findDatabase(parts, databaseName).id;
  return { actor: parts.actor, database, since: parts.clock.now() - LIMITS.undoWindowMs };
}

function nothingTo(parts: Parts, act: "undo" | "redo"): EngineError {
  const hint =
    act === "undo" ? "Name an operation to undo somebody else's" : "Only what was undone last, with nothing new since, can be redone";
  return new EngineError("nothing-to-undo", `${parts.actor} has nothing to ${act} here`, { hint, untouched: "Nothing was changed." });
}

function blocked(plan: ReversalPlan): EngineError {
  const ids = plan.blockedBy.map((each) => each.id);
  return new EngineError(
    "undo-blocked",
    `Operation ${plan.operation.id} cannot be undone yet: ${ids.length === 1 ? "a later operation stands" : `${ids.length} later operations stand`} on it`,
    {
      hint: `Undo ${ids.join(", ")} first, or undo the whole chain`,
      untouched: "Nothing was changed.",
      details: { operations: ids },
    },
  );
}

async function reverseAll(
  parts: Parts,
  ids: readonly OperationId[],
  planOf: (id: OperationId) => ReversalPlan,
  waitMs: number | undefined,
  work: Work,
): Promise<UndoResult> {
  const undone: OperationView[] = [];
  const warnings: string[] = [];
  let last: OperationRecord | null = null;
  for (const id of ids) {
    const plan = planOf(id);
    const done = await reverse(parts, plan, waitMs, work);
    last = done.operation;
    warnings.push(...done.warnings);
    undone.push(operationView(parts, parts.catalog.operations.byId(plan.operation.id) ?? plan.operation));
  }
  const database = last?.database == null ? null : parts.catalog.databases.byId(last.database);
  return {
    operation: last && operationView(parts, last),
    branch: database && last?.branch != null ? viewOf(parts, database, last.branch) : null,
    undone,
    warnings,
  };
}

async function reverse(
  parts: Parts,
  { kind, operation, draft }: ReversalPlan,
  waitMs: number | undefined,
  work: Work,
): Promise<{ operation: OperationRecord; warnings: string[] }> {
  const database = operation.database === null ? null : parts.catalog.databases.byId(operation.database);
  if (!database)
    throw new EngineError("undo-blocked", `Operation ${operation.id} is about a database that was purged`, {
      untouched: "Nothing was changed.",
    });
  if (leavesFileAlone(operation))
    return { operation: await commit(parts, kind, { database }, { ...draft, facts: rebasedFacts(parts, draft.moves) }), warnings: [] };
  const plan = await FilePlan.prepare(parts, database, draft.moves, { waitMs, giveBack: kind === "undo" ? operation.autosave : null });
  try {
    const done = await commit(parts, kind, { database }, { ...draft, ...plan.draft });
    const { warnings } = await plan.carryOut(done, work);
    return { operation: done, warnings };
  } finally {
    await plan.release();
  }
}

/** Undoing what saved the file's work leaves the file alone: its pages become unsaved changes again (saved with redo). */
function leavesFileAlone(operation: OperationRecord): boolean {
  return operation.kind === "checkpoint" || (operation.kind === "fork" && operation.moves.length > 0);
}

function rebasedFacts(parts: Parts, moves: readonly Move[]) {
  return moves.flatMap((move) => {
    if (move.ref !== "head" || typeof move.after !== "number") return [];
    const fact = parts.catalog.fact(move.branch);
    return fact && fact.base === move.before ? [{ branch: move.branch, fact: { ...fact, base: move.after } }] : [];
  });
}
