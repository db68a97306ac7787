import type { AcrossResultView, DataValue } from "./query-views.ts";

export interface AlignedResult {
  readonly result: AcrossResultView;
  /** For each of the common columns the position of it in this result; null where it has none. */
  readonly positions: readonly (number | null)[];
  /** Against the reference; null where either failed, or the reference is not there yet. */
  readonly isSame: boolean | null;
}

export interface Alignment {
  /** Columns of the reference, then those that only others have. A name that stands twice is two columns. */
  readonly columns: readonly string[];
  /** In order of the targets. */
  readonly results: readonly AlignedResult[];
}

/**
 * Results side by side: columns meet by name, and each says whether it equals that of the reference, which is the first
 * target unless another one is named.
 */
export function alignResults(results: readonly AcrossResultView[], reference = 0): Alignment {
  const ordered = results.toSorted((a, b) => a.target - b.target);
  const chosen = ordered.find(({ target }) => target === reference);
  const columns: string[] = [];
  const known = new Map<string, number>();
  const place = (name: string, nth: number): number => {
    const key = `${nth} ${name}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, columns.length);
    return columns.push(name) - 1;
  };
  const placesOf = (result: AcrossResultView): number[] => {
    const seen = new Map<string, number>();
    return result.columns.map((name) => {
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      return place(name, nth);
    });
  };
  if (chosen) placesOf(chosen);
  const found = ordered.map(placesOf);
  const digest = chosen?.digest ?? null;
  return {
    columns,
    results: ordered.map((result, index) => {
      const positions = columns.map((): number | null => null);
      for (const [position, column] of (found[index] ?? []).entries()) positions[column] = position;
      return { result, positions, isSame: digest === null || result.digest === null ? null : result.digest === digest };
    }),
  };
}

/** A row of two results; null on the side that has none. */
export interface RowPair {
  readonly left: readonly DataValue[] | null;
  readonly right: readonly DataValue[] | null;
  /** Which of the common columns differ; all of those that a side lacks count. */
  readonly differing: readonly number[];
}

export interface RowPairs {
  readonly pairs: readonly RowPair[];
  /** How rows met: by the values of the first column, where each stands once on either side, else by their position. */
  readonly by: "first column" | "position";
  readonly changed: number;
  readonly onlyLeft: number;
  readonly onlyRight: number;
}

/** Rows of two aligned results side by side, in the order of the left; those that only the right has stand where it has them. */
export function pairRows(left: AlignedResult, right: AlignedResult): RowPairs {
  const lefts = left.result.rows.map((row) => alignRow(row, left.positions));
  const rights = right.result.rows.map((row) => alignRow(row, right.positions));
  const [leftKeys, rightKeys] = [keysOf(lefts), keysOf(rights)];
  const isKeyed = leftKeys !== null && rightKeys !== null && lefts.length > 1;
  const matched = isKeyed ? pairByKey(lefts, rights, leftKeys, rightKeys) : pairByPosition(lefts, rights);
  const pairs = matched.map(([a, b]): RowPair => ({
    left: bare(a),
    right: bare(b),
    differing: a === null || b === null ? [] : a.flatMap((value, index) => (isSameValue(value, b[index]) ? [] : [index])),
  }));
  return {
    pairs,
    by: isKeyed ? "first column" : "position",
    changed: pairs.filter(({ differing }) => differing.length > 0).length,
    onlyLeft: pairs.filter(({ right: b }) => b === null).length,
    onlyRight: pairs.filter(({ left: a }) => a === null).length,
  };
}

/** In order of the common columns; undefined where this side has no such column. */
type AlignedRow = readonly (DataValue | undefined)[];
type Matched = (readonly [AlignedRow | null, AlignedRow | null])[];

function alignRow(row: readonly DataValue[], positions: readonly (number | null)[]): AlignedRow {
  return positions.map((position) => (position === null ? undefined : row[position]));
}

function bare(row: AlignedRow | null): readonly DataValue[] | null {
  return row === null ? null : row.map((value) => value ?? null);
}

export function isSameValue(a: DataValue | undefined, b: DataValue | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Values of the first column, where none stands twice. */
function keysOf(rows: readonly AlignedRow[]): readonly string[] | null {
  const keys = rows.map((row) => JSON.stringify(row[0]) ?? "");
  return new Set(keys).size === keys.length ? keys : null;
}

function pairByPosition(lefts: readonly AlignedRow[], rights: readonly AlignedRow[]): Matched {
  return Array.from(
    { length: Math.max(lefts.length, rights.length) },
    (_, index) => [lefts[index] ?? null, rights[index] ?? null] as const,
  );
}

function pairByKey(
  lefts: readonly AlignedRow[],
  rights: readonly AlignedRow[],
  leftKeys: readonly string[],
  rightKeys: readonly string[],
): Matched {
  const rightAt = new Map(rightKeys.map((key, index) => [key, index]));
  const isOnLeft = new Set(leftKeys);
  const matched: Matched = [];
  let next = 0;
  /** Those that only the right has, up to a position of it. */
  const takeRights = (to: number): void => {
    for (; next < to; next += 1) if (!isOnLeft.has(rightKeys[next] ?? "")) matched.push([null, rights[next] ?? null]);
  };
  for (const [index, key] of leftKeys.entries()) {
    const at = rightAt.get(key);
    if (at !== undefined) takeRights(at);
    matched.push([lefts[index] ?? null, at === undefined ? null : (rights[at] ?? null)]);
  }
  takeRights(rights.length);
  return matched;
}
