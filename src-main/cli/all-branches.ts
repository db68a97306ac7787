import type { RequestOutput } from "#shared/contract.ts";
import type { BranchView } from "#shared/views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Store } from "#engine/store-api.ts";

/** All live branches of a database, page by page. Errors: `database-not-found`. */
export async function allBranches(store: Store, database: string): Promise<RequestOutput<"branch.list">> {
  const branches: BranchView[] = [];
  for (;;) {
    const page = await store.branches({ database, after: branches.at(-1)?.id, limit: LIMITS.pageRowsMax });
    branches.push(...page.branches);
    // Not by the total: others may make and destroy branches meanwhile.
    if (page.branches.length < LIMITS.pageRowsMax) return { ...page, branches };
  }
}
