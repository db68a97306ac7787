/**
 * What is kept between starts: theme, store, screen, database, branch, layout and filter of the list. The host stores it
 * without reading it.
 */
import { sayHello, type Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import type { StoreView } from "#shared/views.ts";
import { appState, selectBranches, setHello, setTheme, showScreen, type AppState, type ScreenName } from "../app-state.ts";
import { benchLayout, benchView, changeBenchView, parseBenchLayout, type BenchLayout } from "../benchmarks/bench-view.ts";
import { branchList } from "../branches/branch-list.ts";
import { branchesView, changeBranchesView } from "../branches/branches-view.ts";
import { branchKey } from "../branches/rows.ts";
import { acrossLayout, acrossSession, parseAcrossLayout, restoreAcross, type AcrossAsk } from "../data/across-session.ts";
import { dataSession, parseDataLayout, type DataSession } from "../data/data-session.ts";
import { parseSqlLayout, restoreSql, sqlLayout, sqlSession, type SqlLayout } from "../data/sql-session.ts";
import { showError } from "../ui/toasts.ts";
import { chooseDatabase } from "./enter-store.ts";

const SAVE_AFTER_MS = 500;
const SCREENS: readonly ScreenName[] = ["branches", "history", "diff", "data", "usage", "benchmarks", "activity", "trash", "settings"];

interface Layout {
  /** Folder of the store that was open. */
  readonly store: string | null;
  readonly screen: ScreenName;
  readonly database: string | null;
  readonly branch: string | null;
  readonly mode: "graph" | "flat";
  readonly filter: string;
  /** What the Benchmarks screen is set to. */
  readonly bench: BenchLayout;
  /** What the Data screen is about. */
  readonly data: DataSession;
  /** Scripts that are open, and what ran lately. */
  readonly sql: SqlLayout;
  /** What is put to many branches. */
  readonly across: AcrossAsk;
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Tolerant: a layout of another version is dropped part by part. */
export function parseLayout(text: string): Layout {
  let raw: Partial<Record<keyof Layout, unknown>> = {};
  try {
    raw = (JSON.parse(text) as Partial<Record<keyof Layout, unknown>> | null) ?? {};
  } catch {
    // An unreadable layout only costs the place where the user was.
  }
  return {
    store: textOrNull(raw.store),
    screen: SCREENS.find((screen) => screen === raw.screen) ?? "branches",
    database: textOrNull(raw.database),
    branch: textOrNull(raw.branch),
    mode: raw.mode === "flat" ? "flat" : "graph",
    filter: textOrNull(raw.filter) ?? "",
    bench: parseBenchLayout(raw.bench),
    data: parseDataLayout(raw.data),
    sql: parseSqlLayout(raw.sql),
    across: parseAcrossLayout(raw.across),
  };
}

function formatLayout(state: AppState): string {
  const { mode, filter } = branchesView.get();
  const branch = state.branchId === null ? null : branchList.get().byId.get(state.branchId);
  const layout: Layout = {
    store: state.hello?.store?.path ?? null,
    screen: state.screen === "import" ? "branches" : state.screen,
    database: state.database,
    branch: branch?.name ?? null,
    mode,
    filter,
    bench: benchLayout(benchView.get()),
    data: dataSession.get(),
    sql: sqlLayout(sqlSession.get()),
    across: acrossLayout(acrossSession.get()),
  };
  return JSON.stringify(layout);
}

/** The handshake and what was kept. Throws `ApiError` when the host does not answer as expected. */
export async function startSession(api: Api): Promise<void> {
  const [hello, settings] = await Promise.all([sayHello(api), api.request("app.settings", {})]);
  const layout = parseLayout(settings.layout);
  setTheme(settings.theme);
  showScreen(layout.screen);
  changeBranchesView({ mode: layout.mode, filter: layout.filter });
  changeBenchView(layout.bench);
  restoreSql(layout.sql);
  restoreAcross(layout.across);
  const store = hello.store ?? (layout.store === null ? null : await reopenStore(api, layout.store));
  // A state of another store than the one that was open is none.
  dataSession.set(store && store.path === layout.store ? layout.data : { ...layout.data, place: null });
  if (store) {
    await chooseDatabase(api, layout.database);
    if (layout.branch !== null) await selectBranch(api, layout.branch);
  }
  setHello({ ...hello, store });
}

/** The store that was open when Coppice ended. One that is gone or broken leaves the first screen, which lists the others. */
async function reopenStore(api: Api, folder: string): Promise<StoreView | null> {
  try {
    return await api.request("store.open", { spec: folder });
  } catch (error) {
    const view = toErrorView(error);
    showError(view, null);
    return null;
  }
}

/** The branch that was chosen; without it the list chooses as it does in a new window. */
async function selectBranch(api: Api, name: string): Promise<void> {
  const { database } = appState.get();
  if (database === null) return;
  try {
    const branch = await api.request("branch.get", { database, branch: name });
    changeBranchesView({ focusedKey: branchKey(branch.id) });
    selectBranches(branch.id);
  } catch (error) {
    const view = toErrorView(error);
    // Deleted or renamed meanwhile: only a place in the list is lost.
    if (view.code !== "branch-not-found") showError(view, null);
  }
}

function readSettings(): { readonly theme: AppState["theme"]; readonly layout: string } {
  return { theme: appState.get().theme, layout: formatLayout(appState.get()) };
}

/** Saves what changed, half a second after the last change. Returns how to stop. */
export function keepSession(api: Api): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saved = JSON.stringify(readSettings());
  const save = () => {
    const next = readSettings();
    if (JSON.stringify(next) === saved) return;
    saved = JSON.stringify(next);
    api.request("app.saveSettings", next).catch((error: unknown) => showError(toErrorView(error), null));
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(save, SAVE_AFTER_MS);
  };
  const stops = [appState, branchesView, branchList, benchView, dataSession, sqlSession, acrossSession].map((state) =>
    state.subscribe(schedule),
  );
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}
