/** What a run has found so far, and the news of it: at most ten updates a second, each with the new samples only. */
import type { BenchFact, BenchProgress, BenchSeries, BenchState, BenchUpdate } from "#shared/bench-views.ts";
import { assert } from "#shared/assert.ts";
import type { SeriesPlan, Step } from "../suite.ts";

const UPDATE_EVERY_MS = 100;
/** Of one sentence about an error. */
const ERROR_CHARS_MAX = 500;

type Kept = { -readonly [K in Exclude<keyof BenchSeries, "samples">]: BenchSeries[K] } & { readonly samples: number[] };

/** What of a series the listeners know. */
interface Sent {
  samples: number;
  marks: string;
}

export class Recorder {
  readonly #run: string;
  readonly #onUpdate: (update: BenchUpdate) => void;
  readonly #series = new Map<string, Kept>();
  readonly #sent = new Map<string, Sent>();
  readonly facts: BenchFact[] = [];
  #state: BenchState = "running";
  #progress: BenchProgress;
  #sentAt = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(run: string, steps: readonly Step[], onUpdate: (update: BenchUpdate) => void) {
    this.#run = run;
    this.#onUpdate = onUpdate;
    for (const step of steps) {
      for (const plan of step.series) {
        assert(!this.#series.has(plan.id), `two series of the suite are called ${plan.id}`);
        this.#series.set(plan.id, toSeries(step.id, plan));
        this.#sent.set(plan.id, { samples: 0, marks: "" });
      }
    }
    this.#progress = { step: steps[0]?.id ?? "", stepIndex: 0, stepCount: steps.length, phase: "", done: 0, total: null };
  }

  get state(): BenchState {
    return this.#state;
  }

  set state(state: BenchState) {
    this.#state = state;
    this.#news(true);
  }

  get progress(): BenchProgress {
    return this.#progress;
  }

  enter(step: Step, stepIndex: number): void {
    this.#progress = { ...this.#progress, step: step.id, stepIndex, phase: step.title, done: 0, total: null };
    this.#news();
  }

  phase(phase: string, done: number, total: number | null): void {
    this.#progress = { ...this.#progress, phase, done, total };
    this.#news();
  }

  /** Throws on an id that the step did not plan, or a value that is no number: both are mistakes of the suite. */
  record(step: string, id: string, value: number): void {
    assert(Number.isFinite(value), `${id}: a sample is a number, not ${value}`);
    this.#find(step, id).samples.push(value);
    this.#news();
  }

  fail(step: string, id: string, error: unknown, kind: "error" | "timeout"): void {
    const series = this.#find(step, id);
    if (kind === "timeout") series.timeouts += 1;
    else series.errors += 1;
    series.error ??= describe(error);
    this.#news();
  }

  /** Every series of a step that broke off: what they have stays, and says that it is not whole. */
  failStep(step: string, error: unknown): void {
    for (const series of this.#ofStep(step)) if (series.skipped === null) this.fail(step, series.id, error, "error");
  }

  skip(step: string, id: string, reason: string): void {
    this.#find(step, id).skipped = reason.slice(0, ERROR_CHARS_MAX);
    this.#news();
  }

  skipStep(step: string, reason: string): void {
    for (const series of this.#ofStep(step)) this.skip(step, series.id, reason);
  }

  /** A later value of the same label stands for the earlier one. */
  fact(fact: BenchFact): void {
    const at = this.facts.findIndex(({ step, label }) => step === fact.step && label === fact.label);
    if (at < 0) this.facts.push(fact);
    else this.facts[at] = fact;
  }

  series(): BenchSeries[] {
    return [...this.#series.values()].map((series) => Object.assign({}, series, { samples: [...series.samples] }));
  }

  get hasSamples(): boolean {
    return [...this.#series.values()].some(({ samples }) => samples.length > 0);
  }

  /** First error of any series, for a run that found nothing. */
  get firstError(): string | null {
    return [...this.#series.values()].find(({ error }) => error !== null)?.error ?? null;
  }

  /** The last update; none comes after it. */
  close(): void {
    this.#send();
    this.#timer = null;
  }

  #find(step: string, id: string): Kept {
    const series = this.#series.get(id);
    assert(series?.step === step, `step ${step} has planned no series ${id}`);
    return series;
  }

  #ofStep(step: string): Kept[] {
    return [...this.#series.values()].filter((series) => series.step === step);
  }

  #news(now = false): void {
    const due = this.#sentAt + UPDATE_EVERY_MS - performance.now();
    // Checked here as well as by the timer: steps that do not yield are seen, too.
    if (now || due <= 0) this.#send();
    else if (!this.#timer) {
      this.#timer = setTimeout(() => this.#send(), due);
      this.#timer.unref();
    }
  }

  #send(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sentAt = performance.now();
    const series = [...this.#series.values()].flatMap((each) => {
      const sent = this.#sent.get(each.id);
      assert(sent, "every series is known");
      const { id, errors, timeouts, error, skipped } = each;
      const marks = JSON.stringify([errors, timeouts, error, skipped]);
      if (each.samples.length === sent.samples && marks === sent.marks) return [];
      const news = { id, errors, timeouts, error, skipped, from: sent.samples, samples: each.samples.slice(sent.samples) };
      sent.samples = each.samples.length;
      sent.marks = marks;
      return [news];
    });
    this.#onUpdate({ run: this.#run, state: this.#state, progress: this.#progress, series });
  }
}

function toSeries(step: string, plan: SeriesPlan): Kept {
  const { id, group, title, unit, planned } = plan;
  return {
    id,
    step,
    group,
    title,
    unit,
    better: plan.better ?? (unit === "per-second" ? "higher" : "lower"),
    planned,
    samples: [],
    errors: 0,
    timeouts: 0,
    error: null,
    skipped: null,
    limit: plan.limit ?? null,
    goal: plan.goal ?? null,
    references: plan.references ?? [],
  };
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text || "unknown").slice(0, ERROR_CHARS_MAX);
}
