import { closeCompletion } from "@codemirror/autocomplete";
import type { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import type { DataSchemaView } from "#shared/query-views.ts";
import { editorState, language, languageSlot, setProblem, type EditorActs, type EditorProblem } from "./sql-editor-setup.ts";

/** States of editors that are not shown: text that can be undone, selection, scroll. By id; the text decides whether they hold. */
const kept = new Map<string, { readonly state: EditorState; readonly top: number }>();
/** Who shows an editor. */
const owners = new Map<string, { readonly current: SqlEditorProps }>();
const KEPT_MAX = 100;

interface SqlEditorProps {
  /** What is edited: another one is another editor. */
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly hint: string;
  readonly schema: DataSchemaView | null;
  readonly problem: EditorProblem | null;
  readonly acts: EditorActs;
  readonly onChange: (text: string) => void;
  readonly onSelect?: (from: number, to: number) => void;
  readonly autoFocus?: boolean;
  /** Counts the times that the problem is to be shown: the cursor goes there. */
  readonly goTo?: number;
}

/** SQL as text that can be edited. React draws the frame; what is in it is the editor's own. Give `id` as `key`, too. */
export function SqlEditor(props: SqlEditorProps) {
  const { id, label, text, schema, problem, goTo = 0 } = props;
  const frame = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView | null>(null);
  // What callbacks do may change without making the editor anew.
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  useLayoutEffect(() => {
    const view = openEditor(frame.current, latest);
    shown.current = view;
    if (latest.current.autoFocus) view.focus();
    return () => {
      shown.current = null;
      closeEditor(id, view);
    };
  }, [id]);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- it looks at its label when something happens to it
  useEffect(() => shown.current?.dispatch({}), [label]);
  useEffect(() => {
    shown.current?.dispatch({ effects: languageSlot.reconfigure(language(schema)) });
  }, [schema]);
  useEffect(() => {
    const view = shown.current;
    if (view && view.state.doc.toString() !== text) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }, [text]);
  useEffect(() => {
    shown.current?.dispatch({ effects: setProblem.of(problem) });
  }, [problem]);
  useEffect(() => {
    const view = shown.current;
    const { problem: target } = latest.current;
    if (goTo === 0 || !view || !target) return;
    view.dispatch({ selection: { anchor: Math.min(target.from, view.state.doc.length) }, scrollIntoView: true });
    view.focus();
  }, [goTo]);
  return <div ref={frame} className="h-full min-h-0 min-w-0 overflow-hidden" />;
}

/** The state that the script was left in, unless its text was changed elsewhere. */
function openEditor(parent: HTMLDivElement | null, latest: { readonly current: SqlEditorProps }): EditorView {
  const { id, text, hint, schema } = latest.current;
  owners.set(id, latest);
  const before = kept.get(id);
  const isSame = before?.state.doc.toString() === text;
  const state = before && isSame ? before.state : freshState(id, { text, hint, schema });
  const view = new EditorView({ state, ...(parent ? { parent } : {}) });
  if (before && isSame) view.scrollDOM.scrollTop = before.top;
  const { from, to } = view.state.selection.main;
  latest.current.onSelect?.(from, to);
  return view;
}

/** Its callbacks are those of whoever shows it at the time. */
function freshState(id: string, { text, hint, schema }: Pick<SqlEditorProps, "text" | "hint" | "schema">): EditorState {
  const owner = (): SqlEditorProps | undefined => owners.get(id)?.current;
  return editorState({
    label: () => owner()?.label ?? "",
    text,
    hint,
    schema,
    acts: {
      run: () => owner()?.acts.run(),
      runAll: () => owner()?.acts.runAll(),
      stop: () => owner()?.acts.stop() ?? false,
    },
    onChange: (next) => owner()?.onChange(next),
    onSelect: (from, to) => owner()?.onSelect?.(from, to),
  });
}

function closeEditor(id: string, view: EditorView): void {
  closeCompletion(view);
  kept.delete(id);
  kept.set(id, { state: view.state, top: view.scrollDOM.scrollTop });
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_MAX) break;
    kept.delete(oldest);
  }
  owners.delete(id);
  view.destroy();
}
