/** What the table browser is set to: kept while other screens and tabs are shown, and for every state that is looked at. */
import type { DataFilter } from "#shared/query-views.ts";
import { createStore, useStore } from "../external-store.ts";
import type { GridOrder } from "./value-grid.tsx";

export interface TableSettings {
  readonly order: GridOrder | null;
  readonly filters: readonly DataFilter[];
}

interface BrowseSession {
  readonly table: string | null;
  readonly part: "rows" | "structure";
  /** Of the list of tables. */
  readonly search: string;
  readonly showsShadows: boolean;
  readonly showsValue: boolean;
  readonly showsFilters: boolean;
  /** By table. */
  readonly settings: ReadonlyMap<string, TableSettings>;
}

const INITIAL: BrowseSession = {
  table: null,
  part: "rows",
  search: "",
  showsShadows: false,
  showsValue: true,
  showsFilters: false,
  settings: new Map(),
};
const PLAIN: TableSettings = { order: null, filters: [] };

const browseSession = createStore<BrowseSession>(INITIAL);

export function useBrowse<S>(select: (session: BrowseSession) => S): S {
  return useStore(browseSession, select);
}

export function changeBrowse(part: Partial<BrowseSession>): void {
  browseSession.set((session) => ({ ...session, ...part }));
}

export function useTableSettings(table: string): TableSettings {
  return useBrowse((session) => session.settings.get(table) ?? PLAIN);
}

export function changeSettings(table: string, part: Partial<TableSettings>): void {
  browseSession.set((session) => {
    const settings = new Map(session.settings).set(table, { ...(session.settings.get(table) ?? PLAIN), ...part });
    return { ...session, settings };
  });
}

/** Up, down, and as the table is kept. */
export function sortBy(table: string, column: string): void {
  const order = browseSession.get().settings.get(table)?.order ?? null;
  const isSame = order?.column === column;
  changeSettings(table, { order: !isSame ? { column, descending: false } : order.descending ? null : { column, descending: true } });
}

export function resetBrowse(): void {
  browseSession.set(INITIAL);
}
