import { Layers, Play } from "lucide-react";
import { useMemo } from "react";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { formatPlural } from "../ui/format.ts";
import { EmptyState, ErrorPanel } from "../ui/states.tsx";
import { useEscape } from "../ui/use-escape.ts";
import { AcrossDetail } from "./across-detail.tsx";
import { AcrossForm, useAskAcross, type Asking } from "./across-form.tsx";
import { linesOf, tabulate } from "./across-rows.ts";
import { changeAsk, stopAcross, useAcross, type AcrossQuestion } from "./across-session.ts";
import { AcrossSummary } from "./across-summary.tsx";
import { AcrossGrid } from "./across-grid.tsx";

/** One query put to many branches: what to ask above, how their answers compare beneath. */
export function AcrossPane() {
  const database = useAppState((state) => state.database);
  const asked = useAcross((session) => session.question);
  // Answers of another database than the one that is open are none.
  const question = asked?.database === database ? asked : null;
  const api = useApi();
  const asking = useAskAcross();
  useEscape(() => void stopAcross(api));
  return (
    <>
      <AcrossForm {...asking} />
      <section aria-label="Answers" data-pane="main" className="flex min-h-0 flex-1 flex-col">
        {question === null ? (
          <EmptyState
            icon={Layers}
            text="One SELECT is put to all these branches at once, each read as it is now; their answers are compared."
            action={<FirstStep {...asking} />}
          />
        ) : question.phase === "failed" && question.error && question.targets.length === 0 ? (
          <div className="p-3">
            <ErrorPanel error={question.error} onRetry={() => asking.ask()} />
          </div>
        ) : (
          <Answers question={question} onAsk={asking.ask} />
        )}
      </section>
    </>
  );
}

const EXAMPLE = "SELECT count(*) AS tables, sum(length(sql)) AS characters FROM sqlite_schema WHERE type = 'table'";

/** Any database can answer the example. */
function FirstStep({ ask, names, problem }: Asking) {
  const isBlank = useAcross((session) => session.ask.sql.trim() === "");
  if (isBlank) return <Button onClick={() => changeAsk({ sql: EXAMPLE })}>Write an example</Button>;
  return (
    <Button icon={Play} disabled={problem !== null} onClick={() => ask()}>
      Ask {formatPlural(names.length, "branch", "branches")}
    </Button>
  );
}

function Answers({ question, onAsk }: { readonly question: AcrossQuestion; readonly onAsk: Asking["ask"] }) {
  const reference = useAcross((session) => session.reference);
  const show = useAcross((session) => session.show);
  const isGrouped = useAcross((session) => session.isGrouped);
  const focused = useAcross((session) => session.focused);
  const { results } = question;
  const table = useMemo(() => tabulate(results, reference), [results, reference]);
  const lines = useMemo(() => linesOf(table, reference, show, isGrouped), [table, reference, show, isGrouped]);
  const chosen = focused === null ? undefined : table.alignment.results.find(({ result }) => result.target === focused);
  return (
    <>
      <AcrossSummary question={question} table={table} onAsk={onAsk} />
      {question.error ? (
        <div className="border-b border-line p-3">
          <ErrorPanel error={question.error} onRetry={() => onAsk()} />
        </div>
      ) : null}
      <AcrossGrid key={question.startedAt} question={question} table={table} lines={lines} />
      {chosen && table.reference ? <AcrossDetail question={question} table={table} reference={table.reference} chosen={chosen} /> : null}
    </>
  );
}
