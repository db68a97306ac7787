/** The shape of a run read from a file, which may be of another version, damaged, or somebody's own making. */
import * as v from "valibot";
import { BENCH_SIZES, BENCH_SUITES, type BenchRun, type BenchRunHead } from "./bench-views.ts";

const figure = v.pipe(v.number(), v.finite());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const unit = v.picklist(["ms", "bytes", "per-second", "ratio", "count"]);
const statistic = v.picklist(["median", "p95", "p99", "min", "max", "mean", "n", "sum"]);

const machine = v.object({
  processor: v.string(),
  cores: count,
  memoryBytes: figure,
  system: v.string(),
  filesystem: v.string(),
  reflink: v.boolean(),
  node: v.string(),
  sqlite: v.string(),
  program: v.string(),
  addon: v.picklist(["loaded", "missing"]),
  appendMs: figure,
  load: figure,
});

const series = v.object({
  id: v.string(),
  step: v.string(),
  group: v.string(),
  title: v.string(),
  unit,
  better: v.picklist(["lower", "higher"]),
  planned: count,
  samples: v.array(figure),
  errors: count,
  timeouts: count,
  error: v.nullable(v.string()),
  skipped: v.nullable(v.string()),
  limit: v.nullable(v.string()),
  goal: v.nullable(
    v.pipe(
      v.object({ of: v.picklist(["median", "ratio"]), most: v.optional(figure), least: v.optional(figure) }),
      // Absent, not undefined: as it was written.
      v.transform(({ of, most, least }) => ({ of, ...(most === undefined ? {} : { most }), ...(least === undefined ? {} : { least }) })),
    ),
  ),
  references: v.array(v.string()),
});

const cell = v.union([
  v.strictObject({ series: v.string(), statistic }),
  v.strictObject({ ratioOf: v.string(), to: v.string() }),
  v.strictObject({ fact: v.string(), step: v.string() }),
  v.strictObject({ reference: v.string() }),
  v.strictObject({ text: v.string() }),
]);

const run = v.object({
  // Names a file: nothing that leads elsewhere.
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/)),
  suite: v.picklist(BENCH_SUITES),
  title: v.string(),
  size: v.picklist(BENCH_SIZES),
  state: v.picklist(["running", "stopping", "done", "partial", "failed"]),
  startedAt: figure,
  endedAt: v.nullable(figure),
  mark: v.string(),
  options: v.record(v.string(), v.string()),
  seed: figure,
  machine,
  command: v.string(),
  series: v.array(series),
  facts: v.array(
    v.object({ step: v.string(), label: v.string(), value: v.union([figure, v.string()]), unit: v.union([unit, v.literal("text")]) }),
  ),
  tables: v.array(
    v.object({
      title: v.string(),
      columns: v.array(v.string()),
      rows: v.array(v.object({ label: v.string(), cells: v.array(cell) })),
      note: v.nullable(v.string()),
    }),
  ),
  failure: v.nullable(v.string()),
  progress: v.object({
    step: v.string(),
    stepIndex: count,
    stepCount: count,
    phase: v.string(),
    done: figure,
    total: v.nullable(figure),
  }),
});

/** Null when it is no run. */
export function parseBenchRun(value: unknown): BenchRun | null {
  const parsed = v.safeParse(run, value);
  return parsed.success ? parsed.output : null;
}

const head = v.pick(run, ["id", "suite", "title", "size", "state", "startedAt", "endedAt", "mark"]);

/** The head of a run, which may stand alone; null when it is none. */
export function parseBenchHead(value: unknown): BenchRunHead | null {
  const parsed = v.safeParse(head, value);
  return parsed.success ? parsed.output : null;
}

/** Of a run's name, as it stands in requests and file names. */
export function isRunId(text: string): boolean {
  return v.is(run.entries.id, text);
}
