/** What a branch stores and writes as it rewrites more and more of its pages, against a plain copy of the file. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { medianOf } from "#shared/bench-statistics.ts";
import { createStore, type Store } from "#engine/store.ts";
import { copyBytes, removeDatabase } from "../common/limits.ts";
import { ACTOR, eraseBranch, MAIN, nextName } from "../common/stores.ts";
import { isCancelled } from "../common/turns.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import { changeShare, KIND_TITLES, makeBlocks, type Kind } from "./blocks.ts";
import { SHARES, type Scale } from "./scale.ts";
import { missingCounters, writtenBytes } from "./written-bytes.ts";

const COUNTED = ["stored", "written", "time"] as const;

export const seriesId = (kind: Kind, what: string, percent: number | "copy") => `${kind}-${what}-${percent}`;

export function rewriteStep(scale: Scale, kind: Kind): Step {
  const group = KIND_TITLES[kind];
  return {
    id: kind,
    title: `Rewriting pages: ${group}`,
    series: [
      { id: seriesId(kind, "stored", "copy"), group, title: "plain copy: bytes stored", unit: "bytes", planned: scale.rounds },
      { id: seriesId(kind, "written", "copy"), group, title: "plain copy: bytes written", unit: "bytes", planned: scale.rounds },
      { id: seriesId(kind, "time", "copy"), group, title: "plain copy with fsync: time", unit: "ms", planned: scale.rounds },
      ...SHARES.flatMap((percent) =>
        COUNTED.map((what): SeriesPlan => ({
          id: seriesId(kind, what, percent),
          group,
          title: `${percent} % of the pages: ${what === "time" ? "time of the checkpoint" : `bytes ${what}`}`,
          unit: what === "time" ? "ms" : "bytes",
          planned: scale.rounds,
          limit: seriesId(kind, what, "copy"),
        })),
      ),
    ],
    run: (bench) => measure(bench, scale, kind),
  };
}

async function measure(bench: Bench, scale: Scale, kind: Kind): Promise<void> {
  const source = join(bench.folder, "blocks.db");
  await makeBlocks(source, { megabytes: scale.megabytes, seed: bench.order.seed }, (done, total) => {
    bench.phase("Make a database of blocks", done, total);
    return bench.pause();
  });
  const missing = missingCounters(bench.filesystem.type);
  if (missing !== null) for (const percent of [...SHARES, "copy"] as const) bench.skip(seriesId(kind, "written", percent), missing);
  const store = await createStore(join(bench.folder, "store"), ACTOR);
  const found: Found = new Map();
  try {
    await store.create({ database: MAIN.database, from: source });
    await store.checkout(MAIN);
    for (let round = 0; round < scale.rounds; round += 1) {
      keep(found, "copy", recordCopy(bench, { source, kind, counts: missing === null }));
      for (const [index, percent] of SHARES.entries()) {
        bench.phase(`Rewrite ${percent} %`, round * SHARES.length + index, scale.rounds * SHARES.length);
        await bench.pause();
        try {
          keep(found, percent, await measureShare(bench, store, { kind, percent, counts: missing === null, round }));
        } catch (error) {
          if (isCancelled(bench, error)) throw error;
          for (const what of COUNTED) bench.fail(seriesId(kind, what, percent), error);
        }
      }
    }
  } finally {
    await store.close();
  }
  for (const what of COUNTED) noteCrossover(bench, kind, what, found);
}

/** One sample of each; what is not counted here is left out. */
type Taken = Partial<Record<(typeof COUNTED)[number], number>>;
type Found = Map<number | "copy", Taken[]>;

function keep(found: Found, of: number | "copy", taken: Taken): void {
  const known = found.get(of) ?? [];
  known.push(taken);
  found.set(of, known);
}

function recordAll(bench: Bench, kind: Kind, of: number | "copy", taken: Taken): Taken {
  for (const what of COUNTED) {
    const value = taken[what];
    if (value !== undefined) bench.record(seriesId(kind, what, of), value);
  }
  return taken;
}

function recordCopy(
  bench: Bench,
  { source, kind, counts }: { readonly source: string; readonly kind: Kind; readonly counts: boolean },
): Taken {
  const copy = join(bench.folder, "copy.db");
  const before = counts ? writtenBytes() : 0;
  const start = performance.now();
  copyBytes(source, copy, "sync");
  const time = performance.now() - start;
  const taken = { time, stored: statSync(copy).size, ...(counts ? { written: writtenBytes() - before } : {}) };
  removeDatabase(copy);
  return recordAll(bench, kind, "copy", taken);
}

interface Share {
  readonly kind: Kind;
  readonly percent: number;
  readonly counts: boolean;
  readonly round: number;
}

/** A fresh branch is changed by a stock client, and its checkpoint is what counts. */
async function measureShare(bench: Bench, store: Store, { kind, percent, counts, round }: Share): Promise<Taken> {
  const branch = nextName();
  await store.fork({ ...MAIN, newBranch: branch });
  const { path } = await store.checkout({ database: MAIN.database, branch });
  changeShare(path, { kind, percent, seed: bench.order.seed + round });
  const before = counts ? writtenBytes() : 0;
  const start = performance.now();
  const { storedBytes } = await store.checkpoint({ database: MAIN.database, branch });
  const time = performance.now() - start;
  const taken = { time, stored: storedBytes, ...(counts ? { written: writtenBytes() - before } : {}) };
  await eraseBranch(store, branch);
  return recordAll(bench, kind, percent, taken);
}

const WORDS: Readonly<Record<(typeof COUNTED)[number], string>> = {
  stored: "a branch stores as much as a copy",
  written: "a checkpoint writes as much as a copy",
  time: "a checkpoint takes as long as a copy with fsync",
};

function noteCrossover(bench: Bench, kind: Kind, what: (typeof COUNTED)[number], found: Found): void {
  const middle = (of: number | "copy") => medianOf((found.get(of) ?? []).flatMap((taken) => taken[what] ?? []));
  const copy = middle("copy");
  const points = SHARES.flatMap((percent) => {
    const value = middle(percent);
    return value === null ? [] : [{ percent, value }];
  });
  if (copy !== null && points.length > 0) bench.fact(`${KIND_TITLES[kind]}: ${WORDS[what]}`, describeCrossover(points, copy));
}

/** From which share of the pages on a branch costs as much as a copy, between two shares by a straight line. Ascending. */
export function describeCrossover(points: readonly { readonly percent: number; readonly value: number }[], copy: number): string {
  const at = points.findIndex(({ value }) => value >= copy);
  const [above, below] = [points[at], points[at - 1]];
  if (!above) {
    const most = points.at(-1);
    return `never: at ${most?.percent ?? 0} % of the pages it is ${(((most?.value ?? 0) / copy) * 100).toFixed(1)} % of that`;
  }
  if (!below) return `from ${above.percent} % of the pages on, or fewer`;
  const percent = below.percent + ((above.percent - below.percent) * (copy - below.value)) / (above.value - below.value);
  return `from ${percent.toFixed(1)} % of the pages on`;
}
