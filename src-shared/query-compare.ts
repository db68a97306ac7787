import type { AcrossResultView } from "./query-views.ts";

export interface AlignedResult {
  readonly result: AcrossResultView;
  /** For each of the common columns the position of it in this result; null where it has none. */
  readonly positions: readonly (number | null)[];
  /** Against the first target; null where either failed, or the first is not there yet. */
  readonly isSame: boolean | null;
}

export interface Alignment {
  /** Columns of the first result, then those that only others have. A name that stands twice is two columns. */
  readonly columns: readonly string[];
  /** In order of the targets. */
  readonly results: readonly AlignedResult[];
}

/** Results side by side: columns meet by name, and each says whether it equals that of the first target. */
export function alignResults(results: readonly AcrossResultView[]): Alignment {
  const ordered = results.toSorted((a, b) => a.target - b.target);
  const columns: { readonly name: string; readonly nth: number }[] = [];
  const found = ordered.map((result) => {
    const seen = new Map<string, number>();
    return result.columns.map((name) => {
      const nth = seen.get(name) ?? 0;
      seen.set(name, nth + 1);
      const known = columns.findIndex((column) => column.name === name && column.nth === nth);
      return known >= 0 ? known : columns.push({ name, nth }) - 1;
    });
  });
  const first = ordered[0]?.target === 0 ? ordered[0].digest : null;
  return {
    columns: columns.map(({ name }) => name),
    results: ordered.map((result, index) => ({
      result,
      positions: columns.map((_, column) => {
        const position = found[index]?.indexOf(column) ?? -1;
        return position < 0 ? null : position;
      }),
      isSame: first === null || result.digest === null ? null : result.digest === first,
    })),
  };
}
