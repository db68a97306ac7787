/** What is kept between starts: theme, screen, database. The host stores it without reading it. */
import { sayHello, type Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { appState, setHello, setTheme, showScreen, type AppState, type ScreenName } from "../app-state.ts";
import { branchesView, changeBranchesView } from "../branches/branches-view.ts";
import { showError } from "../ui/toasts.ts";
import { chooseDatabase } from "./enter-store.ts";

const SAVE_AFTER_MS = 500;
const SCREENS: readonly ScreenName[] = ["branches", "history", "activity", "trash", "settings"];

interface Layout {
  readonly screen: ScreenName;
  readonly database: string | null;
  readonly mode: "graph" | "flat";
}

/** Tolerant: a layout of another version is dropped part by part. */
export function parseLayout(text: string): Layout {
  let raw: Partial<Record<keyof Layout, unknown>> = {};
  try {
    raw = (JSON.parse(text) as Partial<Record<keyof Layout, unknown>> | null) ?? {};
  } catch {
    // An unreadable layout only costs the place where the user was.
  }
  return {
    screen: SCREENS.find((screen) => screen === raw.screen) ?? "branches",
    database: typeof raw.database === "string" ? raw.database : null,
    mode: raw.mode === "flat" ? "flat" : "graph",
  };
}

function formatLayout(state: AppState): string {
  const layout: Layout = {
    screen: state.screen === "import" ? "branches" : state.screen,
    database: state.database,
    mode: branchesView.get().mode,
  };
  return JSON.stringify(layout);
}

/** The handshake and what was kept. Throws `ApiError` when the host does not answer as expected. */
export async function startSession(api: Api): Promise<void> {
  const [hello, settings] = await Promise.all([sayHello(api), api.request("app.settings", {})]);
  const layout = parseLayout(settings.layout);
  setTheme(settings.theme);
  showScreen(layout.screen);
  changeBranchesView({ mode: layout.mode });
  if (hello.store) await chooseDatabase(api, layout.database);
  setHello(hello);
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
  const stops = [appState.subscribe(schedule), branchesView.subscribe(schedule)];
  return () => {
    clearTimeout(timer);
    for (const stop of stops) stop();
  };
}
