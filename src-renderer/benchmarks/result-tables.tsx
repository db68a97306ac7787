import { memo, useMemo } from "react";
import type { BenchCell, BenchReference, BenchRun, BenchTable } from "#shared/bench-views.ts";
import { findSeries, formatFigure, readTable, type CellText } from "#shared/bench-figures.ts";
import { cx } from "../ui/cx.ts";
import { describeReference } from "./chart-plan.ts";
import { Head } from "./measures.tsx";

/** The run's tables as published pages have them, and what else was found. */
export function ResultTables({ run, references }: { readonly run: BenchRun; readonly references: readonly BenchReference[] }) {
  return (
    <>
      {run.tables.map((table) => (
        <ResultTable key={table.title} table={table} run={run} references={references} />
      ))}
      {run.facts.length > 0 ? <Facts run={run} /> : null}
    </>
  );
}

/** Columns in which others' figures stand: they say so once, in the head. */
export function referenceColumns(table: BenchTable): ReadonlySet<number> {
  const columns = table.columns.slice(1).map((_, index) => index);
  return new Set(columns.filter((index) => table.rows.some((row) => isReference(row.cells[index]))));
}

function isReference(cell: BenchCell | undefined): boolean {
  return cell !== undefined && "reference" in cell;
}

interface TableProps {
  readonly table: BenchTable;
  readonly run: BenchRun;
  readonly references: readonly BenchReference[];
}

const ResultTable = memo(function ResultTable({ table, run, references }: TableProps) {
  const rows = useMemo(() => readTable(table, run, references), [table, run, references]);
  const foreign = useMemo(() => referenceColumns(table), [table]);
  return (
    <section aria-label={table.title} className="flex-none overflow-hidden rounded-lg border border-line bg-canvas">
      <header className="flex min-h-10 flex-wrap items-center gap-x-2.5 bg-surface px-3">
        <h2 className="font-semibold">{table.title}</h2>
        {table.note === null ? null : <span className="text-xs text-ink-2">{table.note}</span>}
      </header>
      <div className="overflow-x-auto border-t border-line">
        <table aria-label={table.title} className="w-full border-collapse text-xs">
          <thead className="bg-sunken text-2xs text-ink-3">
            <tr>
              {table.columns.map((column, index) => (
                <Head
                  key={column}
                  first={index === 0}
                  {...(foreign.has(index - 1) ? { title: "Published by others, not measured here" } : {})}
                >
                  {column}
                  {foreign.has(index - 1) ? " " : null}
                  {foreign.has(index - 1) ? <span className="block text-2xs font-normal italic">different machine</span> : null}
                </Head>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <ResultRow
                key={row.label}
                label={row.label}
                cells={row.cells}
                sources={table.rows[index]?.cells ?? []}
                run={run}
                references={references}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
});

interface RowProps {
  readonly label: string;
  readonly cells: readonly CellText[];
  readonly sources: readonly BenchCell[];
  readonly run: BenchRun;
  readonly references: readonly BenchReference[];
}

function ResultRow({ label, cells, sources, run, references }: RowProps) {
  const why = whySkipped(sources, run);
  return (
    <tr className="border-t border-line hover:bg-hover">
      <th scope="row" className="px-3 py-1 text-left text-sm font-normal">
        {label} {why === null ? null : <span className="block text-2xs text-ink-3">Skipped: {why}</span>}
      </th>
      {cells.map((cell, index) => (
        <td
          // Cells have no names of their own: their place in the row is what they are.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          title={describeCell(sources[index], run, references)}
          className={cx(
            "h-row px-3 text-right whitespace-nowrap tabular-nums",
            cell.kind === "reference" ? "text-ink-2 italic" : cell.kind === "figure" ? "font-medium" : "text-ink-3",
          )}
        >
          {cell.text}
        </td>
      ))}
    </tr>
  );
}

/** The reason when nothing of a row was measured. */
export function whySkipped(cells: readonly BenchCell[], run: BenchRun): string | null {
  const series = cells.flatMap((cell) => ("series" in cell ? [findSeries(run, cell.series)] : []));
  if (series.length === 0 || series.some((each) => !each || each.samples.length > 0)) return null;
  return series.find((each) => each && each.skipped !== null)?.skipped ?? null;
}

function describeCell(cell: BenchCell | undefined, run: BenchRun, references: readonly BenchReference[]): string | undefined {
  if (!cell) return undefined;
  if ("reference" in cell) {
    const found = references.find((reference) => reference.id === cell.reference);
    return found ? describeReference(found) : undefined;
  }
  if (!("series" in cell)) return undefined;
  const series = findSeries(run, cell.series);
  if (!series) return undefined;
  return series.skipped ?? series.error ?? `${series.title}, n = ${series.samples.length}`;
}

function Facts({ run }: { readonly run: BenchRun }) {
  const titles = new Map(run.series.map((series) => [series.step, series.group]));
  return (
    <section aria-label="Found along the way" className="flex-none overflow-hidden rounded-lg border border-line bg-canvas">
      <header className="flex min-h-10 items-center bg-surface px-3">
        <h2 className="font-semibold">Found along the way</h2>
      </header>
      <table aria-label="Found along the way" className="w-full border-collapse text-xs">
        <tbody>
          {run.facts.map((fact) => (
            <tr key={`${fact.step}\n${fact.label}`} className="border-t border-line hover:bg-hover">
              <th scope="row" className="h-row px-3 text-left text-sm font-normal">
                {fact.label} <span className="text-xs text-ink-3">{titles.get(fact.step) ?? fact.step}</span>
              </th>
              <td className="h-row px-3 text-right font-medium tabular-nums">
                {typeof fact.value === "string" ? fact.value : formatFigure(fact.value, fact.unit)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
