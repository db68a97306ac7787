import { isBlob, isCut } from "#shared/sql-literal.ts";
import { Eraser, Eye, Pencil, Trash2, Undo2 } from "lucide-react";
import type { DataValue } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import { copyText } from "../ui/copy.ts";
import { formatCount, formatPlural } from "../ui/format.ts";
import type { MenuEntry } from "../ui/menu.tsx";
import { showError, showToast } from "../ui/toasts.ts";
import { COPY_FORMATS, formatCells, type CopyFormat } from "./copy-values.ts";
import { countTo, isSingle, type GridRange } from "./grid-selection.ts";
import type { ValueGridProps } from "./value-grid.tsx";

/** What is chosen, and where its values come from. */
export interface CopySource extends Pick<ValueGridProps, "columns" | "rowAt" | "readWhole" | "table" | "editing" | "onOpenValue"> {
  readonly range: GridRange | null;
}

/** Values that are read whole for one copy; beyond, the beginnings are copied, and that is said. */
const WHOLE_MAX = 64;

/** Puts what is chosen on the clipboard, and says so. */
export async function copyRange(format: CopyFormat, source: CopySource): Promise<void> {
  const { range, columns } = source;
  if (range === null) return;
  try {
    const { rows, cut } = await readRange(source, range);
    const names = countTo(range.left, range.right).map((index) => columns[index]?.name ?? "");
    await copyText(formatCells(format, { columns: names, rows, table: source.table ?? "result" }), describe(range, names, cut));
  } catch (error) {
    if (error instanceof RangeError) showToast({ text: `Not copied: ${error.message}`, tone: "warn" });
    else showError(toErrorView(error), () => void copyRange(format, source));
  }
}

function describe(range: GridRange, names: readonly string[], cut: number): string {
  const what = isSingle(range)
    ? (names[0] ?? "value")
    : `${formatPlural(range.bottom - range.top + 1, "row")} of ${names.length === 1 ? names[0] : formatPlural(names.length, "column")}`;
  return cut === 0 ? what : `${what}; of ${formatPlural(cut, "long value")} the beginning only`;
}

/** The values of a rectangle, the long ones whole as far as there are few. */
async function readRange(source: CopySource, range: GridRange): Promise<{ readonly rows: DataValue[][]; readonly cut: number }> {
  const rows: DataValue[][] = [];
  let [whole, cut] = [0, 0];
  for (const row of countTo(range.top, range.bottom)) {
    const values = source.rowAt(row);
    if (values === null) continue;
    const copied: DataValue[] = [];
    for (const column of countTo(range.left, range.right)) {
      const value = values[column] ?? null;
      const isRead = isCut(value) && source.readWhole !== undefined && whole < WHOLE_MAX;
      if (isRead) whole += 1;
      else if (isCut(value)) cut += 1;
      // oxlint-disable-next-line no-await-in-loop -- one at a time: each may be large
      copied.push(isRead && source.readWhole ? await source.readWhole(row, column) : value);
    }
    rows.push(copied);
  }
  return { rows, cut };
}

/** "Copy", and the formats. A literal is offered for what has no other exact text. */
export function copyEntries(source: CopySource): readonly MenuEntry[] {
  const { range } = source;
  if (range === null) return [];
  const formats: readonly CopyFormat[] = ["raw", "headers", "csv", "json", "sql", "markdown", "literal"];
  const isBytes = isSingle(range) && isBlob(source.rowAt(range.top)?.[range.left] ?? null);
  return formats.map((format) => ({
    kind: "item",
    id: format,
    label: format === "literal" && isBytes ? "Copy as blob literal" : COPY_FORMATS[format].label,
    shortcut: format === "raw" ? "Mod+C" : undefined,
    run: () => void copyRange(format, source),
  }));
}

/** What can be done to the cells that are chosen. */
export function editEntries(
  { range, editing, onOpenValue }: CopySource,
  acts: { readonly open: () => void; readonly openValue: () => void },
): readonly MenuEntry[] {
  if (range === null) return [];
  const view: readonly MenuEntry[] = onOpenValue
    ? [{ kind: "item", id: "view", label: "Show the whole value", icon: Eye, run: acts.openValue }]
    : [];
  if (!editing) return view.length === 0 ? [] : [...view, { kind: "separator", id: "copying" }];
  const why = editing.whyNot(range.top, range.left);
  const rows = range.bottom - range.top + 1;
  return [
    ...view,
    {
      kind: "item",
      id: "edit",
      label: why === null ? "Edit" : `Edit: ${why}`,
      icon: Pencil,
      shortcut: "F2",
      disabled: why !== null,
      run: acts.open,
    },
    {
      kind: "item",
      id: "null",
      label: "Set to NULL",
      icon: Eraser,
      shortcut: "Backspace",
      disabled: why !== null,
      run: () => editing.setNull(range),
    },
    {
      kind: "item",
      id: "delete",
      label: rows === 1 ? "Delete the row" : `Delete ${formatCount(rows)} rows`,
      icon: Trash2,
      shortcut: "Delete",
      danger: true,
      run: () => editing.deleteRows(range),
    },
    { kind: "item", id: "revert", label: "Take back changes", icon: Undo2, run: () => editing.revert(range) },
    { kind: "separator", id: "copying" },
  ];
}
