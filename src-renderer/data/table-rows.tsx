import { isCut } from "#shared/sql-literal.ts";
import { Filter } from "lucide-react";
import { useMemo, useState } from "react";
import type { DataTableView, DataValue } from "#shared/query-views.ts";
import type { Api } from "../api/api.ts";
import { useApi } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import type { MenuEntry } from "../ui/menu.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { EmptyState, ErrorPanel, Skeleton } from "../ui/states.tsx";
import { changeBrowse, changeSettings, sortBy, useBrowse, useTableSettings } from "./browse-session.ts";
import { absentAt, gridEditing, insertCount, markAt, stageValueAt, valuesAt, whyColumnNot, type GridRows } from "./grid-editing.ts";
import type { GridPlace } from "./grid-selection.ts";
import type { RowWindow, WindowState } from "./row-window.ts";
import type { RowCount } from "./use-table-rows.ts";
import { ValueGrid, type GridColumn } from "./value-grid.tsx";
import { ValuePanel, type ShownValue } from "./value-panel.tsx";
import { readWholeValue, type ValuePlace } from "./whole-value.ts";

interface TableRowsProps {
  readonly grid: GridRows;
  readonly rows: RowWindow;
  readonly state: WindowState;
  readonly count: RowCount;
  readonly table: DataTableView;
  readonly whyNot: string | null;
  readonly reveal: { readonly id: number; readonly place: GridPlace } | null;
  readonly onJump: (to: "start" | "end") => Promise<void>;
}

/** The rows of a table in a grid, and the value with the keyboard beneath it. */
export function TableRows({ grid, rows, state, count, table, whyNot, reveal, onJump }: TableRowsProps) {
  const api = useApi();
  const { order, filters } = useTableSettings(table.name);
  const showsValue = useBrowse((session) => session.showsValue);
  const [focus, setFocus] = useState<GridPlace | null>(null);
  const inserts = insertCount(grid);
  const heads = useMemo(() => grid.columns.map(gridColumn), [grid.columns]);
  const total = inserts + state.rows.length;
  if (state.phase === "failed" && state.error)
    return (
      <div className="p-4">
        <ErrorPanel error={state.error} onRetry={() => void rows.open()} />
      </div>
    );
  if (state.phase === "loading")
    return (
      <div className="flex flex-col gap-2 px-4 py-2">
        <RunningJob quiet />
        <Skeleton lines={14} />
      </div>
    );
  const isEditable = whyNot === null;
  const shown = focus ? shownValue(grid, focus, whyNot) : null;
  const column = grid.columns[focus?.column ?? -1];
  return (
    <>
      {state.error ? (
        <div className="border-b border-line p-2">
          <ErrorPanel error={state.error} onRetry={() => void rows.reload()} />
        </div>
      ) : null}
      {total === 0 ? (
        <NoRows table={table} isFiltered={filters.length > 0} />
      ) : (
        <ValueGrid
          label={`Rows of ${table.name}`}
          columns={heads}
          count={total}
          rowAt={(index) => valuesAt(grid, index)}
          onEnd={state.hasBehind ? rows.loadBehind : undefined}
          onStart={state.hasBefore ? rows.loadBefore : undefined}
          shift={state.shift}
          filled={state.opened}
          numberAt={(index) => numberAt(index - inserts, state, count)}
          order={order}
          onOrder={(name) => sortBy(table.name, name)}
          onOpenValue={() => changeBrowse({ showsValue: true })}
          onFocusCell={setFocus}
          rowMark={(index) => markAt(grid, index)}
          absentAt={(row, at) => absentAt(grid, row, at)}
          editing={isEditable ? gridEditing(grid) : undefined}
          readWhole={(row, at) => readWhole(api, grid, row, at)}
          entries={(place) => filterEntries(grid, place, table.name)}
          reveal={reveal}
          table={table.name}
          onJump={(to) => {
            if (to === "start" ? !state.hasBefore : !state.hasBehind) return false;
            void onJump(to);
            return true;
          }}
          status={<Status state={state} count={count} isFiltered={filters.length > 0} />}
        />
      )}
      {showsValue && shown && focus ? (
        <ValuePanel
          key={`${focus.row} ${column?.name ?? ""}`}
          shown={shown}
          onStage={isEditable ? (value) => stageValueAt(grid, focus.row, focus.column, value) : null}
          onClose={() => changeBrowse({ showsValue: false })}
        />
      ) : null}
    </>
  );
}

function NoRows({ table, isFiltered }: { readonly table: DataTableView; readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState
      icon={Filter}
      text={`No row of ${table.name} matches.`}
      action={<Button onClick={() => changeSettings(table.name, { filters: [] })}>Clear the filters</Button>}
    />
  ) : (
    <EmptyState
      text={`${table.name} has no rows.`}
      action={<Button onClick={() => changeBrowse({ part: "structure" })}>Show its structure</Button>}
    />
  );
}

function gridColumn({ name, type, keyPosition, generated, notNull }: GridRows["columns"][number]): GridColumn {
  const traits = [type, keyPosition > 0 ? "key" : null, notNull ? "NOT NULL" : null, generated === "no" ? null : `generated, ${generated}`];
  return { name, type, isKey: keyPosition > 0, title: [name, ...traits.filter(Boolean)].join(" · ") };
}

/** Counted from the beginning where that is known, else from the end. */
function numberAt(index: number, state: WindowState, count: RowCount): number | null {
  if (index < 0) return null;
  if (state.firstNumber !== null) return state.firstNumber + index;
  return !state.hasBehind && count.state === "known" ? count.count - state.rows.length + index + 1 : null;
}

function keyOf(grid: GridRows, index: number): readonly DataValue[] | null {
  return grid.rows[index - insertCount(grid)]?.key ?? null;
}

function valuePlace(grid: GridRows, { row, column }: GridPlace): ValuePlace | null {
  const key = keyOf(grid, row);
  const name = grid.columns[column]?.name;
  return key === null || name === undefined ? null : { place: grid.place, table: grid.shape.name, key, column: name };
}

const WHOLE_BYTES_MAX = 32 * 1024 * 1024;

async function readWhole(api: Api, grid: GridRows, row: number, column: number): Promise<DataValue> {
  const at = valuePlace(grid, { row, column });
  const value = valuesAt(grid, row)?.[column] ?? null;
  return at === null ? value : readWholeValue(api, at, WHOLE_BYTES_MAX);
}

function shownValue(grid: GridRows, focus: GridPlace, whyNot: string | null): ShownValue | null {
  const column = grid.columns[focus.column];
  const values = valuesAt(grid, focus.row);
  if (!column || values === null) return null;
  const value = values[focus.column] ?? null;
  const key = keyOf(grid, focus.row);
  const row = key === null ? "" : grid.shape.key.columns.map((name, index) => `${name} ${keyPart(key[index] ?? null)}`).join(", ");
  return {
    column: column.name,
    type: column.type,
    value,
    row,
    absent: absentAt(grid, focus.row, focus.column),
    at: isCut(value) ? valuePlace(grid, focus) : null,
    whyNot: whyNot ?? whyColumnNot(column) ?? (markAt(grid, focus.row)?.sign === "−" ? "the row is deleted" : null),
  };
}

function keyPart(value: DataValue): string {
  if (value === null) return "NULL";
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  return "real" in value ? value.real : "…";
}

function filterEntries(grid: GridRows, { row, column }: GridPlace, table: string): readonly MenuEntry[] {
  const name = grid.columns[column]?.name;
  const value = valuesAt(grid, row)?.[column] ?? null;
  if (name === undefined || isCut(value)) return [];
  const add = (operator: "is" | "is not") => () => changeSettings(table, { filters: [{ column: name, operator, value }] });
  return [
    { kind: "item", id: "only", label: "Show only rows with this value", icon: Filter, run: add("is") },
    { kind: "item", id: "without", label: "Show rows without this value", run: add("is not") },
  ];
}

function Status({ state, count, isFiltered }: { readonly state: WindowState; readonly count: RowCount; readonly isFiltered: boolean }) {
  const known = state.rows.length;
  const isWhole = !state.hasBefore && !state.hasBehind;
  const what = isFiltered ? "matching row" : "row";
  if (isWhole)
    return (
      <span role="status">
        {formatPlural(known, what)}, read in {formatElapsed(state.elapsedMs)}
      </span>
    );
  return (
    <>
      <span role="status">
        {count.state === "known" ? formatPlural(count.count, what) : `${formatCount(known)} ${what}s here`}
        {count.state === "running" ? ", counting…" : ""}
        {count.state === "failed" ? `, not counted: ${count.error?.message ?? ""}` : ""}, first read in {formatElapsed(state.elapsedMs)}
      </span>
      {count.state === "running" ? (
        <Button size="sm" variant="ghost" onClick={count.stop}>
          Stop
        </Button>
      ) : null}
      {count.state === "stopped" || count.state === "failed" ? (
        <Button size="sm" variant="ghost" onClick={count.start}>
          Count all
        </Button>
      ) : null}
    </>
  );
}
