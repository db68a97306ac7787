import { Check, ShieldCheck, TriangleAlert } from "lucide-react";
import type { VerifyProblem, VerifyReport } from "#shared/views.ts";
import { formatBytes } from "#shared/units.ts";
import { useRun } from "../api/use-run.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CopyTable } from "../ui/copy-table.tsx";
import { formatPlural } from "../ui/format.ts";
import type { TextColumn } from "../ui/table-text.ts";
import { Panel, PlainTable, RunState } from "./panel.tsx";

const COPY_COLUMNS: readonly TextColumn<VerifyProblem>[] = [
  { title: "object", value: (problem) => problem.object },
  { title: "problem", value: (problem) => problem.problem },
];

export function VerifyPanel() {
  const run = useRun("store.verify");
  return (
    <Panel
      title="Verify"
      text="Reads everything that is stored and compares it with its checksums. Changes nothing."
      action={
        <Button icon={ShieldCheck} busy={run.running ? "Verifying…" : null} onClick={() => void run.start({})}>
          Verify the store
        </Button>
      }
    >
      {run.running || run.error ? <RunState run={run} /> : run.result ? <Result report={run.result} /> : null}
    </Panel>
  );
}

function Result({ report }: { readonly report: VerifyReport }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 text-xs">
        {report.ok ? (
          <Badge tone="ok" icon={Check}>
            Everything is as it was written
          </Badge>
        ) : (
          <Badge tone="bad" icon={TriangleAlert}>
            {formatPlural(report.problems.length, "problem")}
          </Badge>
        )}
        <span className="text-ink-2 tabular-nums">
          {[
            formatPlural(report.versions, "version"),
            formatPlural(report.segments, "segment"),
            formatPlural(report.pages, "page"),
            formatPlural(report.checkouts, "working file"),
            `${formatBytes(report.bytesRead)} read`,
          ].join(" · ")}
        </span>
        {report.problems.length > 0 ? (
          <span className="ml-auto">
            <CopyTable columns={COPY_COLUMNS} rows={report.problems} />
          </span>
        ) : null}
      </div>
      {report.problems.length > 0 ? (
        <PlainTable
          label="Problems"
          heads={["Object", "Problem"]}
          rows={report.problems.map((problem) => [problem.object, problem.problem])}
        />
      ) : null}
    </>
  );
}
