import { ClipboardCopy, FileDown, FileText, Sheet } from "lucide-react";
import { csvLine, markdownHead, markdownRow } from "#shared/row-text.ts";
import type { UsageRow, UsageView } from "#shared/usage-views.ts";
import { formatBytes } from "#shared/units.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { formatCount, formatIso, formatPlural } from "../ui/format.ts";
import { Menu } from "../ui/menu.tsx";
import { saveText } from "../ui/save-file.ts";
import { toTsv } from "../ui/table-text.ts";
import { describeCount, PARTS } from "./usage-parts.ts";
import { sortRows } from "./usage-rows.ts";
import { useUsage } from "./usage-state.ts";

interface Column {
  readonly title: string;
  readonly value: (row: UsageRow) => string | number | null;
  readonly isBytes?: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "database", value: (row) => row.database },
  { title: "branch", value: (row) => row.branch },
  { title: "protected", value: (row) => (row.isProtected ? "yes" : "no") },
  { title: "unique bytes", value: (row) => row.uniqueBytes, isBytes: true },
  { title: "shared bytes", value: (row) => row.sharedBytes, isBytes: true },
  { title: "logical bytes", value: (row) => row.logicalBytes, isBytes: true },
  { title: "file bytes", value: (row) => row.fileBytes, isBytes: true },
  { title: "shared with", value: (row) => row.sharedWith.branch },
  { title: "and others", value: (row) => row.sharedWith.others },
];

/** A line a branch, exact bytes. */
export function toCsv(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) => csvLine(COLUMNS.map((column) => column.value(row))));
  return csvLine(COLUMNS.map((column) => column.title)) + lines.join("");
}

function physical(bytes: number | null): string {
  return bytes === null ? "unknown" : formatBytes(bytes);
}

/** What the screen shows, to be read: totals, parts and branches. */
export function toMarkdown(view: UsageView, rows: readonly UsageRow[]): string {
  const parts = view.parts.map((part) =>
    markdownRow([PARTS[part.name].long, describeCount(part), formatBytes(part.storedBytes), physical(part.physicalBytes)]),
  );
  const branches = rows.map((row) =>
    markdownRow(COLUMNS.map((column) => (column.isBytes ? formatBytes(Number(column.value(row))) : (column.value(row) ?? "–")))),
  );
  const isRight = COLUMNS.map((column) => column.isBytes === true || column.title === "and others");
  return [
    `# Usage of ${view.database ?? "the whole store"}\n\n`,
    `Measured ${formatIso(view.measuredAt)}. Logical ${formatBytes(view.logicalBytes)}, stored ${formatBytes(view.storedBytes)} (${formatCount(view.storedBytes)} bytes), physical ${physical(view.physicalBytes)}.\n\n`,
    markdownHead(["part", "count", "stored", "physical"], [false, true, true, true]),
    ...parts,
    markdownRow(["Total", "", formatBytes(view.storedBytes), physical(view.physicalBytes)]),
    "\n",
    markdownHead(
      COLUMNS.map((column) => column.title.replace(/ bytes$/, "")),
      isRight,
    ),
    ...branches,
  ].join("");
}

/** The branches that the filter lets through, in the order of the table. */
export function UsageExport({ view, rows }: { readonly view: UsageView; readonly rows: readonly UsageRow[] }) {
  const sort = useUsage((state) => state.sort);
  const listed = () => sortRows(rows, sort);
  const what = formatPlural(rows.length, "branch", "branches");
  const name = `usage-${view.database ?? "store"}`;
  return (
    <Menu
      label="Export"
      align="end"
      entries={[
        { kind: "item", id: "csv", label: "Save as CSV", icon: Sheet, run: () => saveText(`${name}.csv`, toCsv(listed()), "text/csv") },
        {
          kind: "item",
          id: "markdown",
          label: "Save as Markdown",
          icon: FileText,
          run: () => saveText(`${name}.md`, toMarkdown(view, listed()), "text/markdown"),
        },
        { kind: "separator", id: "line" },
        {
          kind: "item",
          id: "copy-table",
          label: `Copy ${what} for a spreadsheet`,
          icon: ClipboardCopy,
          run: () => void copyText(toTsv(COLUMNS, listed()), what),
        },
        {
          kind: "item",
          id: "copy-markdown",
          label: "Copy as Markdown",
          icon: ClipboardCopy,
          run: () => void copyText(toMarkdown(view, listed()), "usage as Markdown"),
        },
      ]}
    >
      <IconButton size="md" icon={FileDown} label="Export" />
    </Menu>
  );
}
