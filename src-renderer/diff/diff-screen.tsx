import { ArrowLeftRight, ArrowUpRight, GitCompareArrows, RefreshCw, Square } from "lucide-react";
import { useEffect, useRef } from "react";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { performOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { useBranchList, useFocusedBranch } from "../branches/branch-list.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import { RunningJob } from "../ui/running-job.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { EmptyState, ErrorPanel } from "../ui/states.tsx";
import { useEscape } from "../ui/use-escape.ts";
import {
  chooseSide,
  compareAgain,
  isEqual,
  openDiffOfBranch,
  resumeCounting,
  showLayout,
  showTab,
  stopCounting,
  stopOpening,
  swapSides,
  useDiff,
} from "./diff-session.ts";
import { ExportDiff } from "./export-diff.tsx";
import { RowsPane } from "./rows-pane.tsx";
import { SchemaPane } from "./schema-pane.tsx";
import { SidePicker } from "./side-picker.tsx";
import { currentState } from "./side-text.ts";
import { TableList } from "./table-list.tsx";

/** Two states of a database: which tables differ, how their schema does, and every row that does. */
export function DiffScreen() {
  const api = useApi();
  const phase = useDiff((session) => session.phase);
  const error = useDiff((session) => session.error);
  const view = useDiff((session) => session.view);
  const tab = useDiff((session) => session.tab);
  // The partial result stays and says so.
  useEscape(() => {
    stopCounting();
    void stopOpening(api);
  });
  useFirstPair();
  return (
    <section aria-label="Diff" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <Toolbar />
      <Sides />
      {error && phase === "open" ? (
        <div className="border-b border-line p-3">
          <ErrorPanel error={error} onRetry={() => resumeCounting(api)} />
        </div>
      ) : null}
      {phase === "idle" ? (
        <EmptyState icon={GitCompareArrows} text="Choose two states to see what sets them apart." action={<ComparePrompt />} />
      ) : null}
      {phase === "failed" && error ? (
        <div className="p-4">
          <ErrorPanel error={error} onRetry={() => compareAgain(api)} />
        </div>
      ) : null}
      {phase === "opening" ? (
        <div className="flex max-w-160 flex-col gap-2 p-4">
          <RunningJob />
        </div>
      ) : null}
      {view && phase === "open" ? (
        view.tables.length === 0 && view.schema.length === 0 ? (
          <Identical />
        ) : (
          <div className="flex min-h-0 flex-1">
            <TableList view={view} />
            <div data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col">
              {tab === "schema" ? <SchemaPane view={view} /> : <RowsPane key={view.id} view={view} />}
            </div>
          </div>
        )
      ) : null}
    </section>
  );
}

/** A screen that is opened without a pair shows what the branch in focus changed. */
function useFirstPair(): void {
  const api = useApi();
  const branch = useFocusedBranch();
  const isEmpty = useDiff((session) => session.phase === "idle" && session.left === null && session.right === null);
  const isDone = useRef(false);
  useEffect(() => {
    if (!branch || !isEmpty || isDone.current) return;
    isDone.current = true;
    void openDiffOfBranch(api, branch);
  }, [api, branch, isEmpty]);
}

function ComparePrompt() {
  const api = useApi();
  const { left, right } = useDiff((session) => session);
  return left && right ? (
    <Button icon={GitCompareArrows} onClick={() => compareAgain(api)}>
      Compare
    </Button>
  ) : null;
}

function Toolbar() {
  const api = useApi();
  const session = useDiff((state) => state);
  const { view, tab, layout, counting } = session;
  return (
    <header data-pane="toolbar" className="flex h-11 flex-none items-center gap-2 border-b border-line px-3">
      <h1 className="shrink-0 font-semibold">Diff</h1>
      {view ? (
        <Segmented
          label="What to show"
          value={tab}
          segments={[
            { value: "rows", label: "Rows" },
            { value: "schema", label: view.schema.length > 0 ? `Schema § ${formatCount(view.schema.length)}` : "Schema" },
          ]}
          onChange={showTab}
        />
      ) : null}
      <Progress />
      <span className="ml-auto" />
      {counting === "running" ? (
        <Button icon={Square} onClick={stopCounting}>
          Stop
        </Button>
      ) : null}
      {view ? (
        <>
          <Segmented
            label="Layout of rows"
            value={layout}
            segments={[
              { value: "unified", label: "Unified" },
              { value: "split", label: "Split" },
            ]}
            onChange={showLayout}
          />
          <IconButton size="md" icon={RefreshCw} label="Compare again" onClick={() => compareAgain(api)} />
          <ExportDiff view={view} />
          <PromoteButton />
        </>
      ) : null}
    </header>
  );
}

function Progress() {
  const api = useApi();
  const view = useDiff((session) => session.view);
  const counting = useDiff((session) => session.counting);
  const elapsedMs = useDiff((session) => session.elapsedMs);
  const counted = useDiff((session) => [...session.counts.values()].filter((table) => table.isComplete).length);
  const equal = useDiff((session) => [...session.counts.values()].filter(isEqual).length);
  if (!view) return null;
  const total = view.tables.length + view.equalTables;
  const differing = view.tables.length - equal;
  const pages = view.changedPages === null ? "compared in full" : `${formatPlural(view.changedPages, "changed page")}`;
  return (
    <span className="name-cut flex items-center gap-2 text-xs text-ink-2 tabular-nums">
      <span className="name-cut" role="status">
        {formatCount(differing)} of {formatPlural(total, "table")} {counting === "done" ? "differ" : "may differ"} · {pages}, found in{" "}
        {formatElapsed(elapsedMs)}
        {counting === "running" || counting === "stopping"
          ? ` · counting, ${formatCount(counted)} of ${formatCount(view.tables.length)}`
          : ""}
      </span>
      {counting === "stopped" ? (
        <>
          <Badge tone="warn">Partial: counting was stopped</Badge>
          <Button size="sm" onClick={() => resumeCounting(api)}>
            Go on
          </Button>
        </>
      ) : null}
    </span>
  );
}

/** The right side replaces the left one, when both are heads of branches of one database. */
function PromoteButton() {
  const api = useApi();
  const { left, right } = useDiff((session) => session);
  if (left?.kind !== "state" || left.at !== undefined) return null;
  if (right?.kind !== "state" || right.at !== undefined) return null;
  if (left.database !== right.database || left.branch === right.branch) return null;
  return (
    <Button
      variant="primary"
      icon={ArrowUpRight}
      onClick={() =>
        void performOrReport(api, "branch.promote", { database: right.database, source: right.branch, onto: left.branch }).then(() =>
          compareAgain(api),
        )
      }
    >
      <span className="name-cut max-w-40">Promote {right.branch}</span>
    </Button>
  );
}

function Sides() {
  const api = useApi();
  const database = useAppState((state) => state.database) ?? "";
  const { left, right, view } = useDiff((session) => session);
  const choose = (side: "left" | "right") => (input: DiffSideInput) => chooseSide(api, side, input);
  return (
    <div className="grid flex-none grid-cols-[minmax(0,1fr)_28px_minmax(0,1fr)] items-center gap-2 border-b border-line px-3 py-2.5">
      <SidePicker label="Left side: what was" database={database} side={left} view={view?.left ?? null} onChoose={choose("left")} />
      <IconButton size="md" icon={ArrowLeftRight} label="Swap the sides" disabled={!left || !right} onClick={() => swapSides(api)} />
      <SidePicker label="Right side: what is" database={database} side={right} view={view?.right ?? null} onChoose={choose("right")} />
      <Moved />
    </div>
  );
}

/** What moved since is another state, and so is what a file holds beyond its head: said, never passed over. */
function Moved() {
  const api = useApi();
  const { left, right, view } = useDiff((session) => session);
  const branches = useBranchList((state) => state.branches);
  if (!view) return null;
  const find = (input: DiffSideInput | null) =>
    input && input.kind !== "file" ? branches.find((each) => each.name === input.branch && each.database === input.database) : undefined;
  const moved = [
    { input: left, shown: view.left },
    { input: right, shown: view.right },
  ].flatMap(({ input, shown }) => {
    if (input?.kind !== "state" || input.at !== undefined) return [];
    const head = find(input)?.head;
    return head !== undefined && shown.version !== null && head !== shown.version ? [`${input.branch} is at v${head} now`] : [];
  });
  const branch = find(right);
  const isLeftOut = right?.kind === "state" && right.at === undefined && branch !== undefined && currentState(branch).kind === "unsaved";
  if (moved.length === 0 && !isLeftOut) return null;
  return (
    <div role="status" className="col-span-3 flex items-center gap-2 text-xs text-warn">
      {moved.length > 0 ? (
        <>
          {moved.join(", ")}
          <Button size="sm" onClick={() => compareAgain(api)}>
            Compare again
          </Button>
        </>
      ) : null}
      {isLeftOut ? (
        <>
          {branch.name} has unsaved changes that are not compared
          <Button size="sm" onClick={() => chooseSide(api, "right", currentState(branch))}>
            Include them
          </Button>
        </>
      ) : null}
    </div>
  );
}

function Identical() {
  const view = useDiff((session) => session.view);
  const notes = view?.notes ?? [];
  const text = `Identical: ${formatPlural(view?.equalTables ?? 0, "table")}, no difference in schema, header or rows.`;
  return <EmptyState icon={GitCompareArrows} text={[text, ...notes].join(" ")} />;
}
