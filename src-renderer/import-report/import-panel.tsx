import { useEffect } from "react";
import type { RequestOutput } from "#shared/contract.ts";
import type { JobView, StoreView } from "#shared/views.ts";
import { useApi } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { useStore } from "../external-store.ts";
import { Button } from "../ui/button.tsx";
import { JobRow } from "../ui/job-row.tsx";
import { fileNameOf } from "../ui/paths.ts";
import { RunningJob } from "../ui/running-job.tsx";
import { ErrorPanel } from "../ui/states.tsx";
import { ImportFooter } from "./import-footer.tsx";
import { chooseFile, closeImport, importState, inspectPath, startImport, type ImportState } from "./import-session.ts";
import { ReportChecks, ReportFacts, ReportHeader } from "./report-view.tsx";
import { SourceForm } from "./source-form.tsx";

export interface ImportPanelProps {
  readonly hello: RequestOutput<"app.hello">;
  /** The open store, if any. */
  readonly store: StoreView | null;
}

/** Follows `openImport` of the window's state: mounted by whichever screen shows the panel. */
export function useImportRequest(): void {
  const api = useApi();
  const asked = useAppState((state) => state.screen === "import");
  const path = useAppState((state) => state.importPath);
  const host = useAppState((state) => state.hello?.host ?? "web");
  useEffect(() => {
    if (asked) void startImport(api, path, host);
  }, [api, asked, path, host]);
}

/** Everything between choosing a file and the finished import. Shows nothing while the session is idle. */
export function ImportPanel(props: ImportPanelProps) {
  const state = useStore(importState, (current) => current);
  if (state.step === "idle") return null;
  return (
    <section aria-label="Import" className="flex min-h-0 min-w-0 flex-1 flex-col bg-canvas">
      <PanelBody {...props} state={state} />
    </section>
  );
}

function PanelBody({ hello, store, state }: ImportPanelProps & { readonly state: Exclude<ImportState, { step: "idle" }> }) {
  const api = useApi();
  if (state.step === "choosing") return hello.host === "web" ? <SourceForm home={hello.home} /> : null;
  if (state.step === "uploading") return <Uploading state={state} onCancel={closeImport} />;
  if (state.step === "inspecting") return <Inspecting state={state} />;
  if (state.step === "failed") {
    const { path } = state;
    return (
      <div className="flex flex-col gap-3 p-6">
        <h2 className="text-md font-semibold">{state.fileName} could not be read</h2>
        <ErrorPanel error={state.error} onRetry={path === null ? null : () => void inspectPath(api, path)} />
        <div className="flex gap-2">
          <Button onClick={() => void chooseFile(api, hello.host)}>Choose another file</Button>
          <Button variant="ghost" onClick={closeImport}>
            Close
          </Button>
        </div>
      </div>
    );
  }
  const failure = state.step === "report" ? state.failure : null;
  return (
    <>
      <ReportHeader report={state.report} />
      <ReportFacts report={state.report} />
      <ReportChecks report={state.report} inspectedMs={state.inspectedMs} />
      {failure ? (
        <div className="px-6 pb-4">
          <ErrorPanel error={failure} />
        </div>
      ) : null}
      {state.step === "importing" ? (
        <Importing state={state} />
      ) : state.report.canImport ? (
        <ImportFooter hello={hello} store={store} report={state.report} />
      ) : (
        <Refused onChoose={() => void chooseFile(api, hello.host)} />
      )}
    </>
  );
}

function Uploading({ state, onCancel }: { readonly state: Extract<ImportState, { step: "uploading" }>; readonly onCancel: () => void }) {
  const job: JobView = {
    id: "upload",
    title: `Sending ${state.fileName}`,
    phase: "To the machine that runs Coppice",
    done: state.done,
    total: state.total,
    unit: "bytes",
    startedAt: 0,
    state: "running",
    cancellable: true,
  };
  return (
    <div className="p-6">
      <JobRow job={job} onCancel={onCancel} />
    </div>
  );
}

function Inspecting({ state }: { readonly state: Extract<ImportState, { step: "inspecting" }> }) {
  return (
    <div className="flex flex-col gap-3 p-6">
      <h2 className="name-cut text-md font-semibold">Reading {fileNameOf(state.path)}</h2>
      <RunningJob />
    </div>
  );
}

function Importing({ state }: { readonly state: Extract<ImportState, { step: "importing" }> }) {
  return (
    <footer
      aria-label={`Importing as ${state.name}`}
      className="flex min-h-17 flex-none flex-col justify-center border-t border-line bg-surface px-6 py-3"
    >
      <RunningJob />
    </footer>
  );
}

function Refused({ onChoose }: { readonly onChoose: () => void }) {
  return (
    <footer className="flex min-h-17 flex-none items-center gap-2 border-t border-line bg-surface px-6 py-3">
      <p className="mr-auto text-xs text-ink-2">This file cannot be imported; the checks say why. It and the stores are unchanged.</p>
      <Button onClick={closeImport}>Close</Button>
      <Button onClick={onChoose}>Choose another file</Button>
    </footer>
  );
}
