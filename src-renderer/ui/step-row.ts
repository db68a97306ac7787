/**
 * The nearest row that can be selected, `step` rows from `index`; beyond the ends the last one there. Answers `index`
 * when there is none in that direction.
 */
export function stepRow<Row>(rows: readonly Row[], index: number, step: number, isSelectable: (row: Row) => boolean): number {
  const direction = Math.sign(step);
  let target = Math.min(Math.max(index + step, 0), rows.length - 1);
  for (; target >= 0 && target < rows.length; target += direction) {
    const row = rows[target];
    if (row !== undefined && isSelectable(row)) return target;
    if (direction === 0) break;
  }
  return index;
}
