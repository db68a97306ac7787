/** The import report as plain text, for issue trackers and mails. */
import { formatBytes } from "#shared/units.ts";
import type { ImportReport } from "#shared/views.ts";
import { formatCount, formatPlural } from "../ui/format.ts";

/** "1,204,332 rows in 14 tables", or without the rows when they were not counted. */
export function contentsText(report: ImportReport): string {
  const tables = formatPlural(report.tables, "table");
  return report.rows === null ? tables : `${formatPlural(report.rows, "row")} in ${tables}`;
}

export function countNotes(report: ImportReport): { readonly notes: number; readonly warnings: number } {
  return {
    notes: report.checks.filter((check) => check.severity === "note").length,
    warnings: report.checks.filter((check) => check.severity === "warning").length,
  };
}

export function reportText(report: ImportReport): string {
  const facts: [string, string][] = [
    ["Source", report.source],
    ["Size", `${formatBytes(report.sourceBytes)} (${formatCount(report.sourceBytes)} bytes)`],
    ["SHA-256", `${report.sourceSha256} (unchanged)`],
    ["Pages", `${formatCount(report.pageCount)} of ${formatCount(report.pageSize)} bytes`],
    ["Contents", contentsText(report)],
    ["Encoding", report.encoding],
    ["Journal", report.journal],
    ["Auto-vacuum", report.autoVacuum],
    ["Application id", String(report.applicationId)],
    ["User version", String(report.userVersion)],
    ["Can be imported", report.canImport ? "yes" : "no"],
  ];
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  const lines = facts.map(([label, value]) => `${`${label}:`.padEnd(width)}${value}`);
  const checks = report.checks.map((check) => `[${check.severity}] ${check.check}: ${check.found}. ${check.action}`);
  return [...lines, "", ...checks, ""].join("\n");
}
