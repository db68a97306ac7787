import { useCallback, useMemo, useState } from "react";
import { LIMITS } from "#shared/limits.ts";
import type { DataValue, QueryRunView, SqlProblem, StatementView } from "#shared/query-views.ts";
import { useApi } from "../api/queries.ts";
import { Button } from "../ui/button.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import { EmptyState, ErrorPanel } from "../ui/states.tsx";
import type { GridPlace } from "./grid-selection.ts";
import { SqlExport } from "./sql-export.tsx";
import { SqlPlan, isPlan } from "./sql-plan.tsx";
import { canRepeat, lineAndColumn, loadMore } from "./sql-run.ts";
import type { SqlResult, SqlScript } from "./sql-session.ts";
import { SqlValue } from "./sql-value.tsx";
import { ValueGrid } from "./value-grid.tsx";

interface StatementProps {
  readonly script: SqlScript;
  readonly result: SqlResult;
  readonly view: QueryRunView;
  readonly statement: StatementView;
  readonly onGoTo: () => void;
}

/** What one statement found: rows, a plan, a change or why it failed. */
export function SqlStatementPane(props: StatementProps) {
  const { result, statement } = props;
  if (statement.error) return <Problem {...props} problem={statement.error} />;
  if (statement.columns === null)
    return (
      <EmptyState
        text={`${statement.changes > 0 ? `Changed ${formatPlural(statement.changes, "row")}` : "Done"} in ${formatElapsed(statement.durationMs)}.`}
      />
    );
  return result.sent.what === "plan" && isPlan(statement) ? (
    <SqlPlan statement={statement} />
  ) : (
    <Rows {...props} columns={statement.columns} />
  );
}

/** SQLite's own words, where in the script, and what is as it was. */
function Problem({ result, view, problem, onGoTo }: StatementProps & { readonly problem: SqlProblem }) {
  const { sent } = result;
  const place = problem.position === null ? null : lineAndColumn(sent, problem.position);
  const untouched =
    view.transaction === "own"
      ? `What ran before it took effect. What the file held then is v${view.before}.`
      : view.transaction === "one"
        ? "Nothing of the script took effect."
        : "Nothing was changed.";
  return (
    <div className="min-w-0 flex-1 overflow-auto p-3">
      <ErrorPanel
        error={{
          code: "sql-failed",
          message: problem.message,
          hint: place === null ? null : `Line ${place.line}, column ${place.column}.`,
          untouched,
          retryable: false,
          details: problem.code === null ? {} : { found: problem.code },
        }}
        extra={
          place === null ? null : (
            <Button size="sm" onClick={onGoTo}>
              Show in the script
            </Button>
          )
        }
      />
    </div>
  );
}

function Rows({ script, result, statement, columns }: StatementProps & { readonly columns: readonly string[] }) {
  const [focus, setFocus] = useState<GridPlace | null>(null);
  const [isOpen, setOpen] = useState(false);
  const { rows } = statement;
  const heads = useMemo(() => columns.map((name) => ({ name, type: "", isKey: false })), [columns]);
  const rowAt = useCallback((index: number): readonly DataValue[] | null => rows[index] ?? null, [rows]);
  const focused = focus && isOpen ? rows[focus.row]?.[focus.column] : undefined;
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <ValueGrid
        label="Rows of the query"
        columns={heads}
        count={rows.length}
        rowAt={rowAt}
        onFocusCell={setFocus}
        onOpenValue={() => setOpen(true)}
        status={<Status script={script} result={result} statement={statement} />}
      />
      {focus && focused !== undefined ? (
        <SqlValue column={columns[focus.column] ?? ""} row={focus.row + 1} value={focused} onClose={() => setOpen(false)} />
      ) : null}
    </div>
  );
}

/** How many rows, how long, what was left out, and how to get it. */
function Status({ script, result, statement }: Pick<StatementProps, "script" | "result" | "statement">) {
  const api = useApi();
  const { rows, truncated, durationMs, note, changes } = statement;
  const canLoad = truncated && canRepeat(result) && rows.length < LIMITS.pageRowsMax;
  return (
    <>
      <span className="text-ink-2">
        {truncated ? `first ${formatPlural(rows.length, "row")} shown` : formatPlural(rows.length, "row")}
        {changes > 0 ? `, ${formatCount(changes)} changed` : ""} · {formatElapsed(durationMs)}
      </span>
      {canLoad ? (
        <Button size="sm" variant="ghost" busy={result.isLoadingMore ? "Loading…" : null} onClick={() => void loadMore(api, script.id)}>
          Load up to {formatCount(LIMITS.pageRowsMax)}
        </Button>
      ) : null}
      {note === null ? null : (
        <span className="name-cut text-warn" title={note}>
          {note}
        </span>
      )}
      <span className="flex-1" />
      <SqlExport result={result} statement={statement} />
    </>
  );
}
