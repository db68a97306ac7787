import { useRequest } from "../api/queries.ts";
import { useAppState } from "../app-state.ts";
import { ImportPanel, useImportRequest } from "./import-panel.tsx";

/** The import report in place of the other screens, while a store is open. */
export function ImportScreen() {
  const hello = useAppState((state) => state.hello);
  const store = useRequest("store.status", {}).data ?? hello?.store ?? null;
  useImportRequest();
  return (
    <div data-pane="main" className="flex min-h-0 min-w-0 flex-1">
      {hello ? <ImportPanel hello={hello} store={store} /> : null}
    </div>
  );
}
