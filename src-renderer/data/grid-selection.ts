/** Which cells of a grid are chosen: the rectangle between where the choice began and where the keyboard is. */

export interface GridPlace {
  readonly row: number;
  readonly column: number;
}

export interface GridSelection {
  readonly anchor: GridPlace;
  readonly focus: GridPlace;
}

export interface GridRange {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

interface GridSize {
  readonly rows: number;
  readonly columns: number;
}

export const TOP_LEFT: GridSelection = { anchor: { row: 0, column: 0 }, focus: { row: 0, column: 0 } };

/** Null in a grid without cells. */
export function rangeOf({ anchor, focus }: GridSelection, size: GridSize): GridRange | null {
  if (size.rows === 0 || size.columns === 0) return null;
  const a = clampPlace(anchor, size);
  const b = clampPlace(focus, size);
  return {
    top: Math.min(a.row, b.row),
    bottom: Math.max(a.row, b.row),
    left: Math.min(a.column, b.column),
    right: Math.max(a.column, b.column),
  };
}

export function clampPlace({ row, column }: GridPlace, { rows, columns }: GridSize): GridPlace {
  return { row: Math.max(0, Math.min(rows - 1, row)), column: Math.max(0, Math.min(columns - 1, column)) };
}

export function isInside(range: GridRange, row: number, column: number): boolean {
  return row >= range.top && row <= range.bottom && column >= range.left && column <= range.right;
}

export function isSingle({ top, bottom, left, right }: GridRange): boolean {
  return top === bottom && left === right;
}

export function countTo(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** What is chosen after a key; null for a key that chooses nothing. `page`: rows of a screen. */
export function stepSelection(selection: GridSelection, event: Key, size: GridSize, page: number): GridSelection | null {
  if (event.altKey) return null;
  const far = event.ctrlKey || event.metaKey;
  if (far && event.key.toLowerCase() === "a") return allCells(size);
  if (event.key === " " && event.shiftKey)
    return wholeRows(clampPlace(selection.focus, size).row, clampPlace(selection.anchor, size).row, size);
  const step = stepOf(event.key, far, page);
  if (step === null) return null;
  const from = clampPlace(selection.focus, size);
  const focus = clampPlace({ row: from.row + step.row, column: from.column + step.column }, size);
  return event.shiftKey ? { anchor: clampPlace(selection.anchor, size), focus } : { anchor: focus, focus };
}

const FAR = 1e9;

function stepOf(key: string, far: boolean, page: number): GridPlace | null {
  const steps: Readonly<Record<string, GridPlace>> = {
    ArrowDown: { row: far ? FAR : 1, column: 0 },
    ArrowUp: { row: far ? -FAR : -1, column: 0 },
    ArrowRight: { row: 0, column: far ? FAR : 1 },
    ArrowLeft: { row: 0, column: far ? -FAR : -1 },
    PageDown: { row: page, column: 0 },
    PageUp: { row: -page, column: 0 },
    Home: far ? { row: -FAR, column: -FAR } : { row: 0, column: -FAR },
    End: far ? { row: FAR, column: FAR } : { row: 0, column: FAR },
  };
  return steps[key] ?? null;
}

function allCells({ rows, columns }: GridSize): GridSelection {
  return { anchor: { row: 0, column: 0 }, focus: { row: Math.max(0, rows - 1), column: Math.max(0, columns - 1) } };
}

export function wholeRows(row: number, anchorRow: number, { columns }: GridSize): GridSelection {
  return { anchor: { row: anchorRow, column: 0 }, focus: { row, column: Math.max(0, columns - 1) } };
}
