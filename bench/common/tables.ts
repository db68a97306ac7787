/** Tables of a suite, made from what its steps plan. */
import { formatFigure } from "#shared/bench-figures.ts";
import type { BenchCell, BenchTable } from "#shared/bench-views.ts";
import type { SeriesPlan } from "../suite.ts";

const MORE_COLUMNS_MAX = 4;

export interface TableInput {
  readonly title: string;
  readonly note?: string;
  readonly series: readonly SeriesPlan[];
  /** Published columns: title, and which references of a series stand in it. */
  readonly published?: readonly { readonly title: string; readonly prefix: string }[];
  /** What stands for many samples; the median unless they are counts of something lumpy. */
  readonly middle?: "median" | "mean";
}

/** One row a series, its name first: how many, median, 95th percentile, against its limit, then what others published. */
export function seriesTable({ title, note, series, published = [], middle = "median" }: TableInput): BenchTable {
  const hasLimits = series.some(({ limit }) => limit);
  return {
    title,
    columns: [
      "figure",
      "n",
      middle,
      "p95",
      ...(hasLimits ? ["limit", "median / limit", "goal"] : ["goal"]),
      ...published.slice(0, MORE_COLUMNS_MAX).map((column) => column.title),
    ],
    rows: series.map((plan) => ({
      label: plan.group === "" ? plan.title : `${plan.group}: ${plan.title}`,
      cells: [
        { series: plan.id, statistic: "n" },
        { series: plan.id, statistic: middle },
        { series: plan.id, statistic: "p95" },
        ...(hasLimits ? limitCells(plan) : []),
        { text: goalText(plan) },
        ...published.slice(0, MORE_COLUMNS_MAX).map(({ prefix }) => publishedCell(plan, prefix)),
      ],
    })),
    note: note ?? null,
  };
}

function limitCells(plan: SeriesPlan): BenchCell[] {
  if (!plan.limit) return [{ text: "" }, { text: "" }];
  return [
    { series: plan.limit, statistic: "median" },
    { ratioOf: plan.id, to: plan.limit },
  ];
}

function goalText({ goal, unit }: SeriesPlan): string {
  if (!goal) return "";
  const of = goal.of === "ratio" ? "ratio" : unit;
  const parts = [
    goal.least === undefined ? [] : [`≥ ${formatFigure(goal.least, of)}`],
    goal.most === undefined ? [] : [`≤ ${formatFigure(goal.most, of)}`],
  ];
  return parts.flat().join(", ");
}

function publishedCell(plan: SeriesPlan, prefix: string): BenchCell {
  const reference = plan.references?.find((id) => id.startsWith(`${prefix}/`));
  return reference === undefined ? { text: "–" } : { reference };
}

/** Headings of published columns, everywhere the same. The page also has figures of cp, backup() and Postgres. */
export const OFFSHOOT_COLUMNS = [
  { title: "offshoot 0.2.12’s page (Apple M5)", prefix: "offshoot-0.2.12" },
  { title: "offshoot 0.2.9 (Linux, 2 cores)", prefix: "offshoot-0.2.9-linux" },
] as const;

/** 12 MB, 1 GB: megabytes and gigabytes of 1,024. */
export function sizeText(megabytes: number): string {
  return megabytes >= 1_024 ? `${megabytes / 1_024} GB` : `${megabytes} MB`;
}

/** The same in an id: 12mb, 1gb. */
export function sizeId(megabytes: number): string {
  return sizeText(megabytes).replace(" ", "").toLowerCase();
}
