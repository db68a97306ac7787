/** The figures that Coppice has to reach, each next to a limit that is measured in the same run on the same disk. */
import { checkoutStep, openCloseStep } from "../goals/checkout-steps.ts";
import { checkpointStep, switchStep } from "../goals/file-steps.ts";
import { forkStep, growthStep, inFlightStep } from "../goals/fork-steps.ts";
import { commandStep, listStep, memoryStep } from "../goals/program-steps.ts";
import { SCALES } from "../goals/scale.ts";
import { mixedTransactionStep, transactionStep } from "../goals/transaction-steps.ts";
import { OFFSHOOT_COLUMNS, seriesTable } from "../common/tables.ts";
import type { Order, Step, Suite } from "../suite.ts";

const GB = 1024 ** 3;

function plan({ size }: Order): readonly Step[] {
  const scale = SCALES[size];
  return [
    forkStep(scale),
    inFlightStep(scale),
    growthStep(scale),
    transactionStep(scale),
    mixedTransactionStep(scale),
    switchStep(scale),
    checkpointStep(scale),
    checkoutStep(scale),
    openCloseStep(scale),
    listStep(scale),
    commandStep(scale),
    memoryStep(scale.memoryMegabytes),
  ];
}

export const suite: Suite = {
  id: "goals",
  title: "Goals",
  about: "Every figure that Coppice has to reach, against the limit of this disk taken in turns with it.",
  sizes: [
    { id: "quick", label: "Quick", seconds: 20, diskBytes: GB / 2 },
    { id: "S", label: "1 GB, short", seconds: 180, diskBytes: 8 * GB },
    { id: "M", label: "1 GB", seconds: 420, diskBytes: 8 * GB },
    { id: "L", label: "10 GB, 100,000 branches", seconds: 2_400, diskBytes: 40 * GB },
  ],
  options: [],
  plan,
  tables: (order) => [
    seriesTable({
      title: "Goals",
      note: "Limits and subjects took turns. Published figures are of other machines.",
      series: plan(order)
        .flatMap(({ series }) => series)
        .filter(({ goal }) => goal),
      published: OFFSHOOT_COLUMNS,
    }),
    {
      title: "A durable fork against both limits",
      columns: ["figure", "median", "/ append to a file that grows", "/ append into blocks that exist"],
      rows: forkStep(SCALES[order.size])
        .series.filter(({ group, unit }) => group === "Fork" && unit === "ms")
        .map(({ id, title }) => ({
          label: title,
          cells: [
            { series: id, statistic: "median" as const },
            { ratioOf: id, to: "append" },
            { ratioOf: id, to: "append-existing" },
          ],
        })),
      note: "The append is of 300 bytes with fdatasync. Ratios bear a disk that is shared with others; times do not.",
    },
    seriesTable({
      title: "Beyond the goals",
      series: plan(order)
        .flatMap(({ series }) => series)
        .filter(({ goal, group }) => !goal && group !== "Limit"),
    }),
  ],
};
