/** A comparison as the engine would answer it: three tables, one of them with as many rows as a test wants. */
import type { DiffColumnView, DiffRowsView, DiffView, RowChangeView, TableCounts, TableDiffView } from "#shared/diff-views.ts";
import type { FakeHandlers } from "./fake-api.ts";

function column(name: string, rest: Partial<DiffColumnView> = {}): DiffColumnView {
  return { name, formerName: null, type: "TEXT", isKey: false, side: "both", generated: "no", ...rest };
}

const ORDERS: TableDiffView = {
  name: "orders",
  formerName: null,
  owner: null,
  side: "both",
  matchedBy: "primary key",
  notComparable: null,
  columns: [
    column("id", { type: "INTEGER", isKey: true }),
    column("amount", { type: "INTEGER" }),
    column("status"),
    column("note"),
    column("a"),
    column("b"),
    column("c"),
    column("currency", { side: "right" }),
  ],
};

function table(name: string, rest: Partial<TableDiffView> = {}): TableDiffView {
  return { ...ORDERS, name, columns: ORDERS.columns.slice(0, 3), ...rest };
}

export function diffView(rest: Partial<DiffView> = {}): DiffView {
  const side = { kind: "state", pageSize: 4096, pageCount: 59_240, encoding: "UTF-8" } as const;
  return {
    id: "d1",
    left: { ...side, label: "shop@main@v198", version: 198 },
    right: { ...side, label: "shop@try-split@v219", version: 219 },
    comparison: "shared",
    changedPages: 2_118,
    schema: [
      {
        type: "table",
        name: "orders",
        change: "changed",
        table: null,
        formerName: null,
        left: "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER, status TEXT)",
        right: "CREATE TABLE orders (id INTEGER PRIMARY KEY, amount INTEGER, status TEXT, currency TEXT NOT NULL DEFAULT 'EUR')",
      },
      { type: "view", name: "totals", change: "added", table: null, formerName: null, left: null, right: "CREATE VIEW totals AS SELECT 1" },
    ],
    tables: [ORDERS, table("products_fts_data", { owner: "products_fts" }), table("visits", { matchedBy: "whole row" })],
    equalTables: 11,
    notes: [],
    ...rest,
  };
}

/** Row `id`: every third was added, every third deleted, the others changed. */
export function change(id: number): RowChangeView {
  const old = [id, 100, "paid", "n", "a", "b", "c"];
  const current = [id, 150, "refunded", "n", "a", "b", "c", "EUR"];
  if (id % 3 === 1) return { kind: "insert", old: null, new: current, changed: [] };
  if (id % 3 === 2) return { kind: "delete", old, new: null, changed: [] };
  return { kind: "update", old, new: current, changed: [1, 2] };
}

export function counts(name: string, rest: Partial<TableCounts> = {}): TableCounts {
  return { name, inserted: 0, deleted: 0, updated: 0, isComplete: true, notComparable: null, ...rest };
}

/** `rows` changed rows of every table, in pages. */
export function diffHandlers(rows = 9, view: DiffView = diffView()): FakeHandlers {
  const all = Array.from({ length: rows }, (_, index) => change(index + 1));
  return {
    "diff.open": () => view,
    "diff.close": () => null,
    "diff.summary": () => {
      const [inserted, deleted, updated] = (["insert", "delete", "update"] as const).map(
        (kind) => all.filter((row) => row.kind === kind).length,
      );
      const found = { inserted: inserted ?? 0, deleted: deleted ?? 0, updated: updated ?? 0 };
      return { tables: view.tables.map(({ name }) => counts(name, found)), isComplete: true };
    },
    "diff.rows": ({ table: name, kinds, after, limit = 500 }): DiffRowsView => {
      const wanted = all.filter((row) => kinds?.includes(row.kind) ?? true);
      const from = Number(after ?? 0);
      const columns = view.tables.find((each) => each.name === name)?.columns ?? [];
      return { columns, rows: wanted.slice(from, from + limit), next: from + limit < wanted.length ? String(from + limit) : null };
    },
  };
}
