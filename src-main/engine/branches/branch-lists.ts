import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { OperationId } from "#shared/ids.ts";
import { branchView } from "./branch-views.ts";
import type { Parts } from "./parts.ts";
import { findDatabase } from "./resolve.ts";

/** Live branches in order of id, a page at a time. */
export function listBranches(parts: Parts, input: RequestInput<"branch.list">): RequestOutput<"branch.list"> {
  const database = findDatabase(parts, input.database);
  return parts.catalog.snapshot(() => ({
    branches: parts.catalog.branches
      .page(database.id, input.after ?? 0, input.limit ?? LIMITS.pageRowsMax)
      .map((branch) => branchView(parts, { database, branch })),
    total: parts.catalog.branches.count(database.id),
    lastOperation: parts.catalog.operations.lastId(),
  }));
}

/** What operations after `since` moved. */
export function changedBranches(parts: Parts, input: RequestInput<"branch.changes">): RequestOutput<"branch.changes"> {
  const database = findDatabase(parts, input.database);
  return parts.catalog.snapshot(() => {
    const { changed, removed } = parts.catalog.branches.changesSince(database.id, input.since as OperationId);
    return {
      changed: changed.map((branch) => branchView(parts, { database, branch })),
      removed,
      total: parts.catalog.branches.count(database.id),
      lastOperation: parts.catalog.operations.lastId(),
    };
  });
}
