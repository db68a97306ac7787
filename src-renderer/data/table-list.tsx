import { Blocks, Eye, ListFilter, Table2, TriangleAlert, type LucideIcon } from "lucide-react";
import { useMemo } from "react";
import type { DataSchemaView, DataTableView } from "#shared/query-views.ts";
import { cx } from "../ui/cx.ts";
import { TextInput } from "../ui/field.tsx";
import { formatCount, formatPlural } from "../ui/format.ts";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { changeBrowse, useBrowse } from "./browse-session.ts";
import type { StagedBranch } from "./staged-edits.ts";

const COLUMNS = "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-2 px-3 text-xs";
const ICONS: Readonly<Record<DataTableView["kind"], LucideIcon>> = { table: Table2, virtual: Blocks, shadow: Table2, view: Eye };
const WORDS: Readonly<Record<DataTableView["kind"], string>> = { table: "", virtual: "virtual", shadow: "shadow", view: "view" };

/** Tables and views by name; SQLite's own, and those that virtual tables keep their data in, only when asked for. */
export function shownTables({ tables }: DataSchemaView, showsShadows: boolean): readonly DataTableView[] {
  return tables
    .filter(({ kind, name }) => showsShadows || (kind !== "shadow" && !name.startsWith("sqlite_")))
    .toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
}

export function TableList(props: { readonly schema: DataSchemaView; readonly selected: string | null; readonly staged: StagedBranch }) {
  const { schema, staged } = props;
  const search = useBrowse((session) => session.search);
  const showsShadows = useBrowse((session) => session.showsShadows);
  const rows = useMemo(() => {
    const text = search.trim().toLowerCase();
    return shownTables(schema, showsShadows).filter(({ name }) => name.toLowerCase().includes(text));
  }, [schema, search, showsShadows]);
  const folded = useMemo(() => schema.tables.length - shownTables(schema, false).length, [schema]);
  return (
    <aside
      aria-label="Tables"
      data-pane="tables"
      className="flex w-64 min-w-0 flex-none flex-col border-r border-line narrow:w-56 tiny:w-40"
    >
      <div className="flex-none border-b border-line p-2">
        <TextInput
          data-filter
          icon={ListFilter}
          aria-label="Filter tables"
          placeholder="Filter tables"
          boxClassName="w-full"
          value={search}
          onChange={(event) => changeBrowse({ search: event.target.value })}
        />
      </div>
      {rows.length === 0 ? (
        <p role="status" className="flex-1 px-3 py-2 text-xs text-ink-3">
          No table has this in its name.
        </p>
      ) : (
        <RowGrid
          label="Tables of this state"
          columns={COLUMNS}
          head={
            <>
              <span>Name</span>
              <span className="tabular-nums">
                {rows.length === schema.tables.length ? "" : `${formatCount(rows.length)} of `}
                {formatCount(schema.tables.length)}
              </span>
            </>
          }
          rows={rows}
          keyOf={(table) => table.name}
          selected={rows.find((table) => table.name === props.selected) ?? null}
          onSelect={(table) => changeBrowse({ table })}
        >
          {(table) => <TableCells table={table} changes={countChanges(staged, table.name)} />}
        </RowGrid>
      )}
      {folded > 0 ? (
        <label className="flex h-row flex-none items-center gap-2 border-t border-line px-3 text-xs text-ink-2">
          <input
            type="checkbox"
            className="size-3.5 accent-accent"
            checked={showsShadows}
            onChange={(event) => changeBrowse({ showsShadows: event.target.checked })}
          />
          <span className="name-cut">{formatPlural(folded, "internal table")}</span>
        </label>
      ) : null}
      {schema.unlisted > 0 ? (
        <p className="flex-none border-t border-line px-3 py-1 text-2xs text-warn">
          {formatPlural(schema.unlisted, "more object")} of this schema not listed: ask for them with SQL.
        </p>
      ) : null}
    </aside>
  );
}

function countChanges(staged: StagedBranch, name: string): number {
  const table = staged.get(name);
  return table ? table.edits.size + table.inserts.length : 0;
}

function TableCells({ table, changes }: { readonly table: DataTableView; readonly changes: number }) {
  const Icon = table.problem === null ? ICONS[table.kind] : TriangleAlert;
  return (
    <>
      <Cell
        title={table.problem === null ? table.name : `${table.name} cannot be read: ${table.problem}`}
        className={cx("flex items-center gap-1.5", table.kind === "shadow" && "text-ink-3")}
      >
        <Icon size={14} aria-hidden className={cx("shrink-0", table.problem === null ? "text-ink-3" : "text-warn")} />
        <span className="name-cut whitespace-pre">{table.name}</span>
      </Cell>
      <Cell className="text-2xs text-ink-3">
        {changes > 0 ? (
          <span
            className="rounded-sm bg-mod-cell px-1 font-medium text-mod tabular-nums"
            title={`${formatPlural(changes, "change")} not applied`}
          >
            ~{formatCount(changes)}
          </span>
        ) : table.problem === null ? (
          WORDS[table.kind]
        ) : (
          "cannot be read"
        )}
      </Cell>
    </>
  );
}
