/**
 * The comparison that the Diff screen shows. It lives outside React, so that commands of other screens open one, and so
 * that it is still there when the user comes back from another screen. The host keeps it open until it is closed here.
 */
import type { DiffSideInput, DiffView, RowKind, TableCounts } from "#shared/diff-views.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { BranchView } from "#shared/views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { showScreen } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";
import { changesOfBranch, currentState } from "./side-text.ts";

export const ROW_KINDS: readonly RowKind[] = ["insert", "delete", "update"];

export interface DiffSession {
  readonly left: DiffSideInput | null;
  readonly right: DiffSideInput | null;
  readonly phase: "idle" | "opening" | "open" | "failed";
  readonly view: DiffView | null;
  readonly error: ErrorView | null;
  /** Rows counted so far, by table. */
  readonly counts: ReadonlyMap<string, TableCounts>;
  /** "stopping": by the user, and the last answer is still to come; "stopped": what is counted is a part. */
  readonly counting: "no" | "running" | "stopping" | "stopped" | "done";
  /** Milliseconds until schema and tables were known. */
  readonly elapsedMs: number;
  readonly table: string | null;
  /** The user chose the table: it stays, whatever is counted. */
  readonly isChosen: boolean;
  readonly tab: "rows" | "schema";
  readonly layout: "unified" | "split";
  readonly kinds: ReadonlySet<RowKind>;
  /** Columns that do not count as a change, by table. */
  readonly ignored: ReadonlyMap<string, ReadonlySet<string>>;
  readonly showAllColumns: boolean;
  readonly search: string;
}

const NOTHING_OPEN = {
  left: null,
  right: null,
  phase: "idle",
  view: null,
  error: null,
  counts: new Map<string, TableCounts>(),
  counting: "no",
  elapsedMs: 0,
  table: null,
  isChosen: false,
  ignored: new Map<string, ReadonlySet<string>>(),
  showAllColumns: false,
  search: "",
} as const;

const INITIAL: DiffSession = { ...NOTHING_OPEN, tab: "rows", layout: "unified", kinds: new Set(ROW_KINDS) };

export const diffSession = createStore<DiffSession>(INITIAL);

export function useDiff<S>(select: (session: DiffSession) => S): S {
  return useStore(diffSession, select);
}

function change(part: Partial<DiffSession>): void {
  diffSession.set((session) => ({ ...session, ...part }));
}

/** Told apart by number: an answer that belongs to an older comparison is thrown away. */
let generation = 0;

/**
 * Shows the Diff screen with these two; compares once both are given. `table`: the one to show, null for the schema; left
 * out, the first that differs.
 */
export async function openDiffOf(api: Api, left: DiffSideInput | null, right: DiffSideInput | null, table?: string | null): Promise<void> {
  showScreen("diff");
  if (table === null) showTab("schema");
  await compare(api, left, right, table);
}

/** What a branch changed since it was forked, its file included. The list may not know yet what its file holds: it is looked at. */
export async function openDiffOfBranch(api: Api, branch: BranchView): Promise<void> {
  const mine = forget(api);
  diffSession.set({ ...diffSession.get(), ...NOTHING_OPEN, phase: "opening" });
  showScreen("diff");
  const current = await requestOrReport(api, "branch.get", { database: branch.database, branch: branch.name });
  if (mine !== generation) return;
  if (!current) return change({ phase: "idle" });
  const pair = changesOfBranch(current);
  await compare(api, pair?.left ?? null, pair?.right ?? currentState(current));
}

/** "Left" is what was, "right" is what is. The comparison that was open is closed. */
export async function compare(
  api: Api,
  left: DiffSideInput | null,
  right: DiffSideInput | null,
  chosen: string | null = null,
): Promise<void> {
  const mine = forget(api);
  diffSession.set({ ...diffSession.get(), ...NOTHING_OPEN, left, right, phase: left && right ? "opening" : "idle" });
  if (!left || !right) return;
  const start = performance.now();
  try {
    const view = await api.request("diff.open", { left, right });
    if (mine !== generation) {
      await api.request("diff.close", { id: view.id });
      return;
    }
    // The states may have moved on since somebody saw that the table differs.
    const isThere = chosen !== null && view.tables.some(({ name, owner }) => name === chosen || owner === chosen);
    const table = isThere ? chosen : (view.tables[0]?.name ?? null);
    const tab = table === null ? "schema" : isThere ? "rows" : diffSession.get().tab;
    change({ phase: "open", view, table, isChosen: isThere, tab, elapsedMs: performance.now() - start });
    await count(api, mine, view.id);
  } catch (error) {
    if (mine !== generation) return;
    const problem = toErrorView(error);
    change(problem.code === "cancelled" ? { phase: "idle", counting: "no" } : { phase: "failed", error: problem });
  }
}

/** Asks for counts until all tables are counted or somebody stops it: the host does no work between two questions. */
async function count(api: Api, mine: number, id: string): Promise<void> {
  change({ counting: "running" });
  try {
    while (diffSession.get().counting === "running") {
      const { tables, isComplete } = await api.request("diff.summary", { id });
      if (mine !== generation) return;
      const counts = new Map(diffSession.get().counts);
      for (const table of tables) counts.set(table.name, table);
      change({ counts, ...(isComplete ? { counting: "done" } : {}) });
      showFirstDifference();
    }
    if (diffSession.get().counting === "stopping") change({ counting: "stopped" });
  } catch (error) {
    if (mine === generation) change({ counting: "stopped", error: toErrorView(error) });
  }
}

/** A table that turned out to have no row that differs gives way to the first one that has. */
function showFirstDifference(): void {
  const { table, isChosen, counts } = diffSession.get();
  const shown = table === null ? undefined : counts.get(table);
  if (isChosen || !shown || !isEqual(shown)) return;
  const first = [...counts.values()].find((found) => countRows(found) > 0);
  if (first) change({ table: first.name });
}

export function countRows({ inserted, deleted, updated }: Pick<TableCounts, "inserted" | "deleted" | "updated">): number {
  return inserted + deleted + updated;
}

/** Counted to the end, and nothing found. */
export function isEqual(counts: TableCounts): boolean {
  return counts.isComplete && counts.notComparable === null && countRows(counts) === 0;
}

export function stopCounting(): void {
  if (diffSession.get().counting === "running") change({ counting: "stopping" });
}

export function resumeCounting(api: Api): void {
  const { view, counting } = diffSession.get();
  if (!view || counting !== "stopped") return;
  change({ error: null });
  void count(api, generation, view.id);
}

/** Stops the opening of a comparison: its job is cancelled by the host, and its answer is thrown away. */
export async function stopOpening(api: Api): Promise<void> {
  if (diffSession.get().phase !== "opening") return;
  generation += 1;
  change({ phase: "idle" });
  for (const job of await api.request("job.list", {})) {
    if (job.state === "running" && job.title.startsWith("Compare ")) await api.request("job.cancel", { id: job.id });
  }
}

/** Lets go of what is open; returns the number of the comparison that comes next. */
function forget(api: Api): number {
  const { view } = diffSession.get();
  generation += 1;
  // A host that has forgotten it already has closed it.
  if (view) api.request("diff.close", { id: view.id }).catch(() => null);
  return generation;
}

/** When the store or the database changes: nothing that is shown is about the new one. */
export function resetDiff(): void {
  generation += 1;
  diffSession.set(INITIAL);
}

export function swapSides(api: Api): void {
  const { left, right } = diffSession.get();
  void compare(api, right, left);
}

export function compareAgain(api: Api): void {
  const { left, right } = diffSession.get();
  void compare(api, left, right);
}

export function chooseSide(api: Api, side: "left" | "right", input: DiffSideInput): void {
  const { left, right } = diffSession.get();
  void (side === "left" ? compare(api, input, right) : compare(api, left, input));
}

export function selectTable(table: string): void {
  change({ table, isChosen: true, tab: "rows", search: "" });
}

export function showTab(tab: DiffSession["tab"]): void {
  change({ tab });
}

export function showLayout(layout: DiffSession["layout"]): void {
  change({ layout });
}

export function toggleKind(kind: RowKind): void {
  const kinds = new Set(diffSession.get().kinds);
  if (!kinds.delete(kind)) kinds.add(kind);
  change({ kinds: kinds.size === 0 ? new Set([kind]) : kinds });
}

export function toggleIgnored(table: string, column: string): void {
  const { ignored } = diffSession.get();
  const columns = new Set(ignored.get(table));
  if (!columns.delete(column)) columns.add(column);
  change({ ignored: new Map(ignored).set(table, columns) });
}

export function toggleAllColumns(): void {
  change({ showAllColumns: !diffSession.get().showAllColumns });
}

export function searchRows(search: string): void {
  change({ search });
}
