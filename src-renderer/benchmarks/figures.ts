/** Comparisons that were worked out, and figures as the screen writes them. */
import type { BenchSeries, BenchUnit } from "#shared/bench-views.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { compareMedians, type MedianChange } from "#shared/bench-statistics.ts";

/** Lists of samples are never changed in place here, so that they can be the key. */
const changes = new WeakMap<readonly number[], WeakMap<readonly number[], MedianChange | null>>();

/** What `changeOf` has worked out before; `undefined` when it has not. */
export function knownChange(before: readonly number[], after: readonly number[]): MedianChange | null | undefined {
  if (before.length === 0 || after.length === 0) return null;
  return changes.get(before)?.get(after);
}

/** `compareMedians`, kept for both lists. */
export function changeOf(before: readonly number[], after: readonly number[], better: BenchSeries["better"]): MedianChange | null {
  const known = knownChange(before, after);
  if (known !== undefined) return known;
  const change = compareMedians(before, after, better);
  const inner = changes.get(before) ?? new WeakMap<readonly number[], MedianChange | null>();
  changes.set(before, inner);
  inner.set(after, change);
  return change;
}

/** A figure on an axis: round ones without the zeros that a measured one would have. */
export function formatTick(value: number, unit: BenchUnit): string {
  return formatFigure(value, unit).replace(/\.0+(?=\D|$)/, "");
}

/** "0.522 ms" in its two parts, for large figures with a small unit. */
export function splitFigure(text: string): readonly [figure: string, unit: string] {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
