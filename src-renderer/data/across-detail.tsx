import { X } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { pairRows, type AlignedResult, type RowPair } from "#shared/query-compare.ts";
import type { DataValue } from "#shared/query-views.ts";
import { IconButton } from "../ui/button.tsx";
import { formatCount } from "../ui/format.ts";
import { Segmented } from "../ui/segmented.tsx";
import { EmptyState, ErrorPanel } from "../ui/states.tsx";
import { NO_COLUMN, targetText, type AcrossTable } from "./across-rows.ts";
import { showAcross, type AcrossQuestion } from "./across-session.ts";
import { ValueGrid, type GridColumn, type RowMark } from "./value-grid.tsx";

interface DetailProps {
  readonly question: AcrossQuestion;
  readonly table: AcrossTable;
  readonly reference: AlignedResult;
  readonly chosen: AlignedResult;
}

type Layout = "split" | "unified";

/** Rows of one state beside those of the reference. */
export function AcrossDetail({ question, table, reference, chosen }: DetailProps) {
  const [layout, setLayout] = useState<Layout>("split");
  const [left = "", right = ""] = [reference, chosen].map(({ result }) => targetText(question.targets[result.target]));
  const isReference = chosen.result.target === reference.result.target;
  const failure = chosen.result.error ?? reference.result.error;
  return (
    <section aria-label="Rows" data-pane="rows" className="flex h-2/5 flex-none flex-col border-t border-line-strong">
      <div className="flex h-9 flex-none items-center gap-2 bg-surface px-3 text-xs">
        <span className="name-cut">
          {isReference ? (
            <b className="font-semibold">{left}</b>
          ) : (
            <>
              <span className="text-del">− {left}</span> <span className="text-add">+ {right}</span>
            </>
          )}
        </span>
        <span className="flex-1" />
        {isReference || failure ? null : (
          <Segmented
            label="Layout"
            size="sm"
            value={layout}
            segments={[
              { value: "split", label: "Side by side" },
              { value: "unified", label: "One under the other" },
            ]}
            onChange={setLayout}
          />
        )}
        <IconButton icon={X} label="Close the rows" onClick={() => showAcross({ focused: null })} />
      </div>
      {failure ? (
        <div className="overflow-auto p-3">
          <ErrorPanel error={failure} />
        </div>
      ) : (
        <Pairs key={`${chosen.result.target} ${layout}`} {...{ table, reference, chosen, layout, left, right }} isReference={isReference} />
      )}
    </section>
  );
}

interface PairsProps extends Omit<DetailProps, "question"> {
  readonly layout: Layout;
  readonly left: string;
  readonly right: string;
  readonly isReference: boolean;
}

interface PairLine {
  readonly cells: readonly DataValue[];
  readonly mark: RowMark | null;
  /** Columns of the query that differ, where both values stand in one line. */
  readonly differing: readonly number[];
}

const CHANGED: RowMark = { sign: "~", word: "differs" };
const ONLY_LEFT: RowMark = { sign: "−", word: "only in the reference" };
const ONLY_RIGHT: RowMark = { sign: "+", word: "only here" };

function Pairs({ table, reference, chosen, layout, left, right, isReference }: PairsProps) {
  const { columns } = table.alignment;
  const pairs = useMemo(() => pairRows(reference, chosen), [reference, chosen]);
  const isSplit = layout === "split" && !isReference;
  const split = useMemo(() => splitColumns(columns, pairs.pairs, reference, chosen), [columns, pairs, reference, chosen]);
  const lines = useMemo(
    () => pairs.pairs.flatMap((pair) => (isSplit ? [splitLine(pair, split)] : unifiedLines(pair, reference, chosen))),
    [pairs, isSplit, split, reference, chosen],
  );
  const heads = useMemo((): GridColumn[] => {
    if (!isSplit) return columns.map((name) => ({ name, type: "", isKey: false }));
    const titles = { both: "the same on both sides", left, right } as const;
    return split.map(({ name, side }) => ({ name: `${SIGNS[side]}${name}`, type: "", isKey: false, title: titles[side] }));
  }, [columns, isSplit, split, left, right]);
  const rowAt = useCallback((index: number) => lines[index]?.cells ?? null, [lines]);
  if (lines.length === 0) return <EmptyState text="No rows on either side." />;
  return (
    <ValueGrid
      label={isReference ? "Rows of the reference" : "Rows beside the reference"}
      columns={heads}
      count={lines.length}
      rowAt={rowAt}
      rowMark={(index) => lines[index]?.mark ?? null}
      isChangedAt={(row, column) => isSplit && (lines[row]?.differing.includes(split[column]?.index ?? -1) ?? false)}
      {...(isSplit ? {} : { numberAt: () => null })}
      status={
        isReference ? (
          "the reference"
        ) : (
          <span>
            {formatCount(pairs.changed)} changed, {formatCount(pairs.onlyRight)} only here, {formatCount(pairs.onlyLeft)} only in the
            reference · rows meet by {pairs.by === "first column" ? columns[0] : "their position"}
          </span>
        )
      }
    />
  );
}

function markOf({ left, right, differing }: RowPair): RowMark | null {
  if (left === null) return ONLY_RIGHT;
  if (right === null) return ONLY_LEFT;
  return differing.length > 0 ? CHANGED : null;
}

/** A column whose values are the same in all rows stands once; others twice, what was beside what is. */
interface SplitColumn {
  readonly name: string;
  readonly index: number;
  readonly side: "both" | "left" | "right";
}

const SIGNS = { both: "", left: "− ", right: "+ " } as const;

function splitColumns(
  columns: readonly string[],
  pairs: readonly RowPair[],
  { positions: lefts }: AlignedResult,
  { positions: rights }: AlignedResult,
): SplitColumn[] {
  const differing = new Set(pairs.flatMap((pair) => pair.differing));
  return columns.flatMap((name, index): SplitColumn[] => {
    if (!differing.has(index) && lefts[index] !== null && rights[index] !== null) return [{ name, index, side: "both" }];
    return [
      ...(lefts[index] === null ? [] : [{ name, index, side: "left" } as const]),
      ...(rights[index] === null ? [] : [{ name, index, side: "right" } as const]),
    ];
  });
}

function splitLine(pair: RowPair, split: readonly SplitColumn[]): PairLine {
  const { left, right } = pair;
  const cells = split.map(({ index, side }) => {
    const row = side === "left" ? left : side === "right" ? right : (right ?? left);
    return row === null ? NO_ROW : (row[index] ?? null);
  });
  return { cells, mark: markOf(pair), differing: left && right ? pair.differing : [] };
}

const NO_ROW = "no such row";

function unifiedLines(pair: RowPair, reference: AlignedResult, chosen: AlignedResult): PairLine[] {
  const left = cellsOfSide(pair.left, reference);
  const right = cellsOfSide(pair.right, chosen);
  if (left && right && pair.differing.length === 0) return [{ cells: right, mark: null, differing: [] }];
  return [
    ...(left ? [{ cells: left, mark: ONLY_LEFT, differing: [] }] : []),
    ...(right ? [{ cells: right, mark: ONLY_RIGHT, differing: [] }] : []),
  ];
}

/** A side that has no such column says so: that is not NULL. */
function cellsOfSide(row: RowPair["left"], { positions }: AlignedResult): readonly DataValue[] | null {
  return row === null ? null : row.map((value, index) => (positions[index] === null ? NO_COLUMN : value));
}
