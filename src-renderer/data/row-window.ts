/**
 * The rows of a table that are here: pages that follow each other, fetched at either end and let go of at the other, so
 * that a table of any length is walked through in bounded memory. Outside React: it is kept while its table is shown.
 */
import type { RequestInput } from "#shared/contract.ts";
import type { ErrorView } from "#shared/error-codes.ts";
import type { DataColumnView, DataKeyView, DataRowView, DataRowsView } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import type { Api } from "../api/api.ts";
import { createStore, type ExternalStore } from "../external-store.ts";
import type { TableSettings } from "./browse-session.ts";
import { placeInput, type DataPlace } from "./data-session.ts";

const PAGE_ROWS = 250;
const PAGES_MAX = 20;

export interface TableQuery extends TableSettings {
  readonly place: DataPlace;
  readonly table: string;
}

export interface WindowState {
  readonly phase: "loading" | "ready" | "failed";
  readonly error: ErrorView | null;
  readonly columns: readonly DataColumnView[];
  readonly key: DataKeyView;
  readonly rows: readonly DataRowView[];
  readonly hasBefore: boolean;
  readonly hasBehind: boolean;
  /** What the first row is in the table, from 1; null when the window did not begin at its beginning. */
  readonly firstNumber: number | null;
  /** Rows that came before the first one, less those let go of there, since the window was opened. */
  readonly shift: number;
  /** Counts how often it was opened: its rows are others then. */
  readonly opened: number;
  /** Milliseconds until the first rows were here. */
  readonly elapsedMs: number;
}

const EMPTY: WindowState = {
  phase: "loading",
  error: null,
  columns: [],
  key: { kind: "none", columns: [], isStable: false },
  rows: [],
  hasBefore: false,
  hasBehind: false,
  firstNumber: 1,
  shift: 0,
  opened: 0,
  elapsedMs: 0,
};

type Where = Pick<RequestInput<"data.rows">, "after" | "before" | "last">;

export class RowWindow {
  readonly state: ExternalStore<WindowState> = createStore<WindowState>(EMPTY);
  readonly query: TableQuery;
  readonly #api: Api;
  #pages: readonly DataRowsView[] = [];
  /** What is shown changed while rows were on their way. */
  #isStale = false;
  /**
   * The request under way: a sort of many rows may take its time, and is stopped when nobody waits for it any more. Answers
   * that belong to another are thrown away.
   */
  #job: string | null = null;

  constructor(api: Api, query: TableQuery) {
    this.#api = api;
    this.query = query;
  }

  /** Shows the first rows, or the last ones. */
  async open(at: "start" | "end" = "start"): Promise<void> {
    const began = performance.now();
    await this.#fetch(at === "end" ? { last: true } : {}, PAGE_ROWS, (page) => {
      this.#pages = [page];
      return {
        ...EMPTY,
        ...shapeOf(page, this.state.get()),
        phase: "ready",
        firstNumber: page.previous === null ? 1 : null,
        opened: this.state.get().opened + 1,
        elapsedMs: performance.now() - began,
      };
    });
  }

  readonly loadBehind = (): void => {
    const after = this.#pages.at(-1)?.next ?? null;
    if (after === null || this.#job !== null) return;
    void this.#fetch({ after }, PAGE_ROWS, (page) => {
      const { firstNumber, shift } = this.state.get();
      const gone = this.#pages.length >= PAGES_MAX ? (this.#pages[0]?.rows.length ?? 0) : 0;
      this.#pages = [...(gone > 0 ? this.#pages.slice(1) : this.#pages), page];
      return { firstNumber: firstNumber === null ? null : firstNumber + gone, shift: shift - gone };
    });
  };

  readonly loadBefore = (): void => {
    const before = this.#pages[0]?.previous ?? null;
    if (before === null || this.#job !== null) return;
    void this.#fetch({ before }, PAGE_ROWS, (page) => {
      const { firstNumber, shift } = this.state.get();
      this.#pages = [page, ...this.#pages].slice(0, PAGES_MAX);
      const isBeginning = page.previous === null;
      return {
        firstNumber: isBeginning ? 1 : firstNumber === null ? null : Math.max(1, firstNumber - page.rows.length),
        shift: shift + page.rows.length,
      };
    });
  };

  /** The same rows again, as they are now; the place stays. Quiet: what is shown stays until the answer is here. */
  async reload(): Promise<void> {
    const { phase, rows } = this.state.get();
    if (this.#job !== null) {
      // What was asked for comes first: reading again in its place would lose it.
      this.#isStale = true;
      return;
    }
    if (phase !== "ready") return this.open();
    const after = this.#pages[0]?.previous ?? null;
    const isFirst = after === null;
    await this.#fetch(isFirst ? {} : { after }, Math.min(PAGE_ROWS * PAGES_MAX, Math.max(PAGE_ROWS, rows.length)), (page) => {
      const { firstNumber, shift } = this.state.get();
      this.#pages = [page];
      return {
        ...shapeOf(page, this.state.get()),
        // A page that begins behind the first row has all but that one.
        firstNumber: isFirst ? 1 : firstNumber === null ? null : firstNumber + 1,
        shift: isFirst ? shift : shift - 1,
      };
    });
  }

  /** Nobody looks any more. */
  close(): void {
    this.#isStale = false;
    this.#stop();
  }

  #stop(): void {
    cancelJob(this.#api, this.#job);
    this.#job = null;
  }

  async #fetch(where: Where, limit: number, apply: (page: DataRowsView) => Partial<WindowState>): Promise<void> {
    const { place, table, order, filters } = this.query;
    this.#stop();
    const job = crypto.randomUUID();
    this.#job = job;
    try {
      const page = await this.#api.request("data.rows", {
        ...placeInput(place),
        table,
        ...(order === null ? {} : { order }),
        ...(filters.length === 0 ? {} : { filters: [...filters] }),
        ...where,
        limit,
        job,
      });
      if (job !== this.#job) return;
      const change = apply(page);
      this.state.set((state) => ({
        ...state,
        error: null,
        ...change,
        rows: this.#pages.flatMap(({ rows }) => rows),
        hasBefore: (this.#pages[0]?.previous ?? null) !== null,
        hasBehind: (this.#pages.at(-1)?.next ?? null) !== null,
      }));
    } catch (error) {
      if (job !== this.#job) return;
      this.state.set((state) => ({ ...state, phase: state.phase === "ready" ? "ready" : "failed", error: toErrorView(error) }));
    } finally {
      if (job === this.#job) {
        this.#job = null;
        if (this.#isStale) {
          this.#isStale = false;
          void this.reload();
        }
      }
    }
  }
}

/** A job that has ended meanwhile needs no stopping. */
export function cancelJob(api: Api, id: string | null): void {
  if (id !== null) api.request("job.cancel", { id }).catch(() => null);
}

/** Columns that are as they were stay the same object: what was measured for them still holds. */
function shapeOf(view: DataRowsView, before: WindowState): Pick<WindowState, "columns" | "key"> {
  const isSame = JSON.stringify(view.columns) === JSON.stringify(before.columns);
  return { columns: isSame ? before.columns : view.columns, key: view.key };
}
