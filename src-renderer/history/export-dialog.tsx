import { formatBytes } from "#shared/units.ts";
import type { BranchView, HistoryRow } from "#shared/views.ts";
import { useApi } from "../api/queries.ts";
import { SaveDialog } from "../dialogs/save-dialog.tsx";

interface ExportDialogProps {
  readonly branch: BranchView;
  readonly version: HistoryRow;
  readonly onClose: () => void;
}

/** Writes one version as a stock file. */
export function ExportDialog({ branch, version, onClose }: ExportDialogProps) {
  const api = useApi();
  const { database, name } = branch;
  const at = `v${version.number}`;
  return (
    <SaveDialog
      title={`Export ${at}`}
      description={`${database}@${name}, ${formatBytes(version.pageCount * version.pageSize)}, as a single SQLite file.`}
      suggested={`${database}-${name.replaceAll("/", "-")}-${at}.db`}
      what={at}
      save={(file, overwrite) => api.request("database.export", { database, branch: name, at, file, ...overwrite })}
      onClose={onClose}
    />
  );
}
