import { ClipboardCopy, KeyRound } from "lucide-react";
import type { DataColumnView, DataKeyView, DataObjectView, DataTableView } from "#shared/query-views.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { formatPlural } from "../ui/format.ts";

export interface StructureProps {
  readonly table: DataTableView;
  readonly columns: readonly DataColumnView[];
  readonly key: DataKeyView | null;
  /** Indexes and triggers of this table. */
  readonly objects: readonly DataObjectView[];
}

/** What a table is made of: columns, what tells rows apart, indexes, triggers, and the SQL that made them. */
export function StructurePane({ structure }: { readonly structure: StructureProps }) {
  const { table, columns, objects } = structure;
  const indexes = objects.filter(({ type }) => type === "index");
  const triggers = objects.filter(({ type }) => type === "trigger");
  return (
    <div
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      tabIndex={0}
      data-pane-focus
      role="region"
      aria-label={`Structure of ${table.name}`}
      className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto p-4 text-xs select-text"
    >
      {table.problem === null ? <p className="text-ink-2">{keySentence(structure)}</p> : null}
      {columns.length > 0 ? <ColumnTable columns={columns} /> : null}
      {table.sql === null ? null : <Definition title={table.kind === "view" ? "View" : "Table"} sql={table.sql} />}
      {indexes.map(({ name, sql }) => (
        <Definition key={`index ${name}`} title={`Index ${name}`} sql={sql ?? "made by a PRIMARY KEY or UNIQUE of the table"} />
      ))}
      {triggers.map(({ name, sql }) => (
        <Definition key={`trigger ${name}`} title={`Trigger ${name}`} sql={sql ?? ""} />
      ))}
    </div>
  );
}

function keySentence({ table, key }: StructureProps): string {
  const traits = [table.isStrict ? "STRICT" : null, table.withoutRowid ? "WITHOUT ROWID" : null].filter(Boolean).join(", ");
  const about = traits === "" ? "" : ` ${traits}.`;
  if (key === null || key.kind === "none") return `Its rows have no key: they are counted off, and cannot be edited here.${about}`;
  if (key.kind === "primary key") return `Rows are told apart by the primary key (${key.columns.join(", ")}).${about}`;
  if (key.isStable) return `Rows are told apart by ${key.columns[0] ?? "rowid"}, which is the rowid.${about}`;
  return `Rows are told apart by their rowid, which VACUUM may give to others.${about}`;
}

function ColumnTable({ columns }: { readonly columns: readonly DataColumnView[] }) {
  return (
    <table className="w-max min-w-120 border-collapse text-left">
      <caption className="pb-1 text-left text-2xs font-medium text-ink-3">{formatPlural(columns.length, "column")}</caption>
      <thead className="bg-sunken text-2xs text-ink-3">
        <tr>
          {["", "Name", "Type", "Null", "Default", "Generated"].map((head) => (
            <th key={head} scope="col" className="border-b border-line px-2.5 py-1 font-medium">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="font-mono">
        {columns.map((column) => (
          <tr key={column.name} className="border-b border-line/60">
            <td className="px-2.5 py-0.5">
              {column.keyPosition > 0 ? (
                <KeyRound size={12} aria-label={`key, position ${column.keyPosition}`} className="text-ink-3" />
              ) : null}
            </td>
            <td className="px-2.5 py-0.5 whitespace-pre">{column.name}</td>
            <td className="px-2.5 py-0.5 text-ink-2">{column.type}</td>
            <td className="px-2.5 py-0.5 text-ink-2">{column.notNull ? "NOT NULL" : ""}</td>
            <td className="max-w-80 truncate px-2.5 py-0.5 text-ink-2">{column.default ?? ""}</td>
            <td className="px-2.5 py-0.5 text-ink-2">{column.isHidden ? "hidden" : column.generated === "no" ? "" : column.generated}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Definition({ title, sql }: { readonly title: string; readonly sql: string }) {
  return (
    <section aria-label={title} className="max-w-240 rounded-md border border-line">
      <header className="flex h-7 items-center gap-2 border-b border-line bg-surface px-2.5 text-2xs font-medium text-ink-2">
        <span className="name-cut">{title}</span>
        <span className="ml-auto" />
        <IconButton icon={ClipboardCopy} label={`Copy the SQL of ${title}`} className="size-5!" onClick={() => void copyText(sql, "SQL")} />
      </header>
      <pre className="overflow-x-auto px-2.5 py-1.5 font-mono text-xs whitespace-pre-wrap">{sql}</pre>
    </section>
  );
}
