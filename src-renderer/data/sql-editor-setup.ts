/** What the SQL editor is made of: the language, colours from the tokens of the theme, marks, keys. */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
  type Completion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { SQLDialect, SQLite, sql, type SQLNamespace } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  drawSelection,
  dropCursor,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  type DecorationSet,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { DataSchemaView, DataTableView } from "#shared/query-views.ts";
import { splitSql } from "#shared/split-sql.ts";
import { quoteName } from "#shared/sql-literal.ts";
import { statementAt } from "./sql-run.ts";

/** Names that SQL takes anywhere are quoted as the standard has it. */
const DIALECT = SQLDialect.define({ ...SQLite.spec, identifierQuotes: '"`', caseInsensitiveIdentifiers: true });
/** A script longer than this is not looked through for its statements at every step of the cursor. */
const MARKED_CHARS_MAX = 200_000;

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--sch)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--ink-3)", fontStyle: "italic" },
  { tag: [tags.operator, tags.punctuation, tags.paren, tags.separator], color: "var(--ink-2)" },
]);

const THEME = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--canvas)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--canvas)", color: "var(--ink-3)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 12px", minWidth: "28px", fontSize: "11px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 26%, transparent) !important",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected-quiet)", outline: "1px solid var(--line-strong)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-bg)" },
  ".cm-placeholder": { color: "var(--ink-3)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-statement": { boxShadow: "inset 2px 0 0 var(--accent)" },
  ".cm-problem": {
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "3px",
    backgroundColor: "var(--bad-bg)",
    color: "var(--bad)",
  },
  ".cm-tooltip": { backgroundColor: "var(--raised)", border: "none", borderRadius: "8px", boxShadow: "var(--float)", color: "var(--ink)" },
  ".cm-tooltip-hover": { padding: "4px 8px", maxWidth: "480px", fontSize: "12px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-mono)", fontSize: "12px", maxHeight: "260px", padding: "4px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", borderRadius: "4px", lineHeight: "18px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--selected)", color: "var(--ink)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", marginLeft: "12px" },
  ".cm-panels": { backgroundColor: "var(--surface)", color: "var(--ink)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 8px", fontSize: "12px" },
  ".cm-panel.cm-search label": { fontSize: "12px" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink-2)", fontSize: "16px", top: "4px", right: "8px" },
  ".cm-textfield": {
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "5px",
    height: "24px",
    padding: "0 6px",
    fontSize: "12px",
  },
  ".cm-button": {
    backgroundColor: "var(--raised)",
    backgroundImage: "none",
    border: "1px solid var(--line-strong)",
    borderRadius: "5px",
    height: "24px",
    padding: "0 8px",
    fontSize: "12px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warn-bg)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--mod-cell)", outline: "1px solid var(--warn)" },
});

export interface EditorProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** Marks where a script failed; null takes the mark away. It moves with the text that it is about. */
export const setProblem = StateEffect.define<EditorProblem | null>();

const problemField = StateField.define<{ readonly marks: DecorationSet; readonly message: string }>({
  create: () => ({ marks: Decoration.none, message: "" }),
  update(value, transaction) {
    let next = transaction.docChanged ? { ...value, marks: value.marks.map(transaction.changes) } : value;
    for (const effect of transaction.effects) {
      if (!effect.is(setProblem)) continue;
      const problem = effect.value;
      const to = problem === null ? 0 : Math.min(problem.to, transaction.state.doc.length);
      next =
        problem === null || problem.from >= to
          ? { marks: Decoration.none, message: "" }
          : { marks: RangeSet.of([Decoration.mark({ class: "cm-problem" }).range(problem.from, to)]), message: problem.message };
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field, ({ marks }) => marks),
});

const problemTooltip = hoverTooltip((view, position) => {
  const { marks, message } = view.state.field(problemField);
  let place: { from: number; to: number } | null = null;
  marks.between(position, position, (from, to) => {
    place = { from, to };
  });
  if (place === null) return null;
  const { from, to }: { from: number; to: number } = place;
  return {
    pos: from,
    end: to,
    create: () => {
      const dom = document.createElement("div");
      dom.textContent = message;
      return { dom };
    },
  };
});

/** A bar beside the statement that Mod-Enter runs, where there are several. */
const statementMark = EditorView.decorations.compute(["doc", "selection"], (state) => {
  const { main } = state.selection;
  if (state.doc.length > MARKED_CHARS_MAX || !main.empty) return Decoration.none;
  const statements = splitSql(state.doc.toString());
  const statement = statements.length < 2 ? null : statementAt(statements, main.head);
  if (!statement) return Decoration.none;
  const [first, last] = [state.doc.lineAt(statement.start).number, state.doc.lineAt(statement.end).number];
  const mark = Decoration.line({ class: "cm-statement" });
  return RangeSet.of(Array.from({ length: last - first + 1 }, (_, index) => mark.range(state.doc.line(first + index).from)));
});

export interface EditorActs {
  readonly run: () => void;
  readonly runAll: () => void;
  /** Answers whether there was something to stop. */
  readonly stop: () => boolean;
}

/** The key is taken, whatever comes of it. What floats over the text goes, so that Esc means the query. */
const always =
  (act: () => void) =>
  (view: EditorView): boolean => {
    closeCompletion(view);
    act();
    return true;
  };

function runKeys({ run, runAll, stop }: EditorActs): Extension {
  return [
    Prec.highest(
      keymap.of([
        { key: "Mod-Enter", run: always(run) },
        { key: "Mod-Shift-Enter", run: always(runAll) },
      ]),
    ),
    // Behind the keys of what floats over the text: those close it first.
    Prec.low(keymap.of([{ key: "Escape", run: () => stop() }])),
  ];
}

export const languageSlot = new Compartment();

/** Completion knows the tables and columns of the state; names that need it are quoted. */
export function language(schema: DataSchemaView | null): Extension {
  return sql({ dialect: DIALECT, upperCaseKeywords: true, ...(schema === null ? {} : { schema: namespace(schema) }) });
}

function namespace({ tables }: DataSchemaView): SQLNamespace {
  return Object.fromEntries(
    tables
      .filter(({ kind }) => kind !== "shadow")
      .map((table) => [table.name.replaceAll(".", String.raw`\.`), { self: tableCompletion(table), children: columnCompletions(table) }]),
  );
}

const PLAIN = /^[a-z_]\w*$/i;
const applied = (name: string): { readonly apply?: string } => (PLAIN.test(name) ? {} : { apply: quoteName(name) });

function tableCompletion({ name, kind }: DataTableView): Completion {
  return { label: name, type: "type", detail: kind === "table" ? "" : kind, ...applied(name) };
}

function columnCompletions({ columns }: DataTableView): Completion[] {
  return (columns ?? []).map(({ name, type, keyPosition }) => ({
    label: name,
    type: "property",
    detail: [type, keyPosition > 0 ? "key" : ""].filter(Boolean).join(", "),
    ...applied(name),
  }));
}

export interface EditorSetup {
  readonly label: () => string;
  readonly text: string;
  readonly hint: string;
  readonly acts: EditorActs;
  readonly schema: DataSchemaView | null;
  readonly onChange: (text: string) => void;
  readonly onSelect: (from: number, to: number) => void;
}

export function editorState(setup: EditorSetup): EditorState {
  return EditorState.create({
    doc: setup.text,
    extensions: [
      runKeys(setup.acts),
      lineNumbers(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      dropCursor(),
      EditorState.allowMultipleSelections.of(true),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      autocompletion({ maxRenderedOptions: 100, icons: false }),
      highlightSelectionMatches(),
      search({ top: true }),
      syntaxHighlighting(COLOURS),
      THEME,
      languageSlot.of(language(setup.schema)),
      problemField,
      problemTooltip,
      statementMark,
      placeholder(setup.hint),
      EditorView.contentAttributes.of(() => ({
        "aria-label": setup.label(),
        spellcheck: "false",
        autocorrect: "off",
        autocapitalize: "off",
        "data-pane-focus": "",
      })),
      keymap.of([
        { key: "Tab", run: acceptCompletion },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of(({ docChanged, selectionSet, state }) => {
        if (docChanged) setup.onChange(state.doc.toString());
        const { from, to } = state.selection.main;
        if (docChanged || selectionSet) setup.onSelect(from, to);
      }),
    ],
  });
}
