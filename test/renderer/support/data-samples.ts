/** Tables as the engine would answer them: one with as many rows as a test wants, and one of every kind that is read-only. */
import type { RequestInput } from "#shared/contract.ts";
import type {
  DataColumnView,
  DataRowsView,
  DataRowView,
  DataSchemaView,
  DataTableView,
  DataValue,
  QueryRunView,
} from "#shared/query-views.ts";
import type { FakeHandlers } from "./fake-api.ts";

export const KEY = { kind: "rowid", columns: ["id"], isStable: true } as const;
export const NO_KEY = { kind: "none", columns: [], isStable: false } as const;

export function dataColumn(name: string, type = "", rest: Partial<DataColumnView> = {}): DataColumnView {
  return { name, type, keyPosition: 0, notNull: false, default: null, generated: "no", isHidden: false, ...rest };
}

const COLUMNS = [
  dataColumn("id", "INTEGER", { keyPosition: 1 }),
  dataColumn("name", "TEXT"),
  dataColumn("n", "INTEGER"),
  dataColumn("raw"),
  dataColumn("twice", "INTEGER", { generated: "virtual" }),
];

export function dataTable(name: string, rest: Partial<DataTableView> = {}): DataTableView {
  return {
    name,
    kind: "table",
    sql: `CREATE TABLE ${name}(id INTEGER PRIMARY KEY)`,
    isStrict: false,
    withoutRowid: false,
    columns: COLUMNS,
    key: KEY,
    problem: null,
    ...rest,
  };
}

export function dataSchema(rest: Partial<DataSchemaView> = {}): DataSchemaView {
  return {
    source: { label: "shop@main", version: 198, kind: "file", isWritable: true },
    encoding: "UTF-8",
    pageSize: 4096,
    pageCount: 100,
    tables: [
      dataTable("items"),
      dataTable("notes"),
      dataTable("search_data", { kind: "shadow" }),
      dataTable("totals", { kind: "view", key: NO_KEY }),
      dataTable("Broken", {
        kind: "view",
        columns: null,
        key: null,
        problem: "no such table: nowhere",
        sql: "CREATE VIEW Broken AS SELECT * FROM nowhere",
      }),
    ],
    objects: [
      { type: "index", name: "by_name", table: "items", sql: "CREATE INDEX by_name ON items(name)" },
      { type: "trigger", name: "keep", table: "items", sql: "CREATE TRIGGER keep BEFORE DELETE ON items BEGIN SELECT 1; END" },
    ],
    unlisted: 0,
    ...rest,
  };
}

/** Row `id` of the first table. */
export function itemRow(id: number, rest: Partial<Record<"name" | "n" | "raw", DataValue>> = {}): DataRowView {
  return { key: [id], values: [id, rest.name ?? `item ${id}`, rest.n === undefined ? id * 10 : rest.n, rest.raw ?? null, id * 20] };
}

/** Pages as the engine makes them: cursors are the keys at their edges. */
export function pageOf(all: readonly DataRowView[], input: RequestInput<"data.rows">, rest: Partial<DataRowsView> = {}): DataRowsView {
  const limit = input.limit ?? 1_000;
  const order = input.order;
  const at = COLUMNS.findIndex(({ name }) => name === order?.column);
  const sorted = order
    ? all.toSorted((a, b) => (order.descending ? -1 : 1) * (Number(a.values[at] ?? 0) - Number(b.values[at] ?? 0)))
    : all;
  const found = sorted.filter((row) =>
    (input.filters ?? []).every(({ column, operator, value }) => {
      const own = row.values[COLUMNS.findIndex(({ name }) => name === column)] ?? null;
      return operator === "contains"
        ? String(own).includes(String(value))
        : operator === "is" || operator === "="
          ? own === value
          : own !== value;
    }),
  );
  const place = (cursor: string) => found.findIndex((row) => JSON.stringify(row.key) === cursor);
  const end = input.last ? found.length : input.before === undefined ? null : place(input.before);
  const start = end === null ? (input.after === undefined ? 0 : place(input.after) + 1) : Math.max(0, end - limit);
  const rows = found.slice(start, end ?? start + limit);
  const stop = start + rows.length;
  return {
    source: { label: "shop@main", version: 198, kind: "file", isWritable: true },
    columns: COLUMNS,
    key: KEY,
    rows,
    next: stop < found.length && rows.length > 0 ? JSON.stringify(rows.at(-1)?.key) : null,
    previous: start > 0 && rows.length > 0 ? JSON.stringify(rows[0]?.key) : null,
    ...rest,
  };
}

export function itemRows(count: number): DataRowView[] {
  return Array.from({ length: count }, (_, index) => itemRow(index + 1));
}

export function runView(rest: Partial<QueryRunView> = {}): QueryRunView {
  return {
    source: { label: "shop@main", version: 198, kind: "file", isWritable: true },
    statements: [],
    unlisted: 0,
    changes: 1,
    before: 199,
    transaction: "one",
    isComplete: true,
    notes: [],
    ...rest,
  };
}

/** `rows` may be changed by a test: what is asked for afterwards has them. */
export function dataHandlers(rows: DataRowView[]): FakeHandlers {
  return {
    "data.schema": ({ at }) =>
      dataSchema(at === undefined ? {} : { source: { label: `shop@main@${at}`, version: 1, kind: "version", isWritable: false } }),
    "data.rows": (input) => pageOf(rows, input, input.table === "totals" ? { key: NO_KEY } : {}),
    "data.count": () => ({ count: rows.length }),
    "job.cancel": () => null,
    "query.run": () => runView(),
  };
}
