/** A step's hands without a run: what is recorded can be looked at. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Bench, Order } from "#bench/suite.ts";
import { EngineError } from "#engine/io/errors.ts";
import { makeSourceDatabase } from "#bench/runner/source-database.ts";

export interface Recorded {
  readonly samples: Map<string, number[]>;
  readonly errors: Map<string, string[]>;
  readonly skipped: Map<string, string>;
  readonly facts: Map<string, number | string>;
}

function add<T>(to: Map<string, T[]>, id: string, value: T): void {
  to.set(id, [...(to.get(id) ?? []), value]);
}

export function fakeBench(folder: string, signal: AbortSignal = new AbortController().signal): { bench: Bench; recorded: Recorded } {
  const recorded: Recorded = { samples: new Map(), errors: new Map(), skipped: new Map(), facts: new Map() };
  const order: Order = { size: "quick", options: {}, seed: 1 };
  const [own, shared] = [join(folder, "step"), join(folder, "shared")];
  for (const path of [own, shared]) mkdirSync(path, { recursive: true });
  const pause = async () => {
    if (signal.aborted) throw new EngineError("cancelled", "The run was stopped");
  };
  const bench: Bench = {
    order,
    folder: own,
    shared,
    signal,
    filesystem: { type: "ext4", reflink: false },
    phase: () => undefined,
    record: (series, value) => add(recorded.samples, series, value),
    fail: (series, error) => add(recorded.errors, series, error instanceof Error ? error.message : String(error)),
    skip: (series, reason) => void recorded.skipped.set(series, reason),
    fact: (label, value) => void recorded.facts.set(label, value),
    database: async (megabytes) => {
      const path = join(shared, `${megabytes}.db`);
      await makeSourceDatabase(path, { megabytes, seed: order.seed }, pause);
      return path;
    },
    pause,
  };
  return { bench, recorded };
}
