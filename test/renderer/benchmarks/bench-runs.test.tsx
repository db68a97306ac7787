import { afterEach, beforeEach, expect, test } from "vitest";
import { summarise } from "#shared/bench-statistics.ts";
import type { BenchRun } from "#shared/bench-views.ts";
import { connectApi } from "../../../src-renderer/api/api.ts";
import { resetAppState, setHello } from "../../../src-renderer/app-state.ts";
import {
  benchRuns,
  followBenchRuns,
  loadBenchHeads,
  loadBenchRun,
  mergeAnswer,
  mergeUpdate,
} from "../../../src-renderer/benchmarks/bench-runs.ts";
import {
  benchView,
  changeBenchView,
  parseBenchLayout,
  resetBenchView,
  resolveChoice,
  toOrder,
} from "../../../src-renderer/benchmarks/bench-view.ts";
import { currentSeries, runTime, shownSeries, timeLeft } from "../../../src-renderer/benchmarks/bench-words.ts";
import { pairSeries } from "../../../src-renderer/benchmarks/compared-rows.ts";
import { changeOf } from "../../../src-renderer/benchmarks/figures.ts";
import { installFakeApi } from "../support/fake-api.ts";
import {
  SAMPLE_SUITES,
  benchHandlers,
  benchRun,
  benchSeries,
  drawSamples,
  runningRun,
  sampleSeries,
  updateOf,
} from "../support/bench-samples.ts";
import { helloView } from "../support/sample-store.ts";
import { storeView } from "../support/views.ts";

/** The machine may be busy with other things. */
const WAIT = { timeout: 15_000 };

let stop: (() => void) | null = null;

beforeEach(() => {
  resetAppState();
  resetBenchView();
});
afterEach(() => {
  stop?.();
  stop = null;
});

const samplesOf = (run: BenchRun | null | undefined, id: string) => run?.series.find((series) => series.id === id)?.samples;

test("BENCHSCREEN-2: new samples are added in order; what is known already is not added twice", () => {
  const run = runningRun("r", 3);
  const before = samplesOf(run, "fork-head") ?? [];
  const merged = mergeUpdate(run, updateOf(run, "fork-head", 2, [before[2] ?? 0, 7, 8]));
  expect(samplesOf(merged, "fork-head")).toEqual([...before, 7, 8]);
  // A series that nothing came for is the same object: its charts are not drawn again.
  expect(merged?.series.find((series) => series.id === "checkout")).toBe(run.series.find((series) => series.id === "checkout"));
  const late = mergeUpdate(run, updateOf(run, "fork-head", 0, before.slice(0, 1)));
  expect(samplesOf(late, "fork-head")).toEqual(before);
});

test("BENCHSCREEN-2: figures of a list that grew are those of the whole list", () => {
  const samples = [3, 1, 2];
  expect(summarise(samples)).toMatchObject({ n: 3, p50: 2, max: 3 });
  samples.push(9, 8, 7, 6);
  expect(summarise(samples)).toMatchObject({ n: 7, p50: 6, max: 9, sum: 36 });
});

test("BENCHSCREEN-2: a gap, or a series that is not known, means that the run is read anew", () => {
  const run = runningRun("r", 3);
  expect(mergeUpdate(run, updateOf(run, "fork-head", 4, [7]))).toBeNull();
  expect(mergeUpdate(run, updateOf(run, "no-such-series", 0, [7]))).toBeNull();
});

test("BENCHSCREEN-2: an answer that is older than what events brought takes no samples away", () => {
  const newer = runningRun("r", 9);
  expect(samplesOf(mergeAnswer(newer, runningRun("r", 4)), "fork-head")).toEqual(samplesOf(newer, "fork-head"));
  const ended = benchRun("r", { series: sampleSeries(5) });
  expect(mergeAnswer(newer, ended)).toBe(ended);
  expect(mergeAnswer({ ...newer, state: "partial" }, runningRun("r", 4)).state).toBe("partial");
});

test("BENCHSCREEN-2: updates that arrive before the run's own answer are put in afterwards, and gaps are closed by reading", async () => {
  const all = samplesOf(benchRun("r", { series: sampleSeries(2) }), "fork-head") ?? [];
  let taken = 4;
  let release: (() => void) | null = null;
  const fake = installFakeApi({
    ...benchHandlers(() => [runningRun("r", taken)]),
    "bench.run": async () => {
      const answer = runningRun("r", taken);
      if (taken === 4) await new Promise<void>((resolve) => (release = resolve));
      return answer;
    },
  });
  const api = connectApi();
  stop = followBenchRuns(api);
  await loadBenchHeads(api);
  const loading = loadBenchRun(api, "r");
  await expect.poll(() => release, WAIT).not.toBeNull();
  fake.emit({ type: "bench", update: updateOf(runningRun("r", 6), "fork-head", 4, all.slice(4, 6)) });
  (release as (() => void) | null)?.();
  await loading;
  const shown = () => samplesOf(benchRuns.get().runs.get("r"), "fork-head");
  await expect.poll(() => shown()?.length, WAIT).toBe(6);
  taken = 20;
  fake.emit({ type: "bench", update: updateOf(runningRun("r", 20), "fork-head", 19, all.slice(19, 20)) });
  await expect.poll(() => shown(), WAIT).toEqual(all.slice(0, 20));
  expect(fake.inputsOf("bench.run")).toHaveLength(2);
});

test("BENCHSCREEN-2: many updates between two frames are one change of the screen", async () => {
  const fake = installFakeApi(benchHandlers(() => [runningRun("r", 0)]));
  const api = connectApi();
  stop = followBenchRuns(api);
  await loadBenchHeads(api);
  await loadBenchRun(api, "r");
  let changes = 0;
  const stopCounting = benchRuns.subscribe(() => (changes += 1));
  for (let index = 0; index < 100; index++)
    fake.emit({ type: "bench", update: updateOf(runningRun("r", 0), "fork-head", index, [index + 1]) });
  await expect.poll(() => samplesOf(benchRuns.get().runs.get("r"), "fork-head")?.length, WAIT).toBe(100);
  stopCounting();
  expect(changes).toBe(1);
});

test("BENCHSCREEN-2: a run that ends is read once more, with its tables, and the list with it", async () => {
  let ended = false;
  const final = benchRun("r", { series: sampleSeries(2) });
  const fake = installFakeApi(benchHandlers(() => [ended ? final : runningRun("r", 10)]));
  const api = connectApi();
  stop = followBenchRuns(api);
  await loadBenchHeads(api);
  await loadBenchRun(api, "r");
  ended = true;
  fake.emit({ type: "bench", update: updateOf(final, "fork-head", 10, [1], "done") });
  await expect.poll(() => benchRuns.get().runs.get("r")?.tables.length, WAIT).toBe(1);
  await expect.poll(() => benchRuns.get().heads?.[0]?.state, WAIT).toBe("done");
});

test("BENCHSCREEN-18: a run started elsewhere appears in the list; runs of one store are not shown of the next", async () => {
  const runs = [benchRun("r1")];
  const fake = installFakeApi(benchHandlers(() => runs));
  const api = connectApi();
  setHello(helloView());
  stop = followBenchRuns(api);
  await loadBenchHeads(api);
  await loadBenchRun(api, "r1");
  changeBenchView({ shown: "r1", compared: ["r1"] });
  runs.unshift(runningRun("r2", 5));
  fake.emit({ type: "bench", update: updateOf(runningRun("r2", 5), "fork-head", 4, [1]) });
  await expect.poll(() => benchRuns.get().heads?.map((head) => head.id), WAIT).toEqual(["r2", "r1"]);
  setHello(helloView({ store: storeView({ uid: "another" }) }));
  expect(benchRuns.get()).toMatchObject({ heads: null, runs: new Map() });
  expect(benchView.get()).toMatchObject({ shown: null, compared: [] });
});

test("BENCHSCREEN-18: after a lost connection the list and the run that goes on are read again", async () => {
  let taken = 5;
  const fake = installFakeApi(benchHandlers(() => [runningRun("r", taken)]));
  const api = connectApi();
  stop = followBenchRuns(api);
  await loadBenchHeads(api);
  await loadBenchRun(api, "r");
  taken = 40;
  fake.emit({ type: "connection", state: "open" });
  await expect.poll(() => samplesOf(benchRuns.get().runs.get("r"), "fork-head")?.length, WAIT).toBe(40);
  expect(fake.inputsOf("bench.runs")).toHaveLength(2);
});

test("BENCHSCREEN-15: what was kept is read part by part, and made valid for the suites there are", () => {
  const standard = { suite: null, size: "quick", options: {}, folder: null, series: null };
  for (const raw of [undefined, null, 7, "x", { suite: "moon", size: "XL", options: 3, folder: {}, series: 1 }]) {
    expect(parseBenchLayout(raw)).toEqual(standard);
  }
  const kept = { suite: "branchbench", size: "L", options: { parent: "harness", at: 7 }, folder: "/mnt/fast", series: "fork" };
  expect(parseBenchLayout(kept)).toEqual({ ...kept, options: { parent: "harness" } });
  const view = { ...benchView.get(), ...parseBenchLayout(kept) };
  const choice = resolveChoice(view, SAMPLE_SUITES);
  expect(choice && toOrder(choice)).toEqual({
    suite: "branchbench",
    size: "L",
    options: { parent: "harness", concurrency: "8" },
    folder: "/mnt/fast",
  });
  // A suite that this host does not have, and a size that a suite does not.
  const [cow] = SAMPLE_SUITES;
  const other = resolveChoice({ ...view, suite: "micro" }, cow ? [{ ...cow, sizes: cow.sizes.slice(0, 1) }] : []);
  expect(other && toOrder(other)).toEqual({ suite: "cow", size: "quick", folder: "/mnt/fast" });
  expect(resolveChoice(view, [])).toBeNull();
});

test("BENCHSCREEN-3: the charts follow what is measured, then show what has a goal or a published figure", () => {
  const running = runningRun("r", 10);
  expect(currentSeries(running)?.id).toBe("fork-head");
  // Limit and subject take turns: the subject is what is measured. Of two that are measured at once, the first is shown.
  const turns = ["append", "fork-checkpoint"].map((id) => benchSeries(id, { samples: [1], limit: id === "append" ? null : "append" }));
  expect(currentSeries({ ...running, series: [...turns, benchSeries("later", { samples: [1] })] })?.id).toBe("fork-checkpoint");
  const waiting = { ...running, progress: { ...running.progress, step: "checkpoint" } };
  expect(currentSeries(waiting)?.id).toBe("fork-head");
  expect(currentSeries(runningRun("r", 0, { series: [benchSeries("a", { skipped: "no" }), benchSeries("b")] }))?.id).toBe("b");
  expect(currentSeries(benchRun("r"))?.id).toBe("fork-head");
  expect(currentSeries(benchRun("r", { series: [] }))).toBeNull();
  expect(shownSeries(running, "checkout")?.id).toBe("checkout");
  expect(shownSeries(running, "of another suite")?.id).toBe("fork-head");
});

test("BENCHSCREEN-19: time left is said once a tenth is done; runs are named by time, with seconds today", () => {
  const at = new Date(2026, 10, 30, 14, 2, 11).getTime();
  expect(runTime(at, at + 60_000)).toBe("14:02:11");
  expect(runTime(at, at + 86_400_000)).toMatch(/30.*14:02$/);
  // 200 of 200 and 100 of 200 of four series with samples planned, in the first of three steps.
  const half = runningRun("r", 100, { startedAt: at });
  expect(timeLeft(half, at + 10_000)).toMatch(/^about .* left$/);
  expect(timeLeft(runningRun("r", 0, { startedAt: at, progress: { ...half.progress, stepCount: 100 } }), at + 10_000)).toBe("");
  expect(timeLeft({ ...half, state: "stopping" }, at + 10_000)).toBe("");
});

test("BENCHSCREEN-8: series are paired by id and compared by their medians; nothing is compared with nothing", () => {
  const before = drawSamples(1, 200, 1);
  const after = drawSamples(2, 200, 0.7);
  const runs = [
    benchRun("a", { series: [benchSeries("fork", { samples: before }), benchSeries("gone", { samples: before })] }),
    benchRun("b", { series: [benchSeries("fork", { samples: after }), benchSeries("new", { samples: after }), benchSeries("gone")] }),
  ];
  expect(pairSeries(runs).map((row) => [row.series.id, row.changes[0]])).toEqual([
    ["fork", undefined],
    ["gone", null],
    ["new", null],
  ]);
  const change = changeOf(before, after, "lower");
  expect(change).toMatchObject({ verdict: "better", before: summarise(before)?.p50, after: summarise(after)?.p50 });
  expect(pairSeries(runs)[0]?.changes).toEqual([change]);
});
