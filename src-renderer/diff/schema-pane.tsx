import type { DiffView, SchemaChangeView } from "#shared/diff-views.ts";
import { cx } from "../ui/cx.ts";
import { EmptyState } from "../ui/states.tsx";
import { useDiff } from "./diff-session.ts";
import { sideText } from "./side-text.ts";

const SIGNS = { added: "+", dropped: "−", changed: "~", renamed: "~" } as const;

/** Tables, indexes, views, triggers and pragmas that differ: their definitions side by side. */
export function SchemaPane({ view }: { readonly view: DiffView }) {
  const left = useDiff((session) => session.left);
  const right = useDiff((session) => session.right);
  if (view.schema.length === 0) return <EmptyState text="The schema is the same on both sides." />;
  return (
    <div role="document" aria-label="Schema changes" tabIndex={-1} data-pane-focus className="min-h-0 flex-1 overflow-y-auto outline-none">
      <div className="sticky top-0 z-10 grid grid-cols-2 border-b border-line bg-surface text-2xs font-medium text-ink-3">
        <span className="name-cut px-3 py-1">{left ? sideText(left) : ""}</span>
        <span className="name-cut border-l border-line px-3 py-1">{right ? sideText(right) : ""}</span>
      </div>
      {view.schema.map((change) => (
        <SchemaChange key={`${change.type} ${change.name}`} change={change} />
      ))}
      {view.notes.length > 0 ? <p className="px-3 py-2 text-xs text-ink-2">{view.notes.join(" ")}</p> : null}
    </div>
  );
}

function SchemaChange({ change }: { readonly change: SchemaChangeView }) {
  const lines = pairLines(change.left, change.right);
  return (
    <section className="border-b border-line [contain-intrinsic-size:auto_80px] [content-visibility:auto]">
      <h2 className="flex items-center gap-2 bg-sch-bg px-3 py-1 text-xs">
        <b className="text-sch">§ {SIGNS[change.change]}</b> <span className="font-medium">{change.name}</span>{" "}
        <span className="text-ink-2">
          {change.type} {change.change}
          {change.formerName === null ? "" : ` from ${change.formerName}`}
          {change.table === null ? "" : ` on ${change.table}`}
        </span>
      </h2>
      <div className="grid grid-cols-2 font-mono text-xs">
        {lines.map(({ left, right, same }, line) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines have no other identity, and never move
          <div key={line} className="contents">
            <Line text={left} className={same ? "" : "bg-del-cell"} sign={same || left === null ? " " : "−"} />
            <Line text={right} className={cx("border-l border-line", !same && "bg-add-cell")} sign={same || right === null ? " " : "+"} />
          </div>
        ))}
      </div>
    </section>
  );
}

function Line({ text, sign, className }: { readonly text: string | null; readonly sign: string; readonly className: string }) {
  return (
    <div className={cx("flex min-w-0 px-3 whitespace-pre-wrap", text === null ? "bg-sunken" : className)}>
      <span aria-hidden className="w-4 shrink-0 text-ink-3">
        {text === null ? "" : sign}
      </span>
      <span className="min-w-0 wrap-anywhere">{text ?? ""}</span>
    </div>
  );
}

interface LinePair {
  readonly left: string | null;
  readonly right: string | null;
  readonly same: boolean;
}

/** Lines that both definitions have stand beside each other (longest common subsequence; definitions are short). */
export function pairLines(left: string | null, right: string | null): readonly LinePair[] {
  if (left === null || right === null) return padLines(left?.split("\n") ?? [], right?.split("\n") ?? []);
  const a = splitDefinition(left);
  const b = splitDefinition(right);
  if (a.length * b.length > LINES_COMPARED_MAX) return padLines(a, b);
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (row) row[j] = isSameLine(a[i], b[j]) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: LinePair[] = [];
  let [i, j] = [0, 0];
  let [gone, come]: [string[], string[]] = [[], []];
  const flush = (): void => {
    pairs.push(...padLines(gone, come));
    [gone, come] = [[], []];
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && isSameLine(a[i], b[j])) {
      flush();
      pairs.push({ left: a[i] ?? null, right: b[j] ?? null, same: true });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      gone.push(a[i] ?? "");
      i += 1;
    } else {
      come.push(b[j] ?? "");
      j += 1;
    }
  }
  flush();
  return pairs;
}

/** The comma behind what was the last column says nothing about that column. */
function isSameLine(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a.replace(/,$/, "") === b.replace(/,$/, "");
}

const LINES_COMPARED_MAX = 4_000_000;

function padLines(a: readonly string[], b: readonly string[]): LinePair[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, line) => ({
    left: a[line] ?? null,
    right: b[line] ?? null,
    same: false,
  }));
}

/** A definition on one line is broken at its commas outside of inner parentheses, so that a new column shows as one. */
function splitDefinition(text: string): string[] {
  if (text.includes("\n")) return text.split("\n");
  const lines: string[] = [];
  let depth = 0;
  let line = "";
  for (const character of text) {
    if (character === ")") depth -= 1;
    if (character === ")" && depth === 0) {
      lines.push(line);
      line = "";
    }
    line += character;
    if (character === "(") depth += 1;
    if ((character === "(" && depth === 1) || (character === "," && depth === 1)) {
      lines.push(line);
      line = " ";
    }
  }
  return [...lines, line].map((each) => each.trimEnd()).filter((each) => each !== "");
}
