/** A file from nothing, and a fork with its first connection, against `cp` of the same file. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { notePeers } from "../peers/find-program.ts";
import { openAndAsk, recordByWay, WAY_TITLES, WAYS, type Way } from "../common/checkouts.ts";
import { Cp, reflink, removeDatabase } from "../common/limits.ts";
import { eraseBranch, MAIN, makeStore, nextName, removeShortcuts } from "../common/stores.ts";
import { takeTurns } from "../common/turns.ts";
import type { Bench, SeriesPlan, Step } from "../suite.ts";
import { sizeText } from "../common/tables.ts";
import type { Scale } from "./scale.ts";

/** What runs in the background may use the time between two samples, as it would between two forks of a person. */
const REST_MS = 250;

/** Against `cp` of the same file. */
const MOST: Readonly<Record<Way, number>> = { pool: 1, cloned: 1, copied: 1.5, rebuilt: 2.5 };

export function checkoutStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  return {
    id: "checkout",
    title: `Checkout of ${size} from nothing`,
    series: [
      {
        id: "cp",
        group: "Limit",
        title: `cp, ${size}`,
        unit: "ms",
        planned: scale.checkoutRounds,
        references: ["offshoot-0.2.12/cow/cp-100mb"],
      },
      { id: "reflink", group: "Limit", title: `reflink, ${size}`, unit: "ms", planned: scale.checkoutRounds },
      {
        id: "checkout-decoded",
        group: "Checkout",
        title: `${WAY_TITLES.rebuilt}, ${size}`,
        unit: "ms",
        planned: scale.checkoutRounds,
        limit: "cp",
        goal: { of: "ratio", most: MOST.rebuilt },
        references: ["offshoot-0.2.9-linux/cli/checkout-fresh-100mb"],
      },
      ...WAYS.map((way): SeriesPlan => ({
        id: `checkout-fork-${way}`,
        group: "Checkout",
        title: `file of a fresh fork, ${WAY_TITLES[way]}, ${size}`,
        unit: "ms",
        planned: 0,
        limit: "cp",
        goal: { of: "ratio", most: MOST[way] },
        references: ["offshoot-0.2.12/cow/checkout-child-100mb"],
      })),
      {
        id: "checkout-reflink",
        group: "Checkout",
        title: `file of a fresh fork where files share blocks, ${size}`,
        unit: "ms",
        planned: scale.checkoutRounds,
        limit: "reflink",
        goal: { of: "median", most: 3 },
      },
    ],
    run: (bench) => measureCheckouts(bench, scale),
  };
}

async function measureCheckouts(bench: Bench, scale: Scale): Promise<void> {
  notePeers(bench);
  const source = await bench.database(scale.middle);
  const store = await makeStore(bench, "checkout", scale.middle);
  const cp = new Cp();
  const copy = join(bench.folder, "copy.db");
  const cloned = join(bench.folder, "clone.db");
  const shares = bench.filesystem.reflink;
  if (!shares)
    for (const series of ["reflink", "checkout-reflink"]) bench.skip(series, `Files on ${bench.filesystem.type} share no blocks`);
  try {
    await takeTurns(
      bench,
      [
        { series: "cp", prepare: () => removeDatabase(copy), act: () => cp.copy(source, copy) },
        ...(shares ? [{ series: "reflink", prepare: () => removeDatabase(cloned), act: () => reflink(source, cloned) }] : []),
        { series: "checkout-decoded", prepare: () => removeShortcuts(store), act: () => store.checkout(MAIN) },
      ],
      { title: "cp and checkout from segments", rounds: scale.checkoutRounds, warmUp: 1, settle: bench.folder },
    );
    await store.checkout(MAIN);
    const ways = new Set<Way>();
    for (let round = 0; round < scale.checkoutRounds; round += 1) {
      bench.phase("Checkout of a fresh fork", round, scale.checkoutRounds);
      const branch = nextName();
      await store.fork({ ...MAIN, newBranch: branch });
      await sleep(REST_MS);
      await bench.pause();
      const start = performance.now();
      const way = await recordByWay(bench, store, { branch, seriesOf: (each) => `checkout-fork-${each}` });
      if (shares) bench.record("checkout-reflink", performance.now() - start);
      if (way) ways.add(way);
      await eraseBranch(store, branch);
    }
    for (const way of WAYS) if (!ways.has(way)) bench.skip(`checkout-fork-${way}`, "No checkout of this run was served this way");
  } finally {
    await store.close();
  }
}

export function openCloseStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  return {
    id: "open-close",
    title: `Fork, open and close, ${size}`,
    series: [
      { id: "cp-open-close", group: "Limit", title: `cp, open and close, ${size}`, unit: "ms", planned: scale.checkoutRounds },
      {
        id: "fork-open-close",
        group: "Fork",
        title: `fork + open + close, ${size}`,
        unit: "ms",
        planned: scale.checkoutRounds,
        limit: "cp-open-close",
        goal: { of: "median", most: 5 },
        references: ["offshoot-0.2.12/isolation/fork-open-close-100mb", "offshoot-0.2.9-linux/isolation/fork-open-close-100mb"],
      },
    ],
    run: async (bench) => {
      const source = await bench.database(scale.middle);
      const store = await makeStore(bench, "open-close", scale.middle);
      const cp = new Cp();
      const copy = join(bench.folder, "copy.db");
      let branch = "";
      const forkAndOpen = async () => {
        await store.fork({ ...MAIN, newBranch: branch });
        const { path } = await store.checkout({ database: MAIN.database, branch });
        openAndAsk(path);
      };
      try {
        await store.checkout(MAIN);
        await takeTurns(
          bench,
          [
            {
              series: "cp-open-close",
              prepare: () => removeDatabase(copy),
              act: () => {
                cp.copy(source, copy);
                openAndAsk(copy);
              },
            },
            {
              series: "fork-open-close",
              prepare: async () => {
                branch = nextName();
                await sleep(REST_MS);
              },
              act: forkAndOpen,
              tidy: () => eraseBranch(store, branch),
            },
          ],
          { title: "cp or fork, open, close", rounds: scale.checkoutRounds, warmUp: 1, settle: bench.folder },
        );
      } finally {
        await store.close();
      }
    },
  };
}
