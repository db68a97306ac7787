/** Suites, runs and published figures for the Benchmarks screen. Figures are drawn from a seed, not measured. */
import type {
  BenchReference,
  BenchRun,
  BenchRunHead,
  BenchSeries,
  BenchState,
  BenchSuiteView,
  BenchUpdate,
  MachineCard,
} from "#shared/bench-views.ts";
import { Random } from "#shared/bench-random.ts";
import type { RequestOutput } from "#shared/contract.ts";
import type { FakeHandlers } from "./fake-api.ts";

/** Plausible times around a median: most near it, a few far above. */
export function drawSamples(seed: number, count: number, median: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const usual = median * Math.exp((random.unit() + random.unit() + random.unit() - 1.5) * 0.35);
    return random.unit() < 0.04 ? usual * (1.8 + 3 * random.unit()) : usual;
  });
}

export const MACHINE: MachineCard = {
  processor: "AMD EPYC",
  cores: 2,
  memoryBytes: 8.2e9,
  system: "Linux 6.18",
  filesystem: "ext4",
  reflink: false,
  node: "24.21",
  sqlite: "3.51.1",
  program: "Coppice 0.1.0",
  addon: "loaded",
  appendMs: 0.24,
  load: 0.3,
};

const SIZES: BenchSuiteView["sizes"] = [
  { id: "quick", label: "Quick", seconds: 12, diskBytes: 200e6 },
  { id: "S", label: "12 MB", seconds: 60, diskBytes: 600e6 },
  { id: "M", label: "100 MB", seconds: 240, diskBytes: 4e9 },
  { id: "L", label: "1 GB", seconds: 1_800, diskBytes: 40e9 },
];

export const SAMPLE_SUITES: readonly BenchSuiteView[] = [
  {
    id: "cow",
    title: "Copy-on-write",
    about: "What a fork costs, against a plain copy of the file.",
    sizes: SIZES,
    steps: [
      { id: "fork", title: "Fork" },
      { id: "checkout", title: "Checkout" },
      { id: "checkpoint", title: "Checkpoint" },
    ],
    options: [],
  },
  {
    id: "isolation",
    title: "Isolation",
    about: "A private database for a test, by fork, backup, copy and Postgres templates.",
    sizes: SIZES,
    steps: [{ id: "fork", title: "Fork" }],
    options: [],
  },
  {
    id: "branchbench",
    title: "BranchBench",
    about: "Five workloads of agents that branch while they work.",
    sizes: SIZES,
    steps: [{ id: "mcts", title: "mcts" }],
    options: [
      {
        id: "parent",
        title: "Parent rule",
        values: [
          { id: "published", title: "As published" },
          { id: "harness", title: "As in the harness" },
        ],
      },
      {
        id: "concurrency",
        title: "At once",
        values: [
          { id: "8", title: "8" },
          { id: "1", title: "1" },
        ],
      },
    ],
  },
];

const PUBLISHED = { source: "offshoot, benchmark page of v0.2.12", date: "2026-09-30", hardware: "Apple M5, 10 cores, macOS 27.0, APFS" };

export const SAMPLE_REFERENCES: readonly BenchReference[] = [
  {
    id: "fork-checkpoint",
    value: 8.8,
    unit: "ms",
    statistic: "median",
    label: "offshoot 0.2.12: fork at a checkpoint",
    note: null,
    ...PUBLISHED,
  },
  { id: "fork-head", value: 43.6, unit: "ms", statistic: "median", label: "offshoot 0.2.12: fork at the head", note: null, ...PUBLISHED },
  { id: "checkout", value: 9.9, unit: "ms", statistic: "median", label: "offshoot 0.2.12: checkout of a child", note: null, ...PUBLISHED },
];

export function benchSeries(id: string, rest: Partial<BenchSeries> = {}): BenchSeries {
  return {
    id,
    step: "fork",
    group: "Fork",
    title: id,
    unit: "ms",
    better: "lower",
    planned: 200,
    samples: [],
    errors: 0,
    timeouts: 0,
    error: null,
    skipped: null,
    limit: null,
    goal: null,
    references: [],
    ...rest,
  };
}

/** `seed` makes runs differ; `shift` moves their medians. */
export function sampleSeries(seed: number, shift = 1): BenchSeries[] {
  return [
    benchSeries("append", { title: "append 300 B and fdatasync", group: "Limit", samples: drawSamples(seed + 7, 200, 0.24) }),
    benchSeries("fork-head", {
      title: "at the head, 100 MB",
      samples: drawSamples(seed, 200, 0.52 * shift),
      limit: "append",
      goal: { of: "ratio", most: 3 },
      references: ["fork-checkpoint", "fork-head"],
    }),
    benchSeries("fork-checkpoint", {
      title: "at a checkpoint, 100 MB",
      samples: drawSamples(seed + 1, 200, 0.49),
      references: ["fork-checkpoint"],
    }),
    benchSeries("fork-many", {
      title: "64 in flight",
      unit: "per-second",
      better: "higher",
      planned: 20,
      samples: drawSamples(seed + 2, 20, 9_000),
    }),
    benchSeries("checkout", {
      step: "checkout",
      group: "Checkout",
      title: "after a fork, warm",
      planned: 50,
      samples: drawSamples(seed + 3, 50, 3.9),
      errors: 1,
      error: "Checkout try-3: its file is being written",
      references: ["checkout"],
    }),
    benchSeries("reflink", {
      step: "checkout",
      group: "Checkout",
      title: "by reflink",
      planned: 50,
      skipped: "ext4 has no reflinks",
    }),
    benchSeries("bytes", {
      step: "checkpoint",
      group: "Checkpoint",
      title: "stored for one row",
      unit: "bytes",
      planned: 20,
      samples: drawSamples(seed + 4, 20, 742).map(Math.round),
    }),
  ];
}

export function benchRun(id: string, rest: Partial<BenchRun> = {}): BenchRun {
  return {
    id,
    suite: "cow",
    title: "Copy-on-write",
    size: "M",
    state: "done",
    startedAt: Date.now() - 3_600_000,
    endedAt: Date.now() - 3_588_000,
    mark: "epyc ext4 0.1.0",
    options: {},
    seed: 1,
    machine: MACHINE,
    command: "coppice bench cow --size M",
    series: sampleSeries(1),
    facts: [{ step: "checkpoint", label: "Objects added by a fork", value: 0, unit: "count" }],
    tables: [
      {
        title: "Forks",
        columns: ["", "median", "p95", "n", "offshoot 0.2.12"],
        rows: [
          {
            label: "at the head, 100 MB",
            cells: [
              { series: "fork-head", statistic: "median" },
              { series: "fork-head", statistic: "p95" },
              { series: "fork-head", statistic: "n" },
              { reference: "fork-head" },
            ],
          },
          {
            label: "checkout by reflink",
            cells: [
              { series: "reflink", statistic: "median" },
              { series: "reflink", statistic: "p95" },
              { series: "reflink", statistic: "n" },
              { text: "–" },
            ],
          },
        ],
        note: "Fork destroyed untimed.",
      },
    ],
    failure: null,
    progress: { step: "checkpoint", stepIndex: 3, stepCount: 3, phase: "", done: 0, total: null },
    ...rest,
  };
}

export function headOf({ id, suite, title, size, state, startedAt, endedAt, mark }: BenchRun): BenchRunHead {
  return { id, suite, title, size, state, startedAt, endedAt, mark };
}

/** A run whose series are cut after `taken` samples: the fork step is under way. */
export function runningRun(id: string, taken: number, rest: Partial<BenchRun> = {}): BenchRun {
  const series = sampleSeries(2).map((each) => {
    const samples = each.id === "append" ? each.samples : each.id === "fork-head" ? each.samples.slice(0, taken) : [];
    return { ...each, samples, errors: 0, error: null, skipped: null };
  });
  const progress = { step: "fork", stepIndex: 0, stepCount: 3, phase: "", done: taken, total: 200 };
  return benchRun(id, { state: "running", startedAt: Date.now() - 5_000, endedAt: null, series, progress, tables: [], facts: [], ...rest });
}

export function updateOf(
  run: BenchRun,
  series: string,
  from: number,
  samples: readonly number[],
  state: BenchState = "running",
): BenchUpdate {
  const part = { id: series, errors: 0, timeouts: 0, error: null, skipped: null, from, samples };
  return { run: run.id, state, progress: run.progress, series: [part] };
}

export const SAMPLE_ANSWER: RequestOutput<"bench.suites"> = {
  suites: SAMPLE_SUITES,
  references: SAMPLE_REFERENCES,
  folder: "/home/you/data",
};

/** A host with these runs; `find` is asked anew each time, so that tests can change what it has. */
export function benchHandlers(find: () => readonly BenchRun[]): FakeHandlers {
  return {
    "bench.suites": () => SAMPLE_ANSWER,
    "bench.runs": () => find().map(headOf),
    "bench.run": ({ run }) => {
      const found = find().find((each) => each.id === run);
      if (!found) throw new Error(`the test has no run ${run}`);
      return found;
    },
  };
}
