import type { StatementView } from "#shared/query-views.ts";
import { Badge } from "../ui/badge.tsx";
import { formatElapsed } from "../ui/format.ts";

interface PlanStep {
  readonly id: number;
  readonly parent: number;
  readonly text: string;
}

const HEADS = ["id", "parent", "notused", "detail"];

/** Of `EXPLAIN QUERY PLAN`, and not of an EXPLAIN that the script itself has. */
export function isPlan({ columns }: StatementView): boolean {
  return columns !== null && HEADS.every((name, index) => columns[index] === name);
}

/** What SQLite would do, as a tree: steps under the step that they are part of. */
export function SqlPlan({ statement }: { readonly statement: StatementView }) {
  const steps = statement.rows.map(([id, parent, , detail]): PlanStep => ({
    id: Number(id),
    parent: Number(parent),
    text: String(detail),
  }));
  const known = new Set(steps.map(({ id }) => id));
  const roots = steps.filter(({ parent }) => !known.has(parent));
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="min-h-0 flex-1 overflow-auto p-3 text-xs select-text" tabIndex={-1} data-pane-focus>
        {steps.length === 0 ? <p className="text-ink-2">SQLite has no plan for this statement: it needs none.</p> : null}
        <Steps steps={steps} of={roots} />
      </div>
      <p className="flex h-7 flex-none items-center border-t border-line px-3 text-xs text-ink-3 tabular-nums">
        Query plan · {formatElapsed(statement.durationMs)} · nothing was run
      </p>
    </div>
  );
}

function Steps({ steps, of }: { readonly steps: readonly PlanStep[]; readonly of: readonly PlanStep[] }) {
  if (of.length === 0) return null;
  return (
    <ul className="ml-1.75 border-l border-line pl-3 first:ml-0 first:border-0 first:pl-0">
      {of.map((step) => (
        <li key={step.id}>
          <span className="flex min-h-6 items-center gap-2">
            <span className="font-mono wrap-anywhere">{step.text}</span>
            <Cost text={step.text} />
          </span>
          <Steps steps={steps} of={steps.filter(({ parent }) => parent === step.id)} />
        </li>
      ))}
    </ul>
  );
}

/** What is likely to take long. SQLite's words: https://sqlite.org/eqp.html */
function Cost({ text }: { readonly text: string }) {
  if (/^SCAN (?!.*(USING|CONSTANT ROW|VIRTUAL TABLE))/.test(text)) return <Badge tone="warn">reads every row</Badge>;
  if (/^SCAN .*USING (COVERING )?INDEX/.test(text)) return <Badge tone="busy">reads the whole index</Badge>;
  if (/USE TEMP B-TREE/.test(text)) return <Badge tone="warn">sorts</Badge>;
  return /AUTOMATIC/.test(text) ? <Badge tone="warn">builds an index for itself</Badge> : null;
}
