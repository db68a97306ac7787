/** What a version of one row leaves behind, the same at every k. */
import { Diverging, type Kind } from "../common/transactions.ts";
import { makeStore } from "../common/stores.ts";
import type { SeriesPlan, Step } from "../suite.ts";
import type { Scale } from "./scale.ts";

const PUBLISHED = [8, 20];

export function transactionStep(scale: Scale): Step {
  return {
    id: "transactions",
    title: "Growth per one-row insert + checkpoint",
    series: scale.transactions.flatMap((k): SeriesPlan[] => [
      {
        id: `insert-bytes-${k}`,
        group: "Growth",
        title: `bytes per one-row insert + checkpoint, all in, k = ${k}`,
        unit: "bytes",
        planned: scale.transactionMeans,
        goal: { of: "median", most: 250 },
        references: PUBLISHED.includes(k)
          ? [`offshoot-0.2.12/cow/divergence-${k}-per-transaction-100mb`, `offshoot-0.2.9-linux/cow/divergence-${k}-per-transaction-100mb`]
          : [],
      },
      {
        id: `insert-segment-bytes-${k}`,
        group: "Growth",
        title: `of these the segment, k = ${k}`,
        unit: "bytes",
        planned: scale.transactionMeans,
        goal: { of: "median", most: 120 },
        references: k === 8 ? ["offshoot-0.2.12/cow/divergence-8-pages-per-transaction-100mb"] : [],
      },
    ]),
    run: async (bench) => {
      const store = await makeStore(bench, "transactions", scale.middle);
      try {
        const branch = await Diverging.open(bench, store, "insert");
        try {
          await branch.warmUp(leadOf(scale));
          for (let mean = 0; mean < scale.transactionMeans; mean += 1) {
            for (const k of scale.transactions) {
              const { allIn, segment } = await branch.measure(k, countedOf(scale));
              bench.record(`insert-bytes-${k}`, allIn);
              bench.record(`insert-segment-bytes-${k}`, segment);
            }
          }
        } finally {
          branch.close();
        }
      } finally {
        await store.close();
      }
    },
  };
}

/** Inserts, updates and deletes all over the database, as programs make them. */
export function mixedTransactionStep(scale: Scale): Step {
  const kind: Kind = "mixed";
  return {
    id: "mixed-transactions",
    title: "Growth per transaction of several kinds + checkpoint",
    series: [
      {
        id: "mixed-bytes",
        group: "Growth",
        title: "bytes per transaction of several kinds + checkpoint, all in",
        unit: "bytes",
        planned: scale.transactionMeans,
        goal: { of: "median", most: 650 },
      },
      {
        id: "mixed-segment-bytes",
        group: "Growth",
        title: "of these the segment",
        unit: "bytes",
        planned: scale.transactionMeans,
      },
    ],
    run: async (bench) => {
      const store = await makeStore(bench, "mixed", scale.middle);
      try {
        const branch = await Diverging.open(bench, store, kind);
        try {
          await branch.warmUp(leadOf(scale));
          for (let mean = 0; mean < scale.transactionMeans; mean += 1) {
            const { allIn, segment } = await branch.measure(countedOf(scale), countedOf(scale));
            bench.record("mixed-bytes", allIn);
            bench.record("mixed-segment-bytes", segment);
          }
        } finally {
          branch.close();
        }
      } finally {
        await store.close();
      }
    },
  };
}

/** Quick takes its means of fewer. */
const countedOf = (scale: Scale) => (scale.transactions.includes(1_000) ? 1_000 : 20);
const leadOf = (scale: Scale) => (scale.transactions.includes(1_000) ? 100 : 10);
