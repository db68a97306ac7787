/**
 * Which state the Data screen is about, and which of its parts is shown. Outside React, so that commands of other screens
 * open a state, and so that it is still there when the user comes back.
 */
import type { BranchView } from "#shared/views.ts";
import { showScreen, useAppState } from "../app-state.ts";
import { createStore, useStore } from "../external-store.ts";

/** A branch as its file is now, or one of its states. */
export interface DataPlace {
  readonly database: string;
  readonly branch: string;
  /** Checkpoint name or "v12"; null for the branch as it is now. */
  readonly at: string | null;
}

export type DataTab = "browse" | "sql" | "across";

export interface DataSession {
  /** Null until a branch is known. */
  readonly place: DataPlace | null;
  readonly tab: DataTab;
}

const INITIAL: DataSession = { place: null, tab: "browse" };

export const dataSession = createStore<DataSession>(INITIAL);

export function useData<S>(select: (session: DataSession) => S): S {
  return useStore(dataSession, select);
}

export function placeOf(branch: Pick<BranchView, "database" | "name">, at: string | null = null): DataPlace {
  return { database: branch.database, branch: branch.name, at };
}

/** What requests about a state say of it. */
export function placeInput({ database, branch, at }: DataPlace): { database: string; branch: string; at?: string } {
  return { database, branch, ...(at === null ? {} : { at }) };
}

/** "main", "main@v12". */
export function placeText({ branch, at }: Pick<DataPlace, "branch" | "at">): string {
  return at === null ? branch : `${branch}@${at}`;
}

export function placeKey({ database, branch, at }: DataPlace): string {
  return JSON.stringify([database, branch, at]);
}

export function choosePlace(place: DataPlace): void {
  dataSession.set((session) => (session.place && placeKey(session.place) === placeKey(place) ? session : { ...session, place }));
}

export function showDataTab(tab: DataTab): void {
  dataSession.set((session) => ({ ...session, tab }));
}

/** Shows the screen with this state. */
export function openData(place: DataPlace, tab: DataTab = "browse"): void {
  dataSession.set({ place, tab });
  showScreen("data");
}

/** See `resetData`. */
export function resetPlace(): void {
  dataSession.set(INITIAL);
}

/** A state of another database than the one that is open is none. */
export function useDataPlace(): DataPlace | null {
  const place = useData((session) => session.place);
  const database = useAppState((state) => state.database);
  return place !== null && place.database === database ? place : null;
}

/** Counts what this window wrote: what is shown is read again at once, not only when the file is next looked at. */
export const dataWrites = createStore<{ readonly count: number }>({ count: 0 });

export function noteWrite(): void {
  dataWrites.set(({ count }) => ({ count: count + 1 }));
}

/** Tolerant: what is kept between starts is checked as if others had written it. */
export function parseDataLayout(raw: unknown): DataSession {
  const fields: Partial<Record<keyof DataSession, unknown>> = typeof raw === "object" && raw !== null ? raw : {};
  const tab = TABS.find((each) => each === fields.tab) ?? INITIAL.tab;
  const place: Partial<Record<keyof DataPlace, unknown>> = typeof fields.place === "object" && fields.place !== null ? fields.place : {};
  const { database, branch, at } = place;
  if (typeof database !== "string" || typeof branch !== "string") return { tab, place: null };
  return { tab, place: { database, branch, at: typeof at === "string" ? at : null } };
}

const TABS: readonly DataTab[] = ["browse", "sql", "across"];
