/** Runs and suites for tests of what measures and reports: small, and known beforehand. */
import type { BenchRun, BenchSeries } from "#shared/bench-views.ts";
import type { Step, Suite } from "#bench/suite.ts";

export function makeSeries(id: string, samples: readonly number[], change: Partial<BenchSeries> = {}): BenchSeries {
  return {
    id,
    step: "one",
    group: "Fork",
    title: id,
    unit: "ms",
    better: "lower",
    planned: samples.length,
    samples,
    errors: 0,
    timeouts: 0,
    error: null,
    skipped: null,
    limit: null,
    goal: null,
    references: [],
    ...change,
  };
}

export function makeRun(change: Partial<BenchRun> = {}): BenchRun {
  return {
    id: "20261130T120000Z-cow-abc123",
    suite: "cow",
    title: "Copy-on-write",
    size: "S",
    state: "done",
    startedAt: Date.UTC(2026, 10, 30, 12),
    endedAt: Date.UTC(2026, 10, 30, 12, 1, 5),
    mark: "A processor × 4, ext4, coppice 0.1.0, Node 24.21.0",
    options: { parent: "peer" },
    seed: 1,
    machine: {
      processor: "A processor",
      cores: 4,
      memoryBytes: 8 * 1024 ** 3,
      system: "Linux 6.1 x64",
      filesystem: "ext4",
      reflink: false,
      node: "v24.21.0",
      sqlite: "3.54.1",
      program: "coppice 0.1.0",
      addon: "loaded",
      appendMs: 0.25,
      load: 0.1,
    },
    command: "coppice bench cow --size S --folder /tmp",
    series: [makeSeries("fork", [3, 1, 2])],
    facts: [],
    tables: [],
    failure: null,
    progress: { step: "one", stepIndex: 0, stepCount: 1, phase: "One", done: 0, total: null },
    ...change,
  };
}

export function makeStep(id: string, run: Step["run"], change: Partial<Step> = {}): Step {
  const series = [{ id: `${id}-ms`, group: "Group", title: id, unit: "ms" as const, planned: 10 }];
  return { id, title: `Step ${id}`, series, run, ...change };
}

export function makeSuite(steps: readonly Step[], change: Partial<Suite> = {}): Suite {
  return {
    id: "cow",
    title: "Copy-on-write",
    about: "What a test measures.",
    sizes: [{ id: "quick", label: "tiny", seconds: 1, diskBytes: 1_000_000 }],
    options: [
      {
        id: "parent",
        title: "Parent rule",
        values: [
          { id: "peer", title: "Peer" },
          { id: "harness", title: "Harness" },
        ],
      },
    ],
    plan: () => steps,
    tables: () => [],
    ...change,
  };
}

/** Fifty samples from `least` to `least` + 0.9; their median is `least` + 0.4. */
export function makeSpread(least: number): number[] {
  return Array.from({ length: 50 }, (_, index) => least + (index % 10) / 10);
}
