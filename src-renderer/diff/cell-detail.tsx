import { ClipboardCopy } from "lucide-react";
import { formatBytes } from "#shared/units.ts";
import type { DiffValue, RowChangeView, TableDiffView } from "#shared/diff-views.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { cx } from "../ui/cx.ts";
import { useDiff } from "./diff-session.ts";
import { sideText } from "./side-text.ts";
import { fullText, typeName, valueBytes, valuesOf, valueText } from "../ui/value-text.ts";
import type { VisibleColumn } from "./visible-columns.ts";

/** The value with the keyboard, whole, as it was and as it is. */
export function CellDetail(props: { readonly table: TableDiffView; readonly row: RowChangeView; readonly column: VisibleColumn }) {
  const { table, row, column } = props;
  const left = useDiff((session) => session.left);
  const right = useDiff((session) => session.right);
  const [old, current] = valuesOf(row, column.index, column.column);
  const key = table.columns
    .flatMap((each, index) => (each.isKey ? [`${each.name} ${valueText((row.new ?? row.old)?.[index]).text}`] : []))
    .join(", ");
  return (
    <section aria-label="Value" data-pane="value" className="flex h-32 flex-none flex-col border-t border-line bg-surface">
      <div className="flex h-8 flex-none items-center gap-2 px-3 text-xs">
        <b className="name-cut font-semibold">
          {table.name}.{column.column.name}
        </b>
        <span className="name-cut text-ink-3">
          {key} {column.column.type ? `· ${column.column.type}` : ""}
        </span>
      </div>
      <div className="grid min-h-0 flex-1 grid-cols-2 gap-3 px-3 pb-3">
        <Side title={`− ${left ? sideText(left) : "left"}`} className="text-del" isAbsent={row.old === null} value={old} />
        <Side title={`+ ${right ? sideText(right) : "right"}`} className="text-add" isAbsent={row.new === null} value={current} />
      </div>
    </section>
  );
}

interface SideProps {
  readonly title: string;
  readonly className: string;
  /** Whether this side has no such row. */
  readonly isAbsent: boolean;
  readonly value: DiffValue | undefined;
}

function Side({ title, className, isAbsent, value }: SideProps) {
  const bytes = valueBytes(value);
  const text = fullText(value);
  return (
    <div className="flex min-h-0 flex-col overflow-hidden rounded-md border border-line bg-canvas text-xs">
      <div className="flex h-5.5 flex-none items-center gap-2 border-b border-line bg-surface px-2 text-2xs text-ink-3">
        <span className={cx("name-cut", className)}>{title}</span>
        <span className="ml-auto shrink-0 tabular-nums">
          {isAbsent ? "" : typeName(value)}
          {bytes === null ? "" : ` · ${formatBytes(bytes)}`}
        </span>
        <IconButton
          icon={ClipboardCopy}
          label={`Copy the value of ${title.slice(2)}`}
          disabled={text === ""}
          onClick={() => void copyText(text, "value")}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto px-2 py-1 font-mono whitespace-pre-wrap select-text wrap-anywhere">
        {isAbsent ? <Absent text="no such row" /> : value === null || value === undefined ? <Absent text={typeName(value)} /> : text}
      </div>
    </div>
  );
}

function Absent({ text }: { readonly text: string }) {
  return <i className="font-sans text-ink-3">{text}</i>;
}
