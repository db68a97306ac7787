/** Branches by the thousand for the list's models. */
import type { BranchView } from "#shared/views.ts";
import { branchView } from "./views.ts";

const IDLE = { ...branchView().checkout, state: "none" as const, walBytes: 0 };

/** A branch that has no file; `parent` is an id, null for a root. */
export function plainBranch(id: number, name: string, parent: number | null, rest: Partial<BranchView> = {}): BranchView {
  const forkedFrom = parent === null ? null : { branchId: parent, branch: `branch-${parent}`, version: 7, checkpoint: null };
  return branchView({
    id,
    name,
    forkedFrom,
    headCheckpoint: null,
    ttlMs: null,
    expiresAt: null,
    checkout: IDLE,
    meta: {},
    checkpoints: 0,
    ...rest,
  });
}

/** main, and `count` numbered forks of it. The first `pass` of them passed, the others failed. */
export function fleet(count: number, pass = 3): BranchView[] {
  const forks = Array.from({ length: count }, (_, index) =>
    plainBranch(index + 2, `attempt-${String(index + 1).padStart(5, "0")}`, 1, { meta: { status: index < pass ? "pass" : "fail" } }),
  );
  return [plainBranch(1, "main", null), ...forks];
}
