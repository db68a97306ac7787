import { Gauge } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { BenchRun, BenchRunHead } from "#shared/bench-views.ts";
import type { RequestOutput } from "#shared/contract.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { startBenchmark } from "./bench-acts.ts";
import { BenchSidebar } from "./bench-sidebar.tsx";
import { BenchToolbar } from "./bench-toolbar.tsx";
import { findActiveRun, loadBenchHeads, loadBenchRun, useBenchRuns } from "./bench-runs.ts";
import { resolveChoice, toOrder, useBenchView, type BenchChoice } from "./bench-view.ts";
import { shownSeries } from "./bench-words.ts";
import { Comparison } from "./comparison.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { LivePanel } from "./live-panel.tsx";
import { Measures } from "./measures.tsx";
import { ResultTables } from "./result-tables.tsx";

type Suites = RequestOutput<"bench.suites">;
const NO_SUITES: Suites["suites"] = [];
const NO_REFERENCES: Suites["references"] = [];
const NO_HEADS: readonly BenchRunHead[] = [];

/** Measures this machine by the press of a button, and shows it beside what others published. */
export function BenchmarksScreen() {
  const api = useApi();
  const answer = useRequest("bench.suites", {});
  const suites = answer.data?.suites ?? NO_SUITES;
  const references = answer.data?.references ?? NO_REFERENCES;
  const view = useBenchView((state) => state);
  const choice = useMemo(() => resolveChoice(view, suites), [view, suites]);
  const known = useBenchRuns((state) => state.heads);
  const heads = known ?? NO_HEADS;
  const active = useBenchRuns(findActiveRun);
  const head = choice ? pickHead(heads, choice.suite.id, view.shown) : null;
  const run = useBenchRuns((state) => (head ? (state.runs.get(head.id) ?? null) : null));
  const compared = useComparedRuns(view.compared);
  const series = run ? shownSeries(run, view.series) : null;
  const hasList = known !== null;
  useEffect(() => {
    if (!hasList) void loadBenchHeads(api);
  }, [api, hasList]);
  useLoadedRuns([head?.id ?? null, active?.id ?? null, ...view.compared]);
  return (
    <section aria-label="Benchmarks" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <BenchToolbar
        suites={suites}
        choice={choice}
        standardFolder={answer.data?.folder ?? ""}
        active={active}
        shown={head}
        exportMenu={<ExportMenu run={run} suite={choice?.suite ?? null} series={series} references={references} compared={compared} />}
      />
      {answer.isError ? (
        <div className="p-4">
          <ErrorPanel error={toErrorView(answer.error)} onRetry={() => void answer.refetch()} />
        </div>
      ) : !choice ? (
        <Skeleton lines={12} className="px-4 py-2" />
      ) : (
        <div className="flex min-h-0 flex-1">
          <BenchSidebar suites={suites} suite={choice.suite} heads={heads} shown={run?.id ?? null} machine={run?.machine ?? null} />
          <div data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col gap-4 overflow-y-auto p-4">
            <Failures head={head} />
            {head === null ? (
              <NoRuns choice={choice} known={hasList} />
            ) : run === null ? (
              <Skeleton lines={10} />
            ) : (
              <>
                <LivePanel run={run} suite={choice.suite} series={series} references={references} />
                {compared.length > 1 ? <Comparison runs={compared} suite={choice.suite} /> : null}
                <Measures
                  suite={choice.suite}
                  run={run}
                  shown={series}
                  picked={view.series !== null && series?.id === view.series}
                  references={references}
                />
                <ResultTables run={run} references={references} />
              </>
            )}
          </div>
        </div>
      )}
    </section>
  );
}

/** The run that was chosen, as long as it is one of the suite; else the suite's newest. */
function pickHead(heads: readonly BenchRunHead[], suite: string, shown: string | null): BenchRunHead | null {
  const mine = heads.filter((head) => head.suite === suite);
  return mine.find((head) => head.id === shown) ?? mine[0] ?? null;
}

/** Oldest first: it is what the others are compared with. Those that are still on their way are left out. */
function useComparedRuns(ids: readonly string[]): readonly BenchRun[] {
  const runs = useBenchRuns((state) => state.runs);
  const found = ids.flatMap((id) => runs.get(id) ?? []).toSorted((a, b) => a.startedAt - b.startedAt);
  // The same runs are the same list: what is worked out from it is worked out once.
  const [held, setHeld] = useState(found);
  if (held.length === found.length && held.every((run, index) => run === found[index])) return held;
  setHeld(found);
  return found;
}

function useLoadedRuns(ids: readonly (string | null)[]): void {
  const api = useApi();
  const key = [...new Set(ids)].filter((id) => id !== null).join("\n");
  const missing = useBenchRuns((state) =>
    key
      .split("\n")
      .filter((id) => id !== "" && !state.runs.has(id) && !state.errors.has(id))
      .join("\n"),
  );
  useEffect(() => {
    for (const id of missing.split("\n")) if (id !== "") void loadBenchRun(api, id);
  }, [api, missing]);
}

/** The list, or the run that is shown, could not be read. */
function Failures({ head }: { readonly head: BenchRunHead | null }) {
  const api = useApi();
  const listError = useBenchRuns((state) => state.headsError);
  const runError = useBenchRuns((state) => (head ? (state.errors.get(head.id) ?? null) : null));
  return (
    <>
      {listError ? <ErrorPanel error={listError} onRetry={() => void loadBenchHeads(api)} /> : null}
      {head && runError ? <ErrorPanel error={runError} onRetry={() => void loadBenchRun(api, head.id)} /> : null}
    </>
  );
}

function NoRuns({ choice, known }: { readonly choice: BenchChoice; readonly known: boolean }) {
  const api = useApi();
  if (!known) return <Skeleton lines={10} />;
  return (
    <EmptyState
      icon={Gauge}
      text={`${choice.suite.title} has not been measured here yet. ${choice.suite.about}`}
      action={
        <Button variant="primary" onClick={() => void startBenchmark(api, toOrder(choice))}>
          Run {choice.suite.title}
        </Button>
      }
    />
  );
}
