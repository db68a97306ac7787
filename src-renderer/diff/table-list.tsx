import { Eye, Table2 } from "lucide-react";
import type { DiffView, SchemaChangeView, TableCounts, TableDiffView } from "#shared/diff-views.ts";
import { cx } from "../ui/cx.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { countRows, selectTable, showTab, useDiff } from "./diff-session.ts";

const COLUMNS = "grid grid-cols-[minmax(0,1fr)_52px_48px_54px_26px] items-center gap-x-1 px-3 text-xs";

interface TableRow {
  readonly name: string;
  readonly table: TableDiffView | null;
  /** Shadow tables folded under this one. */
  readonly folded: number;
  readonly counts: Pick<TableCounts, "inserted" | "deleted" | "updated"> | null;
  readonly isComplete: boolean;
  readonly problem: string | null;
  readonly schema: number;
}

/** Tables that may differ, with their counts as they come in; shadow tables stand under their owner. */
export function TableList({ view }: { readonly view: DiffView }) {
  const counts = useDiff((session) => session.counts);
  const selectedName = useDiff((session) => session.table);
  const rows = tableRows(view, counts);
  const selected = rows.find((row) => row.name === selectedName) ?? null;
  const sum = (part: "inserted" | "deleted" | "updated") => rows.reduce((total, row) => total + (row.counts?.[part] ?? 0), 0);
  return (
    <aside
      aria-label="Tables"
      data-pane="tables"
      className="flex w-93 min-w-0 flex-none flex-col border-r border-line narrow:w-86 tiny:w-64"
    >
      <RowGrid
        label="Tables that differ"
        columns={COLUMNS}
        head={
          <>
            <span>Table</span>
            <span className="text-right">Added</span>
            <span className="text-right">Deleted</span>
            <span className="text-right">Changed</span>
            <span className="text-right">DDL</span>
          </>
        }
        rows={rows}
        keyOf={(row) => row.name}
        selected={selected}
        onSelect={(name) => (rows.find((row) => row.name === name)?.table ? selectTable(name) : showTab("schema"))}
      >
        {(row) => <TableCells row={row} />}
      </RowGrid>
      <div className={cx(COLUMNS, "h-row flex-none overflow-hidden border-t border-line bg-surface font-medium [scrollbar-gutter:stable]")}>
        <span className="name-cut">{formatPlural(view.tables.length + view.equalTables, "table")}</span>
        <Sign sign="+" value={sum("inserted")} className="text-add" />
        <Sign sign="−" value={sum("deleted")} className="text-del" />
        <Sign sign="~" value={sum("updated")} className="text-mod" />
        <Sign sign="§" value={view.schema.length} className="text-sch" />
      </div>
      {view.equalTables > 0 ? (
        <div className="flex h-row flex-none items-center border-t border-line px-3 text-xs text-ink-3">
          {formatPlural(view.equalTables, "table")} identical, not read
        </div>
      ) : null}
    </aside>
  );
}

function TableCells({ row }: { readonly row: TableRow }) {
  const Icon = row.table ? Table2 : Eye;
  return (
    <>
      <Cell title={row.problem ?? row.name} className={cx("flex items-center gap-1.5", isQuiet(row) && "text-ink-3")}>
        <Icon size={14} aria-hidden className="shrink-0 text-ink-3" />
        <span className="name-cut">{row.name}</span>
        {row.folded > 0 ? <span className="text-ink-3">+{row.folded}</span> : null}
      </Cell>
      {row.problem ? (
        <Cell title={row.problem} className="col-span-3 text-right text-warn">
          not comparable
        </Cell>
      ) : (
        <>
          <Sign sign="+" value={row.counts?.inserted ?? 0} pending={!row.isComplete} className="text-add" />
          <Sign sign="−" value={row.counts?.deleted ?? 0} pending={!row.isComplete} className="text-del" />
          <Sign sign="~" value={row.counts?.updated ?? 0} pending={!row.isComplete} className="text-mod" />
        </>
      )}
      <Sign sign="§" value={row.schema} className="text-sch" />
    </>
  );
}

/** Its pages changed, its rows did not. */
function isQuiet({ table, isComplete, counts, problem, schema }: TableRow): boolean {
  return table !== null && isComplete && problem === null && schema === 0 && counts !== null && countRows(counts) === 0;
}

/** The sign is always printed: colour is never the only one. A count that is not final yet ends in "…". */
function Sign(props: { readonly sign: string; readonly value: number; readonly pending?: boolean; readonly className: string }) {
  const { sign, value, pending = false, className } = props;
  return (
    <span role="gridcell" className={cx("text-right tabular-nums", value > 0 ? className : "text-ink-3")}>
      {value > 0 ? (
        <>
          <b className="mr-px text-2xs font-semibold">{sign}</b>
          {formatCount(value)}
        </>
      ) : pending ? null : (
        "–"
      )}
      {pending ? "…" : ""}
    </span>
  );
}

/** A shadow table counts for its owner, and is opened by it. */
function tableRows(view: DiffView, counts: ReadonlyMap<string, TableCounts>): readonly TableRow[] {
  const changesOf = (name: string): readonly SchemaChangeView[] =>
    view.schema.filter((change) => change.name === name || change.table === name);
  const rows = new Map<string, TableRow>();
  for (const table of view.tables) {
    const name = table.owner ?? table.name;
    const found = counts.get(table.name);
    const before = rows.get(name);
    rows.set(name, {
      name,
      table: before?.table ?? table,
      folded: (before?.folded ?? 0) + (table.owner === null ? 0 : 1),
      counts: addCounts(before?.counts ?? null, found ?? null),
      isComplete: (before?.isComplete ?? true) && (found?.isComplete ?? false),
      problem: table.notComparable ?? found?.notComparable ?? before?.problem ?? null,
      schema: changesOf(name).length,
    });
  }
  for (const change of view.schema) {
    const name = change.table ?? change.name;
    if (rows.has(name) || change.type === "pragma") continue;
    rows.set(name, { name, table: null, folded: 0, counts: null, isComplete: true, problem: null, schema: changesOf(name).length });
  }
  // What differs comes first; equal ones are known only when all is counted, and then stand below.
  return [...rows.values()].toSorted((a, b) => Number(isQuiet(a)) - Number(isQuiet(b)));
}

function addCounts(a: TableRow["counts"], b: TableRow["counts"]): TableRow["counts"] {
  if (!a || !b) return a ?? b;
  return { inserted: a.inserted + b.inserted, deleted: a.deleted + b.deleted, updated: a.updated + b.updated };
}
