/** A run while it is taken: what its updates make of it, and how far it is. */
import type { BenchRun, BenchSeries, BenchUpdate } from "./bench-views.ts";

/** The run with what came. An update that starts beyond what is known, because one was missed, brings its marks only. */
export function applyUpdate(run: BenchRun, update: BenchUpdate): BenchRun {
  const news = new Map(update.series.map((each) => [each.id, each]));
  const series = run.series.map((known) => {
    const each = news.get(known.id);
    if (!each) return known;
    const { from, samples, errors, timeouts, error, skipped } = each;
    const continues = from <= known.samples.length;
    return {
      ...known,
      errors,
      timeouts,
      error,
      skipped,
      samples: continues ? [...known.samples.slice(0, from), ...samples] : known.samples,
    };
  });
  return { ...run, state: update.state, progress: update.progress, series };
}

/** 0 to 100: whole steps, and of the one that runs its samples against those planned. */
export function percentDone({ series, progress, state }: Pick<BenchRun, "series" | "progress" | "state">): number {
  if (state === "done") return 100;
  const { step, stepIndex, stepCount } = progress;
  if (stepCount === 0) return 0;
  const shares = series.filter((each) => each.step === step && each.planned > 0).map(shareDone);
  const share = shares.length === 0 ? 0 : shares.reduce((sum, each) => sum + each, 0) / shares.length;
  return Math.min(100, (100 * (stepIndex + share)) / stepCount);
}

function shareDone({ samples, planned, skipped }: BenchSeries): number {
  return skipped === null ? Math.min(1, samples.length / planned) : 1;
}
