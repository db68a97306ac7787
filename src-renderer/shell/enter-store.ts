import type { RequestInput } from "#shared/contract.ts";
import type { DatabaseView, StoreView } from "#shared/views.ts";
import type { Api } from "../api/api.ts";
import { toErrorView } from "../api/api-error.ts";
import { resetChangeCounts } from "../api/change-counts.ts";
import { appState, selectDatabase, setHello, showScreen } from "../app-state.ts";
import { resetBranchesView } from "../branches/branches-view.ts";
import { resetData } from "../data/reset-data.ts";
import { resetDiff } from "../diff/diff-session.ts";
import { showError } from "../ui/toasts.ts";
import { resetUsage } from "../usage/usage-measure.ts";

type OpenRequest = "store.open" | "store.create" | "store.demo";

/** Opens a store and shows its first database. Throws `ApiError`; the store that was open stays open then. */
export async function openStore<K extends OpenRequest>(api: Api, name: K, input: RequestInput<K>): Promise<StoreView> {
  const store = (await api.request(name, input)) as StoreView;
  await showStore(api);
  return store;
}

/** Asks the host what is open and shows it. */
async function showStore(api: Api): Promise<void> {
  const hello = await api.request("app.hello", {});
  selectDatabase(null);
  resetBranchesView();
  resetDiff();
  resetChangeCounts();
  resetUsage();
  resetData();
  setHello(hello);
  if (hello.store) await chooseDatabase(api, null);
}

/** `preferred` when it exists, else the first by name; null in an empty store. */
function pickDatabase(databases: readonly DatabaseView[], preferred: string | null): string | null {
  return (databases.find((database) => database.name === preferred) ?? databases[0])?.name ?? null;
}

export async function chooseDatabase(api: Api, preferred: string | null): Promise<void> {
  selectDatabase(pickDatabase(await api.request("database.list", {}), preferred));
}

/** Closes the store; the first-run screen follows. */
export async function leaveStore(api: Api): Promise<void> {
  try {
    await api.request("store.close", {});
    await showStore(api);
    showScreen("branches");
  } catch (error) {
    showError(toErrorView(error), () => void leaveStore(api));
  }
}

/** A store that moved on without the chosen database (dropped, renamed elsewhere) shows another. */
export function keepDatabaseChosen(databases: readonly DatabaseView[]): void {
  selectDatabase(pickDatabase(databases, appState.get().database));
}
