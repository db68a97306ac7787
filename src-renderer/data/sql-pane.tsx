import { useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { SqlProblem } from "#shared/query-views.ts";
import type { Api } from "../api/api.ts";
import { useApi, useRequest } from "../api/queries.ts";
import { useEscape } from "../ui/use-escape.ts";
import { placeInput, useDataPlace } from "./data-session.ts";
import { SqlEditor } from "./sql-editor.tsx";
import type { EditorProblem } from "./sql-editor-setup.ts";
import { SqlResults } from "./sql-results.tsx";
import { noteSelection, runActive, stopRun } from "./sql-run.ts";
import { NO_WORK, SPLIT, activeScript, sqlSession, setScriptText, setSplit, useSql, workOf, type SqlResult } from "./sql-session.ts";
import { SqlTabs } from "./sql-tabs.tsx";

/** Scripts above, what they found beneath. */
export function SqlPane() {
  const api = useApi();
  const script = useSql(activeScript);
  const split = useSql((session) => session.split);
  const work = useSql((session) => session.work.get(script.id)) ?? NO_WORK;
  const [goTo, setGoTo] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  const place = useDataPlace();
  const schema = useRequest("data.schema", place ? placeInput(place) : { database: "", branch: "" }, { enabled: place !== null });
  const { result } = work;
  const problem = useMemo(() => editorProblem(result), [result]);
  useEscape(() => void stopRun(api, script.id));
  return (
    <>
      <SqlTabs />
      <div ref={body} data-pane="main" className="flex min-h-0 flex-1 flex-col">
        <div className="min-h-16 flex-none" style={{ height: `${split}%` }}>
          <SqlEditor
            key={script.id}
            id={script.id}
            label={`SQL of ${script.name}`}
            text={script.text}
            hint={`SELECT … (${modKey(api)}+Enter runs the statement at the cursor)`}
            schema={schema.data ?? null}
            problem={problem}
            goTo={goTo}
            autoFocus
            acts={editorActs(api)}
            onChange={(text) => setScriptText(script.id, text)}
            onSelect={(from, to) => noteSelection(script.id, { from, to })}
          />
        </div>
        <Splitter body={body} split={split} />
        <SqlResults script={script} work={work} onGoTo={() => setGoTo((times) => times + 1)} />
      </div>
    </>
  );
}

function modKey(api: Api): string {
  return api.platform === "darwin" ? "⌘" : "Ctrl";
}

function editorActs(api: Api) {
  return {
    run: () => runActive(api, "chosen"),
    runAll: () => runActive(api, "all"),
    stop: () => {
      const { id } = activeScript(sqlSession.get());
      if (!workOf(id).running) return false;
      void stopRun(api, id);
      return true;
    },
  };
}

/** What failed, where the script says so: as far as the word goes. */
function editorProblem(result: SqlResult | null): EditorProblem | null {
  const error = result?.view?.statements.find((statement) => statement.error !== null)?.error;
  if (!result || !error || error.position === null) return null;
  return problemAt(result.sent.sql, result.sent.offset, error, error.position);
}

function problemAt(sql: string, offset: number, { message }: SqlProblem, position: number): EditorProblem {
  const rest = sql.slice(position);
  const word = /^[\p{L}\p{N}_$"]+/u.exec(rest)?.[0].length ?? 1;
  // At the end of a statement there is nothing to mark but what stands before it.
  const from = rest.trim() === "" ? Math.max(0, sql.trimEnd().length - 1) : position;
  return { from: offset + from, to: offset + from + Math.max(1, from === position ? word : 1), message };
}

const STEP = 5;

/** Between the editor and what it found: dragged, or moved by arrow keys. */
function Splitter({ body, split }: { readonly body: { readonly current: HTMLDivElement | null }; readonly split: number }) {
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    const box = body.current?.getBoundingClientRect();
    if (!box || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    setSplit(((event.clientY - box.top) / box.height) * 100);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: -STEP, ArrowDown: STEP }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setSplit(split + step);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a separator that can be moved is a control
    <div
      role="separator"
      aria-label="Height of the editor"
      aria-orientation="horizontal"
      aria-valuenow={split}
      aria-valuemin={SPLIT.min}
      aria-valuemax={SPLIT.max}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
      className="relative z-10 h-px flex-none cursor-row-resize bg-line after:absolute after:inset-x-0 after:-top-1 after:h-2.25 hover:bg-accent focus-visible:bg-accent"
    />
  );
}
