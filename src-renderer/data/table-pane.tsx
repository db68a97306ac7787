import { ArrowDownToLine, ArrowUpToLine, ListFilter, PanelBottom, Plus, RefreshCw, TriangleAlert } from "lucide-react";
import { useCallback, useMemo, useState, type ReactNode } from "react";
import type { DataColumnView, DataObjectView, DataTableView } from "#shared/query-views.ts";
import { useRequest } from "../api/queries.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { changeBrowse, changeSettings, useBrowse, useTableSettings } from "./browse-session.ts";
import { placeInput, type DataPlace } from "./data-session.ts";
import { FilterBar } from "./filter-bar.tsx";
import { insertCount, whyColumnNot, whyTableNot, type GridRows } from "./grid-editing.ts";
import type { GridPlace } from "./grid-selection.ts";
import { editedTable, stageInsert, useStaged } from "./staged-edits.ts";
import { StructurePane, type StructureProps } from "./structure-pane.tsx";
import { TableExport } from "./table-export.tsx";
import { useDataChanges, useRowCount, useTableRows } from "./use-table-rows.ts";
import type { TableQuery } from "./row-window.ts";
import { TableRows } from "./table-rows.tsx";

interface TablePaneProps {
  readonly place: DataPlace;
  readonly table: DataTableView;
  readonly objects: readonly DataObjectView[];
  /** Some of what tables are made of was left out: it is asked for, table by table. */
  readonly isPart: boolean;
  readonly isWritable: boolean;
  /** Of the branch: when it moves, rows are read again. */
  readonly head: number | null;
}

/** One table: its rows, page by page, or what it is made of. */
export function TablePane(props: TablePaneProps) {
  const { table } = props;
  if (table.problem === null) return <ReadableTable {...props} />;
  const structure = { table, columns: table.columns ?? NO_COLUMNS, key: table.key, objects: props.objects };
  return (
    <>
      <TableHead table={table} />
      <p role="status" className="flex flex-none items-center gap-2 border-b border-line bg-warn-bg px-4 py-2 text-xs text-warn">
        <TriangleAlert size={14} aria-hidden className="shrink-0" />
        It cannot be read: {table.problem}. What it is made of is below.
      </p>
      <StructurePane structure={structure} />
    </>
  );
}

/** Without `children` there are no rows to choose. */
function TableHead({ table, children }: Pick<TablePaneProps, "table"> & { readonly children?: ReactNode }) {
  const part = useBrowse((session) => session.part);
  return (
    <div className="flex min-h-10 flex-none flex-wrap items-center gap-1.5 border-b border-line px-3 py-1.5">
      <b className="name-cut max-w-72 font-semibold whitespace-pre" title={table.name}>
        {table.name}
      </b>
      {table.kind === "table" ? null : (
        <Badge tone="busy">{table.kind === "virtual" ? "virtual table" : table.kind === "shadow" ? "shadow table" : "view"}</Badge>
      )}
      {children === undefined ? null : (
        <Segmented
          size="sm"
          label="Rows or structure"
          value={part}
          segments={[
            { value: "rows", label: "Rows" },
            { value: "structure", label: "Structure" },
          ]}
          onChange={(value) => changeBrowse({ part: value })}
        />
      )}
      {children}
    </div>
  );
}

function ReadableTable({ place, table, objects, isPart, isWritable, head }: TablePaneProps) {
  const { order, filters } = useTableSettings(table.name);
  const part = useBrowse((session) => session.part);
  const showsFilters = useBrowse((session) => session.showsFilters) || filters.length > 0;
  const query: TableQuery = { place, table: table.name, order, filters };
  const { rows, state } = useTableRows(query);
  const [version, setVersion] = useState(0);
  const reload = useCallback(() => {
    void rows.reload();
    setVersion((number) => number + 1);
  }, [rows]);
  useDataChanges(place, head, reload);
  const isWhole = state.phase === "ready" && !state.hasBefore && !state.hasBehind;
  const count = useRowCount(query, state.phase === "ready" && !isWhole, version);
  const staged = useStaged(place).get(table.name) ?? null;
  const columns = state.columns.length > 0 ? state.columns : (table.columns ?? NO_COLUMNS);
  const key = state.columns.length > 0 ? state.key : table.key;
  const structure = { table, columns, key, objects };
  const whyNot = whyTableNot(place, { ...table, key }, isWritable);
  const grid = useMemo<GridRows>(
    () => ({ place, columns, rows: state.rows, staged, shape: editedTable(table, columns, key ?? NO_KEY) }),
    [place, columns, state.rows, staged, table, key],
  );
  const [reveal, setReveal] = useState<{ readonly id: number; readonly place: GridPlace } | null>(null);
  const goTo = (row: number, column = 0) => setReveal((before) => ({ id: (before?.id ?? 0) + 1, place: { row, column } }));
  const addRow = async () => {
    if (state.hasBefore) await rows.open();
    stageInsert(place, grid.shape);
    goTo(insertCount(grid), firstEditable(grid));
  };
  const jump = async (to: "start" | "end") => {
    await rows.open(to);
    goTo(to === "start" ? 0 : insertCount(grid) + rows.state.get().rows.length - 1);
  };
  return (
    <>
      <TableHead table={table}>
        {part === "rows" ? (
          <TableTools query={query} whyNot={state.phase === "loading" ? "" : whyNot} onAdd={addRow} onJump={jump} onReload={reload} />
        ) : null}
      </TableHead>
      {part === "structure" ? (
        isPart ? (
          <AskedStructure place={place} structure={structure} />
        ) : (
          <StructurePane structure={structure} />
        )
      ) : (
        <>
          {showsFilters ? (
            <FilterBar columns={columns} filters={filters} onChange={(changed) => changeSettings(table.name, { filters: changed })} />
          ) : null}
          <TableRows {...{ grid, rows, state, count, table, whyNot, reveal }} onJump={jump} />
        </>
      )}
    </>
  );
}

/** What is known is shown until the answer is here. */
function AskedStructure({ place, structure }: { readonly place: DataPlace; readonly structure: StructureProps }) {
  const { data } = useRequest("data.schema", { ...placeInput(place), table: structure.table.name });
  const table = data?.tables[0];
  return <StructurePane structure={data && table ? { ...structure, table, objects: data.objects } : structure} />;
}

const NO_COLUMNS: readonly DataColumnView[] = [];
const NO_KEY = { kind: "none", columns: [], isStable: false } as const;

function firstEditable({ columns }: GridRows): number {
  return Math.max(
    0,
    columns.findIndex((column) => whyColumnNot(column) === null),
  );
}

interface TableToolsProps {
  readonly query: TableQuery;
  /** Why nothing can be changed; null when it can, "" while that is not known. */
  readonly whyNot: string | null;
  readonly onAdd: () => Promise<void>;
  readonly onJump: (to: "start" | "end") => Promise<void>;
  readonly onReload: () => void;
}

function TableTools({ query, whyNot, onAdd, onJump, onReload }: TableToolsProps) {
  const { filters } = query;
  const showsFilters = useBrowse((session) => session.showsFilters) || filters.length > 0;
  const showsValue = useBrowse((session) => session.showsValue);
  return (
    <>
      <IconButton
        icon={ListFilter}
        label="Filters"
        aria-pressed={showsFilters}
        onClick={() => (filters.length > 0 ? changeSettings(query.table, { filters: [] }) : changeBrowse({ showsFilters: !showsFilters }))}
      />
      <IconButton icon={ArrowUpToLine} label="First rows" onClick={() => void onJump("start")} />
      <IconButton icon={ArrowDownToLine} label="Last rows" onClick={() => void onJump("end")} />
      <IconButton icon={RefreshCw} label="Read again" onClick={onReload} />
      <span className="ml-auto" />
      {whyNot === null ? (
        <Button size="sm" icon={Plus} onClick={() => void onAdd()}>
          Add a row
        </Button>
      ) : (
        <span className="name-cut text-xs text-ink-3">{whyNot === "" ? "" : `Read-only: ${whyNot}`}</span>
      )}
      <TableExport query={query} />
      <IconButton icon={PanelBottom} label="Value" aria-pressed={showsValue} onClick={() => changeBrowse({ showsValue: !showsValue })} />
    </>
  );
}
