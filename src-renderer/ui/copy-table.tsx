import { ClipboardCopy } from "lucide-react";
import { IconButton } from "./button.tsx";
import { copyText } from "./copy.ts";
import { Menu } from "./menu.tsx";
import { formatPlural } from "./format.ts";
import { toJson, toTsv, type TextColumn } from "./table-text.ts";

/** "Copy" of a toolbar: the rows that are shown, for a spreadsheet or a program. */
export function CopyTable<Row>({ columns, rows }: { readonly columns: readonly TextColumn<Row>[]; readonly rows: readonly Row[] }) {
  const what = formatPlural(rows.length, "row");
  return (
    <Menu
      label="Copy table"
      align="end"
      entries={[
        { kind: "item", id: "tsv", label: `Copy ${what} for a spreadsheet`, run: () => void copyText(toTsv(columns, rows), what) },
        { kind: "item", id: "json", label: `Copy ${what} as JSON`, run: () => void copyText(toJson(columns, rows), what) },
      ]}
    >
      <IconButton size="md" icon={ClipboardCopy} label="Copy table" disabled={rows.length === 0} />
    </Menu>
  );
}
