/** What the checkpoints of opened branches cost: asked for when a branch is opened, and again after each measurement. */
import type { ErrorView } from "#shared/error-codes.ts";
import type { BranchUsageView, CheckpointUsageRow, UsageRow } from "#shared/usage-views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { createStore, useStore } from "../external-store.ts";
import { usageKey } from "./usage-state.ts";

/** Opened branches that are asked for again by themselves; more keep what they show until they are opened anew. */
const REFRESHED_MAX = 16;

export interface CheckpointCosts {
  readonly checkpoints: readonly CheckpointUsageRow[];
  readonly error: ErrorView | null;
}

/** By key of the branch. */
const checkpointCosts = createStore<ReadonlyMap<string, CheckpointCosts>>(new Map());
let generation = 0;
/** For which measurement each branch was asked for last. */
const asked = new Map<string, number>();

export function useCheckpoints(): ReadonlyMap<string, CheckpointCosts> {
  return useStore(checkpointCosts, (costs) => costs);
}

/** Asks for those of `rows` whose figures are older than `measuredAt`, one after the other. */
export async function loadCheckpoints(api: Api, rows: readonly UsageRow[], measuredAt: number): Promise<void> {
  const mine = generation;
  const due = rows.filter((row, index) => {
    const last = asked.get(usageKey(row));
    return last === undefined || (index < REFRESHED_MAX && last < measuredAt);
  });
  for (const row of due) asked.set(usageKey(row), measuredAt);
  for (const row of due) {
    let answer: BranchUsageView | null = null;
    let error: ErrorView | null = null;
    try {
      answer = await api.request("usage.branch", { database: row.database, branch: row.branch });
    } catch (thrown) {
      error = toErrorView(thrown);
    }
    if (mine !== generation) return;
    checkpointCosts.set((costs) => {
      const checkpoints = answer?.checkpoints ?? costs.get(usageKey(row))?.checkpoints ?? [];
      return new Map(costs).set(usageKey(row), { checkpoints, error });
    });
  }
}

/** Asks again for one that failed. */
export function retryCheckpoints(api: Api, row: UsageRow, measuredAt: number): void {
  asked.delete(usageKey(row));
  void loadCheckpoints(api, [row], measuredAt);
}

export function resetCheckpoints(): void {
  generation += 1;
  asked.clear();
  checkpointCosts.set(new Map());
}
