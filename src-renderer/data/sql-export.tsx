import { FileDown } from "lucide-react";
import { useState } from "react";
import type { StatementView } from "#shared/query-views.ts";
import { useApi } from "../api/queries.ts";
import { SaveDialog } from "../dialogs/save-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { formatPlural } from "../ui/format.ts";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { saveFile } from "../ui/save-file.ts";
import { COPY_FORMATS, formatCells } from "./copy-values.ts";
import { EXPORT_FORMATS, type ExportFormat } from "./export-formats.ts";
import { placeInput, placeText } from "./data-session.ts";
import { canRepeat, statementSql } from "./sql-run.ts";
import type { SqlResult } from "./sql-session.ts";

interface SqlExportProps {
  readonly result: SqlResult;
  readonly statement: StatementView;
}

/** All rows by running the statement once more; of one that writes, those that are shown. */
export function SqlExport({ result, statement }: SqlExportProps) {
  const [format, setFormat] = useState<ExportFormat | null>(null);
  const isWhole = canRepeat(result);
  const what = isWhole
    ? statement.truncated
      ? "All rows"
      : formatPlural(statement.rows.length, "row")
    : formatPlural(statement.rows.length, "shown row");
  const entries = (Object.keys(EXPORT_FORMATS) as ExportFormat[]).map((each): MenuEntry => ({
    kind: "item",
    id: each,
    label: `${what} as ${EXPORT_FORMATS[each].title}…`,
    run: () => (isWhole ? setFormat(each) : saveShown(each, statement)),
  }));
  return (
    <>
      <Menu label="Export" align="end" entries={entries}>
        <Button size="sm" variant="ghost" icon={FileDown}>
          Export
        </Button>
      </Menu>
      {format ? <ExportDialog {...{ result, statement, format }} onClose={() => setFormat(null)} /> : null}
    </>
  );
}

function saveShown(format: ExportFormat, { columns, rows }: StatementView): void {
  const text = formatCells(format, { columns: columns ?? [], rows, table: "result" });
  saveFile(`result.${EXPORT_FORMATS[format].ending}`, new Blob([text], { type: COPY_FORMATS[format].type }));
}

function ExportDialog({
  result,
  statement,
  format,
  onClose,
}: SqlExportProps & { readonly format: ExportFormat; readonly onClose: () => void }) {
  const api = useApi();
  const { place } = result.sent;
  const sql = statementSql(result, statement);
  return (
    <SaveDialog
      title={`Export rows as ${EXPORT_FORMATS[format].title}`}
      description={`The statement is run once more on ${placeText(place)}, and all its rows are written, whole.`}
      suggested={`result.${EXPORT_FORMATS[format].ending}`}
      what="the rows"
      save={(file, overwrite) => api.request("query.export", { ...placeInput(place), sql, format, file, ...overwrite })}
      onClose={onClose}
    />
  );
}
