/** The tables of a run, laid out as the published pages have them: workloads as columns; latencies by depth. */
import type { BenchCell, BenchStatistic, BenchTable } from "#shared/bench-views.ts";
import type { Order } from "../suite.ts";
import { parametersOf, type Workload } from "./parameters.ts";
import { CELLS, CONTROLS, formOf } from "./step.ts";

type Row = BenchTable["rows"][number];
const DASH: BenchCell = { text: "–" };

export function tablesOf(order: Order, workloads: readonly Workload[]): readonly BenchTable[] {
  return [summary(order, workloads), latencies(order, workloads), alone(workloads)];
}

function summary(order: Order, workloads: readonly Workload[]): BenchTable {
  const row = (label: string, cell: (workload: Workload) => BenchCell): Row => ({ label, cells: workloads.map(cell) });
  const once = (label: string, id: string) => row(label, (workload) => ({ series: `${workload}-${id}`, statistic: "median" }));
  const fact = (label: string) => row(label, (workload) => ({ fact: label, step: workload }));
  const beside = (label: string, system: string, column: string): Row[] =>
    order.size === "S" ? [row(label, (workload) => ({ reference: `${system}/branchbench/${workload}/${column}` }))] : [];
  const hasPasses = (workload: Workload) => parametersOf(workload, formOf(order.size)).crossPasses > 0;
  return {
    title: `BranchBench, ${order.options["concurrency"]} steps at once`,
    columns: ["", ...workloads],
    rows: [
      once("wall clock", "wall"),
      ...beside("offshoot 0.2.12, published", "offshoot-0.2.12", "wall"),
      ...beside("offshoot 0.2.9 on Linux", "offshoot-0.2.9-linux", "wall"),
      once("the same SQL on plain copies", "floor"),
      row("wall clock / plain copies", (workload) => ({ ratioOf: `${workload}-wall`, to: `${workload}-floor` })),
      fact("steps done"),
      fact("steps failed"),
      fact("steps left out"),
      once("branch management, of the workers' time", "overhead"),
      ...beside("offshoot 0.2.12, published", "offshoot-0.2.12", "branch-overhead"),
      ...beside("offshoot 0.2.9 on Linux", "offshoot-0.2.9-linux", "branch-overhead"),
      fact("branch management, summed"),
      fact("max depth"),
      fact("steps at depth 1"),
      fact("steps at the deepest level"),
      fact("fallbacks to the root"),
      fact("peak of live branches"),
      fact("passes over branches"),
      fact("branches of a pass"),
      row("one pass", (workload) => (hasPasses(workload) ? { series: `${workload}-pass`, statistic: "median" } : DASH)),
      once("store at its largest", "peak"),
      ...beside("offshoot 0.2.12, published", "offshoot-0.2.12", "store-peak"),
      once("store at its largest, on the disk", "peak-disk"),
      fact("store at the end"),
      fact("stored versions at the end"),
      once("destroy every branch, then gc", "reclaim"),
      fact("given back by gc"),
    ],
    note: "Published figures are of other machines. Management: fork, checkout, checkpoint and destroy, summed over workers, divided by wall clock × steps that could run at once. On the disk: what its free space went down by, whoever wrote.",
  };
}

const SHOWN: readonly BenchStatistic[] = ["median", "p99", "max", "n"];
const COLUMNS = ["", "median", "p99", "max", "n"];

function latencies(order: Order, workloads: readonly Workload[]): BenchTable {
  const rows = workloads.flatMap((workload) => {
    const isDeep = parametersOf(workload, formOf(order.size)).depth > 1;
    return CELLS.flatMap((cell) =>
      ["d1", ...(isDeep ? ["deepest"] : [])].map((depth) =>
        statistics(
          `${workload}, ${cell === "read" ? "query" : cell}, ${depth === "d1" ? "depth 1" : "deepest"}`,
          `${workload}-${cell}-${depth}`,
        ),
      ),
    );
  });
  return {
    title: "Latency of one verb, among all that ran at once",
    columns: COLUMNS,
    rows,
    note: "p99 needs 100 samples; below that the largest stands for it.",
  };
}

function alone(workloads: readonly Workload[]): BenchTable {
  return {
    title: "Latency of one verb, one worker alone",
    columns: COLUMNS,
    rows: workloads.flatMap((workload) =>
      CONTROLS.map((control) => {
        const name = control === "read" ? "query, first" : control === "reread" ? "query, again" : control;
        return statistics(`${workload}, ${name}`, `${workload}-alone-${control}`);
      }),
    ),
    note: "First: on a file that was just checked out, through a new connection. Again: the same query on the same connection.",
  };
}

function statistics(label: string, series: string): Row {
  return { label, cells: SHOWN.map((statistic) => ({ series, statistic })) };
}
