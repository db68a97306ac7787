/** A comparison as text that other programs read: CSV, Markdown, and a changeset in JSON. */
import type { DiffColumnView, DiffValue } from "#shared/diff-views.ts";
import type { Work } from "../segments/page-source.ts";
import type { DiffTable } from "./database-diff.ts";
import { viewChange, type Diff, type RowFilter } from "./open-diff.ts";

/** Rows of each table at most; null for all. */
export interface OutputOptions {
  readonly filter: RowFilter;
  readonly limit: number | null;
}

/** One line a changed row: its kind, then each column before and after. Lines as RFC 4180 has them, ended by CRLF. */
export async function* csvLines(
  diff: Diff,
  table: DiffTable,
  { filter, limit }: OutputOptions,
  work: Work = {},
): AsyncGenerator<string, void> {
  const { columns } = table.view;
  yield ["change", ...columns.flatMap(({ name }) => [`old.${name}`, `new.${name}`])].map(csvCell).join(",");
  for await (const change of limited(diff.changes(table, filter, work), limit)) {
    const { kind, old, new: current } = viewChange(change, Number.MAX_SAFE_INTEGER);
    yield [kind, ...columns.flatMap((_, index) => [csvValue(old?.[index]), csvValue(current?.[index])])].join(",");
  }
}

/** An empty text stands in quotes, so that it is told from NULL. */
function csvValue(value: DiffValue | undefined): string {
  return value === "" ? '""' : csvCell(cellText(value, ""));
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A section a table: counts, then rows that changed with what they were and are. */
export async function* markdownLines(
  diff: Diff,
  tables: readonly DiffTable[],
  { filter, limit }: OutputOptions,
  work: Work = {},
): AsyncGenerator<string, void> {
  const { left, right, schema, notes } = diff.view;
  yield `# ${markdownText(left.label)} → ${markdownText(right.label)}`;
  yield "";
  if (schema.length > 0) {
    yield "## Schema";
    yield "";
    for (const change of schema) yield `- ${change.change} ${change.type} \`${change.name.replaceAll("`", "'")}\``;
    yield "";
  }
  for (const note of notes) yield `> ${markdownText(note)}`;
  for (const table of tables) {
    if (!table.pair) continue;
    let count = 0;
    for await (const change of limited(diff.changes(table, filter, work), limit)) {
      if (count === 0) yield* markdownHead(table);
      count += 1;
      yield markdownRow(table.view.columns, viewChange(change, MARKDOWN_VALUE_BYTES));
    }
    if (count > 0) yield "";
  }
}

const MARKDOWN_VALUE_BYTES = 80;
const SIGNS = { insert: "+", delete: "−", update: "~" } as const;

function* markdownHead({ view }: DiffTable): Generator<string, void> {
  yield `## ${markdownText(view.name)} (matched by ${view.matchedBy})`;
  yield "";
  yield `| | ${view.columns.map(({ name }) => markdownText(name)).join(" | ")} |`;
  yield `|---|${view.columns.map(() => "---").join("|")}|`;
}

function markdownRow(columns: readonly DiffColumnView[], { kind, old, new: current, changed }: ReturnType<typeof viewChange>): string {
  const cells = columns.map((_, index) => {
    const [before, after] = [cellText(old?.[index], "NULL"), cellText(current?.[index], "NULL")];
    return markdownText(kind === "delete" ? before : changed.includes(index) ? `${before} → ${after}` : after);
  });
  return `| ${SIGNS[kind]} | ${cells.join(" | ")} |`;
}

function markdownText(text: string): string {
  return text.replaceAll(/[\\|<>*_`[\]]/g, String.raw`\$&`).replaceAll(/\r?\n/g, " ");
}

/** A value as people read it: blobs as x'…', cut values with their length. */
export function cellText(value: DiffValue | undefined, ofNull: string): string {
  if (value === null || value === undefined) return ofNull;
  if (typeof value !== "object") return String(value);
  if ("integer" in value) return value.integer;
  if ("real" in value) return value.real;
  if ("text" in value) return `${value.text}… (${value.bytes} bytes)`;
  const hex = "blob" in value ? value.blob : value.invalidText;
  return `x'${hex}'${hex.length / 2 < value.bytes ? `… (${value.bytes} bytes)` : ""}`;
}

/** The whole comparison as one JSON object, in pieces: `{left, right, comparison, schema, notes, tables: [{…, rows}]}`. */
export async function* changesetJson(
  diff: Diff,
  tables: readonly DiffTable[],
  { filter, limit }: OutputOptions,
  work: Work = {},
): AsyncGenerator<string, void> {
  const { id: _, tables: __, ...about } = diff.view;
  yield `${JSON.stringify(about).slice(0, -1)},"tables":[`;
  let separator = "";
  for (const table of tables) {
    yield `${separator}${JSON.stringify(table.view).slice(0, -1)},"rows":[`;
    separator = ",";
    let between = "";
    if (table.pair) {
      for await (const change of limited(diff.changes(table, filter, work), limit)) {
        yield between + JSON.stringify(viewChange(change, Number.MAX_SAFE_INTEGER));
        between = ",";
      }
    }
    yield "]}";
  }
  yield "]}";
}

async function* limited<T>(items: AsyncIterable<T>, limit: number | null): AsyncGenerator<T, void> {
  let count = 0;
  if (limit === 0) return;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count === limit) return;
  }
}
