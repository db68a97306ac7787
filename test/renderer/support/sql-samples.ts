/** What SQL finds, for tests: answers of `query.run` and friends, by the text of the statement. */
import type { AcrossResultView, DataSchemaView, DataTableView, DataValue, QueryRunView, StatementView } from "#shared/query-views.ts";
import type { FakeHandlers } from "./fake-api.ts";

export function statementView(rest: Partial<StatementView> = {}): StatementView {
  return {
    start: 0,
    end: 8,
    columns: ["id", "text"],
    rows: [[1, "one"]],
    truncated: false,
    changes: 0,
    durationMs: 12.34,
    error: null,
    note: null,
    ...rest,
  };
}

export function runView(statements: readonly StatementView[], rest: Partial<QueryRunView> = {}): QueryRunView {
  return {
    source: { label: "shop@main", version: 198, kind: "file", isWritable: true },
    statements,
    unlisted: 0,
    changes: 0,
    before: null,
    transaction: "read",
    isComplete: statements.every(({ error }) => error === null),
    notes: [],
    ...rest,
  };
}

function table(name: string, columns: readonly string[]): DataTableView {
  return {
    name,
    kind: "table",
    sql: `CREATE TABLE ${name} (${columns.join(", ")})`,
    isStrict: false,
    withoutRowid: false,
    columns: columns.map((column, index) => ({
      name: column,
      type: "TEXT",
      keyPosition: index === 0 ? 1 : 0,
      notNull: false,
      default: null,
      generated: "no",
      isHidden: false,
    })),
    key: { kind: "rowid", columns: [columns[0] ?? ""], isStable: true },
    problem: null,
  };
}

export function schemaView(): DataSchemaView {
  return {
    source: { label: "shop@main", version: 198, kind: "file", isWritable: true },
    encoding: "UTF-8",
    pageSize: 4096,
    pageCount: 10,
    tables: [table("customers", ["id", "name"]), table("order lines", ["id", "unit price"])],
    objects: [],
    unlisted: 0,
  };
}

export function acrossResult(
  target: number,
  rows: readonly (readonly DataValue[])[],
  rest: Partial<AcrossResultView> = {},
): AcrossResultView {
  return {
    target,
    version: 10 + target,
    kind: "version",
    columns: ["id", "total"],
    rows,
    truncated: false,
    digest: JSON.stringify(rows),
    durationMs: 1,
    error: null,
    ...rest,
  };
}

export function sqlHandlers(answer: QueryRunView = runView([statementView()])): FakeHandlers {
  return { "data.schema": () => schemaView(), "query.run": () => answer, "query.close": () => null, "job.cancel": () => null };
}
