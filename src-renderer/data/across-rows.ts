/** Results of one query to many states, as lines of a table: each says how it compares with the reference. */
import { alignResults, pairRows, type AlignedResult, type Alignment } from "#shared/query-compare.ts";
import type { AcrossResultView, AcrossTargetView, DataValue } from "#shared/query-views.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import type { AcrossShow } from "./across-session.ts";
import type { CopiedCells } from "./copy-values.ts";
import { placeText } from "./data-session.ts";
import type { GridColumn, RowMark } from "./value-grid.tsx";

export type Standing = "reference" | "same" | "differ" | "failed" | "unknown";

/** A line: one state, or all states whose results are equal. */
export interface AcrossLine {
  /** Positions of its targets; the first one stands for all. */
  readonly targets: readonly number[];
  readonly aligned: AlignedResult;
  readonly standing: Standing;
}

export interface AcrossCounts {
  readonly same: number;
  readonly differ: number;
  readonly failed: number;
  /** Not compared: the reference failed, or is not here yet. */
  readonly unknown: number;
}

export interface AcrossTable {
  readonly alignment: Alignment;
  readonly reference: AlignedResult | null;
  readonly counts: AcrossCounts;
  /** No state has more than one row: values stand in the table itself. */
  readonly isInline: boolean;
  readonly isTruncated: boolean;
}

export function tabulate(results: readonly AcrossResultView[], referenceTarget: number): AcrossTable {
  const alignment = alignResults(results, referenceTarget);
  const reference = alignment.results.find(({ result }) => result.target === referenceTarget) ?? null;
  const counts = { same: 0, differ: 0, failed: 0, unknown: 0 };
  let [isInline, isTruncated] = [true, false];
  for (const aligned of alignment.results) {
    const standing = standingOf(aligned, referenceTarget);
    if (standing !== "reference") counts[standing] += 1;
    isInline &&= aligned.result.rows.length <= 1;
    isTruncated ||= aligned.result.truncated;
  }
  return { alignment, reference, counts, isInline, isTruncated };
}

function standingOf({ result, isSame }: AlignedResult, referenceTarget: number): Standing {
  if (result.error !== null) return "failed";
  if (result.target === referenceTarget) return "reference";
  return isSame === null ? "unknown" : isSame ? "same" : "differ";
}

/** The lines to show. The reference is always one of them, and the first, so that others can be read against it. */
export function linesOf(table: AcrossTable, referenceTarget: number, show: AcrossShow, isGrouped: boolean): AcrossLine[] {
  const lines = table.alignment.results.map((aligned): AcrossLine => ({
    targets: [aligned.result.target],
    aligned,
    standing: standingOf(aligned, referenceTarget),
  }));
  const shown = lines.filter(({ standing }) => show === "all" || standing === show || (standing === "reference" && show !== "failed"));
  if (isGrouped) return group(shown);
  const isReference = ({ standing }: AcrossLine): boolean => standing === "reference";
  return [...shown.filter(isReference), ...shown.filter((line) => !isReference(line))];
}

/** One line for equal results, largest group first; the reference's own is the first of all. */
function group(lines: readonly AcrossLine[]): AcrossLine[] {
  const groups = new Map<string, AcrossLine>();
  for (const line of lines) {
    const { digest, error } = line.aligned.result;
    const key = digest ?? `${error?.code} ${error?.message}`;
    const found = groups.get(key);
    if (!found) groups.set(key, line);
    else if (line.standing === "reference") groups.set(key, { ...line, targets: [...line.targets, ...found.targets] });
    else groups.set(key, { ...found, targets: [...found.targets, ...line.targets] });
  }
  const isFirst = ({ standing }: AcrossLine): number => (standing === "reference" ? 1 : 0);
  return [...groups.values()].toSorted((a, b) => isFirst(b) - isFirst(a) || b.targets.length - a.targets.length);
}

/** Columns of the table, those of the query behind our own. */
export function headsOf(table: AcrossTable, isGrouped: boolean): GridColumn[] {
  const own = [...(isGrouped ? ["States"] : []), isGrouped ? "State, and others like it" : "State", "Comparison"];
  const rest = table.isInline ? table.alignment.columns : ["Rows"];
  return [...own, ...rest].map((name) => ({ name, type: "", isKey: false }));
}

export function cellsOf(
  line: AcrossLine,
  table: AcrossTable,
  targets: readonly AcrossTargetView[],
  isGrouped: boolean,
): readonly DataValue[] {
  const { aligned } = line;
  const label = targetText(targets[aligned.result.target]);
  const others = line.targets.length - 1;
  const own: DataValue[] = isGrouped
    ? [line.targets.length, others === 0 ? label : `${label} and ${formatPlural(others, "other")}`]
    : [label];
  const hasFailed = aligned.result.error !== null;
  const rest = table.isInline
    ? hasFailed
      ? table.alignment.columns.map(() => "")
      : valuesOf(aligned)
    : [hasFailed ? "" : aligned.result.rows.length];
  return [...own, describeLine(line, table), ...rest];
}

function valuesOf({ result, positions }: AlignedResult): readonly DataValue[] {
  const [row] = result.rows;
  return positions.map((position) => (row === undefined ? NO_ROW : position === null ? NO_COLUMN : (row[position] ?? null)));
}

/** What stands where a state has no value at all: that is not NULL. */
export const NO_COLUMN = "no column";
const NO_ROW = "no row";

/** "attempt-2", "attempt-2@seed". */
export function targetText(target: AcrossTargetView | undefined): string {
  return target === undefined ? "" : placeText(target);
}

const MARKS: Readonly<Partial<Record<Standing, RowMark>>> = {
  differ: { sign: "~", word: "differs from the reference" },
  failed: { sign: "!", word: "failed" },
};

export function markOf(line: AcrossLine | undefined): RowMark | null {
  return (line && MARKS[line.standing]) ?? null;
}

/** "= same", "≠ total", "≠ 2 rows changed, 1 more", "failed: no such table". */
export function describeLine({ aligned, standing }: AcrossLine, table: AcrossTable): string {
  switch (standing) {
    case "reference":
      return "reference";
    case "same":
      return "= same";
    case "failed":
      return `failed: ${aligned.result.error?.message ?? ""}`;
    case "unknown":
      return "";
    case "differ":
      return table.reference === null ? "≠" : `≠ ${describeDifference(table.reference, aligned, table)}`;
  }
}

/** Found once for each pair: a table is drawn many times. */
const described = new WeakMap<AcrossResultView, { readonly than: AcrossResultView; readonly columns: number; readonly text: string }>();

function describeDifference(reference: AlignedResult, other: AlignedResult, table: AcrossTable): string {
  const columns = table.alignment.columns.length;
  const known = described.get(other.result);
  if (known && known.than === reference.result && known.columns === columns) return known.text;
  const text = findDifference(reference, other, table.alignment.columns);
  described.set(other.result, { than: reference.result, columns, text });
  return text;
}

function findDifference(reference: AlignedResult, other: AlignedResult, columns: readonly string[]): string {
  const missing = columns.filter((_, index) => reference.positions[index] !== null && other.positions[index] === null);
  const extra = columns.filter((_, index) => reference.positions[index] === null && other.positions[index] !== null);
  const shape = [missing.length > 0 ? `no column ${missing.join(", ")}` : "", extra.length > 0 ? `also column ${extra.join(", ")}` : ""];
  const { pairs, changed, onlyLeft, onlyRight } = pairRows(reference, other);
  const both = new Set(pairs.flatMap(({ differing }) => differing));
  const names = [...both]
    .filter((index) => reference.positions[index] !== null && other.positions[index] !== null)
    .toSorted((a, b) => a - b)
    .map((index) => columns[index] ?? "");
  const rows =
    pairs.length <= 1
      ? names.join(", ")
      : [
          changed > 0 && names.length > 0 ? `${formatPlural(changed, "row")} changed` : "",
          onlyRight > 0 ? `${formatCount(onlyRight)} more` : "",
          onlyLeft > 0 ? `${formatCount(onlyLeft)} missing` : "",
        ]
          .filter(Boolean)
          .join(", ");
  const single = pairs.length === 1 ? (onlyLeft > 0 ? "no row" : onlyRight > 0 ? "a row" : "") : "";
  const parts = [...shape, single, rows].filter(Boolean);
  return parts.length > 0 ? parts.join("; ") : "in rows that are not shown, or in their order";
}

/** A line a row of each state, for a file: which state, how it compares, its values. A state without rows has a line, too. */
export function exportCells(table: AcrossTable, targets: readonly AcrossTargetView[], referenceTarget: number): CopiedCells {
  const { columns, results } = table.alignment;
  const rows = results.flatMap((aligned) => {
    const { result, positions } = aligned;
    const standing = standingOf(aligned, referenceTarget);
    const head: DataValue[] = [
      targets[result.target]?.label ?? "",
      standing === "failed" ? `failed: ${result.error?.message ?? ""}` : standing === "unknown" ? null : WORDS[standing],
    ];
    const values = result.rows.map((row) => [
      ...head,
      ...positions.map((position) => (position === null ? null : (row[position] ?? null))),
    ]);
    return values.length > 0 ? values : [[...head, ...columns.map(() => null)]];
  });
  return { columns: ["state", "comparison", ...columns], rows, table: "across" };
}

const WORDS = { reference: "reference", same: "same", differ: "differs" } as const;
