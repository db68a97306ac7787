/**
 * Every live branch of the chosen database, kept current: pages of 2,000 stream in, then only what moved is asked for.
 * The one list behind the treegrid, the palette, the status bar and History.
 */
import type { HostEvent } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { BranchView } from "#shared/views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { appState, useAppState } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";
import { changeBranchesView } from "./branches-view.ts";

const PAGE_ROWS = 2_000;
/** More changed files than this are read with the whole list. */
const SINGLE_READS_MAX = 50;

export interface BranchListState {
  readonly database: string | null;
  /** In order of id. */
  readonly branches: readonly BranchView[];
  readonly byId: ReadonlyMap<number, BranchView>;
  readonly total: number;
  /** Changes up to this operation are in. */
  readonly lastOperation: number;
  readonly loading: boolean;
  readonly error: ErrorView | null;
}

const EMPTY: BranchListState = { database: null, branches: [], byId: new Map(), total: 0, lastOperation: 0, loading: false, error: null };

export const branchList = createStore<BranchListState>(EMPTY);

export function useBranchList<S>(select: (state: BranchListState) => S): S {
  return useStore(branchList, select);
}

/** The branch in focus; null when none is or it is gone. */
export function useFocusedBranch(): BranchView | null {
  const id = useAppState((state) => state.branchId);
  return useBranchList((state) => (id === null ? null : (state.byId.get(id) ?? null)));
}

export function findBranchByName(name: string): BranchView | null {
  return branchList.get().branches.find((branch) => branch.name === name) ?? null;
}

/** Applies changed and removed branches; keeps the order of ids. Pure. */
export function mergeBranches(state: BranchListState, changed: readonly BranchView[], removed: readonly number[] = []): BranchListState {
  if (changed.length === 0 && removed.length === 0) return state;
  const byId = new Map(state.byId);
  let append = true;
  let last = state.branches.at(-1)?.id ?? -1;
  for (const branch of changed) {
    append &&= branch.id > last;
    last = branch.id;
    byId.set(branch.id, branch);
  }
  for (const id of removed) byId.delete(id);
  const branches = append && removed.length === 0 ? [...state.branches, ...changed] : [...byId.values()].toSorted((a, b) => a.id - b.id);
  return { ...state, branches, byId };
}

let generation = 0;

/** Loads a database's branches from the start; a load that is still running for another one ends. */
export async function loadBranches(api: Api, database: string | null): Promise<void> {
  generation += 1;
  const mine = generation;
  if (database === null) {
    branchList.set(EMPTY);
    return;
  }
  const same = branchList.get().database === database;
  branchList.set((state) => ({ ...(same ? state : EMPTY), database, loading: true, error: null }));
  let collected: BranchListState = { ...EMPTY, database, loading: true };
  try {
    for (let after = 0, first = true; ; first = false) {
      const page = await api.request("branch.list", { database, after, limit: PAGE_ROWS });
      if (mine !== generation) return;
      collected = mergeBranches(collected, page.branches);
      const done = page.branches.length < PAGE_ROWS;
      collected = { ...collected, total: page.total, lastOperation: first ? page.lastOperation : collected.lastOperation, loading: !done };
      // A reload keeps the old list on the screen until the new one is whole.
      if (done || !same) branchList.set(collected);
      if (done) break;
      after = page.branches.at(-1)?.id ?? after;
    }
    await refreshBranches(api);
  } catch (error) {
    if (mine === generation) branchList.set((state) => ({ ...state, loading: false, error: toErrorView(error) }));
  }
}

/** Asks for what moved since the list was read. */
async function refreshBranches(api: Api): Promise<void> {
  const { database, lastOperation, loading } = branchList.get();
  if (database === null || loading) return;
  const mine = generation;
  const changes = await api.request("branch.changes", { database, since: lastOperation });
  if (mine !== generation) return;
  branchList.set((state) => ({
    ...mergeBranches(state, changes.changed, changes.removed),
    total: changes.total,
    lastOperation: Math.max(state.lastOperation, changes.lastOperation),
    error: null,
  }));
}

async function refreshFiles(api: Api, database: string, names: readonly string[]): Promise<void> {
  if (names.length > SINGLE_READS_MAX) return loadBranches(api, database);
  const mine = generation;
  const details = await Promise.all(names.map((branch) => api.request("branch.get", { database, branch }).catch(() => null)));
  if (mine !== generation) return;
  branchList.set((state) =>
    mergeBranches(
      state,
      details.filter((detail) => detail !== null),
    ),
  );
}

/** One refresh at a time; events that arrive meanwhile share the next one. */
function createRefresher(api: Api): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      try {
        await refreshBranches(api);
      } catch (error) {
        branchList.set((state) => ({ ...state, error: toErrorView(error) }));
      }
    } while (again);
    running = false;
  };
  return () => void run();
}

/** Follows the chosen database and the host's events until the returned function is called. */
export function followBranches(api: Api): () => void {
  const refresh = createRefresher(api);
  let database: string | null = null;
  const followDatabase = () => {
    const next = appState.get().database;
    if (next === database) return;
    // The focus was on a row of the other database: this one's list chooses anew.
    if (database !== null) changeBranchesView({ focusedKey: null });
    database = next;
    void loadBranches(api, database);
  };
  const stopEvents = api.onEvent((event: HostEvent) => {
    if (event.type === "store-changed") refresh();
    if (event.type === "checkouts-changed" && event.database === database) void refreshFiles(api, event.database, event.branches);
    if (event.type === "connection" && event.state === "open" && database !== null) void loadBranches(api, database);
  });
  const stopState = appState.subscribe(followDatabase);
  followDatabase();
  return () => {
    stopEvents();
    stopState();
    generation += 1;
    branchList.set(EMPTY);
  };
}
