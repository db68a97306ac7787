import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState, type DragEvent, type KeyboardEvent, type MouseEvent } from "react";
import type { BranchView } from "#shared/views.ts";
import { performOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { openDialog, selectBranches, useAppState } from "../app-state.ts";
import { createContext } from "../commands/command.ts";
import { menuEntries } from "../commands/commands.ts";
import { focusBranchGrid } from "../shell/focus.ts";
import { cx } from "../ui/cx.ts";
import { MenuAt, type MenuEntry } from "../ui/menu.tsx";
import { NameCell, RowCells, type RowActions } from "./branch-cells.tsx";
import { BranchGraph } from "./branch-graph.tsx";
import { changeBranchesView, toggleRow, useBranchesView } from "./branches-view.ts";
import { findTyped, idsBetween, idsOfRow, moveInGrid, repairFocus } from "./grid-keys.ts";
import { graphWidth, layOutGraph } from "./lanes.ts";
import type { Row, SortColumn } from "./rows.ts";

const ROW_HEIGHT = 28;
const TYPE_PAUSE_MS = 700;
const DRAG_TYPE = "application/x-coppice-branch";
/** Letters that are commands while nothing has been typed yet. */
const COMMAND_LETTERS = /^[npc]$/;
const GRID =
  "grid grid-cols-[minmax(160px,2.2fr)_minmax(88px,1.1fr)_minmax(62px,.8fr)_46px_minmax(132px,.5fr)_34px_82px_74px_minmax(78px,.7fr)_20px] gap-x-2 items-center pr-2 middle:grid-cols-[minmax(190px,3fr)_minmax(84px,1fr)_minmax(58px,.7fr)_42px_130px_82px_70px_minmax(74px,.5fr)_20px] narrow:grid-cols-[minmax(170px,2.4fr)_minmax(90px,1fr)_minmax(66px,.8fr)_46px_132px_78px_70px_minmax(76px,.6fr)_18px] tiny:grid-cols-[minmax(0,1fr)_78px]";

const COLUMNS: readonly {
  /** By what the list is sorted; null where that is not known for all of it. */
  readonly column: SortColumn | null;
  readonly title: string;
  readonly hint?: string;
  readonly right?: boolean;
  readonly wideOnly?: boolean;
}[] = [
  { column: "name", title: "Branch" },
  { column: "from", title: "Forked from" },
  { column: "head", title: "Head" },
  { column: "age", title: "Age", right: true },
  {
    column: null,
    title: "Changes",
    hint: "Rows of the head since the fork: + added, − deleted, ~ changed; § changes of the schema",
    right: true,
  },
  { column: "checkpoints", title: "Cps", hint: "Checkpoints", right: true, wideOnly: true },
  { column: "file", title: "File" },
  { column: "expires", title: "Expires in", right: true },
  { column: "status", title: "Status" },
];

function HeaderRow({ inset, sortable }: { readonly inset: number; readonly sortable: boolean }) {
  const sort = useBranchesView((view) => view.sort);
  return (
    <div role="row" className={cx(GRID, "sticky top-0 z-10 h-7 border-b border-line bg-surface text-2xs font-medium text-ink-3")}>
      {COLUMNS.map(({ column, title, hint, right, wideOnly }) => {
        const on = sortable && column !== null && sort.column === column;
        const Arrow = sort.descending ? ArrowDown : ArrowUp;
        return (
          <div
            key={title}
            role="columnheader"
            title={hint}
            aria-sort={on ? (sort.descending ? "descending" : "ascending") : undefined}
            className={cx(
              "name-cut",
              right && "text-right",
              column === "file" && "pl-1.5 narrow:pl-0",
              wideOnly && "narrow:hidden middle:hidden",
              column !== "name" && column !== "file" && "tiny:hidden",
            )}
            style={column === "name" ? { paddingLeft: inset } : undefined}
          >
            {sortable && column !== null ? (
              <button
                type="button"
                className="inline-flex items-center gap-1 hover:text-ink"
                onClick={() => changeBranchesView({ sort: { column, descending: on && !sort.descending } })}
              >
                {title}
                {on ? <Arrow size={12} aria-hidden /> : null}
              </button>
            ) : (
              title
            )}
          </div>
        );
      })}
      <div role="columnheader" aria-label="Protected" className="tiny:hidden" />
    </div>
  );
}

interface GridRowProps {
  readonly row: Row;
  readonly index: number;
  readonly inset: number;
  readonly selected: boolean;
  readonly focused: boolean;
  readonly gridFocused: boolean;
  readonly renaming: boolean;
  readonly dropping: boolean;
  readonly actions: RowActions & {
    readonly onPress: (row: Row, event: MouseEvent) => void;
    readonly onDragOver: (row: Row | null) => void;
    readonly onDropBranch: (source: string, onto: BranchView, event: DragEvent) => void;
  };
}

const GridRow = memo(function GridRow(props: GridRowProps) {
  const { row, actions, selected } = props;
  const branch = row.kind === "branch" ? row.branch : null;
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the treegrid has the keyboard for all its rows
    <div
      role="row"
      id={`row-${row.key}`}
      tabIndex={-1}
      aria-level={row.level}
      aria-rowindex={props.index + 2}
      aria-selected={selected}
      aria-expanded={row.expandable ? row.expanded : undefined}
      draggable={branch !== null && !props.renaming}
      onClick={(event) => actions.onPress(row, event)}
      onDoubleClick={() => row.expandable && actions.onToggle(row)}
      onContextMenu={(event) => {
        event.preventDefault();
        actions.onMenu(row, event);
      }}
      onDragStart={(event) => branch && event.dataTransfer.setData(DRAG_TYPE, branch.name)}
      onDragOver={(event) => {
        if (!branch || !event.dataTransfer.types.includes(DRAG_TYPE)) return;
        event.preventDefault();
        actions.onDragOver(row);
      }}
      onDragLeave={() => actions.onDragOver(null)}
      onDrop={(event) => {
        const source = event.dataTransfer.getData(DRAG_TYPE);
        actions.onDragOver(null);
        if (branch && source !== "") actions.onDropBranch(source, branch, event);
      }}
      className={cx(
        GRID,
        "group absolute inset-x-0 h-row text-sm outline-none contain-strict",
        selected ? (props.gridFocused ? "bg-selected shadow-[inset_2px_0_0_var(--accent)]" : "bg-selected-quiet") : "hover:bg-hover",
        selected && "font-semibold [&>[role=gridcell]:not(:first-child)]:font-normal",
        (props.focused && props.gridFocused) || props.dropping ? "row-focus" : "",
      )}
      style={{ top: props.index * ROW_HEIGHT }}
    >
      <NameCell row={row} inset={props.inset} renaming={props.renaming} actions={actions} />
      <RowCells row={row} />
    </div>
  );
});

interface OpenMenu {
  readonly x: number;
  readonly y: number;
  readonly entries: readonly MenuEntry[];
}

/** The treegrid. One tab stop: the keyboard's row is told to screen readers by `aria-activedescendant`. */
export function BranchGrid({ rows }: { readonly rows: readonly Row[] }) {
  const api = useApi();
  const scroller = useRef<HTMLDivElement>(null);
  const slots = useRef(0);
  const mode = useBranchesView((view) => view.mode);
  const focusedKey = useBranchesView((view) => view.focusedKey);
  const renaming = useBranchesView((view) => view.renaming);
  const selection = useAppState((state) => state.selection);
  const branchId = useAppState((state) => state.branchId);
  const [gridFocused, setGridFocused] = useState(false);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [dropKey, setDropKey] = useState<string | null>(null);
  const graph = useMemo(() => (mode === "graph" ? layOutGraph(rows) : null), [mode, rows]);
  const inset = graph ? graphWidth(graph) : 12;
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 10,
    scrollPaddingStart: ROW_HEIGHT,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const state = useRef({ rows, focusedKey, anchorKey: focusedKey, focusedIndex: 0, typed: "", typedAt: 0, selection });
  state.current.rows = rows;
  state.current.focusedKey = focusedKey;
  state.current.selection = selection;

  // Rows move under the focus when the store changes: it stays with its branch, else with its place.
  useLayoutEffect(() => {
    const repaired = repairFocus(rows, focusedKey, branchId, state.current.focusedIndex);
    if (repaired !== focusedKey) changeBranchesView({ focusedKey: repaired });
    state.current.focusedIndex = rows.findIndex((row) => row.key === repaired);
  }, [rows, focusedKey, branchId]);

  useEffect(() => {
    const index = state.current.rows.findIndex((row) => row.key === focusedKey);
    if (index >= 0) virtualizer.scrollToIndex(index, { align: "auto" });
  }, [focusedKey, virtualizer]);

  const focusRow = (row: Row) => {
    state.current.anchorKey = row.key;
    changeBranchesView({ focusedKey: row.key });
    selectBranches(row.kind === "branch" ? row.branch.id : null, new Set(idsOfRow(row)));
  };
  const extendTo = (row: Row) => {
    changeBranchesView({ focusedKey: row.key });
    selectBranches(
      row.kind === "branch" ? row.branch.id : null,
      idsBetween(state.current.rows, state.current.anchorKey ?? row.key, row.key),
    );
  };
  const toggleSelected = (row: Row) => {
    const next = new Set(state.current.selection);
    const ids = idsOfRow(row);
    const all = ids.every((id) => next.has(id));
    for (const id of ids) {
      if (all) next.delete(id);
      else next.add(id);
    }
    state.current.anchorKey = row.key;
    changeBranchesView({ focusedKey: row.key });
    selectBranches(row.kind === "branch" && !all ? row.branch.id : ([...next].at(-1) ?? null), next);
  };
  const openMenuFor = (row: Row, x: number, y: number) => {
    if (!idsOfRow(row).every((id) => state.current.selection.has(id))) focusRow(row);
    else changeBranchesView({ focusedKey: row.key });
    setMenu({ x, y, entries: menuEntries("branch", createContext(api), true) });
  };

  const latest = useRef({ focusRow, extendTo, toggleSelected, openMenuFor });
  latest.current = { focusRow, extendTo, toggleSelected, openMenuFor };
  const actions = useMemo<GridRowProps["actions"]>(
    () => ({
      onToggle: (row) => toggleRow(row.key, !row.expanded),
      onMenu: (row, event) => latest.current.openMenuFor(row, event.clientX, event.clientY),
      onFork: (branch) => openDialog({ kind: "fork", branch: branch.name }),
      onRename: (branch, to) => {
        changeBranchesView({ renaming: null });
        focusBranchGrid();
        if (to !== null) void performOrReport(api, "branch.rename", { database: branch.database, branch: branch.name, to });
      },
      onPress: (row, event) => {
        if (event.shiftKey) latest.current.extendTo(row);
        else if (event.ctrlKey || event.metaKey) latest.current.toggleSelected(row);
        else latest.current.focusRow(row);
      },
      onDragOver: (row) => setDropKey(row?.key ?? null),
      onDropBranch: (source, onto, event) => {
        if (source === onto.name) return;
        setMenu({
          x: event.clientX,
          y: event.clientY,
          entries: dropEntries(
            source,
            onto,
            () => void performOrReport(api, "branch.promote", { database: onto.database, source, onto: onto.name }),
          ),
        });
      },
    }),
    [api],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    // Keys of the open menu arrive too: it is a child of the list for React, but not in the page.
    if (!event.currentTarget.contains(event.target as Node)) return;
    const now = event.timeStamp;
    if (now - state.current.typedAt > TYPE_PAUSE_MS) state.current.typed = "";
    const typing = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey && /[\w./-]/.test(event.key);
    if (typing && !(state.current.typed === "" && COMMAND_LETTERS.test(event.key))) {
      state.current.typed += event.key.toLowerCase();
      state.current.typedAt = now;
      const row = rows.find((candidate) => candidate.key === findTyped(rows, focusedKey, state.current.typed));
      if (row) focusRow(row);
      event.preventDefault();
      return;
    }
    const pageRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_HEIGHT) - 2);
    const move = moveInGrid(rows, focusedKey, { key: event.key, shift: event.shiftKey, mod: event.ctrlKey || event.metaKey }, pageRows);
    if (!move) return;
    event.preventDefault();
    if (move.kind === "select-all") {
      selectBranches(branchId, new Set(rows.flatMap(idsOfRow)));
      return;
    }
    const row = rows.find((candidate) => candidate.key === move.key);
    if (!row) return;
    if (move.kind === "toggle") toggleRow(row.key, move.open);
    if (move.kind === "select-toggle") toggleSelected(row);
    if (move.kind === "focus" && move.extend) extendTo(row);
    if (move.kind === "focus" && !move.extend) focusRow(row);
    if (move.kind === "menu") {
      const box = document.querySelector(`#row-${CSS.escape(row.key)}`)?.getBoundingClientRect();
      openMenuFor(row, (box?.left ?? 0) + inset + 24, box?.bottom ?? 0);
    }
  };

  const items = virtualizer.getVirtualItems();
  // Rows that leave at one end of the list serve again at the other: changing one costs half of making one.
  slots.current = Math.max(slots.current, items.length);
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? -1;
  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label="Branches"
      aria-multiselectable
      aria-rowcount={rows.length + 1}
      aria-activedescendant={focusedKey === null ? undefined : `row-${focusedKey}`}
      tabIndex={0}
      data-branch-keys
      data-pane-focus
      onKeyDown={onKeyDown}
      onFocus={() => setGridFocused(true)}
      onBlur={(event) => setGridFocused(event.currentTarget.contains(event.relatedTarget))}
      className="relative min-h-0 flex-1 overflow-auto outline-none"
    >
      <HeaderRow inset={graph ? inset : inset + 20} sortable={mode === "flat"} />
      <div role="rowgroup" className="relative" style={{ height: rows.length * ROW_HEIGHT }}>
        {items.map(({ index }) => {
          const row = rows[index];
          if (!row) return null;
          const ids = idsOfRow(row);
          return (
            <GridRow
              key={row.kind === "branch" && renaming === row.branch.id ? row.key : index % slots.current}
              row={row}
              index={index}
              inset={inset}
              selected={ids.length > 0 && ids.every((id) => selection.has(id))}
              focused={row.key === focusedKey}
              gridFocused={gridFocused || menu !== null}
              renaming={row.kind === "branch" && renaming === row.branch.id}
              dropping={row.key === dropKey}
              actions={actions}
            />
          );
        })}
        {graph && last >= first ? (
          <BranchGraph graph={graph} rows={rows} first={first} last={last} rowHeight={ROW_HEIGHT} width={inset} selected={selection} />
        ) : null}
      </div>
      <MenuAt
        label="Branch actions"
        at={menu}
        entries={menu?.entries ?? []}
        onClose={() => {
          setMenu(null);
          focusBranchGrid();
        }}
      />
    </div>
  );
}

/** Dropping never acts at once: it asks what was meant. */
function dropEntries(source: string, onto: BranchView, promote: () => void): readonly MenuEntry[] {
  return [
    { kind: "item", id: "promote", label: `Promote ${source} onto ${onto.name}`, run: promote },
    { kind: "separator", id: "line" },
    { kind: "item", id: "cancel", label: "Cancel", run: () => undefined },
  ];
}
