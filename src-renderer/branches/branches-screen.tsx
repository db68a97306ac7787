import { Database, GitFork } from "lucide-react";
import { useDeferredValue, useEffect, useMemo } from "react";
import { useApi } from "../api/queries.ts";
import { openDialog, openImport, selectBranches, useAppState } from "../app-state.ts";
import { Chip } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { useClockStep } from "../ui/now.ts";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { BranchGrid } from "./branch-grid.tsx";
import { BranchInspector } from "./branch-inspector.tsx";
import { loadBranches, useBranchList } from "./branch-list.ts";
import { BranchesToolbar } from "./branches-toolbar.tsx";
import { changeBranchesView, useBranchesView } from "./branches-view.ts";
import { buildFlatRows, buildTreeRows, type BranchRows } from "./rows.ts";
import { selectVisible, type Visible } from "./visible-branches.ts";

/** Ages and countdowns in filters move on this often. */
const FILTER_STEP_MS = 10_000;
/** Folded places named in the footer; the rest is counted. */
const FOLDED_SHOWN_MAX = 2;

function describeFolded(folded: BranchRows["folded"]): string {
  if (folded.length === 0) return "";
  const largest = folded.toSorted((a, b) => b.count - a.count);
  const named = largest
    .slice(0, FOLDED_SHOWN_MAX)
    .map(({ label, count }, index) => `${formatCount(count)}${index === 0 ? " folded" : ""} in ${label}`);
  const rest = largest.slice(FOLDED_SHOWN_MAX).reduce((sum, { count }) => sum + count, 0);
  return ` · ${named.join(", ")}${rest > 0 ? `, ${formatCount(rest)} elsewhere` : ""}`;
}

function Footer({ visible, rows }: { readonly visible: Visible; readonly rows: BranchRows }) {
  const total = useBranchList((state) => Math.max(state.total, state.branches.length));
  const loaded = useBranchList((state) => state.branches.length);
  const loading = useBranchList((state) => state.loading);
  const selected = useAppState((state) => state.selection.size);
  const hidden = useBranchesView((view) => view.hidden.size);
  const solo = useBranchesView((view) => view.solo);
  const shown = visible.matches?.size ?? visible.branches.length;
  return (
    <div className="flex h-7 shrink-0 items-center gap-3 border-t border-line px-3 text-xs text-ink-3 tabular-nums">
      <span role="status" className="name-cut">
        {visible.problem ?? `${formatCount(shown)} of ${formatPlural(total, "branch", "branches")}${describeFolded(rows.folded)}`}
        {loading && loaded < total ? ` · reading, ${formatCount(loaded)} so far` : ""}
      </span>
      {hidden > 0 || solo !== null ? (
        <Chip on onClick={() => changeBranchesView({ hidden: new Set(), solo: null })}>
          {solo === null ? `${hidden} hidden, show` : "One family, show all"}
        </Chip>
      ) : null}
      <span className="ml-auto shrink-0">{selected > 0 ? `${formatCount(selected)} selected` : ""}</span>
    </div>
  );
}

/** One sentence and one button for a list with nothing in it. */
function NoRows({ filter }: { readonly filter: string }) {
  if (filter.trim() !== "")
    return (
      <EmptyState
        text={`No branches match ${filter.trim()}.`}
        action={<Button onClick={() => changeBranchesView({ filter: "" })}>Clear filter</Button>}
      />
    );
  return (
    <EmptyState
      text="Nothing is shown here."
      action={<Button onClick={() => changeBranchesView({ hidden: new Set(), solo: null })}>Show all branches</Button>}
    />
  );
}

/** Under a lone main: what to do next. */
function FirstForkHint({ branch }: { readonly branch: string }) {
  return (
    <div className="pointer-events-none absolute inset-x-0 top-24 flex justify-center">
      <div className="pointer-events-auto flex flex-col items-center gap-3 text-ink-2">
        <p>Only {branch} so far. A fork takes no copy and no time.</p>
        <Button icon={GitFork} onClick={() => openDialog({ kind: "fork", branch })}>
          Fork {branch}
        </Button>
      </div>
    </div>
  );
}

export function BranchesScreen() {
  const api = useApi();
  const database = useAppState((state) => state.database);
  const branchId = useAppState((state) => state.branchId);
  const list = useBranchList((state) => state);
  const view = useBranchesView((state) => state);
  const now = useClockStep(FILTER_STEP_MS);
  const filter = useDeferredValue(view.filter);
  const visible = useMemo(
    () => selectVisible(list.branches, { filter, hidden: view.hidden, solo: view.solo, now }),
    [list.branches, filter, view.hidden, view.solo, now],
  );
  const rows = useMemo(
    () =>
      view.mode === "flat"
        ? buildFlatRows(visible.branches, visible.matches, view.sort)
        : buildTreeRows(visible.branches, { matches: visible.matches, toggled: view.toggled }),
    [visible, view.mode, view.sort, view.toggled],
  );

  // Something is always in focus, so that the inspector and the keys have an object from the start.
  useEffect(() => {
    const first = list.branches.find((branch) => branch.name === "main") ?? list.branches[0];
    if (branchId === null && first && view.focusedKey === null) selectBranches(first.id);
    if (branchId !== null && !list.loading && !list.byId.has(branchId)) selectBranches(first?.id ?? null);
  }, [list, branchId, view.focusedKey]);

  if (database === null) {
    return (
      <EmptyState
        icon={Database}
        text="This store holds no database yet."
        action={
          <Button variant="primary" onClick={() => openImport(null)}>
            Import a SQLite file
          </Button>
        }
      />
    );
  }
  const only = list.branches.length === 1 ? list.branches[0] : undefined;
  return (
    <>
      <BranchesToolbar branches={list.branches} problem={visible.problem} now={now} />
      <div className="flex min-h-0 flex-1">
        <div data-pane="branches" className="relative flex min-w-0 flex-1 flex-col">
          {list.error ? (
            <div className="p-3">
              <ErrorPanel error={list.error} onRetry={() => void loadBranches(api, database)} />
            </div>
          ) : null}
          {list.branches.length === 0 && list.loading ? <Skeleton lines={12} className="px-4" /> : null}
          {rows.rows.length > 0 ? (
            <BranchGrid rows={rows.rows} />
          ) : list.loading || list.error ? (
            <div className="flex-1" />
          ) : (
            <NoRows filter={view.filter} />
          )}
          {only ? <FirstForkHint branch={only.name} /> : null}
          <Footer visible={visible} rows={rows} />
        </div>
        <BranchInspector />
      </div>
    </>
  );
}
