/** From which share of rewritten pages on a copy of the file would have been as cheap as a branch. */
import { KINDS, KIND_TITLES } from "../write-amplification/blocks.ts";
import { SCALES, SHARES } from "../write-amplification/scale.ts";
import { rewriteStep, seriesId } from "../write-amplification/steps.ts";
import type { Order, Step, Suite } from "../suite.ts";

const GB = 1024 ** 3;

const plan = ({ size }: Order): readonly Step[] => KINDS.map((kind) => rewriteStep(SCALES[size], kind));

export const suite: Suite = {
  id: "write-amplification",
  title: "Write amplification",
  about: "Bytes stored and written as a branch rewrites 0.1 to 100 % of its pages, against a plain copy of the file.",
  sizes: [
    { id: "quick", label: "4 MB", seconds: 10, diskBytes: GB / 4 },
    { id: "S", label: "100 MB", seconds: 90, diskBytes: 2 * GB },
    { id: "M", label: "100 MB, more rounds", seconds: 200, diskBytes: 2 * GB },
    { id: "L", label: "1 GB", seconds: 900, diskBytes: 10 * GB },
  ],
  options: [],
  plan,
  tables: () =>
    KINDS.map((kind) => ({
      title: `Rewriting pages: ${KIND_TITLES[kind]}`,
      columns: ["pages", "stored", "of a copy", "written", "of a copy’s", "checkpoint", "of a copy’s time"],
      rows: [
        ...SHARES.map((percent) => ({
          label: `${percent} %`,
          cells: (["stored", "written", "time"] as const).flatMap((what) => [
            { series: seriesId(kind, what, percent), statistic: "median" as const },
            { ratioOf: seriesId(kind, what, percent), to: seriesId(kind, what, "copy") },
          ]),
        })),
        {
          label: "plain copy",
          cells: (["stored", "written", "time"] as const).flatMap((what) => [
            { series: seriesId(kind, what, "copy"), statistic: "median" as const },
            { text: "" },
          ]),
        },
      ],
      note: "Medians. Written: by this process and its helper, as the kernel counts it, during the checkpoint alone. A copy is one of the whole file with fsync.",
    })),
};
