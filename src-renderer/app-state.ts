/** What the window shows: which store, screen, database and branches, and which dialog is open. */
import type { RequestOutput } from "#shared/contract.ts";
import { createStore, useStore } from "./external-store.ts";

export type ScreenName = "branches" | "history" | "diff" | "data" | "usage" | "benchmarks" | "activity" | "trash" | "settings" | "import";
export type Theme = "system" | "light" | "dark";

export type DialogState =
  | { readonly kind: "palette" }
  | { readonly kind: "shortcuts" }
  | { readonly kind: "fork"; readonly branch: string; /** Checkpoint name or v12; left out for the head. */ readonly at?: string }
  | { readonly kind: "checkpoint"; readonly branch: string }
  | { readonly kind: "rollback"; readonly branch: string }
  | { readonly kind: "promote"; readonly branch: string; readonly onto?: string }
  | { readonly kind: "expire"; readonly branches: readonly string[] }
  | { readonly kind: "rename-checkpoint"; readonly branch: string; readonly name: string }
  | { readonly kind: "status"; readonly branches: readonly string[] };

export interface AppState {
  readonly hello: RequestOutput<"app.hello"> | null;
  readonly connection: "open" | "lost";
  readonly screen: ScreenName;
  readonly database: string | null;
  /** The branch that History, the inspector and the status bar are about. */
  readonly branchId: number | null;
  /** All selected branches, `branchId` among them. */
  readonly selection: ReadonlySet<number>;
  readonly dialog: DialogState | null;
  /** Host path of the file that the import screen is about. */
  readonly importPath: string | null;
  readonly theme: Theme;
}

export const NO_SELECTION: ReadonlySet<number> = new Set();

const INITIAL: AppState = {
  hello: null,
  connection: "open",
  screen: "branches",
  database: null,
  branchId: null,
  selection: NO_SELECTION,
  dialog: null,
  importPath: null,
  theme: "system",
};

export const appState = createStore<AppState>(INITIAL);

export function useAppState<S>(select: (state: AppState) => S): S {
  return useStore(appState, select);
}

function change(part: Partial<AppState>): void {
  appState.set((state) => ({ ...state, ...part }));
}

export function showScreen(screen: ScreenName): void {
  change({ screen });
}

export function selectDatabase(database: string | null): void {
  if (appState.get().database !== database) change({ database, branchId: null, selection: NO_SELECTION });
}

/** `branchId` is the one with the focus; `selection` defaults to it alone. */
export function selectBranches(branchId: number | null, selection?: ReadonlySet<number>): void {
  change({ branchId, selection: selection ?? (branchId === null ? NO_SELECTION : new Set([branchId])) });
}

export function openDialog(dialog: DialogState): void {
  change({ dialog });
}

export function closeDialog(): void {
  change({ dialog: null });
}

/** Opens the import screen; `path` is a host path, null to let the user choose. */
export function openImport(path: string | null): void {
  change({ screen: "import", importPath: path });
}

export function setTheme(theme: Theme): void {
  change({ theme });
}

export function setHello(hello: AppState["hello"]): void {
  change({ hello });
}

export function setConnection(connection: AppState["connection"]): void {
  change({ connection });
}

export function resetAppState(): void {
  appState.set(INITIAL);
}
