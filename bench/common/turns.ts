/** Contestants take turns, A B C A B C …, so that all of them meet the same disk and the same neighbours. */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { toErrorView } from "#engine/io/errors.ts";
import { time, type Bench } from "../suite.ts";

export interface Contestant {
  /** Its samples are milliseconds. */
  readonly series: string;
  /** Before each turn, not counted. */
  readonly prepare?: (round: number) => unknown;
  readonly act: (round: number) => unknown;
  /** After each turn, not counted; `act`'s result is known to be good by then. */
  readonly tidy?: (round: number) => unknown;
}

export interface Turns {
  readonly title: string;
  readonly rounds: number;
  /** Rounds that nobody counts, before the others: caches fill, code is compiled. */
  readonly warmUp?: number;
  /**
   * Before each turn what the folder's filesystem still has to do is done, not counted: blocks of large files that were just
   * removed are given back with the next commit, and whoever makes that would pay for it.
   */
  readonly settle?: string;
}

/** A contestant that keeps failing is left out: its errors are known by then. */
const FAILURES_MAX = 3;

/**
 * Rounds in which each contestant acts once. One that fails is recorded as failed and the others go on; `cancelled` ends
 * all. Rounds of the warm-up count up to -1, those that are recorded from 0. Returns what was recorded, by series.
 */
export async function takeTurns(
  bench: Bench,
  contestants: readonly Contestant[],
  { title, rounds, warmUp = 0, settle }: Turns,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const failures = new Map<string, number>();
  const recorded = new Map<string, number[]>(contestants.map(({ series }) => [series, []]));
  for (let round = -warmUp; round < rounds; round += 1) {
    if (round === 0 || round % 8 === 0) bench.phase(title, Math.max(0, round), rounds);
    for (const contestant of contestants) {
      await bench.pause();
      const failed = failures.get(contestant.series) ?? 0;
      if (failed >= FAILURES_MAX) continue;
      try {
        await contestant.prepare?.(round);
        if (settle !== undefined) syncFolder(settle);
        const found = await time(() => contestant.act(round));
        if (round >= 0) {
          bench.record(contestant.series, found);
          recorded.get(contestant.series)?.push(found);
        }
        await contestant.tidy?.(round);
      } catch (error) {
        await endIfStopped(bench);
        if (isCancelled(bench, error)) throw error;
        failures.set(contestant.series, failed + 1);
        bench.fail(contestant.series, error);
      }
    }
  }
  return recorded;
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Throws `cancelled` when the run was stopped: whatever else was thrown is a consequence of that, and no error of its own. */
export async function endIfStopped(bench: Bench): Promise<void> {
  if (bench.signal.aborted) await bench.pause();
}

/** The run was stopped: what fails from now on fails because of that. */
export function isCancelled(bench: Bench, error: unknown): boolean {
  return bench.signal.aborted || toErrorView(error).code === "cancelled";
}
