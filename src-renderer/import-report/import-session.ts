/**
 * One import at a time, from choosing a file to the finished database. Its state lives outside React, so that it
 * survives the change from the first-run screen to the shell when its store opens on the way.
 */
import type { ErrorView } from "#shared/error-codes.ts";
import type { ImportReport } from "#shared/views.ts";
import { toErrorView } from "../api/api-error.ts";
import type { Api } from "../api/api.ts";
import { performVerb, requestOrReport } from "../api/perform.ts";
import { selectDatabase, showScreen } from "../app-state.ts";
import { createStore } from "../external-store.ts";
import { openStore } from "../shell/enter-store.ts";
import { fileNameOf } from "../ui/paths.ts";

export type ImportState =
  | { readonly step: "idle" }
  /** Web host: asking for a path or an upload, where the desktop has its dialog. */
  | { readonly step: "choosing" }
  | { readonly step: "uploading"; readonly fileName: string; readonly done: number; readonly total: number }
  | { readonly step: "inspecting"; readonly path: string }
  /** `failure`: what the last attempt to import this file met. */
  | {
      readonly step: "report";
      readonly path: string;
      readonly report: ImportReport;
      readonly inspectedMs: number;
      readonly failure: ErrorView | null;
    }
  | {
      readonly step: "importing";
      readonly path: string;
      readonly report: ImportReport;
      readonly inspectedMs: number;
      readonly name: string;
    }
  /** `path` is null when trying again needs the file chosen anew. */
  | { readonly step: "failed"; readonly path: string | null; readonly fileName: string; readonly error: ErrorView };

/** Where the database goes: the open store, another one, or a folder that becomes one. */
export type ImportTarget =
  | { readonly kind: "current" }
  | { readonly kind: "existing"; readonly spec: string }
  | { readonly kind: "new"; readonly spec: string };

const IDLE: ImportState = { step: "idle" };

export const importState = createStore<ImportState>(IDLE);

/** Answers of an attempt that was left are dropped. */
let lastAttempt = 0;
let sending: AbortController | null = null;

function begin(state: ImportState): number {
  lastAttempt += 1;
  importState.set(state);
  return lastAttempt;
}

function settle(attempt: number, state: ImportState): void {
  if (attempt === lastAttempt) importState.set(state);
}

/** Whatever fails, the source was only ever opened for reading. */
function describeFailure(error: unknown): ErrorView {
  const view = toErrorView(error);
  return { ...view, untouched: view.untouched ?? "The original file is unchanged." };
}

/** Answers a request for the import screen: `path`, or null to let the user choose. The same request twice is one. */
export async function startImport(api: Api, path: string | null, host: "electron" | "web"): Promise<void> {
  const state = importState.get();
  const known = "path" in state ? state.path : null;
  if (state.step !== "idle" && (path === null || path === known)) return;
  if (path !== null) await inspectPath(api, path);
  else await chooseFile(api, host);
}

/** Lets the user pick a file: the system's dialog on the desktop, the panel's own form in the web host. */
export async function chooseFile(api: Api, host: "electron" | "web"): Promise<void> {
  begin({ step: "choosing" });
  if (host === "web") return;
  const path = await requestOrReport(api, "app.chooseFile", { title: "Open a SQLite file" });
  if (path === null) closeImport();
  else await inspectPath(api, path);
}

/** Reads a file of the host's machine and reports on it; nothing is imported yet. */
export async function inspectPath(api: Api, path: string): Promise<void> {
  const attempt = begin({ step: "inspecting", path });
  const startedAt = performance.now();
  try {
    const report = await api.request("database.inspect", { file: path });
    settle(attempt, { step: "report", path, report, inspectedMs: performance.now() - startedAt, failure: null });
  } catch (error) {
    fail(attempt, { path, fileName: fileNameOf(path), error });
  }
}

/** Gives the host a file picked in the browser (the web host gets a copy of it), then reports on it. */
export async function inspectFile(api: Api, file: File): Promise<void> {
  const progress = (done: number): ImportState => ({ step: "uploading", fileName: file.name, done, total: file.size });
  const attempt = begin(progress(0));
  sending = new AbortController();
  try {
    const path = await api.giveFile(file, { signal: sending.signal, onProgress: (done) => settle(attempt, progress(done)) });
    if (attempt === lastAttempt) await inspectPath(api, path);
  } catch (error) {
    fail(attempt, { path: null, fileName: file.name, error });
  }
}

/** Imports the inspected file and shows the new database. What fails is said in the report. */
export async function importAs(api: Api, name: string, target: ImportTarget): Promise<void> {
  const from = importState.get();
  if (from.step !== "report" || !from.report.canImport) return;
  const { path, report, inspectedMs } = from;
  const attempt = begin({ step: "importing", path, report, inspectedMs, name });
  // Opening a store replaces the first-run screen: this one shows the rest of the import.
  showScreen("import");
  try {
    await openTarget(api, target);
    await performVerb(api, "database.create", { database: name, from: report.source });
    settle(attempt, IDLE);
    selectDatabase(name);
    showScreen("branches");
  } catch (error) {
    const failure = describeFailure(error);
    settle(attempt, { step: "report", path, report, inspectedMs, failure: failure.code === "cancelled" ? null : failure });
  }
}

async function openTarget(api: Api, target: ImportTarget): Promise<void> {
  if (target.kind === "current") return;
  try {
    await openStore(api, "store.open", { spec: target.spec });
  } catch (error) {
    if (target.kind !== "new" || toErrorView(error).code !== "store-not-found") throw error;
    await openStore(api, "store.create", { spec: target.spec });
  }
}

/** Leaves the import. Work already running in the host is stopped by cancelling its job. */
export function closeImport(): void {
  sending?.abort();
  sending = null;
  begin(IDLE);
  showScreen("branches");
}

function fail(attempt: number, failed: { readonly path: string | null; readonly fileName: string; readonly error: unknown }): void {
  if (attempt !== lastAttempt) return;
  const error = describeFailure(failed.error);
  if (error.code === "cancelled") closeImport();
  else settle(attempt, { step: "failed", ...failed, error });
}
