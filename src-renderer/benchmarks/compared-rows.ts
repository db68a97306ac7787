/** Runs side by side for the screen: the figures of `bench-comparison`, worked out a little at a time. */
import { useEffect, useMemo, useState } from "react";
import type { BenchRun, BenchSeries } from "#shared/bench-views.ts";
import type { MedianChange } from "#shared/bench-statistics.ts";
import { changeOf, knownChange } from "./figures.ts";

/** Resampling a hundred series takes longer than a frame: so much of it at once. */
const BUDGET_MS = 8;
/** A run that is under way is compared anew no more often than this. */
const EVERY_MS = 1_000;

export interface ComparedRow {
  readonly series: BenchSeries;
  /** In the order of the runs; null where a run has no such series. */
  readonly found: readonly (BenchSeries | null)[];
  /** Of each later run against the first. `undefined`: not worked out yet; null: one side has no samples. */
  readonly changes: readonly (MedianChange | null | undefined)[];
}

/** Series of all runs in the order in which they first appear. Pure. */
export function pairSeries(runs: readonly BenchRun[]): readonly ComparedRow[] {
  const about = new Map<string, BenchSeries>();
  for (const series of runs.flatMap((run) => run.series)) if (!about.has(series.id)) about.set(series.id, series);
  return [...about.values()].map((series) => {
    const found = runs.map((run) => run.series.find((each) => each.id === series.id) ?? null);
    const base = found[0];
    return {
      series,
      found,
      changes: found.slice(1).map((other) => (base && other ? knownChange(base.samples, other.samples) : null)),
    };
  });
}

/** Works out missing changes until the time is up; answers whether some are left. */
function workOut(rows: readonly ComparedRow[]): boolean {
  const end = performance.now() + BUDGET_MS;
  for (const { series, found, changes } of rows) {
    for (const [index, change] of changes.entries()) {
      const [base, other] = [found[0], found[index + 1]];
      if (change !== undefined || !base || !other) continue;
      if (performance.now() > end) return true;
      changeOf(base.samples, other.samples, series.better);
    }
  }
  return false;
}

/** The value, at most once a second while it changes all the time; the last one always arrives. */
export function useThrottled<T>(value: T): T {
  const [held, setHeld] = useState({ value, at: 0 });
  useEffect(() => {
    if (held.value === value) return undefined;
    const waitMs = Math.max(0, held.at + EVERY_MS - performance.now());
    const timer = setTimeout(() => setHeld({ value, at: performance.now() }), waitMs);
    return () => clearTimeout(timer);
  }, [value, held]);
  return held.value;
}

export function useComparedRows(runs: readonly BenchRun[]): readonly ComparedRow[] {
  const [turn, setTurn] = useState(0);
  // `turn` counts how often something was added to what `pairSeries` finds.
  // oxlint-disable-next-line react/exhaustive-deps
  const rows = useMemo(() => pairSeries(runs), [runs, turn]);
  useEffect(() => {
    if (!rows.some((row) => row.changes.includes(undefined))) return undefined;
    const timer = setTimeout(() => {
      workOut(rows);
      setTurn((before) => before + 1);
    }, 0);
    return () => clearTimeout(timer);
  }, [rows]);
  return rows;
}
