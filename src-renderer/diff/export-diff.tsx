import { FileDown } from "lucide-react";
import { useState } from "react";
import type { DiffView } from "#shared/diff-views.ts";
import { useApi } from "../api/queries.ts";
import { SaveDialog } from "../dialogs/save-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { CheckField } from "../ui/field.tsx";
import { Menu, type MenuEntry } from "../ui/menu.tsx";
import { ROW_KINDS, useDiff } from "./diff-session.ts";

type Format = "sql" | "csv" | "json" | "markdown";
const FORMATS: Readonly<Record<Format, { readonly title: string; readonly ending: string }>> = {
  sql: { title: "SQL script that turns left into right", ending: "sql" },
  csv: { title: "CSV of changed rows", ending: "csv" },
  json: { title: "Changeset as JSON", ending: "json" },
  markdown: { title: "Markdown", ending: "md" },
};

/** "Export": a menu of formats, then the file. */
export function ExportDiff({ view }: { readonly view: DiffView }) {
  const [format, setFormat] = useState<Format | null>(null);
  const table = useDiff((session) => session.table);
  const entries = (Object.keys(FORMATS) as Format[]).map((each): MenuEntry => ({
    kind: "item",
    id: each,
    label: `${FORMATS[each].title}…`,
    // A table of its own columns has no place in a CSV file beside another.
    disabled: each === "csv" && table === null,
    run: () => setFormat(each),
  }));
  return (
    <>
      <Menu label="Export" align="end" entries={entries}>
        <Button icon={FileDown}>Export</Button>
      </Menu>
      {format ? <ExportDialog view={view} format={format} onClose={() => setFormat(null)} /> : null}
    </>
  );
}

function ExportDialog({ view, format, onClose }: { readonly view: DiffView; readonly format: Format; readonly onClose: () => void }) {
  const api = useApi();
  const table = useDiff((session) => session.table);
  const kinds = useDiff((session) => session.kinds);
  const [only, setOnly] = useState(format === "csv");
  const isFiltered = format !== "sql" && kinds.size < ROW_KINDS.length;
  const filter = {
    ...(only && table !== null ? { tables: [table] } : {}),
    ...(isFiltered ? { kinds: [...kinds] } : {}),
  };
  return (
    <SaveDialog
      title={FORMATS[format].title}
      description={`${view.left.label} → ${view.right.label}${isFiltered ? `, only ${[...kinds].join(" and ")} rows` : ""}`}
      suggested={`${only ? (table ?? "diff") : "diff"}.${FORMATS[format].ending}`}
      what="the comparison"
      save={(file, overwrite) => api.request("diff.export", { id: view.id, format, file, ...filter, ...overwrite })}
      onClose={onClose}
    >
      {format === "csv" || table === null ? null : (
        <CheckField label={`Only table ${table}`} checked={only} onChange={(event) => setOnly(event.target.checked)} />
      )}
    </SaveDialog>
  );
}
