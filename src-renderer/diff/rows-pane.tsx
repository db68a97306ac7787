import { useInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, ListFilter, TriangleAlert } from "lucide-react";
import { useCallback, useEffect, useMemo } from "react";
import type { DiffRowsView, DiffView, RowChangeView, RowKind, SchemaChangeView, TableDiffView } from "#shared/diff-views.ts";
import { toErrorView, type ApiError } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { Badge, Chip } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { formatCount } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import {
  ROW_KINDS,
  searchRows,
  selectTable,
  toggleAllColumns,
  toggleIgnored,
  toggleKind,
  useDiff,
  type DiffSession,
} from "./diff-session.ts";
import { RowTable } from "./row-table.tsx";
import { matchesRow, visibleColumns } from "./visible-columns.ts";

const PAGE_ROWS = 500;
/** Rows kept here; beyond, filters and exports take over. */
const ROWS_MAX = 100_000;
const NOTHING: ReadonlySet<string> = new Set();

const KIND_WORDS: Readonly<Record<RowKind, { readonly sign: string; readonly word: string; readonly className: string }>> = {
  insert: { sign: "+", word: "Added", className: "text-add" },
  delete: { sign: "−", word: "Deleted", className: "text-del" },
  update: { sign: "~", word: "Changed", className: "text-mod" },
};

/** The rows of the chosen table that differ. */
export function RowsPane({ view }: { readonly view: DiffView }) {
  const name = useDiff((session) => session.table);
  const group = view.tables.filter((table) => table.name === name || table.owner === name);
  const table = group.find((each) => each.name === name) ?? group[0] ?? null;
  if (!table) return <EmptyState text="No table differs in its rows." />;
  return (
    <>
      <TableHeader view={view} table={table} group={group} />
      {table.notComparable === null ? (
        <Rows key={table.name} view={view} table={table} />
      ) : (
        <EmptyState icon={TriangleAlert} text={`Not comparable: ${table.notComparable}`} />
      )}
    </>
  );
}

function TableHeader(props: { readonly view: DiffView; readonly table: TableDiffView; readonly group: readonly TableDiffView[] }) {
  const { view, table, group } = props;
  const kinds = useDiff((session) => session.kinds);
  const counts = useDiff((session) => session.counts.get(table.name) ?? null);
  const search = useDiff((session) => session.search);
  const schema = view.schema.filter((change) => change.name === table.name || change.table === table.name);
  const countOf = { insert: counts?.inserted, delete: counts?.deleted, update: counts?.updated };
  return (
    <>
      <div className="flex min-h-10 flex-none flex-wrap items-center gap-1.5 border-b border-line px-3 py-1.5">
        <b className="name-cut max-w-60 font-semibold">{table.name}</b>
        <MatchedBy table={table} />
        {group.length > 1 ? <ShadowMenu group={group} table={table} /> : null}
        <span aria-hidden className="mx-1 h-4 w-px bg-line" />
        <span role="group" aria-label="Kinds of changes" className="flex gap-1.5">
          {ROW_KINDS.map((kind) => {
            const { sign, word, className } = KIND_WORDS[kind];
            const count = countOf[kind];
            return (
              <Chip
                key={kind}
                on={kinds.has(kind)}
                onClick={() => toggleKind(kind)}
                {...(count === undefined ? {} : { count: formatCount(count) + (counts?.isComplete ? "" : "…") })}
              >
                <b className={className}>{sign}</b> {word}
              </Chip>
            );
          })}
        </span>
        <TextInput
          data-filter
          icon={ListFilter}
          aria-label="Filter rows by column or value"
          placeholder="Column or value"
          boxClassName="ml-auto w-44"
          value={search}
          onChange={(event) => searchRows(event.target.value)}
        />
        <ColumnsMenu table={table} />
      </div>
      {schema.length > 0 ? <Definitions schema={schema} table={table} /> : null}
    </>
  );
}

/** What tells rows apart. A rowid is none: it may stand for another row on the other side. */
function MatchedBy({ table }: { readonly table: TableDiffView }) {
  const words = { "primary key": "Matched by PRIMARY KEY", unique: "Matched by UNIQUE", "whole row": "Matched by whole row" };
  if (table.matchedBy !== "whole row")
    return (
      <Badge tone="busy" icon={KeyRound}>
        {words[table.matchedBy]}
      </Badge>
    );
  return (
    <Badge
      tone="warn"
      icon={TriangleAlert}
      title="The table has no key. Its rowids say nothing across branches (VACUUM gives them anew), so rows are counted by all their values: a changed row shows as one deleted and one added."
    >
      {words["whole row"]}
    </Badge>
  );
}

function ShadowMenu({ group, table }: { readonly group: readonly TableDiffView[]; readonly table: TableDiffView }) {
  return (
    <Menu
      label="Tables of this virtual table"
      entries={group.map(({ name }) => ({
        kind: "item",
        id: name,
        label: name,
        checked: name === table.name,
        run: () => selectTable(name),
      }))}
    >
      <Button size="sm">Shadow tables</Button>
    </Menu>
  );
}

function ColumnsMenu({ table }: { readonly table: TableDiffView }) {
  const all = useDiff((session) => session.showAllColumns);
  const ignored = useDiff((session) => session.ignored.get(table.name) ?? NOTHING);
  return (
    <Menu
      label="Columns"
      align="end"
      entries={[
        { kind: "item", id: "show all", label: "Show all columns", checked: all, run: toggleAllColumns },
        { kind: "separator", id: "line" },
        ...table.columns
          .filter((column) => !column.isKey)
          .map(({ name }) => ({
            kind: "item" as const,
            id: `column ${name}`,
            label: `Ignore ${name}`,
            checked: ignored.has(name),
            run: () => toggleIgnored(table.name, name),
          })),
      ]}
    >
      <Button size="sm">{ignored.size > 0 ? `Columns (${ignored.size} ignored)` : "Columns"}</Button>
    </Menu>
  );
}

function Definitions({ schema, table }: { readonly schema: readonly SchemaChangeView[]; readonly table: TableDiffView }) {
  const added = table.columns.filter(({ side }) => side === "right" && table.side === "both");
  const dropped = table.columns.filter(({ side }) => side === "left" && table.side === "both");
  const renamed = table.columns.filter(({ formerName }) => formerName !== null);
  const others = schema.filter((change) => change.name !== table.name || added.length + dropped.length + renamed.length === 0);
  return (
    <div className="flex-none border-b border-line bg-sch-bg py-1 font-mono text-xs">
      {added.map(({ name, type }) => (
        <Definition key={`+${name}`} text={`+ ${name} ${type}`} note="column added" />
      ))}
      {dropped.map(({ name, type }) => (
        <Definition key={`-${name}`} text={`− ${name} ${type}`} note="column dropped" />
      ))}
      {renamed.map(({ name, formerName }) => (
        <Definition key={`~${name}`} text={`${formerName} → ${name}`} note="column renamed" />
      ))}
      {others.slice(0, 4).map((change) => (
        <Definition key={change.name} text={`${change.type} ${change.name}`} note={change.change} />
      ))}
    </div>
  );
}

function Definition({ text, note }: { readonly text: string; readonly note: string }) {
  return (
    <div className="grid grid-cols-[36px_minmax(0,1fr)_auto] pr-3">
      <b className="text-center text-sch">§</b>
      <span className="name-cut">{text}</span>
      <span className="font-sans text-ink-2">{note}</span>
    </div>
  );
}

function useRows(id: string, table: TableDiffView) {
  const api = useApi();
  const kinds = useDiff((session) => session.kinds);
  const ignored = useDiff((session) => session.ignored.get(table.name) ?? NOTHING);
  const filter = {
    ...(kinds.size < ROW_KINDS.length ? { kinds: [...kinds].toSorted() } : {}),
    ...(ignored.size > 0 ? { columns: table.columns.map(({ name }) => name).filter((name) => !ignored.has(name)) } : {}),
  };
  return useInfiniteQuery<DiffRowsView, ApiError, { pages: DiffRowsView[] }, readonly unknown[], string | null>({
    queryKey: ["diff.rows", { id, table: table.name, ...filter }],
    queryFn: ({ pageParam }) =>
      api.request("diff.rows", {
        id,
        table: table.name,
        ...filter,
        limit: PAGE_ROWS,
        ...(pageParam === null ? {} : { after: pageParam }),
      }),
    initialPageParam: null,
    getNextPageParam: (last, pages) => (pages.length * PAGE_ROWS < ROWS_MAX ? last.next : null),
  });
}

function Rows({ view, table }: { readonly view: DiffView; readonly table: TableDiffView }) {
  const found = useRows(view.id, table);
  const search = useDiff((session) => session.search);
  const all = useDiff((session) => session.showAllColumns);
  const layout = useDiff((session) => session.layout);
  const ignored = useDiff((session) => session.ignored.get(table.name) ?? NOTHING);
  const loaded: readonly RowChangeView[] = useMemo(() => (found.data?.pages ?? []).flatMap(({ rows }) => rows), [found.data]);
  const rows = useMemo(
    () => (search.trim() === "" ? loaded : loaded.filter((row) => matchesRow(row, table.columns, search))),
    [loaded, search, table],
  );
  const columns = useMemo(() => visibleColumns(table.columns, loaded, { all, ignored }), [table, loaded, all, ignored]);
  const total = useDiff((session) => totalOf(session, table.name));
  const { fetchNextPage } = found;
  const isSearching = search.trim() !== "";
  const canLoad = found.hasNextPage && !found.isFetchingNextPage && !found.error;
  useEffect(() => {
    // A search is about every row, not only those that were scrolled to.
    if (isSearching && canLoad) void fetchNextPage();
  }, [isSearching, canLoad, fetchNextPage]);
  const onEnd = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  if (found.isPending) return <Skeleton lines={14} className="px-4 py-2" />;
  return (
    <>
      {found.error ? (
        <div className="p-3">
          <ErrorPanel error={toErrorView(found.error)} onRetry={() => void (found.data ? found.fetchNextPage() : found.refetch())} />
        </div>
      ) : null}
      {rows.length === 0 && !found.hasNextPage && !found.error ? (
        <EmptyState text={loaded.length === 0 ? "No row of this table differs in the chosen kinds." : "No changed row matches."} />
      ) : (
        <RowTable
          table={table}
          columns={columns}
          hidden={table.columns.length - columns.length}
          rows={rows}
          layout={layout}
          status={statusOf(loaded.length, rows.length, { isSearching, total })}
          onEnd={isSearching || !canLoad ? null : onEnd}
        />
      )}
    </>
  );
}

/** Changes of the chosen kinds; ignored columns are not known to the counts. */
function totalOf({ counts, kinds, ignored }: DiffSession, table: string): number | null {
  const found = counts.get(table);
  if (!found?.isComplete || (ignored.get(table)?.size ?? 0) > 0) return null;
  const of = { insert: found.inserted, delete: found.deleted, update: found.updated };
  return ROW_KINDS.reduce((sum, kind) => sum + (kinds.has(kind) ? of[kind] : 0), 0);
}

/** `total`: null while it is not counted. */
function statusOf(
  loaded: number,
  shown: number,
  { isSearching, total }: { readonly isSearching: boolean; readonly total: number | null },
): string {
  const of = total !== null && loaded < total ? ` of ${formatCount(total)}` : "";
  const rest = loaded >= ROWS_MAX ? ` (the first ${formatCount(ROWS_MAX)}: filter, or export all)` : "";
  const all = `${formatCount(loaded)}${of} changes${total === null ? " so far" : ""}${rest}`;
  return isSearching ? `${formatCount(shown)} in ${all}` : `${all}, in order of the key`;
}
