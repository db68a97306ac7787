/** What a branch stores as it diverges by one-row transactions: the same for each of them, at every k. */
import { Diverging } from "../common/transactions.ts";
import { makeStore } from "../common/stores.ts";
import { sizeId, sizeText } from "../common/tables.ts";
import type { SeriesPlan, Step } from "../suite.ts";
import { published, type Scale } from "./scale.ts";

const PUBLISHED_K = [8, 20];

export function divergenceStep(scale: Scale): Step {
  const size = sizeText(scale.middle);
  return {
    id: "divergence",
    title: `Divergence by one-row transactions, ${size}`,
    series: scale.transactions.flatMap((k): SeriesPlan[] => [
      {
        id: `divergence-${k}`,
        group: "Divergence",
        title: `bytes a transaction, all in, k = ${k}, ${size}`,
        unit: "bytes",
        planned: 1,
        references: PUBLISHED_K.includes(k) ? published(`divergence-${k}-per-transaction`, sizeId(scale.middle)) : [],
      },
      {
        id: `divergence-${k}-segment`,
        group: "Divergence",
        title: `of these pages, k = ${k}, ${size}`,
        unit: "bytes",
        planned: 1,
        references: k === 8 ? published("divergence-8-pages-per-transaction", sizeId(scale.middle), ["offshoot-0.2.12"]) : [],
      },
      {
        id: `divergence-${k}-time`,
        group: "Divergence",
        title: `time of a transaction with its checkpoint, k = ${k}, ${size}`,
        unit: "ms",
        planned: 1,
      },
    ]),
    run: async (bench) => {
      const store = await makeStore(bench, "divergence", scale.middle);
      try {
        const branch = await Diverging.open(bench, store, "insert");
        try {
          await branch.warmUp(Math.min(100, scale.counted));
          for (const k of scale.transactions) {
            const { allIn, segment, ms } = await branch.measure(k, scale.counted);
            bench.record(`divergence-${k}`, allIn);
            bench.record(`divergence-${k}-segment`, segment);
            bench.record(`divergence-${k}-time`, ms);
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
