import type { DiffColumnView, DiffValue, RowChangeView } from "#shared/diff-views.ts";

const CELL_CHARS = 60;

/** One line: all values of a row that came or went, and of a changed one its key and what changed. */
export function rowText(columns: readonly DiffColumnView[], { kind, old, new: current, changed }: RowChangeView): string {
  const shown = columns.flatMap(({ name, isKey, generated, side }, index) => {
    if (generated === "virtual" || (kind === "insert" && side === "left") || (kind === "delete" && side === "right")) return [];
    if (kind !== "update") return [`${name}=${cell(kind === "insert" ? current : old, index)}`];
    if (changed.includes(index)) return [`${name}: ${cell(old, index)} → ${cell(current, index)}`];
    return isKey ? [`${name}=${cell(current, index)}`] : [];
  });
  return shown.join("  ");
}

function cell(values: readonly DiffValue[] | null, index: number): string {
  return shorten(cellText(values?.[index] ?? null));
}

/** Text stands in quotes, so that it is told from NULL and from numbers. */
function cellText(value: DiffValue): string {
  if (value === null) return "NULL";
  if (typeof value === "string") return `'${value}'`;
  if (typeof value === "number") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return `'${value.text}…'`;
  return `x'${"blob" in value ? value.blob : value.invalidText}'`;
}

function shorten(text: string): string {
  const line = text.replaceAll("\n", String.raw`\n`);
  return line.length > CELL_CHARS ? `${line.slice(0, CELL_CHARS - 1)}…` : line;
}
