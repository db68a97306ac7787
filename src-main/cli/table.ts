import { formatDuration } from "#shared/units.ts";
import { makeVisible, widthOf, type Terminal } from "./terminal.ts";

export interface Column {
  readonly title: string;
  /** Numbers are aligned to the right. */
  readonly align?: "right";
  /** Shown also when it is empty in every row. */
  readonly isKept?: boolean;
}

/** Columns as wide as their widest cell; columns that are empty in every row are left out, unless kept. No rows: the empty text. */
export function formatTable(terminal: Terminal, columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const shown = columns.flatMap((column, index) => {
    // A cell is one line, whatever somebody called themselves.
    const cells = rows.map((row) => makeVisible((row[index] ?? "").replaceAll("\n", "\\n")));
    return column.isKept || cells.some((cell) => cell !== "")
      ? [{ ...column, cells, width: Math.max(column.title.length, ...cells.map(widthOf)) }]
      : [];
  });
  const line = (cells: readonly string[]) =>
    shown
      .map(({ width, align }, index) => {
        const cell = cells[index] ?? "";
        const room = " ".repeat(Math.max(0, width - widthOf(cell)));
        return align === "right" ? room + cell : cell + room;
      })
      .join("  ")
      .trimEnd();
  const header = terminal.paint("dim", line(shown.map((column) => column.title)));
  return [header, ...rows.map((_, row) => line(shown.map((column) => column.cells[row] ?? "")))].join("\n");
}

/** `name  value` lines; those without a value are left out. */
export function formatFacts(terminal: Terminal, facts: readonly (readonly [name: string, value: string])[]): string {
  const shown = facts.filter(([, value]) => value !== "");
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${terminal.paint("dim", name.padEnd(width))}  ${value}`).join("\n");
}

/** "3 h ago", from the largest unit. */
export function formatAgo(at: number, now: number = Date.now()): string {
  const age = now - at;
  if (age < 1_000) return "now";
  return `${/^\d+ \w+/.exec(formatDuration(age))?.[0] ?? ""} ago`;
}

/** 12345 → "12,345". */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
