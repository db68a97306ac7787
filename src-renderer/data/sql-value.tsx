import { isCut } from "#shared/sql-literal.ts";
import { ClipboardCopy, X } from "lucide-react";
import { formatBytes } from "#shared/units.ts";
import type { DataValue } from "#shared/query-views.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { fullText, typeName, valueBytes } from "../ui/value-text.ts";

interface SqlValueProps {
  readonly column: string;
  readonly row: number;
  readonly value: DataValue;
  readonly onClose: () => void;
}

/** One value of a result, as far as the answer has it. */
export function SqlValue({ column, row, value, onClose }: SqlValueProps) {
  const bytes = valueBytes(value);
  const text = fullText(value);
  return (
    <section aria-label="Value" data-pane="value" className="flex h-40 flex-none flex-col border-t border-line bg-surface text-xs">
      <div className="flex h-8 flex-none items-center gap-2 px-3">
        <b className="name-cut font-semibold">{column}</b>
        <span className="shrink-0 text-ink-3 tabular-nums">
          row {row} · {typeName(value)}
          {bytes === null ? "" : ` · ${formatBytes(bytes)}`}
          {isCut(value) ? " · the beginning is shown, an export has all of it" : ""}
        </span>
        <span className="flex-1" />
        <IconButton icon={ClipboardCopy} label="Copy the value" disabled={text === ""} onClick={() => void copyText(text, column)} />
        <IconButton icon={X} label="Close the value" onClick={onClose} />
      </div>
      <div className="mx-3 mb-3 min-h-0 flex-1 overflow-auto rounded-md border border-line bg-canvas px-2 py-1 font-mono whitespace-pre-wrap select-text wrap-anywhere">
        {value === null ? <i className="font-sans text-ink-3">NULL</i> : text}
      </div>
    </section>
  );
}
