/** Copy-on-write: what a fork costs and leaves, how branches diverge, how their files come to be and move. */
import { addedStep, forkStep } from "../cow/fork-steps.ts";
import { checkoutStep } from "../cow/checkout-steps.ts";
import { divergenceStep } from "../cow/divergence-step.ts";
import { offshootStep } from "../cow/offshoot-step.ts";
import { SCALES } from "../cow/scale.ts";
import { memoryStep } from "../goals/program-steps.ts";
import { movesStep } from "../common/moves.ts";
import { OFFSHOOT_COLUMNS, seriesTable, sizeId } from "../common/tables.ts";
import type { Order, SeriesPlan, Step, Suite } from "../suite.ts";

const GB = 1024 ** 3;

function plan({ size }: Order): readonly Step[] {
  const scale = SCALES[size];
  return [
    forkStep(scale),
    addedStep(scale),
    divergenceStep(scale),
    checkoutStep(scale),
    ...scale.sizes.map((megabytes) =>
      movesStep({
        id: `moves-${sizeId(megabytes)}`,
        megabytes,
        rounds: scale.moveRounds,
        seriesOf: (verb) => `${verb}-${sizeId(megabytes)}`,
      }),
    ),
    memoryStep(scale.memoryMegabytes),
    offshootStep(scale),
  ];
}

/** Heading of a table, and the groups that stand in it. */
const TABLES: readonly (readonly [title: string, belongs: (plan: SeriesPlan) => boolean, middle?: "mean"])[] = [
  ["Fork", ({ group }) => group.startsWith("Fork")],
  ["Added per fork, shared", ({ group }) => group.startsWith("Added"), "mean"],
  ["Divergence", ({ group }) => group === "Divergence"],
  [
    "Checkout after a fork",
    ({ group, id }) => (group === "Checkout" && !id.startsWith("memory")) || group === "First read" || id === "cp" || id === "reflink",
  ],
  ["Rollback, promote, undo with the checkout", ({ group }) => group === "Switch"],
  ["Memory", ({ id }) => id.startsWith("memory-")],
  ["offshoot on this machine", ({ group }) => group.startsWith("offshoot")],
];

export const suite: Suite = {
  id: "cow",
  title: "Copy-on-write",
  about: "Forks by size of the database, bytes they add, divergence, and files of branches, against cp and append + fdatasync.",
  sizes: [
    { id: "quick", label: "Quick", seconds: 20, diskBytes: GB / 2 },
    { id: "S", label: "12 MB to 1 GB, short", seconds: 180, diskBytes: 8 * GB },
    { id: "M", label: "12 MB to 1 GB", seconds: 420, diskBytes: 8 * GB },
    { id: "L", label: "12 MB to 10 GB", seconds: 2_400, diskBytes: 60 * GB },
  ],
  options: [],
  plan,
  tables: (order) => {
    const series = plan(order).flatMap((step) => step.series);
    return TABLES.map(([title, belongs, middle]) =>
      seriesTable({ title, series: series.filter(belongs), published: OFFSHOOT_COLUMNS, ...(middle ? { middle } : {}) }),
    );
  },
};
