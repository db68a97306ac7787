import { useInfiniteQuery } from "@tanstack/react-query";
import { Bookmark, GitFork, History as HistoryIcon } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { RequestOutput } from "#shared/contract.ts";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import type { ApiError } from "../api/api-error.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { openDialog, openImport, selectBranches, useAppState } from "../app-state.ts";
import { useBranchList, useFocusedBranch } from "../branches/branch-list.ts";
import { FileBadge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyTable } from "../ui/copy-table.tsx";
import { formatPlural } from "../ui/format.ts";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import type { TextColumn } from "../ui/table-text.ts";
import { ExportDialog } from "./export-dialog.tsx";
import { useHistoryActs, type HistoryActs } from "./history-acts.ts";
import { buildTimeline, kindWord, versionTitle, type TimelineRow } from "./history-rows.ts";
import { Timeline } from "./timeline.tsx";
import { UnsavedDetail } from "./unsaved-detail.tsx";
import { VersionDetail } from "./version-detail.tsx";

const PAGE_ROWS = 500;

/** The states of the branch in focus (main when none is), newest first, and everything about the chosen one. */
export function HistoryScreen() {
  const database = useAppState((state) => state.database);
  const focused = useFocusedBranch();
  const main = useBranchList((state) => state.branches.find((branch) => branch.name === "main") ?? state.branches[0] ?? null);
  const loading = useBranchList((state) => state.loading);
  const branch = focused ?? main;
  useEffect(() => {
    // Commands and the status bar are about the branch that is shown.
    if (!focused && main) selectBranches(main.id);
  }, [focused, main]);
  if (database === null || (!branch && !loading)) {
    return (
      <EmptyState
        icon={HistoryIcon}
        text="There is no branch whose history could be shown."
        action={<Button onClick={() => openImport(null)}>Import a SQLite file</Button>}
      />
    );
  }
  if (!branch) return <Skeleton lines={12} className="flex-1 px-4 py-14" />;
  // Another branch starts with a new selection and at the top.
  return <BranchHistory key={branch.id} database={database} branch={branch.name} />;
}

function useHistory(database: string, branch: string) {
  const api = useApi();
  return useInfiniteQuery<
    RequestOutput<"branch.history">,
    ApiError,
    { pages: RequestOutput<"branch.history">[] },
    readonly unknown[],
    number
  >({
    queryKey: ["branch.history", { database, branch, limit: PAGE_ROWS }],
    queryFn: ({ pageParam }) => api.request("branch.history", { database, branch, offset: pageParam, limit: PAGE_ROWS }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, page) => sum + page.versions.length, 0);
      return last.versions.length > 0 && loaded < last.total ? loaded : undefined;
    },
  });
}

function BranchHistory({ database, branch }: { readonly database: string; readonly branch: string }) {
  const history = useHistory(database, branch);
  const pages = history.data?.pages;
  const view = pages?.[0]?.branch ?? null;
  const total = pages?.[0]?.total ?? 0;
  const versions = useMemo(() => distinctVersions((pages ?? []).flatMap((page) => page.versions)), [pages]);
  return (
    <section aria-label="History" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <header data-pane="toolbar" className="flex h-11 flex-none items-center gap-2 border-b border-line px-3">
        <h1 className="shrink-0 font-semibold">History</h1>
        <span className="name-cut text-ink-2">{branch}</span>
        {view?.checkout.state === "unsaved" || view?.checkout.state === "conflict" ? <FileBadge state={view.checkout.state} /> : null}
        <span className="ml-auto shrink-0 text-xs text-ink-3 tabular-nums">{view ? formatPlural(total, "version") : null}</span>
        <CopyTable columns={copyColumns(branch)} rows={versions} />
        <Button icon={Bookmark} onClick={() => openDialog({ kind: "checkpoint", branch })}>
          Checkpoint
        </Button>
        <Button variant="primary" icon={GitFork} disabled={!view} onClick={() => openDialog({ kind: "fork", branch })}>
          Fork
        </Button>
      </header>
      {history.isError && !view ? (
        <div className="p-4">
          <ErrorPanel error={toErrorView(history.error)} onRetry={() => void history.refetch()} />
        </div>
      ) : !view ? (
        <Skeleton lines={12} className="px-4 py-2" />
      ) : versions.length === 0 ? (
        <EmptyState
          icon={HistoryIcon}
          text={`${branch} has no versions that can be shown.`}
          action={<Button onClick={() => void history.refetch()}>Load again</Button>}
        />
      ) : (
        <HistoryPanes
          view={view}
          versions={versions}
          failure={history.isError ? history.error : null}
          onEnd={history.hasNextPage && !history.isFetchingNextPage ? () => void history.fetchNextPage() : null}
          onRetry={() => void history.fetchNextPage()}
        />
      )}
    </section>
  );
}

interface PanesProps {
  readonly view: BranchView;
  readonly versions: readonly HistoryRow[];
  /** A later page or a refresh failed; what is shown is older. */
  readonly failure: ApiError | null;
  readonly onEnd: (() => void) | null;
  readonly onRetry: () => void;
}

function HistoryPanes(props: PanesProps) {
  const { view, versions } = props;
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const [exported, setExported] = useState<HistoryRow | null>(null);
  const rows = useMemo(() => buildTimeline(view, versions, open), [view, versions, open]);
  const selected = rows.find((row) => row.key === selectedKey) ?? currentRow(rows);
  const acts = useHistoryActs(view, setExported);
  const toggle = (key: string) =>
    setOpen((keys) => (keys.has(key) ? new Set([...keys].filter((other) => other !== key)) : new Set([...keys, key])));
  return (
    <div className="flex min-h-0 flex-1">
      <div data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col">
        {props.failure ? (
          <div className="p-3">
            <ErrorPanel error={toErrorView(props.failure)} onRetry={props.onRetry} />
          </div>
        ) : null}
        <Timeline
          branch={view}
          rows={rows}
          selected={selected}
          acts={acts}
          onSelect={setSelectedKey}
          onToggle={toggle}
          onEnd={props.onEnd}
        />
      </div>
      <aside aria-label="Version" data-pane="inspector" className="w-inspector flex-none overflow-y-auto border-l border-line bg-surface">
        {selected ? <Detail row={selected} branch={view} acts={acts} onSelect={setSelectedKey} onToggle={toggle} /> : null}
      </aside>
      {exported ? <ExportDialog branch={view} version={exported} onClose={() => setExported(null)} /> : null}
    </div>
  );
}

interface DetailProps {
  readonly row: TimelineRow;
  readonly branch: BranchView;
  readonly acts: HistoryActs;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (key: string) => void;
}

function Detail({ row, branch, acts, onSelect, onToggle }: DetailProps) {
  if (row.type === "unsaved") return <UnsavedDetail branch={branch} acts={acts} />;
  if (row.type === "version")
    return (
      <VersionDetail key={row.key} version={row.version} branch={branch} acts={acts} onSelectVersion={(number) => onSelect(`v${number}`)} />
    );
  if (row.type === "fork-point") return null;
  return (
    <div className="flex flex-col gap-3 p-3 text-xs text-ink-2">
      <h2 className="text-md font-semibold text-ink">{formatPlural(row.versions.length, "automatic version")}</h2>
      <p>Saved by Coppice before it replaced unsaved work. Each can be forked, opened or rolled back to.</p>
      <Button className="self-start" onClick={() => onToggle(row.key)}>
        {row.open ? "Fold" : "Show them"}
      </Button>
    </div>
  );
}

/** What the branch is now: its unsaved changes, else its head. */
function currentRow(rows: readonly TimelineRow[]): TimelineRow | null {
  return rows.find((row) => row.type === "unsaved" || (row.type === "version" && row.version.place === "head")) ?? rows[0] ?? null;
}

/** Two pages may overlap when a version was added between their requests. */
function distinctVersions(versions: readonly HistoryRow[]): HistoryRow[] {
  return [...new Map(versions.map((version) => [version.number, version])).values()];
}

function copyColumns(branch: string): readonly TextColumn<HistoryRow>[] {
  return [
    { title: "version", value: (version) => `v${version.number}` },
    { title: "name", value: (version) => versionTitle(version, branch) },
    { title: "kind", value: (version) => kindWord(version.kind) },
    { title: "message", value: (version) => version.message },
    { title: "time", value: (version) => new Date(version.createdAt).toISOString() },
    { title: "actor", value: (version) => version.actor },
    { title: "changed pages", value: (version) => version.changedPages },
    { title: "stored bytes", value: (version) => version.storedBytes },
    { title: "checksum", value: (version) => version.checksum },
  ];
}
