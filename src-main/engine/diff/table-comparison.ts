/**
 * The rows in which two states of one table differ. First both trees are gone through in their common order, and rows
 * with equal content cancel each other; where that order is also what identifies a row, what remains is the answer. Else
 * it is matched by the key (`row-matcher.ts`): rowids that nobody named are no identity, because VACUUM gives new ones.
 */
import type { Cell } from "../format/btree-page.ts";
import type { SqlValue } from "../format/record.ts";
import type { Candidates } from "./candidate-pages.ts";
import type { ChangedPages } from "./changed-pages.ts";
import type { Work } from "../segments/page-source.ts";
import { pageOf, type CellPlace, type DatabasePages } from "./database-pages.ts";
import { compareKeys, isSameValue } from "./key-order.ts";
import { keyValues, type RowMatcher } from "./row-matcher.ts";
import { LeavesAhead, ReadAhead } from "./read-ahead.ts";
import { RowReader } from "./row-reader.ts";
import { isMatchedByOrder, type TablePair, type TableSide } from "./table-pair.ts";
import { TreeCursor } from "./tree-cursor.ts";
import { keyAt } from "./tree-seek.ts";

export type RowKind = "insert" | "delete" | "update";

export interface RowDifference {
  readonly kind: RowKind;
  readonly left: CellPlace | null;
  readonly right: CellPlace | null;
  /** Positions of the columns that changed, of an update. */
  readonly changed: readonly number[];
}

export interface RowChange {
  readonly kind: RowKind;
  /** Values in order of the paired columns. */
  readonly old: readonly SqlValue[] | null;
  readonly new: readonly SqlValue[] | null;
  readonly changed: readonly number[];
}

/** What of two states is known to be equal without looking. */
export interface SharedPages {
  readonly changes: ChangedPages;
  readonly candidates: Candidates;
}

/** Rows between two heartbeats. */
const HEARTBEAT_ROWS = 512;

/** One side of the walk. */
interface Walk {
  readonly cursor: TreeCursor;
  readonly ahead: LeavesAhead;
  readonly side: TableSide;
  isAtRow: boolean;
}

export class TableComparison {
  readonly pair: TablePair;
  readonly #shared: SharedPages | null;
  readonly #makeMatcher: () => RowMatcher;
  readonly #left: RowReader | null;
  readonly #right: RowReader | null;
  readonly #compared: readonly number[];
  readonly #ahead: ReadAhead;
  #walks: Walk[] = [];
  /** The last update, with the values by which it was found to be one: they are asked for next, as a rule. */
  #judged: { readonly difference: RowDifference; readonly before: readonly SqlValue[]; readonly after: readonly SqlValue[] } | null = null;

  /** `only`: positions of the columns that count; null for all that both sides have, or the right one. */
  constructor(pair: TablePair, shared: SharedPages | null, makeMatcher: () => RowMatcher, only: ReadonlySet<number> | null = null) {
    this.pair = pair;
    this.#ahead = new ReadAhead(...[pair.left, pair.right].flatMap((side) => (side ? [side.pages] : [])));
    this.#shared = pair.isByteComparable ? shared : null;
    this.#makeMatcher = makeMatcher;
    this.#left = pair.left && new RowReader(pair.left, pair.columns, "left");
    this.#right = pair.right && new RowReader(pair.right, pair.columns, "right");
    this.#compared = pair.columns.flatMap(({ right, generated }, index) =>
      (right < 0 && pair.right !== null) || generated === "virtual" || (only !== null && !only.has(index)) ? [] : [index],
    );
  }

  /**
   * Null now and then, and before pages are needed that were not read ahead, so that the caller can read them ahead and
   * let others run. Throws `database-corrupt`.
   */
  *differences(): Generator<RowDifference | null, void> {
    this.#walks = [];
    const { left, right } = this.pair;
    if (!left || !right) yield* this.#allOf(left, right);
    else if (this.pair.order.kind === "none") yield* this.#match(this.#everyRow(left, right));
    else if (isMatchedByOrder(this.pair)) yield* this.#judge(this.#merge(left, right));
    else yield* this.#match(this.#merge(left, right));
  }

  /** Reads what `differences` is about to need, when it is time for that. Throws what reading throws, and `cancelled`. */
  async readAhead(work: Work): Promise<void> {
    if (this.#walks.some(isDry))
      await this.#ahead.read(
        this.#walks.map(({ ahead }) => ahead.take()),
        work,
      );
  }

  read(difference: RowDifference): RowChange {
    const { kind, left, right, changed } = difference;
    const judged = this.#judged;
    if (judged?.difference === difference) return { kind, old: judged.before, new: judged.after, changed };
    return {
      kind,
      old: left === null || !this.#left ? null : this.#left.read(left),
      new: right === null || !this.#right ? null : this.#right.read(right),
      changed,
    };
  }

  *#allOf(left: TableSide | null, right: TableSide | null): Generator<RowDifference | null, void> {
    const side = right ?? left;
    if (!side) return;
    const { cursor } = this.#walk(side, "all");
    for (let count = 0; ; count += 1) {
      if (this.#isPauseDue(count)) yield null;
      if (!cursor.next()) return;
      yield { kind: right ? "insert" : "delete", left: right ? null : cursor.place, right: right ? cursor.place : null, changed: [] };
    }
  }

  /** Rows of both sides without regard to order. */
  *#everyRow(left: TableSide, right: TableSide): Generator<Places | null, void> {
    for (const [side, isLeft] of [
      [left, true],
      [right, false],
    ] as const) {
      this.#walks = [];
      const { cursor } = this.#walk(side, isLeft ? "left" : "right");
      for (let count = 0; ; count += 1) {
        if (this.#isPauseDue(count)) yield null;
        if (!cursor.next()) break;
        yield { left: isLeft ? cursor.place : null, right: isLeft ? null : cursor.place };
      }
    }
  }

  /** Pairs of places with the same position in the order and other content, and places that only one side has. */
  *#merge(leftSide: TableSide, rightSide: TableSide): Generator<Places | null, void> {
    const left = this.#walk(leftSide, "left");
    const right = this.#walk(rightSide, "right");
    const [keyOfLeft, keyOfRight] = [this.#keyReader(left), this.#keyReader(right)];
    yield null;
    left.isAtRow = left.cursor.next();
    right.isAtRow = right.cursor.next();
    for (let count = 1; left.isAtRow || right.isAtRow; count += 1) {
      if (this.#isPauseDue(count)) yield null;
      const order = !left.isAtRow ? 1 : !right.isAtRow ? -1 : this.#compareOrder(keyOfLeft(), keyOfRight());
      if (order === 0 && !this.#isSameCell(left, right)) yield { left: left.cursor.place, right: right.cursor.place };
      else if (order < 0) yield { left: left.cursor.place, right: null };
      else if (order > 0) yield { left: null, right: right.cursor.place };
      if (order <= 0) left.isAtRow = left.cursor.next();
      if (order >= 0) right.isAtRow = right.cursor.next();
    }
  }

  #walk(side: TableSide, which: "left" | "right" | "all"): Walk {
    const tree = { pages: side.pages, root: side.object.root, isTable: side.shape.hasRowid };
    const only = which === "all" || !this.#shared ? null : this.#shared.candidates[which];
    const cursor = new TreeCursor(tree, only);
    const walk = { cursor, ahead: new LeavesAhead(tree, only, cursor), side, isAtRow: false };
    this.#walks.push(walk);
    return walk;
  }

  #isPauseDue(count: number): boolean {
    return count % HEARTBEAT_ROWS === 0 || this.#walks.some(isDry);
  }

  /** The key of where a walk stands, read once for each row. */
  #keyReader({ cursor, side }: Walk): () => OrderKey {
    const { order } = this.pair;
    if (order.kind !== "key") return () => cursor.cell.rowid ?? 0;
    let known = -1;
    let key: SqlValue[] = [];
    return () => {
      const { place } = cursor;
      if (place !== known) {
        known = place;
        const page = side.pages.page(pageOf(place));
        key = keyAt(side.pages, page, place % 65_536, order.parts);
      }
      return key;
    };
  }

  #compareOrder(left: OrderKey, right: OrderKey): number {
    const { order, right: side } = this.pair;
    if (typeof left !== "object" || typeof right !== "object") return left < right ? -1 : left > right ? 1 : 0;
    return compareKeys(left, right, order.kind === "key" ? order.parts : [], side?.pages.header.encoding ?? "UTF-8");
  }

  #isSameCell(left: Walk, right: Walk): boolean {
    if (!this.pair.isByteComparable) return false;
    const [a, b] = [left.cursor.cell, right.cursor.cell];
    if (a.payloadBytes !== b.payloadBytes || Buffer.compare(a.local, b.local) !== 0) return false;
    if (a.overflow === 0) return b.overflow === 0;
    if (b.overflow === 0) return false;
    if (this.#shared && a.overflow === b.overflow && this.#isOverflowShared(b, right)) return true;
    return isSamePayload(left.side.pages, a, left.cursor.place, right.side.pages, b, right.cursor.place);
  }

  #isOverflowShared(cell: Cell, { cursor, side }: Walk): boolean {
    const changes = this.#shared?.changes;
    if (!changes) return false;
    if (changes.overflow.size === 0) return true;
    for (const page of side.pages.overflowPages(cell, cursor.place)) if (changes.changed.has(page)) return false;
    return true;
  }

  /** Decides by values: other bytes can mean the same. */
  *#judge(places: Iterable<Places | null>): Generator<RowDifference | null, void> {
    for (const place of places) {
      if (place === null) yield null;
      else {
        const difference = this.#judgeOne(place);
        if (difference) yield difference;
      }
    }
  }

  #judgeOne({ left, right }: Places): RowDifference | null {
    if (left === null || right === null) return { kind: left === null ? "insert" : "delete", left, right, changed: [] };
    const [before, after] = [this.#left?.read(left) ?? [], this.#right?.read(right) ?? []];
    const changed = this.#compared.filter((column) => !isSameValue(before[column] ?? null, after[column] ?? null));
    if (changed.length === 0) return null;
    const difference: RowDifference = { kind: "update", left, right, changed };
    this.#judged = { difference, before, after };
    return difference;
  }

  *#match(places: Iterable<Places | null>): Generator<RowDifference | null, void> {
    let matcher: RowMatcher | null = null;
    try {
      for (const place of places) {
        if (place === null) {
          yield null;
          continue;
        }
        matcher ??= this.#makeMatcher();
        if (place.left !== null) this.#addRow(matcher, 0, place.left);
        if (place.right !== null) this.#addRow(matcher, 1, place.right);
      }
      if (matcher) yield* this.#judge(withHeartbeat(matcher.matched()));
    } finally {
      matcher?.close();
    }
  }

  #addRow(matcher: RowMatcher, side: 0 | 1, place: CellPlace): void {
    const values = (side === 0 ? this.#left : this.#right)?.read(place) ?? [];
    const { identity } = this.pair;
    const key = identity.by === "whole row" ? null : keyValues(values, identity.parts);
    matcher.add(
      side,
      place,
      key,
      this.#compared.map((column) => values[column] ?? null),
    );
  }
}

interface Places {
  readonly left: CellPlace | null;
  readonly right: CellPlace | null;
}

function isDry({ ahead }: Walk): boolean {
  return ahead.isDry;
}

type OrderKey = number | bigint | readonly SqlValue[];

function* withHeartbeat(places: Iterable<Places>): Generator<Places | null, void> {
  let count = 0;
  for (const place of places) {
    if (count % HEARTBEAT_ROWS === 0) yield null;
    count += 1;
    yield place;
  }
}

/** Page by page where both have pages of one size, so that a value of any size takes no memory. */
function isSamePayload(a: DatabasePages, cellA: Cell, placeA: CellPlace, b: DatabasePages, cellB: Cell, placeB: CellPlace): boolean {
  if (a.usable !== b.usable || cellA.local.length !== cellB.local.length)
    return Buffer.compare(a.payload(cellA, placeA), b.payload(cellB, placeB)) === 0;
  const pagesB = b.overflowPages(cellB, placeB);
  let left = cellA.payloadBytes - cellA.local.length;
  for (const pageA of a.overflowPages(cellA, placeA)) {
    const next = pagesB.next();
    if (next.done) return false;
    const end = Math.min(a.usable, 4 + left);
    if (Buffer.compare(a.bytes(pageA).subarray(4, end), b.bytes(next.value).subarray(4, end)) !== 0) return false;
    left -= end - 4;
  }
  return true;
}
