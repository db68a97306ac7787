import { Check, Copy, Info, ShieldCheck, TriangleAlert, X } from "lucide-react";
import type { ImportNote, ImportReport } from "#shared/views.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { cx } from "../ui/cx.ts";
import { Facts } from "../ui/facts.tsx";
import { Bytes } from "../ui/figures.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import { fileNameOf } from "../ui/paths.ts";
import { contentsText, countNotes, reportText } from "./report-text.ts";

export function ReportHeader({ report }: { readonly report: ImportReport }) {
  const { notes, warnings } = countNotes(report);
  return (
    <header className="flex items-start gap-4 px-6 pt-6 pb-4">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
          <h2 className="name-cut text-md font-semibold">Import {fileNameOf(report.source)}</h2>
          {report.canImport ? (
            <Badge tone="ok" icon={Check}>
              Can be imported
            </Badge>
          ) : (
            <Badge tone="bad" icon={X}>
              Cannot be imported
            </Badge>
          )}
          {warnings > 0 ? (
            <Badge tone="warn" icon={TriangleAlert}>
              {formatPlural(warnings, "warning")}
            </Badge>
          ) : null}
          {notes > 0 ? (
            <Badge tone="info" icon={Info}>
              {formatPlural(notes, "note")}
            </Badge>
          ) : null}
        </div>
        <div className="name-cut text-xs text-ink-3" title={report.source}>
          {report.source}
        </div>
      </div>
      <Button icon={Copy} onClick={() => void copyText(reportText(report), "report")}>
        Copy report
      </Button>
    </header>
  );
}

/** What the file is, in three groups: size, format, and the proof that the original was left alone. */
export function ReportFacts({ report }: { readonly report: ImportReport }) {
  const sha = report.sourceSha256;
  const identity = [
    { label: "Original", value: <Unchanged /> },
    { label: "SHA-256", value: <span className="font-mono text-2xs">{`${sha.slice(0, 8)}…${sha.slice(-8)}`}</span>, title: sha },
    { label: "Header", value: `application_id ${report.applicationId} · user_version ${report.userVersion}` },
  ];
  const format = [
    { label: "Encoding", value: report.encoding },
    { label: "Journal", value: report.journal },
    { label: "Auto-vacuum", value: report.autoVacuum },
  ];
  const size = [
    { label: "Size", value: <Bytes value={report.sourceBytes} /> },
    { label: "Contents", value: contentsText(report) },
    { label: "Pages", value: `${formatCount(report.pageCount)} × ${formatCount(report.pageSize)} bytes` },
  ];
  return (
    <div className="grid grid-cols-[1fr_0.85fr_1.15fr] border-y border-line">
      <Facts facts={size} className="py-2 pr-4 pl-6" />
      <Facts facts={format} className="border-l border-line px-4 py-2" />
      <Facts facts={identity} className="border-l border-line px-4 py-2" />
    </div>
  );
}

function Unchanged() {
  return (
    <span className="flex h-5.5 items-center gap-1 text-ok">
      <ShieldCheck size={14} aria-hidden className="shrink-0" />
      <span className="name-cut">Unchanged, checked twice</span>
    </span>
  );
}

const SEVERITIES = {
  ok: { icon: Check, word: "Fine", className: "text-ok" },
  note: { icon: Info, word: "Note", className: "text-info" },
  warning: { icon: TriangleAlert, word: "Warning", className: "text-warn" },
} as const;
const COLUMNS = "grid grid-cols-[16px_184px_minmax(0,1.15fr)_minmax(0,1fr)] items-center gap-x-3 px-6";

export function ReportChecks({ report, inspectedMs }: { readonly report: ImportReport; readonly inspectedMs: number }) {
  return (
    <div role="table" aria-label="Checks" className="min-h-0 flex-1 overflow-y-auto">
      <div role="row" className={cx(COLUMNS, "sticky top-0 h-row border-b border-line bg-sunken text-2xs font-medium text-ink-3")}>
        <span role="columnheader" aria-label="Result" />
        <span role="columnheader">Check</span>
        <span role="columnheader">Found</span>
        <span role="columnheader">What Coppice does</span>
      </div>
      {report.checks.map((check) => (
        <CheckRow key={`${check.check} ${check.found}`} check={check} />
      ))}
      <p className="px-6 py-3 text-xs text-ink-3">Report ready in {formatElapsed(inspectedMs)}.</p>
    </div>
  );
}

function CheckRow({ check }: { readonly check: ImportNote }) {
  const { icon: Icon, word, className } = SEVERITIES[check.severity];
  const quiet = check.severity === "ok";
  // Long findings wrap: a warning that is cut off is no warning.
  return (
    <div role="row" className={cx(COLUMNS, "min-h-row border-b border-line/60 py-1 text-xs hover:bg-hover")}>
      <span role="cell" aria-label={word} title={word} className={className}>
        <Icon size={14} aria-hidden />
      </span>
      <span role="cell" className="text-sm font-medium wrap-anywhere">
        {check.check}
      </span>
      <span role="cell" className="text-ink-2 wrap-anywhere">
        {check.found}
      </span>
      <span role="cell" className={cx("wrap-anywhere", quiet ? "text-ink-3" : "text-ink-2")}>
        {check.action}
      </span>
    </div>
  );
}
