import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import { operationView } from "./branch-views.ts";
import type { Parts } from "./parts.ts";
import { findBranch, findDatabase } from "./resolve.ts";

const PAGE_ROWS = 200;

/** The operation log, newest first. A branch is named within its database. */
export function listOperations(parts: Parts, input: RequestInput<"operation.list">): RequestOutput<"operation.list"> {
  const branch =
    input.database !== undefined && input.branch !== undefined ? findBranch(parts, input.database, input.branch).branch.id : undefined;
  const database = input.database === undefined ? undefined : findDatabase(parts, input.database).id;
  const filter = { database, branch, actor: input.actor };
  const page = parts.catalog.operations.page(filter, input.before ?? null, input.limit ?? PAGE_ROWS);
  return { operations: page.map((operation) => operationView(parts, operation)), total: parts.catalog.operations.count(filter) };
}
