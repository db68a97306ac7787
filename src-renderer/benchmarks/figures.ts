/** Figures of samples, worked out once for each list of them: the screen asks for the same ones many times a frame. */
import type { BenchSeries, BenchUnit } from "#shared/bench-views.ts";
import { formatFigure } from "#shared/bench-figures.ts";
import { compareMedians, summarise, type MedianChange, type Summary } from "#shared/bench-statistics.ts";

const summaries = new WeakMap<readonly number[], Summary | null>();

/** Null without samples. Lists of samples are never changed in place, so that they can be the key. */
export function summaryOf(samples: readonly number[]): Summary | null {
  const known = summaries.get(samples);
  if (known !== undefined) return known;
  const summary = summarise(samples);
  summaries.set(samples, summary);
  return summary;
}

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
