/** Every figure that is shown of samples, computed in one place, so that screen, terminal and files cannot disagree. */
import { Random } from "./bench-random.ts";
import type { BenchSeries, BenchStatistic, BenchUnit } from "./bench-views.ts";

/** Below this many samples the 99th percentile is but the largest one: then that is shown, as what it is. */
export const P99_FROM = 100;
/** Below this many samples on a side, resampling tells nothing. */
const COMPARE_FROM = 5;
const RESAMPLES = 2_000;
const INTERVAL_PERCENT = 95;
const BINS = 40;

export interface Summary {
  readonly n: number;
  readonly min: number;
  readonly p50: number;
  readonly p95: number;
  /** Null when n is below 100. */
  readonly p99: number | null;
  readonly max: number;
  readonly mean: number;
  readonly sum: number;
}

/** Nearest rank: the smallest sample that at least `percent` of all are not above. NaN without samples. `sorted` ascends. */
export function percentile(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.min(sorted.length, Math.max(1, rank)) - 1] ?? Number.NaN;
}

/** Of lists that were asked about before: a screen asks for the same figures many times a frame. */
const summaries = new WeakMap<readonly number[], Summary>();

/** Null without samples. The median is the 50th percentile by nearest rank: always one of the samples. */
export function summarise(samples: readonly number[]): Summary | null {
  if (samples.length === 0) return null;
  const known = summaries.get(samples);
  // Samples are only ever added at the end: a list of the same length is the same one.
  if (known?.n === samples.length) return known;
  const summary = summariseAnew(samples);
  summaries.set(samples, summary);
  return summary;
}

function summariseAnew(samples: readonly number[]): Summary {
  // Numbers alone sort several times faster in an array of numbers.
  const sorted = Array.from(Float64Array.from(samples).toSorted());
  const sum = samples.reduce((total, sample) => total + sample, 0);
  return {
    n: sorted.length,
    min: percentile(sorted, 0),
    p50: percentile(sorted, 50),
    p95: percentile(sorted, 95),
    p99: sorted.length < P99_FROM ? null : percentile(sorted, 99),
    max: percentile(sorted, 100),
    mean: sum / sorted.length,
    sum,
  };
}

/** Null without samples, and for p99 below 100 of them. */
export function statisticOf(samples: readonly number[], statistic: BenchStatistic): number | null {
  if (statistic === "n") return samples.length;
  const summary = summarise(samples);
  if (!summary) return null;
  return statistic === "median" ? summary.p50 : summary[statistic];
}

/** Null without samples. */
export function medianOf(samples: readonly number[]): number | null {
  return statisticOf(samples, "median");
}

/** What one caller gets done in a second, from the mean; null for what is no time. */
export function throughputOf(series: Pick<BenchSeries, "samples" | "unit">): number | null {
  const mean = statisticOf(series.samples, "mean");
  return series.unit === "ms" && mean !== null && mean > 0 ? 1000 / mean : null;
}

export interface Histogram {
  /** Linear only when some sample is not above 0. */
  readonly scale: "log" | "linear";
  /** Ascending, side by side; the last one includes its upper edge. */
  readonly bins: readonly { readonly from: number; readonly to: number; readonly count: number }[];
}

/** Null without samples. Equal samples make one bin around them. */
export function histogramOf(samples: readonly number[], count = BINS): Histogram | null {
  const summary = summarise(samples);
  if (!summary) return null;
  const { min, max, n } = summary;
  const scale = min > 0 ? "log" : "linear";
  if (min === max) {
    const half = Math.abs(min) * 0.05 || 0.5;
    return { scale, bins: [{ from: min - half, to: max + half, count: n }] };
  }
  const share = (value: number) => (scale === "log" ? Math.log(value / min) / Math.log(max / min) : (value - min) / (max - min));
  const edge = (at: number) => (scale === "log" ? min * (max / min) ** at : min + (max - min) * at);
  const counts = Array.from({ length: count }, () => 0);
  for (const sample of samples) {
    const bin = Math.min(count - 1, Math.floor(share(sample) * count));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const edges = Array.from({ length: count + 1 }, (_, at) => (at === count ? max : edge(at / count)));
  return { scale, bins: counts.map((found, at) => ({ from: edges[at] ?? min, to: edges[at + 1] ?? max, count: found })) };
}

export type Verdict = "better" | "worse" | "within-noise" | "too-few";

export interface MedianChange {
  readonly before: number;
  readonly after: number;
  /** after - before. */
  readonly difference: number;
  /** 95 % of resampled differences lie between these. */
  readonly low: number;
  readonly high: number;
  readonly verdict: Verdict;
}

/**
 * Whether the median moved: a percentile bootstrap of the difference, 2,000 resamples, the same for the same samples. Null
 * when either side has none. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
 */
export function compareMedians(before: readonly number[], after: readonly number[], better: BenchSeries["better"]): MedianChange | null {
  const [old, now] = [before, after].map((samples) => samples.toSorted((a, b) => a - b)) as [number[], number[]];
  const [first, second] = [percentile(old, 50), percentile(now, 50)];
  if (Number.isNaN(first) || Number.isNaN(second)) return null;
  const random = new Random(1);
  const differences = Array.from({ length: RESAMPLES }, () => resampleMedian(now, random) - resampleMedian(old, random));
  differences.sort((a, b) => a - b);
  const tail = (100 - INTERVAL_PERCENT) / 2;
  const [low, high] = [percentile(differences, tail), percentile(differences, 100 - tail)];
  const difference = second - first;
  const enough = Math.min(old.length, now.length) >= COMPARE_FROM;
  const verdict = judge({ difference, low, high, enough }, better);
  return { before: first, after: second, difference, low, high, verdict };
}

function judge(
  { difference, low, high, enough }: Pick<MedianChange, "difference" | "low" | "high"> & { readonly enough: boolean },
  better: BenchSeries["better"],
): Verdict {
  // What is counted and not timed may have one sample that is always the same.
  if (difference === 0) return "within-noise";
  if (!enough) return "too-few";
  if (low <= 0 && high >= 0) return "within-noise";
  return difference < 0 === (better === "lower") ? "better" : "worse";
}

/**
 * The median of n draws, with replacement, from n sorted samples: the sample where the k-th smallest of n uniform numbers
 * falls, which follows Beta(k, n - k + 1). So a resample costs the same for ten samples as for a million.
 */
function resampleMedian(sorted: readonly number[], random: Random): number {
  const n = sorted.length;
  const rank = Math.ceil(n / 2);
  const [left, right] = [drawGamma(rank, random), drawGamma(n - rank + 1, random)];
  return sorted[Math.min(n - 1, Math.floor((n * left) / (left + right)))] ?? Number.NaN;
}

/** Gamma(shape, 1) for a shape of at least 1. Source: Marsaglia and Tsang, ACM TOMS 26 (2000). */
function drawGamma(shape: number, random: Random): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.unit()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Box and Muller (1958). */
function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.unit())) * Math.cos(2 * Math.PI * random.unit());
}

/** The verdict in a word or two that fits what was measured. */
export function sayVerdict(
  verdict: Verdict,
  { unit, better }: { readonly unit: BenchUnit; readonly better: BenchSeries["better"] },
): string {
  if (verdict === "within-noise") return "within noise";
  if (verdict === "too-few") return "too few samples";
  if (unit === "ms" || unit === "per-second") return verdict === "better" ? "faster" : "slower";
  return (verdict === "better") === (better === "lower") ? "less" : "more";
}
