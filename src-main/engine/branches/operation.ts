import type { OperationKind } from "#shared/views.ts";
import type { OperationDraft, OperationRecord } from "../catalog/records.ts";
import type { Parts } from "./parts.ts";
import type { Place } from "./resolve.ts";

/** Commits one operation of the caller, now. */
export function commit(
  parts: Parts,
  kind: OperationKind,
  about: Place | { readonly database: Place["database"] } | null,
  draft: Pick<OperationDraft, "moves"> & Partial<OperationDraft>,
): Promise<OperationRecord> {
  return parts.catalog.commit({
    uid: parts.randomness.bytes(16),
    kind,
    at: parts.clock.now(),
    actor: parts.actor,
    database: about?.database.id ?? null,
    branch: about && "branch" in about ? about.branch.id : null,
    ...draft,
  });
}
