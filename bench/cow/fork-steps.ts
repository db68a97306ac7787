/** Forks by size of the database, and the bytes and files that they leave. */
import { join } from "node:path";
import type { Store } from "#engine/store.ts";
import { AppendLog } from "../common/limits.ts";
import { fillUp, MAIN, makeStore, nextName, segmentFiles, useSharedStore, storedBytes } from "../common/stores.ts";
import { sizeId, sizeText } from "../common/tables.ts";
import { takeTurns, type Contestant } from "../common/turns.ts";
import type { SeriesPlan, Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

const WHERE = ["head", "checkpoint"] as const;
/** Pages that the first forks fill are there already. */
const BRANCHES_FIRST = 100;

export function forkStep(scale: Scale): Step {
  return {
    id: "fork",
    title: "Fork at the head and at a checkpoint",
    series: [
      { id: "append", group: "Limit", title: "append 300 B + fdatasync", unit: "ms", planned: scale.forkRounds },
      ...WHERE.flatMap((where) =>
        scale.sizes.map((megabytes): SeriesPlan => ({
          id: `fork-${where}-${sizeId(megabytes)}`,
          group: where === "head" ? "Fork at the head" : "Fork at a checkpoint",
          title: sizeText(megabytes),
          unit: "ms",
          planned: scale.forkRounds,
          limit: "append",
          references: published(`fork-${where}`, sizeId(megabytes)),
        })),
      ),
    ],
    run: async (bench) => {
      const stores: Store[] = [];
      const log = new AppendLog(join(bench.folder, "append.log"));
      try {
        const contestants: Contestant[] = [{ series: "append", act: log.append }];
        for (const megabytes of scale.sizes) {
          const store = await useSharedStore(bench, megabytes);
          stores.push(store);
          const size = sizeId(megabytes);
          contestants.push(
            { series: `fork-head-${size}`, act: () => store.fork({ ...MAIN, newBranch: nextName() }) },
            { series: `fork-checkpoint-${size}`, act: () => store.fork({ ...MAIN, newBranch: nextName(), at: "start" }) },
          );
        }
        await takeTurns(bench, contestants, { title: "Append and fork, in turns", rounds: scale.forkRounds, warmUp: 10 });
      } finally {
        log.close();
        for (const store of stores) await store.close();
      }
    },
  };
}

export function addedStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  return {
    id: "added",
    title: `What forks add to a store of ${size}`,
    series: scale.added.flatMap(({ forks, times }): SeriesPlan[] => [
      {
        id: `added-bytes-${forks}`,
        group: "Added bytes",
        title: `a fork, N = ${forks}, ${size}`,
        unit: "bytes",
        planned: times,
        references: published("added-bytes", sizeId(scale.middle)),
      },
      {
        id: `added-objects-${forks}`,
        group: "Added files",
        title: `a fork, N = ${forks}, ${size}`,
        unit: "count",
        planned: times,
        references: published("added-objects", sizeId(scale.middle)),
      },
    ]),
    run: async (bench) => {
      const store = await makeStore(bench, "added", scale.middle);
      try {
        await fillUp(bench, store, BRANCHES_FIRST);
        for (const { forks, times } of scale.added) {
          for (let time = 0; time < times; time += 1) {
            bench.phase(`Fork ${forks} times`, time, times);
            await bench.pause();
            const before = { bytes: storedBytes(store), files: segmentFiles(store) };
            for (let count = 0; count < forks; count += 1) await store.fork({ ...MAIN, newBranch: nextName() });
            bench.record(`added-bytes-${forks}`, (storedBytes(store) - before.bytes) / forks);
            bench.record(`added-objects-${forks}`, (segmentFiles(store) - before.files) / forks);
          }
        }
      } finally {
        await store.close();
      }
    },
  };
}
