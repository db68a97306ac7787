import { useState } from "react";
import type { DataValue } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import { Button } from "../ui/button.tsx";
import { Segmented } from "../ui/segmented.tsx";
import { ErrorPanel, Skeleton } from "../ui/states.tsx";
import { plainText } from "./copy-values.ts";
import { kindOf, parseAs, type ValueKind } from "./parse-value.ts";
import type { ShownValue } from "./value-panel.tsx";
import { useWhole } from "./value-views.tsx";

/** Longer values are not edited by hand. */
const EDIT_BYTES_MAX = 512 * 1024;
const KINDS: readonly { readonly value: ValueKind; readonly label: string }[] = [
  { value: "text", label: "Text" },
  { value: "integer", label: "Integer" },
  { value: "real", label: "Real" },
  { value: "blob", label: "Bytes in hex" },
  { value: "null", label: "NULL" },
];

interface ValueEditorProps {
  readonly shown: ShownValue;
  /** Undefined: as it was. */
  readonly onDone: (value: DataValue | undefined) => void;
}

/** Several lines, and exactly the kind of value that is chosen. */
export function ValueEditor({ shown, onDone }: ValueEditorProps) {
  const whole = useWhole(shown, EDIT_BYTES_MAX);
  if (whole.error instanceof RangeError) return <p className="text-xs text-ink-2">Not editable here: {whole.error.message}.</p>;
  if (whole.error) return <ErrorPanel bare error={toErrorView(whole.error)} onRetry={() => void whole.refetch()} />;
  return whole.data === undefined ? <Skeleton lines={3} /> : <Form start={whole.data} column={shown.column} onDone={onDone} />;
}

function Form({
  start,
  column,
  onDone,
}: {
  readonly start: DataValue;
  readonly column: string;
  readonly onDone: ValueEditorProps["onDone"];
}) {
  const [kind, setKind] = useState<ValueKind>(kindOf(start));
  const [text, setText] = useState(() => plainText(start));
  const parsed = parseAs(kind === "text" ? withBreaksOf(plainText(start), text) : text, kind);
  const stage = () => {
    if (parsed.problem === null) onDone(parsed.value);
  };
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1.5">
      <textarea
        autoFocus
        aria-label={`New value of ${column}`}
        value={kind === "null" ? "" : text}
        disabled={kind === "null"}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone(undefined);
          else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) stage();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
        className="min-h-0 flex-1 resize-none rounded-md border border-line-strong bg-raised px-2 py-1 font-mono text-xs outline-none focus:outline-2 focus:outline-focus disabled:bg-sunken"
      />
      <div className="flex flex-none items-center gap-2">
        <Segmented size="sm" label="Kind of value" value={kind} segments={KINDS} onChange={setKind} />
        {parsed.problem === null ? null : (
          <span role="alert" className="name-cut text-xs text-bad">
            {parsed.problem}
          </span>
        )}
        <span className="ml-auto" />
        <Button size="sm" onClick={() => onDone(undefined)}>
          Cancel
        </Button>
        <Button size="sm" variant="primary" disabled={parsed.problem !== null} shortcut="Mod+Enter" onClick={stage}>
          Change
        </Button>
      </div>
    </div>
  );
}

/** A field for several lines gives every break back as one character: texts that had two of them keep those. */
function withBreaksOf(start: string, text: string): string {
  const hadBoth = start.includes("\r\n") && !/(^|[^\r])\n/.test(start);
  return hadBoth ? text.replaceAll(/\r?\n/g, "\r\n") : text;
}
