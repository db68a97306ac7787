import { expect, test } from "vitest";
import { Random } from "#shared/bench-random.ts";
import { compareMedians, histogramOf, percentile, sayVerdict, statisticOf, summarise, throughputOf } from "#shared/bench-statistics.ts";
import { makeSeries } from "./samples.ts";

const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

const draw = (random: Random) => upTo(3).map(() => random.next());

/** Around `middle`, up to 10 % away. */
function noise(middle: number, n: number, seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: n }, () => middle * (0.9 + 0.2 * random.unit()));
}

test("BENCH-1: percentiles are samples, by nearest rank, whatever the order", () => {
  expect(percentile(upTo(100), 50)).toBe(50);
  expect(percentile(upTo(100), 95)).toBe(95);
  expect(percentile(upTo(101), 50)).toBe(51);
  expect(percentile([7], 99)).toBe(7);
  expect(percentile([], 50)).toBeNaN();
  // The example of the method's definition.
  const ordered = [15, 20, 35, 40, 50];
  expect([5, 30, 40, 50, 100].map((percent) => percentile(ordered, percent))).toEqual([15, 20, 20, 35, 50]);
  expect(summarise([3, 1, 2])).toEqual({ n: 3, min: 1, p50: 2, p95: 3, p99: null, max: 3, mean: 2, sum: 6 });
  expect(summarise([])).toBeNull();
});

test("BENCH-1: p99 is told from 100 samples on", () => {
  expect(statisticOf(upTo(99), "p99")).toBeNull();
  expect(statisticOf(upTo(100), "p99")).toBe(99);
  expect(statisticOf(upTo(1_000), "p99")).toBe(990);
  expect(statisticOf([], "n")).toBe(0);
  expect(statisticOf([], "max")).toBeNull();
});

test("BENCH-1: throughput is that of one caller, and only for times", () => {
  expect(throughputOf(makeSeries("a", [1, 3]))).toBe(500);
  expect(throughputOf(makeSeries("a", [1, 3], { unit: "bytes" }))).toBeNull();
  expect(throughputOf(makeSeries("a", []))).toBeNull();
});

test("BENCH-3: every sample is in one bin of the histogram, on a scale of equal ratios", () => {
  const samples = [1, 1, 10, 100, 1000];
  const histogram = histogramOf(samples, 3);
  expect(histogram?.scale).toBe("log");
  expect(histogram?.bins.map(({ count }) => count)).toEqual([2, 1, 2]);
  expect(histogram?.bins.map(({ from, to }) => Math.round(to / from))).toEqual([10, 10, 10]);
  for (const values of [noise(5, 500, 1), [0, 1, 5], [-1, 2], [4, 4, 4], [0, 0]]) {
    const bins = histogramOf(values)?.bins ?? [];
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    expect(bins[0]?.from).toBeLessThanOrEqual(Math.min(...values));
    expect(bins.at(-1)?.to).toBeGreaterThanOrEqual(Math.max(...values));
  }
  expect(histogramOf([0, 1, 5])?.scale).toBe("linear");
  expect(histogramOf([])).toBeNull();
});

test("BENCH-4: a median that moved is told from noise, the same way each time", () => {
  const before = noise(10, 200, 1);
  const slower = compareMedians(before, noise(12, 200, 2), "lower");
  expect(slower?.verdict).toBe("worse");
  expect(slower?.low).toBeGreaterThan(0);
  expect(slower?.difference).toBeGreaterThan(slower?.low ?? Infinity);
  expect(slower?.difference).toBeLessThan(slower?.high ?? -Infinity);
  expect(compareMedians(before, noise(12, 200, 2), "lower")).toEqual(slower);
  expect(compareMedians(before, noise(12, 200, 2), "higher")?.verdict).toBe("better");
  expect(compareMedians(before, noise(8, 200, 2), "lower")?.verdict).toBe("better");
  expect(compareMedians(before, noise(10, 200, 3), "lower")?.verdict).toBe("within-noise");
});

test("BENCH-4: samples of one distribution are called different about as rarely as the interval says", () => {
  const verdicts = upTo(200).map((seed) => compareMedians(noise(10, 40, seed), noise(10, 40, seed + 1_000), "lower")?.verdict);
  // 5 % are expected to be; a percentile bootstrap of medians is a little off, never by half.
  expect(verdicts.filter((verdict) => verdict !== "within-noise").length).toBeLessThan(20);
});

test("BENCH-4: the resampled interval is that of drawing with replacement", () => {
  const [before, after] = [noise(10, 31, 5), noise(11, 24, 6)];
  const random = new Random(99);
  const resample = (samples: readonly number[]) => {
    const drawn = samples.map(() => samples[random.below(samples.length)] ?? 0);
    return percentile(
      drawn.toSorted((a, b) => a - b),
      50,
    );
  };
  const differences = upTo(4_000)
    .map(() => resample(after) - resample(before))
    .toSorted((a, b) => a - b);
  const found = compareMedians(before, after, "lower");
  expect(found?.low).toBeCloseTo(percentile(differences, 2.5), 0);
  expect(found?.high).toBeCloseTo(percentile(differences, 97.5), 0);
});

test("BENCH-4: few samples give no verdict, equal ones need none, none give nothing", () => {
  expect(compareMedians([1, 1], [2, 2], "lower")?.verdict).toBe("too-few");
  expect(compareMedians([377], [377], "lower")?.verdict).toBe("within-noise");
  expect(compareMedians([], [1], "lower")).toBeNull();
  expect(sayVerdict("better", { unit: "ms", better: "lower" })).toBe("faster");
  expect(sayVerdict("worse", { unit: "per-second", better: "higher" })).toBe("slower");
  expect(sayVerdict("better", { unit: "bytes", better: "lower" })).toBe("less");
  expect(sayVerdict("worse", { unit: "bytes", better: "lower" })).toBe("more");
  expect(sayVerdict("better", { unit: "ratio", better: "higher" })).toBe("more");
});

test("BENCH-4: ten thousand samples are compared in a blink", () => {
  const change = compareMedians(noise(10, 10_000, 1), noise(10.5, 10_000, 2), "lower");
  expect(change?.verdict).toBe("worse");
});

test("BENCH-12: a seed gives the same numbers, another seed or stream others, spread evenly", () => {
  expect(draw(new Random(1))).toEqual(draw(new Random(1)));
  expect(draw(new Random(1))).not.toEqual(draw(new Random(2)));
  expect(draw(new Random(1, 0))).not.toEqual(draw(new Random(1, 1)));
  const counts = Array.from({ length: 10 }, () => 0);
  const random = new Random(7);
  for (let draws = 0; draws < 10_000; draws += 1) {
    const bin = random.below(10);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
