import { Check, CircleX, LoaderCircle, Play, Square, Undo2 } from "lucide-react";
import { useState } from "react";
import type { QueryRunView, StatementView } from "#shared/query-views.ts";
import { useApi } from "../api/queries.ts";
import { openDialog } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import { Cell, RowGrid } from "../ui/row-grid.tsx";
import { EmptyState, ErrorPanel } from "../ui/states.tsx";
import { useElapsed } from "../ui/use-elapsed.ts";
import { placeText } from "./data-session.ts";
import { canUndo, runActive, runSql, statementSql, stopRun, undoRun } from "./sql-run.ts";
import { changeResult, type RunningSql, type ScriptWork, type SqlResult, type SqlScript } from "./sql-session.ts";
import { SqlStatementPane } from "./sql-statement.tsx";

interface SqlResultsProps {
  readonly script: SqlScript;
  readonly work: ScriptWork;
  /** Puts the cursor where the script failed. */
  readonly onGoTo: () => void;
}

/** What runs, and what the last run found: a statement at a time. */
export function SqlResults({ script, work: { running, result }, onGoTo }: SqlResultsProps) {
  return (
    <section aria-label="Results" data-pane="results" className="flex min-h-0 flex-1 flex-col">
      {running ? <Running script={script} running={running} /> : null}
      {result ? (
        <Result script={script} result={result} onGoTo={onGoTo} />
      ) : running ? null : (
        <EmptyState text="What a query finds is shown here." action={<RunButton />} />
      )}
    </section>
  );
}

function RunButton() {
  const api = useApi();
  return (
    <Button icon={Play} shortcut="Mod+Enter" onClick={() => runActive(api, "chosen")}>
      Run
    </Button>
  );
}

function Running({ script, running }: { readonly script: SqlScript; readonly running: RunningSql }) {
  const api = useApi();
  const elapsedMs = useElapsed(running.startedAt);
  return (
    <div
      role="status"
      aria-label="Running"
      className="flex h-9 flex-none animate-[appear-late_150ms] items-center gap-2 border-b border-line bg-info-bg px-3 text-xs"
    >
      <LoaderCircle size={14} aria-hidden className="animate-[turn_1s_linear_infinite] text-info" />
      <span className="name-cut">
        {running.isStopping ? "Stopping" : "Running"} on {placeText(running.sent.place)}
      </span>
      <span className="text-ink-2 tabular-nums">{(elapsedMs / 1000).toFixed(1)} s</span>
      <span className="flex-1" />
      <Button size="sm" icon={Square} shortcut="Escape" disabled={running.isStopping} onClick={() => void stopRun(api, script.id)}>
        Stop
      </Button>
    </div>
  );
}

function Result({ script, result, onGoTo }: { readonly script: SqlScript; readonly result: SqlResult; readonly onGoTo: () => void }) {
  const { view, error, isStopped } = result;
  if (isStopped)
    return <EmptyState icon={Square} text={`Stopped after ${formatElapsed(result.elapsedMs)}. What was not committed is not there.`} />;
  if (error) return <Failure script={script} result={result} />;
  if (!view) return null;
  const shown = view.statements[result.shown] ?? view.statements[0];
  return (
    <>
      {view.statements.length > 1 || view.before !== null || view.notes.length > 0 ? (
        <Summary script={script} result={result} view={view} />
      ) : null}
      <div className="flex min-h-0 flex-1">
        {view.statements.length > 1 ? <Statements script={script} result={result} view={view} /> : null}
        {shown ? (
          <SqlStatementPane
            key={`${result.shown} ${shown.start}`}
            script={script}
            result={result}
            view={view}
            statement={shown}
            onGoTo={onGoTo}
          />
        ) : null}
      </div>
    </>
  );
}

/** The script could not be run at all. */
function Failure({ script, result }: { readonly script: SqlScript; readonly result: SqlResult }) {
  const api = useApi();
  const { error, sent } = result;
  if (!error) return null;
  const { place } = sent;
  const again = (force: boolean) => () => void runSql(api, script.id, { ...sent, force });
  const isEarlier = error.code === "read-only" && place.at !== null;
  const retry =
    error.code === "protected"
      ? { onRetry: again(true), retryLabel: `Write to ${place.branch} anyway` }
      : error.code === "read-only"
        ? {}
        : { onRetry: again(sent.force) };
  return (
    <div className="overflow-auto p-3">
      <ErrorPanel
        error={error}
        {...retry}
        extra={
          isEarlier ? (
            <Button size="sm" onClick={() => openDialog({ kind: "fork", branch: place.branch, at: place.at ?? "" })}>
              Fork from here…
            </Button>
          ) : null
        }
      />
    </div>
  );
}

/** What the whole script did, and how it is undone. */
function Summary({ script, result, view }: { readonly script: SqlScript; readonly result: SqlResult; readonly view: QueryRunView }) {
  const api = useApi();
  const [isUndoing, setUndoing] = useState(false);
  const undo = async () => {
    setUndoing(true);
    await undoRun(api, script.id, result);
    setUndoing(false);
  };
  return (
    <div
      role="status"
      aria-label="Script"
      className="flex min-h-9 flex-none flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1 text-xs tabular-nums"
    >
      <span>{describeEffect(view, result)}</span>
      <span className="text-ink-3">
        {formatPlural(view.statements.length + view.unlisted, "statement")} · {formatElapsed(result.elapsedMs)} · {view.source.label}
        {view.unlisted > 0 ? ` · ${formatCount(view.unlisted)} are not listed` : ""}
      </span>
      {view.notes.map((note) => (
        <span key={note} className="text-warn">
          {note}
        </span>
      ))}
      <span className="flex-1" />
      {result.isUndone ? <span className="text-ink-2">Undone</span> : null}
      {canUndo(result) ? (
        <Button
          size="sm"
          icon={Undo2}
          busy={isUndoing ? "Undoing…" : null}
          title={`Rolls ${placeText(result.sent.place)} back to v${view.before}, which is what its file held before`}
          onClick={() => void undo()}
        >
          Undo
        </Button>
      ) : null}
    </div>
  );
}

function describeEffect(view: QueryRunView, { sent }: SqlResult): string {
  if (sent.what === "plan") return "Nothing was run: these are plans";
  if (view.transaction === "read") return view.isComplete ? "Nothing was changed" : "Failed; nothing was changed";
  const changed = `Changed ${formatPlural(view.changes, "row")}`;
  if (view.isComplete) return changed;
  return view.transaction === "one" ? "Failed; nothing of the script took effect" : `Failed; before that: ${changed.toLowerCase()}`;
}

const COLUMNS = "grid grid-cols-[20px_minmax(0,1fr)_auto] items-center gap-2 px-3";

/** The statements of a script, each with what it did. */
function Statements({ script, result, view }: { readonly script: SqlScript; readonly result: SqlResult; readonly view: QueryRunView }) {
  const rows = view.statements.map((statement, index) => ({ statement, index }));
  return (
    <div className="flex w-72 flex-none flex-col border-r border-line narrow:w-60">
      <RowGrid
        label="Statements"
        columns={COLUMNS}
        head={
          <>
            <span />
            <span>Statement</span>
            <span className="text-right">Result</span>
          </>
        }
        rows={rows}
        keyOf={({ index }) => String(index)}
        selected={rows[result.shown] ?? null}
        onSelect={(key) => changeResult(script.id, { shown: Number(key) })}
      >
        {({ statement }) => (
          <>
            <Cell>
              {statement.error ? (
                <CircleX size={14} aria-label="failed" className="text-bad" />
              ) : (
                <Check size={14} aria-label="done" className="text-ok" />
              )}
            </Cell>
            <Cell className="font-mono">{statementSql(result, statement).slice(0, 200).replaceAll(/\s+/g, " ")}</Cell>
            <Cell className="text-right text-ink-3 tabular-nums">{briefly(statement)}</Cell>
          </>
        )}
      </RowGrid>
    </div>
  );
}

function briefly({ error, columns, rows, truncated, changes }: StatementView): string {
  if (error) return "failed";
  if (columns !== null) return `${formatCount(rows.length)}${truncated ? "+" : ""} ${rows.length === 1 && !truncated ? "row" : "rows"}`;
  return changes > 0 ? `${formatCount(changes)} changed` : "done";
}
