/** One comparison while it is open: what it found so far, and streams of what there is to find. */
import type { DiffColumnView, DiffView, RowChangeView, RowKind, TableCounts } from "#shared/diff-views.ts";
import { nearestNames } from "../branches/nearest.ts";
import { temporaryPath, type Parts } from "../branches/parts.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";
import { compareDatabases, compareTable, type DatabaseDiff, type DiffTable } from "./database-diff.ts";
import { RowMatcher } from "./row-matcher.ts";
import { differingPages, openSide, type OpenedSide } from "./sides.ts";
import type { RowChange, RowDifference, TableComparison } from "./table-comparison.ts";
import { pairTables, type TablePair } from "./table-pair.ts";
import { readShapes } from "./table-shape.ts";
import { viewValue } from "./value-view.ts";
import type { DiffSideInput } from "#shared/diff-views.ts";

export interface DiffInput {
  readonly left: DiffSideInput;
  readonly right: DiffSideInput;
}

interface FoundDifference {
  readonly difference: RowDifference;
  readonly comparison: TableComparison;
}

/** Which rows: all that differ unless said otherwise. */
export interface RowFilter {
  readonly kinds?: readonly RowKind[] | undefined;
  /** Only these columns count: an update of none of them is left out. */
  readonly columns?: readonly string[] | undefined;
}

/** Differences between two looks at the clock. */
const HEARTBEAT_DIFFERENCES = 256;

/** Opens both sides. Errors: those of `openSide`, `database-corrupt`, `cancelled`; nothing is left open then. */
export async function openDiff(parts: Parts, id: string, input: DiffInput, work: PhasedWork): Promise<Diff> {
  const openers = { left: () => openSide(parts, input.left, work), right: () => openSide(parts, input.right, work) };
  return compareSides(parts, id, openers, work);
}

/** As `openDiff`, of sides that are opened in another way. */
export async function compareSides(
  parts: Parts,
  id: string,
  openers: { readonly left: () => Promise<OpenedSide>; readonly right: () => Promise<OpenedSide> },
  work: PhasedWork,
): Promise<Diff> {
  const left = await openers.left();
  let right: OpenedSide | null = null;
  try {
    right = await openers.right();
    work.phase?.("Comparing");
    const numbers = await differingPages(parts, left, right, work);
    const diff = await compareDatabases(left.pages, right.pages, numbers, work);
    return new Diff(parts, id, left, right, diff);
  } catch (error) {
    left.close();
    right?.close();
    throw error;
  }
}

export class Diff {
  readonly view: DiffView;
  readonly tables: readonly DiffTable[];
  readonly found: DatabaseDiff;
  readonly #parts: Parts;
  readonly #sides: readonly OpenedSide[];
  #isClosed = false;

  constructor(parts: Parts, id: string, left: OpenedSide, right: OpenedSide, found: DatabaseDiff) {
    this.#parts = parts;
    this.#sides = [left, right];
    this.found = found;
    this.tables = found.tables;
    this.view = {
      id,
      left: left.view,
      right: right.view,
      comparison: found.comparison,
      changedPages: found.changedPages,
      schema: found.schema,
      tables: found.tables.map(({ view }) => view),
      equalTables: found.equalTables,
      notes: found.notes,
    };
  }

  /** How many rows differ in each table: now and then for the one under way, then for the table as a whole. */
  async *summary(work: Work = {}, filter: RowFilter = {}, only: ReadonlySet<string> | null = null): AsyncGenerator<TableCounts, void> {
    for (const table of this.tables) {
      if (only && !only.has(table.view.name)) continue;
      if (table.view.notComparable !== null) {
        yield { ...NO_ROWS, name: table.view.name, isComplete: true, notComparable: table.view.notComparable };
        continue;
      }
      yield* this.#count(table, work, filter);
    }
  }

  /** True when nothing differs: schema, header, rows. */
  async isSame(work: Work = {}): Promise<boolean> {
    if (this.view.schema.length > 0) return false;
    for (const table of this.tables) {
      if (!table.pair) return false;
      for await (const _ of this.differences(table, {}, work)) return false;
    }
    return true;
  }

  /** Throws `bad-argument` for a table that is in neither state. One without differences has no rows. */
  table(name: string): DiffTable | null {
    const table = this.tables.find(({ view }) => view.name === name || view.formerName === name);
    if (table) return table;
    const { left, right } = this.found;
    const all = [...left.schema, ...right.schema].filter(({ type }) => type === "table").map((object) => object.name);
    if (all.includes(name)) return null;
    const choices = nearestNames(name, [...new Set(all)]);
    throw new EngineError("bad-argument", `There is no table "${name}" in ${this.view.left.label} or ${this.view.right.label}`, {
      hint: choices.length > 0 ? `Did you mean ${choices.map((each) => `"${each}"`).join(" or ")}?` : undefined,
      details: { name, choices },
    });
  }

  /** Rows of one table that differ, with their values. Errors: `unsupported` (not comparable), `database-corrupt`, `cancelled`. */
  async *changes(table: DiffTable, filter: RowFilter = {}, work: Work = {}): AsyncGenerator<RowChange, void> {
    for await (const { difference, comparison } of this.differences(table, filter, work)) yield comparison.read(difference);
  }

  async *differences(table: DiffTable, filter: RowFilter, work: Work): AsyncGenerator<FoundDifference, void> {
    for await (const found of this.#steps(table, filter, work)) if (found) yield found;
  }

  /** Null between stretches of work, also where nothing differs. */
  async *#steps(table: DiffTable, filter: RowFilter, work: Work): AsyncGenerator<FoundDifference | null, void> {
    this.#checkOpen();
    const comparison = compareTable(table, () => this.#makeMatcher(), columnPositions(table, filter.columns));
    let count = 0;
    for (const difference of comparison.differences()) {
      count += 1;
      if (difference === null || count % HEARTBEAT_DIFFERENCES === 0) {
        await breathe(work);
        this.#checkOpen();
        await comparison.readAhead(work);
        this.#checkOpen();
        yield null;
      }
      if (difference && (filter.kinds?.includes(difference.kind) ?? true)) yield { difference, comparison };
    }
  }

  async *#count(table: DiffTable, work: Work, filter: RowFilter): AsyncGenerator<TableCounts, void> {
    const counts = { ...NO_ROWS, name: table.view.name, isComplete: false, notComparable: null };
    let shown = performance.now();
    try {
      for await (const found of this.#steps(table, filter, work)) {
        if (found?.difference.kind === "insert") counts.inserted += 1;
        else if (found?.difference.kind === "delete") counts.deleted += 1;
        else if (found) counts.updated += 1;
        if (performance.now() - shown < SHOW_EVERY_MS) continue;
        shown = performance.now();
        yield { ...counts };
      }
      yield { ...counts, isComplete: true };
    } catch (error) {
      // One damaged table does not hide what changed in the others.
      if (!(error instanceof EngineError) || error.code !== "database-corrupt") throw error;
      yield { ...counts, isComplete: true, notComparable: error.message };
    }
  }

  /** A table of the right state by itself; null when it has none of that name, or one that cannot be read. */
  rightTable(name: string): TablePair | null {
    const { pages, schema } = this.found.right;
    const object = schema.find((each) => each.type === "table" && each.name === name);
    const shape = object && readShapes([object], schema, pages.header.schemaFormat).get(name);
    return object && shape && typeof shape !== "string" ? pairTables(null, { pages, object, shape }) : null;
  }

  /** Lets go of both sides. Streams that are under way fail. Closing again does nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const side of this.#sides) side.close();
  }

  #checkOpen(): void {
    if (this.#isClosed)
      throw new EngineError("cancelled", `The comparison of ${this.view.left.label} with ${this.view.right.label} was closed`, {
        untouched: "Nothing was changed.",
      });
  }

  #makeMatcher(): RowMatcher {
    const { disk, catalog } = this.#parts;
    return new RowMatcher(disk, catalog.readOnly ? "" : temporaryPath(this.#parts, "match.db"));
  }
}

const NO_ROWS = { inserted: 0, deleted: 0, updated: 0 };
const SHOW_EVERY_MS = 100;

/** Throws `bad-argument` for a column that the table does not have. */
function columnPositions({ view }: DiffTable, names: readonly string[] | undefined): ReadonlySet<number> | null {
  if (!names) return null;
  return new Set(names.map((name) => positionOf(view.columns, view.name, name)));
}

export function positionOf(columns: readonly DiffColumnView[], table: string, name: string): number {
  const index = columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  if (index >= 0) return index;
  const choices = nearestNames(
    name,
    columns.map((column) => column.name),
  );
  throw new EngineError("bad-argument", `Table ${table} has no column "${name}"`, { details: { name, choices } });
}

/** `bytesMax`: of one value. */
export function viewChange({ kind, old, new: current, changed }: RowChange, bytesMax: number): RowChangeView {
  return {
    kind,
    old: old && old.map((value) => viewValue(value, bytesMax)),
    new: current && current.map((value) => viewValue(value, bytesMax)),
    changed,
  };
}
