import { Database, GitFork, PieChart, Search, X } from "lucide-react";
import { useDeferredValue, useEffect, useMemo, type ReactNode } from "react";
import type { UsageRow, UsageView } from "#shared/usage-views.ts";
import { useApi } from "../api/queries.ts";
import { openDialog, openImport, selectDatabase, showScreen, useAppState } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { ReconcileTable } from "./reconcile-table.tsx";
import { UsageTreemap } from "./treemap.tsx";
import { moveToTrash } from "./usage-acts.ts";
import { loadCheckpoints, retryCheckpoints, useCheckpoints } from "./usage-checkpoints.ts";
import { UsageFooter, type Chosen } from "./usage-footer.tsx";
import { UsageGrid } from "./usage-grid.tsx";
import { UsageHeader } from "./usage-header.tsx";
import { followUsage, measure, scopeOf, useMeasure } from "./usage-measure.ts";
import { buildLines, filterRows, holdsSeveralDatabases } from "./usage-rows.ts";
import { changeUsage, pruneSelection, usageKey, useUsage } from "./usage-state.ts";
import { UsageTotals } from "./usage-totals.tsx";
import { useFreed } from "./use-freed.ts";

/** What a store takes on its disk, for what, and what would be freed. */
export function UsageScreen() {
  const api = useApi();
  const database = useAppState((state) => state.database);
  const wanted = useUsage((state) => state.scope);
  const scope = scopeOf(wanted, database);
  const view = useMeasure((state) => state.views.get(scope) ?? null);
  const error = useMeasure((state) => state.errors.get(scope) ?? null);
  const stopped = useMeasure((state) => state.stopped.has(scope));
  const filter = useDeferredValue(useUsage((state) => state.filter));
  useEffect(() => followUsage(api), [api]);
  const rows = useMemo(() => filterRows(view?.rows ?? [], filter), [view, filter]);
  const again = () => void measure(api, scope);
  return (
    <section aria-label="Usage" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas tiny:overflow-y-auto">
      <UsageHeader view={view} rows={rows} scope={scope} />
      {error ? (
        <div className="flex-none px-4 py-3">
          <ErrorPanel error={error} onRetry={again} />
        </div>
      ) : null}
      {view ? (
        <>
          <UsageTotals view={view} />
          <div className="flex min-h-0 flex-1 tiny:flex-none tiny:flex-col">
            <div data-pane="usage" className="flex min-h-0 min-w-0 flex-1 flex-col tiny:h-100 tiny:flex-none">
              <Branches view={view} rows={rows} />
            </div>
            <div className="flex w-125 flex-none flex-col overflow-y-auto border-l border-line narrow:w-105 tiny:w-full tiny:border-t tiny:border-l-0">
              <UsageTreemap view={view} />
              <ReconcileTable view={view} />
            </div>
          </div>
        </>
      ) : error ? null : stopped ? (
        <EmptyState icon={PieChart} text="Measuring was stopped; nothing was changed." action={<Button onClick={again}>Measure</Button>} />
      ) : (
        <div key={scope} className="px-4 py-2">
          <RunningJob quiet />
          <Skeleton lines={12} />
        </div>
      )}
    </section>
  );
}

function choose(view: UsageView, rows: readonly UsageRow[], selection: ReadonlySet<string>): Chosen {
  const chosen = selection.size === 0 ? [] : view.rows.filter((row) => selection.has(usageKey(row)));
  const shown = new Set(rows);
  // In an order of their own: another measurement sorts the rows anew.
  const going = chosen.filter((row) => !row.isProtected).toSorted((a, b) => (usageKey(a) < usageKey(b) ? -1 : 1));
  return {
    going,
    guarded: chosen.filter((row) => row.isProtected),
    hidden: chosen.filter((row) => !shown.has(row)).length,
  };
}

function Branches({ view, rows }: { readonly view: UsageView; readonly rows: readonly UsageRow[] }) {
  const api = useApi();
  const sort = useUsage((state) => state.sort);
  const expanded = useUsage((state) => state.expanded);
  const selection = useUsage((state) => state.selection);
  const checkpoints = useCheckpoints();
  const lines = useMemo(() => buildLines(rows, { sort, expanded, checkpoints }), [rows, sort, expanded, checkpoints]);
  const keys = useMemo(() => rows.map(usageKey), [rows]);
  const chosen = useMemo(() => choose(view, rows, selection), [view, rows, selection]);
  const freed = useFreed(chosen.going, view.measuredAt);
  useEffect(() => pruneSelection(view.rows), [view]);
  const open = useMemo(() => lines.flatMap((line) => (line.kind === "branch" && line.expanded ? [line.row] : [])), [lines]);
  useEffect(() => {
    if (open.length > 0) void loadCheckpoints(api, open, view.measuredAt);
  }, [api, open, view.measuredAt]);
  return (
    <>
      {lines.length > 0 ? (
        <UsageGrid
          lines={lines}
          keys={keys}
          withDatabase={holdsSeveralDatabases(view)}
          onRetry={(row) => retryCheckpoints(api, row, view.measuredAt)}
          onDelete={() => void moveToTrash(api, chosen.going, freed.view?.segmentBytes ?? null)}
        />
      ) : (
        <NoBranches view={view} />
      )}
      <OnlyBranchHint view={view} />
      <UsageFooter chosen={chosen} freed={freed} />
    </>
  );
}

function NoBranches({ view }: { readonly view: UsageView }): ReactNode {
  const filter = useUsage((state) => state.filter.trim());
  if (view.rows.length > 0)
    return (
      <EmptyState
        icon={Search}
        text={`No branches match ${filter}.`}
        action={
          <Button icon={X} onClick={() => changeUsage({ filter: "" })}>
            Clear filter
          </Button>
        }
      />
    );
  if (view.database === null)
    return (
      <EmptyState
        icon={Database}
        text="This store holds no branch yet."
        action={
          <Button variant="primary" onClick={() => openImport(null)}>
            Import a SQLite file
          </Button>
        }
      />
    );
  return (
    <EmptyState
      icon={Database}
      text={`All branches of ${view.database} are in the Trash.`}
      action={<Button onClick={() => showScreen("trash")}>Show Trash</Button>}
    />
  );
}

/** A lone branch shares with nobody: what to do next. */
function OnlyBranchHint({ view }: { readonly view: UsageView }) {
  const [only] = view.rows;
  if (!only || view.rows.length > 1) return null;
  return (
    <div className="flex flex-none flex-col items-center gap-3 pb-16 text-ink-2">
      <p>Only {only.branch} so far. A fork of it takes no space until it is changed.</p>
      <Button
        icon={GitFork}
        onClick={() => {
          selectDatabase(only.database);
          openDialog({ kind: "fork", branch: only.branch });
        }}
      >
        Fork {only.branch}
      </Button>
    </div>
  );
}
