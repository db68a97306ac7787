import type { RequestInput } from "#shared/contract.ts";

export type ExportFormat = RequestInput<"query.export">["format"];

interface About {
  readonly title: string;
  readonly ending: string;
}

export const EXPORT_FORMATS: Readonly<Record<ExportFormat, About>> = {
  csv: { title: "CSV", ending: "csv" },
  json: { title: "JSON", ending: "json" },
  markdown: { title: "Markdown", ending: "md" },
  sql: { title: "SQL INSERT", ending: "sql" },
};
