import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../ui/button.tsx";
import { formatPlural } from "../ui/format.ts";
import { EmptyState, Skeleton } from "../ui/states.tsx";
import { cellsOf, headsOf, markOf, type AcrossLine, type AcrossTable } from "./across-rows.ts";
import { chooseReference, isUnderWay, showAcross, useAcross, type AcrossQuestion } from "./across-session.ts";
import { openData } from "./data-session.ts";
import type { GridPlace } from "./grid-selection.ts";
import { ValueGrid } from "./value-grid.tsx";

interface AcrossGridProps {
  readonly question: AcrossQuestion;
  readonly table: AcrossTable;
  readonly lines: readonly AcrossLine[];
}

/** A line a state, or a line a group of equal ones. The line with the keyboard is shown beside the reference. */
export function AcrossGrid({ question, table, lines }: AcrossGridProps) {
  const isGrouped = useAcross((session) => session.isGrouped);
  const focused = useAcross((session) => session.focused);
  const { targets } = question;
  const columns = useMemo(() => headsOf(table, isGrouped), [table, isGrouped]);
  const rowAt = useCallback(
    (index: number) => {
      const line = lines[index];
      return line ? cellsOf(line, table, targets, isGrouped) : null;
    },
    [lines, table, targets, isGrouped],
  );
  const [row, setRow] = useState(0);
  const open = (index: number) => {
    const line = lines[index];
    if (line) showAcross({ focused: line.aligned.result.target });
  };
  const isOpen = focused !== null;
  // Once rows are shown they follow the keyboard; lines that come in meanwhile do not change them.
  const onFocusCell = useCallback((place: GridPlace | null) => setRow(place?.row ?? 0), []);
  const followed = useRef(row);
  useEffect(() => {
    const line = lines[row];
    if (isOpen && line && followed.current !== row) showAcross({ focused: line.aligned.result.target });
    followed.current = row;
  }, [isOpen, lines, row]);
  if (lines.length === 0) {
    if (isUnderWay(question)) return <Skeleton lines={6} className="px-3" />;
    return <EmptyState text="No state is like that." action={<Button onClick={() => showAcross({ show: "all" })}>Show all</Button>} />;
  }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <ValueGrid
        label="Answers of the states"
        columns={columns}
        count={lines.length}
        rowAt={rowAt}
        rowMark={(index) => markOf(lines[index])}
        onFocusCell={onFocusCell}
        onOpenValue={open}
        table="across"
        status={
          <>
            <span>{formatPlural(lines.length, isGrouped ? "group" : "state")}</span>
            {focused === null ? (
              <Button size="sm" variant="ghost" shortcut="Enter" onClick={() => open(row)}>
                Show its rows
              </Button>
            ) : (
              <Acts question={question} focused={focused} />
            )}
          </>
        }
      />
    </div>
  );
}

/** What can be done with the state whose rows are shown. */
function Acts({ question, focused }: { readonly question: AcrossQuestion; readonly focused: number }) {
  const reference = useAcross((session) => session.reference);
  const chosen = question.targets[focused];
  if (!chosen) return null;
  const { branch, at } = chosen;
  return (
    <>
      {focused === reference ? null : (
        <Button size="sm" variant="ghost" onClick={() => chooseReference(focused)}>
          Compare with {branch}
        </Button>
      )}
      <Button size="sm" variant="ghost" onClick={() => openData({ database: question.database, branch, at }, "sql")}>
        Open {branch} in SQL
      </Button>
    </>
  );
}
