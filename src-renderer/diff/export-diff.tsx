import { FileDown, FolderOpen } from "lucide-react";
import { useState } from "react";
import type { DiffView } from "#shared/diff-views.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import { formatBytes } from "#shared/units.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, Field } from "../ui/field.tsx";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { showToast } from "../ui/toasts.ts";
import { ROW_KINDS, useDiff } from "./diff-session.ts";

type Format = "sql" | "csv" | "json" | "markdown";
const FORMATS: Readonly<Record<Format, { readonly title: string; readonly ending: string }>> = {
  sql: { title: "SQL script that turns left into right", ending: "sql" },
  csv: { title: "CSV of changed rows", ending: "csv" },
  json: { title: "Changeset as JSON", ending: "json" },
  markdown: { title: "Markdown", ending: "md" },
};

/** "Export": a menu of formats, then the file. */
export function ExportDiff({ view }: { readonly view: DiffView }) {
  const [format, setFormat] = useState<Format | null>(null);
  const table = useDiff((session) => session.table);
  const entries = (Object.keys(FORMATS) as Format[]).map((each): MenuEntry => ({
    kind: "item",
    id: each,
    label: `${FORMATS[each].title}…`,
    // A table of its own columns has no place in a CSV file beside another.
    disabled: each === "csv" && table === null,
    run: () => setFormat(each),
  }));
  return (
    <>
      <Menu label="Export" align="end" entries={entries}>
        <Button icon={FileDown}>Export</Button>
      </Menu>
      {format ? <ExportDialog view={view} format={format} onClose={() => setFormat(null)} /> : null}
    </>
  );
}

function ExportDialog({ view, format, onClose }: { readonly view: DiffView; readonly format: Format; readonly onClose: () => void }) {
  const api = useApi();
  const host = useAppState((state) => state.hello?.host);
  const table = useDiff((session) => session.table);
  const kinds = useDiff((session) => session.kinds);
  const [only, setOnly] = useState(format === "csv");
  const [file, setFile] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ErrorView | null>(null);
  const suggested = `${format === "csv" || only ? (table ?? "diff") : "diff"}.${FORMATS[format].ending}`;
  const replace = failure?.code === "file-exists";
  const isFiltered = format !== "sql" && kinds.size < ROW_KINDS.length;

  const choose = async () => {
    const path = await requestOrReport(api, "app.chooseSaveFile", { title: "Export", suggested });
    if (path !== null) setFile(path);
  };
  const submit = async () => {
    if (file.trim() === "" || busy) return;
    setBusy(true);
    setFailure(null);
    try {
      const done = await api.request("diff.export", {
        id: view.id,
        format,
        file: file.trim(),
        ...(only && table !== null ? { tables: [table] } : {}),
        ...(isFiltered ? { kinds: [...kinds] } : {}),
        ...(replace ? { overwrite: true } : {}),
      });
      showToast({ text: `Exported to ${done.path}`, detail: formatBytes(done.bytes), tone: "plain" });
      onClose();
    } catch (error) {
      const problem = toErrorView(error);
      setFailure(problem.code === "cancelled" ? null : problem);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={FORMATS[format].title}
      description={`${view.left.label} → ${view.right.label}${isFiltered ? `, only ${[...kinds].join(" and ")} rows` : ""}`}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{busy ? "Close" : "Cancel"}</Button>
          <Button type="submit" variant={replace ? "danger" : "primary"} disabled={file.trim() === ""} busy={busy ? "Exporting…" : null}>
            {replace ? "Replace the file" : "Export"}
          </Button>
        </>
      }
    >
      {format === "csv" || table === null ? null : (
        <CheckField label={`Only table ${table}`} checked={only} onChange={(event) => setOnly(event.target.checked)} />
      )}
      <div className="flex items-end gap-2">
        <div className="flex-1">
          <Field
            label="File on the machine that runs Coppice"
            value={file}
            placeholder={suggested}
            onChange={(event) => {
              setFile(event.target.value);
              setFailure(null);
            }}
          />
        </div>
        {host === "electron" ? (
          <Button icon={FolderOpen} onClick={() => void choose()}>
            Choose…
          </Button>
        ) : null}
      </div>
      {busy ? <RunningJob /> : null}
      {failure ? <ErrorPanel error={failure} /> : null}
    </Dialog>
  );
}
