import { FileDown } from "lucide-react";
import { LIMITS } from "#shared/limits.ts";
import { Badge, Chip } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { formatCount, formatElapsed, formatPlural } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { saveFile } from "../ui/save-file.ts";
import { useElapsed } from "../ui/use-elapsed.ts";
import type { Asking } from "./across-form.tsx";
import { exportCells, targetText, type AcrossTable } from "./across-rows.ts";
import { isUnderWay, showAcross, useAcross, type AcrossQuestion, type AcrossShow } from "./across-session.ts";
import { COPY_FORMATS, formatCells } from "./copy-values.ts";
import { EXPORT_FORMATS, type ExportFormat } from "./export-formats.ts";

interface SummaryProps {
  readonly question: AcrossQuestion;
  readonly table: AcrossTable;
}

/** How many are the same, differ and failed; each is a filter. */
export function AcrossSummary({ question, table, onAsk }: SummaryProps & { readonly onAsk: Asking["ask"] }) {
  const show = useAcross((session) => session.show);
  const isGrouped = useAcross((session) => session.isGrouped);
  const reference = useAcross((session) => session.reference);
  const { counts } = table;
  const answered = question.results.length;
  const chips: readonly (readonly [AcrossShow, string, number])[] = [
    ["all", "All", answered],
    ["same", "= same", counts.same],
    ["differ", "≠ differ", counts.differ],
    ["failed", "Failed", counts.failed],
  ];
  return (
    <div
      role="status"
      aria-label="Comparison"
      className="flex min-h-10 flex-none flex-wrap items-center gap-2 border-b border-line px-3 py-1.5 text-xs tabular-nums"
    >
      {chips.map(([value, label, count]) => (
        <Chip key={value} on={show === value} count={formatCount(count)} onClick={() => showAcross({ show: value })}>
          {label}
        </Chip>
      ))}
      <Chip on={isGrouped} onClick={() => showAcross({ isGrouped: !isGrouped })}>
        Group equal ones
      </Chip>
      <Progress question={question} />
      <span className="flex-1" />
      {table.isTruncated ? <More question={question} onAsk={onAsk} /> : null}
      {question.targets[reference] ? (
        <span className="name-cut text-ink-3">
          compared with <span className="text-ink-2">{targetText(question.targets[reference])}</span>
        </span>
      ) : null}
      <Export question={question} table={table} reference={reference} />
    </div>
  );
}

/** Only rows that were asked for are compared. */
function More({ question, onAsk }: { readonly question: AcrossQuestion; readonly onAsk: Asking["ask"] }) {
  const most = Math.max(0, ...question.results.map(({ rows }) => rows.length));
  return (
    <>
      <Badge tone="warn" title="Of some states there are more rows: they are not compared.">
        First {formatPlural(most, "row")} of each
      </Badge>
      {most < LIMITS.pageRowsMax && question.phase !== "running" ? (
        <Button size="sm" variant="ghost" onClick={() => onAsk(LIMITS.pageRowsMax)}>
          Compare up to {formatCount(LIMITS.pageRowsMax)}
        </Button>
      ) : null}
    </>
  );
}

function Progress({ question }: { readonly question: AcrossQuestion }) {
  const { phase, targets, results, elapsedMs } = question;
  if (isUnderWay(question)) return <Running question={question} />;
  if (phase === "stopped") return <Badge tone="warn">Partial: stopped, {formatCount(targets.length - results.length)} not asked</Badge>;
  return (
    <span className="text-ink-3">
      {formatPlural(targets.length, "state")} · {formatElapsed(elapsedMs)}
    </span>
  );
}

function Running({ question }: { readonly question: AcrossQuestion }) {
  const { targets, results, startedAt } = question;
  const elapsedMs = useElapsed(startedAt);
  return (
    <span className="flex items-center gap-2 text-ink-2">
      <span
        role="progressbar"
        aria-label="States that have answered"
        aria-valuemin={0}
        aria-valuemax={targets.length}
        aria-valuenow={results.length}
        className="h-1 w-24 overflow-hidden rounded-xs bg-selected-quiet"
      >
        <span
          className="block h-full bg-accent"
          style={{ width: `${targets.length === 0 ? 0 : (results.length / targets.length) * 100}%` }}
        />
      </span>
      {formatCount(results.length)} of {formatCount(targets.length)} · {(elapsedMs / 1000).toFixed(1)} s
    </span>
  );
}

const FORMATS = ["csv", "json", "markdown"] as const satisfies readonly ExportFormat[];

/** What is here: all states, whatever the filter is. */
function Export({ question, table, reference }: SummaryProps & { readonly reference: number }) {
  const save = (format: (typeof FORMATS)[number]) => {
    const text = formatCells(format, exportCells(table, question.targets, reference));
    saveFile(`across.${EXPORT_FORMATS[format].ending}`, new Blob([text], { type: COPY_FORMATS[format].type }));
  };
  return (
    <Menu
      label="Export"
      align="end"
      entries={FORMATS.map((format) => ({
        kind: "item" as const,
        id: format,
        label: `All answers as ${EXPORT_FORMATS[format].title}`,
        run: () => save(format),
      }))}
    >
      <Button size="sm" icon={FileDown} disabled={question.results.length === 0}>
        Export
      </Button>
    </Menu>
  );
}
