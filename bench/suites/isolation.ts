/** A private copy of a database to work on: a branch, against backups, file copies and Postgres on the same disk. */
import { SCALES } from "../isolation/scale.ts";
import { fileStep } from "../isolation/file-step.ts";
import { offshootStep } from "../isolation/offshoot-step.ts";
import { postgresStep } from "../isolation/postgres-step.ts";
import { OFFSHOOT_COLUMNS, seriesTable } from "../common/tables.ts";
import type { Order, Step, Suite } from "../suite.ts";

const GB = 1024 ** 3;

function plan({ size }: Order): readonly Step[] {
  const scale = SCALES[size];
  return [
    ...scale.sizes.map((megabytes) => fileStep(scale, megabytes)),
    postgresStep(scale),
    ...scale.sizes.map((megabytes) => offshootStep(scale, megabytes)),
  ];
}

export const suite: Suite = {
  id: "isolation",
  title: "Isolation",
  about: "A private copy of a database by fork, against SQLite's backup, file copies and Postgres's template databases on the same disk.",
  sizes: [
    { id: "quick", label: "10 MB", seconds: 20, diskBytes: GB },
    { id: "S", label: "10 and 100 MB", seconds: 90, diskBytes: 3 * GB },
    { id: "M", label: "10 and 100 MB, 100 rounds", seconds: 300, diskBytes: 3 * GB },
    { id: "L", label: "10 MB to 1 GB", seconds: 1_500, diskBytes: 12 * GB },
  ],
  options: [],
  plan,
  tables: (order) => {
    const series = plan(order).flatMap((step) => step.series);
    // Limits stand beside what they are the limit of.
    const groups = [...new Set(series.map(({ group }) => group))].filter((group) => group !== "Limit");
    return groups.map((group) =>
      seriesTable({
        title: group === "Server" ? "Postgres, server and connection" : `A private copy of ${group}`,
        ...(group === "Server" ? {} : { note: "Published Postgres figures are of docker exec; ours are of a private socket." }),
        series: series.filter((each) => each.group === group).map((each) => ({ ...each, group: "" })),
        published: OFFSHOOT_COLUMNS,
      }),
    );
  },
};
