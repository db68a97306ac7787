import { FolderOpen } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { ErrorView } from "#shared/error-codes.ts";
import { formatBytes } from "#shared/units.ts";
import { toErrorView } from "../api/api-error.ts";
import { requestOrReport } from "../api/perform.ts";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { showToast } from "../ui/toasts.ts";

interface SaveDialogProps {
  readonly title: string;
  readonly description: string;
  /** Name that the file gets when none is chosen: shown, never taken silently. */
  readonly suggested: string;
  /** What the toast says was exported: "v12". */
  readonly what: string;
  /** Writes the file on the machine that runs Coppice. Throws `ApiError`. */
  readonly save: (file: string, overwrite: { readonly overwrite?: true }) => Promise<{ readonly path: string; readonly bytes: number }>;
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

/** Writes something to a file of the user's. Replacing a file that is there takes a second, explicit press. */
export function SaveDialog({ title, description, suggested, what, save, children, onClose }: SaveDialogProps) {
  const api = useApi();
  const host = useAppState((state) => state.hello?.host);
  const [file, setFile] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ErrorView | null>(null);
  const trimmed = file.trim();
  const replace = failure?.code === "file-exists";

  const choose = async () => {
    const path = await requestOrReport(api, "app.chooseSaveFile", { title: "Export", suggested });
    if (path !== null) setFile(path);
  };
  const submit = async () => {
    if (trimmed === "" || busy) return;
    setBusy(true);
    setFailure(null);
    try {
      const done = await save(trimmed, replace ? { overwrite: true } : {});
      showToast({ text: `Exported ${what} to ${done.path}`, detail: formatBytes(done.bytes), tone: "plain" });
      onClose();
    } catch (error) {
      const view = toErrorView(error);
      setFailure(view.code === "cancelled" ? null : view);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      description={description}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{busy ? "Close" : "Cancel"}</Button>
          <Button type="submit" variant={replace ? "danger" : "primary"} disabled={trimmed === ""} busy={busy ? "Exporting…" : null}>
            {replace ? "Replace the file" : "Export"}
          </Button>
        </>
      }
    >
      {children}
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
