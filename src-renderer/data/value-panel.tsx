import { isBlob, isCut } from "#shared/sql-literal.ts";
import { ClipboardCopy, Download, Pencil, X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { formatBytes } from "#shared/units.ts";
import type { DataValue } from "#shared/query-views.ts";
import { toErrorView } from "../api/api-error.ts";
import { useApi } from "../api/queries.ts";
import { IconButton } from "../ui/button.tsx";
import { copyText } from "../ui/copy.ts";
import { fileNameOf, saveFile } from "../ui/save-file.ts";
import { Segmented } from "../ui/segmented.tsx";
import { showError, showToast } from "../ui/toasts.ts";
import { typeName, valueBytes } from "../ui/value-text.ts";
import { plainText } from "./copy-values.ts";
import { ValueEditor } from "./value-editor.tsx";
import { HexView, ImageView, JsonView, TextView } from "./value-views.tsx";
import { bytesOf, imageType, readBytes, readWholeValue, type ValuePlace } from "./whole-value.ts";

export interface ShownValue {
  readonly column: string;
  readonly type: string;
  readonly value: DataValue;
  /** "id 3"; empty where the row has no key. */
  readonly row: string;
  /** What stands for a value that is not there yet; null where there is one. */
  readonly absent: string | null;
  /** Where the rest of a long value is; null where it cannot be had. */
  readonly at: ValuePlace | null;
  /** Why it cannot be edited; null when it can. */
  readonly whyNot: string | null;
}

type View = "text" | "json" | "hex" | "image";
/** Bytes that are read for the clipboard, and for a file. */
const COPY_BYTES_MAX = 32 * 1024 * 1024;
const SAVE_BYTES_MAX = 1024 * 1024 * 1024;

/** The value with the keyboard, whole: as text, JSON, bytes or image. */
export function ValuePanel(props: {
  readonly shown: ShownValue;
  readonly onStage: ((value: DataValue) => void) | null;
  readonly onClose: () => void;
}) {
  const { shown, onStage, onClose } = props;
  const [isEditing, setEditing] = useState(false);
  const [wanted, setWanted] = useState<View | null>(null);
  const views = viewsOf(shown.value);
  const view = wanted !== null && views.includes(wanted) ? wanted : (views[0] ?? "text");
  const bytes = valueBytes(shown.value);
  const words: Readonly<Record<View, string>> = { text: "Text", json: "JSON", hex: "Hex", image: "Image" };
  return (
    <section aria-label="Value" data-pane="value" className="flex h-40 flex-none flex-col border-t border-line bg-surface">
      <div className="flex h-9 flex-none items-center gap-2 px-3 text-xs">
        <b className="name-cut font-semibold">{shown.column}</b>
        <span className="name-cut text-ink-3 tabular-nums">
          {[
            shown.row,
            shown.type.toUpperCase() === typeName(shown.value) ? null : shown.type,
            shown.absent === null ? typeName(shown.value) : null,
            bytes === null ? null : formatBytes(bytes),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        <span className="ml-auto" />
        {views.length > 1 && !isEditing ? (
          <Segmented
            size="sm"
            label="View of the value"
            value={view}
            segments={views.map((each) => ({ value: each, label: words[each] }))}
            onChange={setWanted}
          />
        ) : null}
        <ValueActs shown={shown} />
        {onStage ? (
          <IconButton
            icon={Pencil}
            label={shown.whyNot === null ? "Edit the value" : `Not editable: ${shown.whyNot}`}
            aria-pressed={isEditing}
            disabled={shown.whyNot !== null}
            onClick={() => setEditing(!isEditing)}
          />
        ) : null}
        <IconButton icon={X} label="Close the value" onClick={onClose} />
      </div>
      <div className="flex min-h-0 flex-1 px-3 pb-3">
        {isEditing && onStage ? (
          <ValueEditor
            shown={shown}
            onDone={(value) => {
              setEditing(false);
              if (value !== undefined) onStage(value);
            }}
          />
        ) : (
          <Shown shown={shown} view={view} />
        )}
      </div>
    </section>
  );
}

function Shown({ shown, view }: { readonly shown: ShownValue; readonly view: View }): ReactNode {
  if (shown.value === null)
    return (
      <div className="min-h-0 flex-1 overflow-auto rounded-md border border-line bg-canvas px-2 py-1 font-mono text-xs">
        <i className="font-sans text-ink-3">{shown.absent ?? "NULL"}</i>
      </div>
    );
  if (view === "image") return <ImageView shown={shown} />;
  if (view === "hex") return <HexView shown={shown} />;
  if (view === "json") return <JsonView shown={shown} />;
  return <TextView shown={shown} />;
}

function viewsOf(value: DataValue): readonly View[] {
  if (value === null || typeof value === "number") return ["text"];
  if (typeof value === "string" || "text" in value) {
    const text = typeof value === "string" ? value : value.text;
    return /^\s*[{[]/.test(text) ? ["text", "json", "hex"] : ["text", "hex"];
  }
  if ("integer" in value || "real" in value) return ["text"];
  if ("invalidText" in value) return ["hex", "text"];
  return imageType(value.blob) === null ? ["hex", "text"] : ["image", "hex"];
}

/** Copy and save take the whole value, however much of it is shown. */
function ValueActs({ shown }: { readonly shown: ShownValue }) {
  const api = useApi();
  const [saving, setSaving] = useState<AbortController | null>(null);
  const { value, at } = shown;
  const isPart = isCut(value);
  const copy = async () => {
    try {
      const whole = isPart && at ? await readWholeValue(api, at, COPY_BYTES_MAX) : value;
      await copyText(plainText(whole), isPart && !at ? `the beginning of ${shown.column}` : shown.column);
    } catch (error) {
      if (error instanceof RangeError) showToast({ text: `Not copied: ${error.message}`, tone: "warn" });
      else showError(toErrorView(error), () => void copy());
    }
  };
  const save = async () => {
    const stop = new AbortController();
    setSaving(stop);
    try {
      const bytes = isPart && at ? (await readBytes(api, at, SAVE_BYTES_MAX, stop.signal)).bytes : bytesOf(value);
      const name = `${fileNameOf(shown.column, "value")}.${fileEnding(value)}`;
      saveFile(name, new Blob([bytes]));
      showToast({ text: `Saved ${name}, ${formatBytes(bytes.length)}`, tone: "plain" });
    } catch (error) {
      if (stop.signal.aborted) showToast({ text: `Saving ${shown.column} was stopped: nothing was saved`, tone: "plain" });
      else if (error instanceof RangeError) showToast({ text: `Not saved: ${error.message}`, tone: "warn" });
      else showError(toErrorView(error), () => void save());
    } finally {
      setSaving(null);
    }
  };
  return (
    <>
      <IconButton icon={ClipboardCopy} label="Copy the value" disabled={value === null} onClick={() => void copy()} />
      {saving ? (
        <IconButton icon={X} label="Stop saving" onClick={() => saving.abort()} />
      ) : (
        <IconButton
          icon={Download}
          label="Save the value to a file"
          disabled={value === null || (isPart && !at)}
          onClick={() => void save()}
        />
      )}
    </>
  );
}

function fileEnding(value: DataValue): string {
  return isBlob(value) ? (imageType(value.blob)?.replace("image/", "") ?? "bin") : "txt";
}
