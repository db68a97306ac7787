import { useInfiniteQuery } from "@tanstack/react-query";
import { Database, Redo2, Search, Undo2, User } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import type { RequestOutput } from "#shared/contract.ts";
import type { OperationView } from "#shared/views.ts";
import { toErrorView, type ApiError } from "../api/api-error.ts";
import { redoOperation, undoOperation } from "../api/perform.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { showScreen } from "../app-state.ts";
import { Badge, Chip } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CopyTable } from "../ui/copy-table.tsx";
import { cx } from "../ui/cx.ts";
import { TextInput } from "../ui/field.tsx";
import { RelativeTime } from "../ui/figures.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import type { TextColumn } from "../ui/table-text.ts";
import { countGroups, GROUP_WORDS, isFiltering, listActors, matchesOperation, type OperationFilter } from "./operation-filter.ts";
import { OperationDetail } from "./operation-detail.tsx";
import { OPERATION_ICONS, operationWord } from "./operation-words.ts";

const PAGE_ROWS = 1_000;
const NO_FILTER: OperationFilter = { text: "", group: "all", database: null, actor: null };

const COPY_COLUMNS: readonly TextColumn<OperationView>[] = [
  { title: "operation", value: (operation) => operation.id },
  { title: "time", value: (operation) => new Date(operation.at).toISOString() },
  { title: "kind", value: (operation) => operation.kind },
  { title: "summary", value: (operation) => operation.summary },
  { title: "database", value: (operation) => operation.database },
  { title: "branch", value: (operation) => operation.branch },
  { title: "actor", value: (operation) => operation.actor },
  { title: "state", value: (operation) => operation.state },
];

function useOperations(filter: OperationFilter) {
  const api = useApi();
  const where = {
    ...(filter.database === null ? {} : { database: filter.database }),
    ...(filter.actor === null ? {} : { actor: filter.actor }),
    limit: PAGE_ROWS,
  };
  return useInfiniteQuery<
    RequestOutput<"operation.list">,
    ApiError,
    { pages: RequestOutput<"operation.list">[] },
    readonly unknown[],
    number | null
  >({
    queryKey: ["operation.list", where],
    queryFn: ({ pageParam }) => api.request("operation.list", { ...where, ...(pageParam === null ? {} : { before: pageParam }) }),
    initialPageParam: null,
    getNextPageParam: (last) => (last.operations.length < PAGE_ROWS ? undefined : last.operations.at(-1)?.id),
  });
}

export function OperationLog({ tabs }: { readonly tabs: ReactNode }) {
  const [filter, setFilter] = useState<OperationFilter>(NO_FILTER);
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const log = useOperations(filter);
  const loaded = useMemo(() => (log.data?.pages ?? []).flatMap((page) => page.operations), [log.data]);
  const shown = useMemo(() => loaded.filter((operation) => matchesOperation(operation, filter)), [loaded, filter]);
  const selected = shown.find((operation) => String(operation.id) === selectedKey) ?? shown[0] ?? null;
  const total = log.data?.pages[0]?.total ?? 0;
  const more = log.hasNextPage && !log.isFetchingNextPage ? () => void log.fetchNextPage() : null;
  // Typing a filter must not read the whole log by itself: what is older is searched when asked.
  const narrowed = filter.text.trim() !== "" || filter.group !== "all";
  return (
    <>
      <LogToolbar tabs={tabs} filter={filter} loaded={loaded} shown={shown} onFilter={setFilter} />
      {log.isError && loaded.length === 0 ? (
        <div className="p-4">
          <ErrorPanel error={toErrorView(log.error)} onRetry={() => void log.refetch()} />
        </div>
      ) : log.isPending ? (
        <Skeleton lines={14} className="px-4 py-2" />
      ) : loaded.length === 0 && !isFiltering(filter) ? (
        <EmptyState
          text="Nothing was done in this store yet."
          action={<Button onClick={() => showScreen("branches")}>Show branches</Button>}
        />
      ) : (
        <div className="flex min-h-0 flex-1">
          <div data-pane="main" className="flex min-h-0 min-w-0 flex-1 flex-col">
            {shown.length === 0 ? (
              <EmptyState
                text={`Nothing matches among ${formatPlural(loaded.length, "operation")}.`}
                action={<Button onClick={() => setFilter(NO_FILTER)}>Clear filter</Button>}
              />
            ) : (
              <OperationRows operations={shown} selected={selected} onSelect={setSelectedKey} onEnd={narrowed ? null : more} />
            )}
            <footer className="flex h-9 flex-none items-center gap-3 border-t border-line px-3 text-xs text-ink-3 tabular-nums">
              {`${formatCount(shown.length)} of ${formatPlural(total, "operation")}`}
              {narrowed && log.hasNextPage ? (
                <Button size="sm" busy={log.isFetchingNextPage ? "Searching…" : null} onClick={() => void log.fetchNextPage()}>
                  Search older ones
                </Button>
              ) : null}
              {log.isError ? <span className="text-bad">{log.error.message}</span> : null}
            </footer>
          </div>
          <aside
            aria-label="Operation"
            data-pane="inspector"
            className="w-inspector flex-none overflow-y-auto border-l border-line bg-surface"
          >
            {selected ? <OperationDetail key={selected.id} operation={selected} onSelect={(id) => setSelectedKey(String(id))} /> : null}
          </aside>
        </div>
      )}
    </>
  );
}

interface ToolbarProps {
  readonly tabs: ReactNode;
  readonly filter: OperationFilter;
  readonly loaded: readonly OperationView[];
  readonly shown: readonly OperationView[];
  readonly onFilter: (filter: OperationFilter) => void;
}

function LogToolbar({ tabs, filter, loaded, shown, onFilter }: ToolbarProps) {
  const api = useApi();
  const databases = useRequest("database.list", {}).data ?? [];
  const counts = countGroups(loaded, filter);
  const pick = (key: "database" | "actor", value: string | null) => ({
    kind: "item" as const,
    id: value ?? "",
    label: value ?? (key === "database" ? "All databases" : "Everybody"),
    checked: filter[key] === value,
    run: () => onFilter({ ...filter, [key]: value }),
  });
  return (
    <header data-pane="toolbar" className="flex min-h-11 flex-none flex-wrap items-center gap-2 border-b border-line px-3 py-2">
      <h1 className="font-semibold">Activity</h1>
      {tabs}
      <TextInput
        icon={Search}
        aria-label="Filter operations"
        data-filter
        placeholder="Filter, e.g. promoted main"
        value={filter.text}
        onChange={(event) => onFilter({ ...filter, text: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Escape") onFilter({ ...filter, text: "" });
        }}
        boxClassName="min-w-40 max-w-80 flex-1"
      />
      <Menu label="Database" entries={[pick("database", null), ...databases.map((database) => pick("database", database.name))]}>
        <Button icon={Database}>{filter.database ?? "All databases"}</Button>
      </Menu>
      <Menu
        label="By whom"
        entries={[
          pick("actor", null),
          ...[...new Set([...listActors(loaded), ...(filter.actor === null ? [] : [filter.actor])])].map((actor) => pick("actor", actor)),
        ]}
      >
        <Button icon={User}>{filter.actor ?? "Everybody"}</Button>
      </Menu>
      <span className="ml-auto flex items-center gap-1">
        <CopyTable columns={COPY_COLUMNS} rows={shown} />
        <Button icon={Redo2} onClick={() => void redoOperation(api)}>
          Redo last undone
        </Button>
      </span>
      <fieldset aria-label="Kind" className="flex w-full flex-wrap gap-1.5">
        <Chip on={filter.group === "all"} count={formatCount(counts.get("all") ?? 0)} onClick={() => onFilter({ ...filter, group: "all" })}>
          All
        </Chip>
        {GROUP_WORDS.map(({ group, word }) => (
          <Chip
            key={group}
            on={filter.group === group}
            count={formatCount(counts.get(group) ?? 0)}
            onClick={() => onFilter({ ...filter, group: filter.group === group ? "all" : group })}
          >
            {word}
          </Chip>
        ))}
      </fieldset>
    </header>
  );
}

const COLUMNS =
  "grid grid-cols-[16px_minmax(0,1fr)_96px_minmax(64px,160px)_minmax(64px,112px)_64px_24px] tiny:grid-cols-[16px_minmax(0,1fr)_64px_24px] items-center gap-x-3 px-3";

interface RowsProps {
  readonly operations: readonly OperationView[];
  readonly selected: OperationView | null;
  readonly onSelect: (key: string) => void;
  readonly onEnd: (() => void) | null;
}

function OperationRows({ operations, selected, onSelect, onEnd }: RowsProps) {
  const api = useApi();
  return (
    <RowGrid
      label="Operations"
      columns={COLUMNS}
      head={
        <>
          <span />
          <span>What</span>
          <span className="tiny:hidden">State</span>
          <span className="tiny:hidden">Where</span>
          <span className="tiny:hidden">By</span>
          <span className="text-right">When</span>
          <span />
        </>
      }
      rows={operations}
      keyOf={(operation) => String(operation.id)}
      selected={selected}
      onSelect={onSelect}
      entries={(operation) => [
        {
          kind: "item",
          id: "undo",
          label: "Undo",
          icon: Undo2,
          disabled: operation.state !== "done",
          run: () => void undoOperation(api, operation.id),
        },
        { kind: "item", id: "redo", label: "Redo last undone", icon: Redo2, run: () => void redoOperation(api) },
      ]}
      onEnd={onEnd}
    >
      {(operation, { selected: chosen }) => (
        <OperationCells operation={operation} chosen={chosen} onUndo={() => void undoOperation(api, operation.id)} />
      )}
    </RowGrid>
  );
}

function OperationCells({
  operation,
  chosen,
  onUndo,
}: {
  readonly operation: OperationView;
  readonly chosen: boolean;
  readonly onUndo: () => void;
}) {
  const Icon = OPERATION_ICONS[operation.kind];
  const off = operation.state === "undone";
  const quiet = off ? "text-ink-3" : "text-ink-2";
  return (
    <>
      <span role="gridcell" className="text-ink-3" title={operationWord(operation.kind)}>
        <Icon size={14} aria-label={operationWord(operation.kind)} />
      </span>
      <Cell title={operation.summary} className={cx("text-sm", off && "text-ink-3 line-through decoration-ink-off")}>
        {operation.summary}
      </Cell>
      <span role="gridcell" className="tiny:hidden">
        <OperationState state={operation.state} />
      </span>
      <Cell
        className={cx("tiny:hidden", quiet)}
        title={operation.branch ? `${operation.database}@${operation.branch}` : operation.database}
      >
        {operation.branch ? `${operation.database}@${operation.branch}` : operation.database}
      </Cell>
      <Cell className={cx("tiny:hidden", quiet)} title={operation.actor}>
        {operation.actor}
      </Cell>
      <Cell className={cx("text-right", quiet)}>
        <RelativeTime at={operation.at} />
      </Cell>
      <span role="gridcell" className={cx("flex justify-end", !chosen && "opacity-0 group-hover/row:opacity-100")}>
        {operation.state === "done" ? (
          <IconButton icon={Undo2} label={`Undo: ${operation.summary}`} tabIndex={-1} onClick={onUndo} />
        ) : null}
      </span>
    </>
  );
}

export function OperationState({ state }: { readonly state: OperationView["state"] }) {
  if (state === "done") return null;
  if (state === "undone") return <Badge tone="busy">Undone</Badge>;
  return (
    <Badge tone="busy" title="It can no longer be undone">
      Permanent
    </Badge>
  );
}
