/** Many live branches: what each costs, and what stays as it is however many there are. */
import { SCALES } from "../density/scale.ts";
import { branchesStep, wallsStep } from "../density/steps.ts";
import { seriesTable } from "../common/tables.ts";
import type { Order, Step, Suite } from "../suite.ts";

const GB = 1024 ** 3;

function plan({ size }: Order): readonly Step[] {
  const scale = SCALES[size];
  return [...scale.branches.map((branches) => branchesStep(scale, branches)), wallsStep(scale)];
}

const ROWS = [
  ["fork", "median"],
  ["list", "median"],
  ["status", "median"],
  ["open", "median"],
  ["checkout", "median"],
  ["branch-bytes", "median"],
  ["memory", "median"],
] as const;

export const suite: Suite = {
  id: "density",
  title: "Density",
  about: "10 to 100,000 live branches in one store: forks, lists, checkouts, memory and bytes of an idle branch.",
  sizes: [
    { id: "quick", label: "100 branches", seconds: 10, diskBytes: GB / 2 },
    { id: "S", label: "10,000 branches", seconds: 60, diskBytes: GB },
    { id: "M", label: "10,000 branches, more rounds", seconds: 150, diskBytes: GB },
    { id: "L", label: "100,000 branches", seconds: 400, diskBytes: 2 * GB },
  ],
  options: [],
  plan,
  tables: (order) => {
    const { branches } = SCALES[order.size];
    const steps = plan(order);
    const titles = new Map(steps.flatMap((step) => step.series.map((series) => [series.id, series.title] as const)));
    return [
      {
        title: "By number of live branches",
        columns: ["figure", ...branches.map((count) => count.toLocaleString("en"))],
        rows: [
          ...ROWS.map(([row, statistic]) => ({
            label: titles.get(`${row}-${branches[0]}`) ?? row,
            cells: branches.map((count) => ({ series: `${row}-${count}`, statistic })),
          })),
          { label: "fork / append", cells: branches.map((count) => ({ ratioOf: `fork-${count}`, to: `append-${count}` })) },
        ],
        note: "Medians. A fork is destroyed after it was timed, so that the number stays.",
      },
      seriesTable({
        title: "However many there are",
        series: (steps.at(-1)?.series ?? []).map((series) => ({ ...series, group: "" })),
        published: [{ title: "Sandbase (managed Postgres)", prefix: "sandbase" }],
      }),
    ];
  },
};
