import { useCallback, useMemo, useState } from "react";
import { isNumber } from "#shared/row-text.ts";
import { WIDTH_PX, measureColumn } from "./column-widths.ts";
import type { GridColumn, ValueGridProps } from "./value-grid.tsx";

/** Columns are as wide as the first rows need; the user's widths stay. */
export function useWidths(columns: readonly GridColumn[], count: number, rowAt: ValueGridProps["rowAt"], filled: number) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map());
  const [measured, setMeasured] = useState<Measured | null>(null);
  const isMeasured = measured !== null && measured.columns === columns && measured.filled === filled;
  if (!isMeasured && count > 0) {
    const widths = columns.map(({ name }, index) => measureColumn(name, index, { count, rowAt }, WIDTH_PX.most));
    setMeasured({ columns, filled, widths, numeric: columns.map((column, index) => holdsNumbers(column, index, count, rowAt)) });
  }
  const widths = useMemo(
    () => columns.map(({ name }, index) => chosen.get(name) ?? measured?.widths[index] ?? Math.max(WIDTH_PX.first, name.length * 7 + 32)),
    [columns, chosen, measured],
  );
  const set = useCallback((name: string, px: number) => {
    setChosen((before) => new Map(before).set(name, Math.round(Math.max(WIDTH_PX.least, Math.min(4_000, px)))));
  }, []);
  const resize = useCallback((index: number, px: number) => set(columns[index]?.name ?? "", px), [columns, set]);
  const fit = (index: number): void => {
    const name = columns[index]?.name ?? "";
    set(name, measureColumn(name, index, { count, rowAt }, WIDTH_PX.fitted));
  };
  return { widths, numeric: measured?.numeric ?? NONE, resize, fit };
}

interface Measured {
  readonly columns: readonly GridColumn[];
  readonly filled: number;
  readonly widths: readonly number[];
  readonly numeric: readonly boolean[];
}

const NONE: readonly boolean[] = [];

/** By what the first rows hold; by the declared type where they hold nothing. */
function holdsNumbers({ type }: GridColumn, index: number, count: number, rowAt: ValueGridProps["rowAt"]): boolean {
  for (let row = 0; row < Math.min(count, 20); row += 1) {
    const value = rowAt(row)?.[index] ?? null;
    if (value !== null) return isNumber(value);
  }
  return isNumeric(type);
}

/** Numbers stand at the right, and so does the name above them. */
function isNumeric(type: string): boolean {
  return /int|real|floa|doub|num|dec/i.test(type);
}
