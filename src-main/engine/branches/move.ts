/** Rollback and promote: a head moves to another version, its file follows, nothing is lost. */
import type { RequestInput } from "#shared/contract.ts";
import type { VersionNumber } from "#shared/ids.ts";
import type { MoveResult } from "#shared/views.ts";
import type { Move } from "../catalog/records.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { currentView, operationView } from "./branch-views.ts";
import { FilePlan } from "./file-plan.ts";
import { commit } from "./operation.ts";
import type { Parts } from "./parts.ts";
import { findBranch, guardProtected, resolveAt, type Place } from "./resolve.ts";

/** Errors: `protected`, `checkout-busy`, `checkpoint-not-found`, `version-not-found`, … */
export async function rollback(parts: Parts, input: RequestInput<"branch.rollback">, work: Work = {}): Promise<MoveResult> {
  const place = findBranch(parts, input.database, input.branch);
  guardProtected(place, "rollback", input.force);
  return moveHead(parts, "rollback", place, resolveAt(parts, place, input.to), input, work);
}

/** The target's head becomes the source's head; the target keeps its checkpoints and history, the source is unchanged. */
export async function promote(parts: Parts, input: RequestInput<"branch.promote">, work: Work = {}): Promise<MoveResult> {
  const source = findBranch(parts, input.database, input.source);
  const target = findBranch(parts, input.database, input.onto);
  if (source.branch.id === target.branch.id)
    throw new EngineError("bad-argument", `"${input.source}" cannot be promoted onto itself`, { untouched: "Nothing was changed." });
  guardProtected(target, "promoting onto it", input.force);
  const warnings = sourceIsUnsaved(parts, source) ? [`${input.source} has unsaved work that was not promoted: checkpoint it first`] : [];
  const result = await moveHead(parts, "promote", target, source.branch.head, input, work, {
    branch: source.branch.id,
    head: source.branch.head,
  });
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

async function moveHead(
  parts: Parts,
  kind: "rollback" | "promote",
  place: Place,
  to: VersionNumber,
  options: { readonly dryRun?: boolean | undefined; readonly waitMs?: number | undefined },
  work: Work,
  source?: { readonly branch: Place["branch"]["id"]; readonly head: VersionNumber },
): Promise<MoveResult> {
  const from = place.branch.head;
  const moves: Move[] = [{ ref: "head", branch: place.branch.id, before: from, after: to }];
  const plan = await FilePlan.prepare(parts, place.database, moves, { waitMs: options.waitMs });
  try {
    const autosaves = plan.versions.length > 0 || plan.autosave !== undefined;
    if (options.dryRun)
      return {
        operation: null,
        branch: currentView(parts, place),
        warnings: autosaves ? ["Unsaved work would be saved as an autosave"] : [],
        from,
        to,
        autosave: null,
        checkout: "none",
      };
    if (from === to && !autosaves)
      return { operation: null, branch: currentView(parts, place), warnings: [], from, to, autosave: null, checkout: "none" };
    const operation = await commit(parts, kind, place, {
      moves,
      ...plan.draft,
      ...(source ? { expectHeads: [source], source: source.branch } : {}),
    });
    const { change, warnings } = await plan.carryOut(operation, work);
    return {
      operation: operationView(parts, operation),
      branch: currentView(parts, place),
      warnings,
      from,
      to,
      autosave: operation.autosave?.version ?? null,
      checkout: change,
    };
  } finally {
    await plan.release();
  }
}

function sourceIsUnsaved(parts: Parts, source: Place): boolean {
  const fact = parts.catalog.fact(source.branch.id);
  return fact !== null && parts.files.check(parts.paths.checkout(source.database.name, source.branch.name), fact.fingerprint) === "unknown";
}
