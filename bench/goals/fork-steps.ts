/** What a durable fork costs, and what it leaves behind. */
import { join } from "node:path";
import { medianOf } from "#shared/bench-statistics.ts";
import type { Store } from "#engine/store.ts";
import { AppendLog } from "../common/limits.ts";
import { fillUp, MAIN, makeStore, nextName, segmentFiles, storedBytes } from "../common/stores.ts";
import { sizeText } from "../common/tables.ts";
import { takeTurns, type Contestant } from "../common/turns.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import type { ForkCase, Scale } from "./scale.ts";

const RESERVED_BYTES = 1024 * 1024;
const WARM_UP = 20;
const IN_FLIGHT = 64;
const BATCHES = 10;
/** Samples in one window: of all windows of a run, the best one met the least foreign load. */
const WINDOW = 50;

export const APPEND: SeriesPlan = {
  id: "append",
  group: "Limit",
  title: "append 300 B + fdatasync",
  unit: "ms",
  planned: 0,
};
const APPEND_EXISTING: SeriesPlan = { ...APPEND, id: "append-existing", title: "the same into blocks that exist" };

const caseId = ({ megabytes, branches, at }: ForkCase) => `fork-${megabytes}mb-${branches}-${at}`;
const storeName = ({ megabytes, branches }: ForkCase) => `fork-${megabytes}-${branches}`;

export function forkStep(scale: Scale): Step {
  const cases = scale.forkCases;
  return {
    id: "fork",
    title: "Durable fork, one caller",
    series: [
      { ...APPEND, planned: scale.forkRounds },
      { ...APPEND_EXISTING, planned: scale.forkRounds },
      ...cases.map((each): SeriesPlan => ({
        id: caseId(each),
        group: "Fork",
        title: `${sizeText(each.megabytes)}, ${each.branches.toLocaleString("en")} branches, at ${each.at === "head" ? "the head" : "a checkpoint"}`,
        unit: "ms",
        planned: scale.forkRounds,
        limit: APPEND.id,
        goal: { of: "ratio", most: 1.5 },
        references: forkReferences(each),
      })),
      {
        id: "fork-widest-step",
        group: "Fork",
        title: "widest step between the cases, from their middle",
        unit: "ratio",
        planned: 1,
        goal: { of: "median", most: 0.2 },
      },
    ],
    run: (bench) => measureForks(bench, scale),
  };
}

function forkReferences({ megabytes, at }: ForkCase): readonly string[] {
  const size = { 12: "12mb", 100: "100mb", 1024: "1gb" }[megabytes];
  return size === undefined ? [] : [`offshoot-0.2.12/cow/fork-${at}-${size}`, `offshoot-0.2.9-linux/cow/fork-${at}-${size}`];
}

async function measureForks(bench: Bench, scale: Scale): Promise<void> {
  const stores = new Map<string, Store>();
  const growing = new AppendLog(join(bench.folder, "growing.log"));
  const existing = new AppendLog(join(bench.folder, "existing.log"), RESERVED_BYTES);
  try {
    const contestants: Contestant[] = [
      { series: APPEND.id, act: growing.append },
      { series: APPEND_EXISTING.id, act: existing.append },
    ];
    for (const each of scale.forkCases) {
      const name = storeName(each);
      const store = stores.get(name) ?? (await makeStore(bench, name, each.megabytes));
      stores.set(name, store);
      await fillUp(bench, store, each.branches);
      const at = each.at === "checkpoint" ? { at: "start" } : {};
      contestants.push({ series: caseId(each), act: () => store.fork({ ...MAIN, newBranch: nextName(), ...at }) });
    }
    const warmUp = Math.min(WARM_UP, scale.forkRounds);
    const found = await takeTurns(bench, contestants, { title: "Append and fork, in turns", rounds: scale.forkRounds, warmUp });
    const medians = scale.forkCases.flatMap((each) => medianOf(found.get(caseId(each)) ?? []) ?? []);
    const [lowest, highest] = [Math.min(...medians), Math.max(...medians)];
    if (medians.length > 1) bench.record("fork-widest-step", (highest - lowest) / (highest + lowest));
    for (const each of scale.forkCases) noteBestWindow(bench, each, found);
  } finally {
    growing.close();
    existing.close();
    for (const store of stores.values()) await store.close();
  }
}

function noteBestWindow(bench: Bench, each: ForkCase, found: ReadonlyMap<string, readonly number[]>): void {
  const subject = found.get(caseId(each)) ?? [];
  const limit = found.get(APPEND.id) ?? [];
  const ratios: number[] = [];
  for (let from = 0; from + WINDOW <= subject.length; from += WINDOW) {
    const [above, below] = [subject, limit].map((samples) => medianOf(samples.slice(from, from + WINDOW)));
    if (above && below) ratios.push(above / below);
  }
  if (ratios.length > 1)
    bench.fact(
      `fork / append, ${sizeText(each.megabytes)}, ${each.branches}, ${each.at}, best window of ${WINDOW}`,
      Math.min(...ratios),
      "ratio",
    );
}

/** 64 callers that each wait for their own fork: commits are shared. */
export function inFlightStep(scale: Scale): Step {
  return {
    id: "in-flight",
    title: `Durable forks, ${IN_FLIGHT} in flight`,
    series: [
      {
        id: "forks-in-flight",
        group: "Fork",
        title: `forks in a second, ${IN_FLIGHT} in flight`,
        unit: "per-second",
        planned: BATCHES,
        goal: { of: "median", least: 10_000 },
      },
    ],
    run: async (bench) => {
      const store = await makeStore(bench, "in-flight", scale.forkCases[0]?.megabytes ?? 1);
      try {
        const forks = Math.ceil(scale.inFlightForks / BATCHES);
        // The first batch compiles code and fills caches.
        for (let batch = -1; batch < BATCHES; batch += 1) {
          bench.phase("Fork, many at once", Math.max(0, batch), BATCHES);
          await bench.pause();
          const rate = await forkManyAtOnce(store, forks);
          if (batch >= 0) bench.record("forks-in-flight", rate);
        }
      } finally {
        await store.close();
      }
    },
  };
}

/** Forks in a second. */
async function forkManyAtOnce(store: Store, forks: number): Promise<number> {
  let left = forks;
  const start = performance.now();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await store.fork({ ...MAIN, newBranch: nextName() });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  return forks / ((performance.now() - start) / 1_000);
}

/** Bytes that a fork leaves, as a mean over many: pages of the catalog hold about forty. */
export function growthStep(scale: Scale): Step {
  return {
    id: "growth",
    title: "Growth of the store per fork",
    series: [
      {
        id: "fork-bytes",
        group: "Growth",
        title: `bytes per fork, mean of ${scale.growthForks}`,
        unit: "bytes",
        planned: 1,
        goal: { of: "median", most: 130 },
        references: ["offshoot-0.2.12/cow/added-bytes-100mb", "offshoot-0.2.9-linux/cow/added-bytes-100mb"],
      },
      {
        id: "fork-objects",
        group: "Growth",
        title: `files per fork, of ${scale.growthForks}`,
        unit: "count",
        planned: 1,
        goal: { of: "median", most: 0 },
        references: ["offshoot-0.2.12/cow/added-objects-100mb", "offshoot-0.2.9-linux/cow/added-objects-100mb"],
      },
    ],
    run: async (bench) => {
      const store = await makeStore(bench, "growth", scale.middle);
      try {
        // The first forks fill pages that are there already.
        await fillUp(bench, store, 100);
        const before = storedBytes(store);
        const files = segmentFiles(store);
        for (let forked = 0; forked < scale.growthForks; forked += 1) {
          if (forked % 50 === 0) {
            bench.phase("Fork", forked, scale.growthForks);
            await bench.pause();
          }
          await store.fork({ ...MAIN, newBranch: nextName() });
        }
        bench.record("fork-bytes", (storedBytes(store) - before) / scale.growthForks);
        bench.record("fork-objects", (segmentFiles(store) - files) / scale.growthForks);
      } finally {
        await store.close();
      }
    },
  };
}
