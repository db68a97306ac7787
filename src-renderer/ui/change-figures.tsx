/** How much changed, in signs and short numbers: "+1.2k −3 ~40 §2". */
import type { ChangeCountsView, ChangedTableView } from "#shared/diff-views.ts";
import { cx } from "./cx.ts";
import { formatCount, formatPlural } from "./format.ts";

type Rows = Pick<ChangedTableView, "inserted" | "deleted" | "updated">;

const SIGNS = [
  { part: "inserted", sign: "+", word: "added", place: "col-start-1", className: "text-add" },
  { part: "deleted", sign: "−", word: "deleted", place: "col-start-2", className: "text-del" },
  { part: "updated", sign: "~", word: "changed", place: "col-start-3", className: "text-mod" },
] as const;

/** At most four characters before the unit: 999, "1.2k", "36.6k", "250k", "1.3M". */
export function formatShort(count: number): string {
  if (count < 1_000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1_000, "k"] : count < 999_500_000 ? [count / 1_000_000, "M"] : [count / 1e9, "G"];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)}${unit}`;
}

/** Nothing differs, as far as could be compared. */
function isUnchanged(counts: ChangeCountsView): boolean {
  return counts.inserted + counts.deleted + counts.updated + counts.schemaChanges === 0 && counts.problem === null;
}

/** "12 added, 3 deleted, 4 changed". */
function rowsText(rows: Rows): string {
  return SIGNS.flatMap(({ part, word }) => (rows[part] > 0 ? [`${formatCount(rows[part])} ${word}`] : [])).join(", ");
}

/** In words, for those who cannot see the colours: rows, then the schema. */
function changesInWords(counts: ChangeCountsView): string {
  const schema = counts.schemaChanges > 0 ? [formatPlural(counts.schemaChanges, "schema change")] : [];
  return [rowsText(counts), ...schema].filter((part) => part !== "").join(", ") || "no changes";
}

/** A line for each table, for a tooltip. */
export function changesByTable(counts: ChangeCountsView): string {
  if (counts.state === "pending") return "Being counted";
  const lines = counts.tables.map((table) => `${table.name}: ${rowsText(table)}`);
  if (counts.moreTables > 0) lines.push(formatPlural(counts.moreTables, "more table"));
  if (counts.schemaChanges > 0) lines.push(formatPlural(counts.schemaChanges, "schema change"));
  if (counts.problem !== null) lines.push(counts.problem);
  return lines.length > 0 ? lines.join("\n") : "No row differs, and the schema is the same";
}

/** A sign and a short number. The sign is always printed: colour is never the only one. */
function Signed(props: { readonly sign: string; readonly value: number; readonly className: string; readonly whole?: boolean }) {
  const { sign, value, className, whole = false } = props;
  return (
    <span className={cx("tabular-nums", className)}>
      <b className="mr-px font-semibold">{sign}</b>
      {whole && value < 1_000_000 ? formatCount(value) : formatShort(value)}
    </span>
  );
}

/** Only the signs that count, one behind the other. */
function RowSigns({ rows }: { readonly rows: Rows }) {
  return SIGNS.map(({ part, sign, className }) =>
    rows[part] > 0 ? <Signed key={part} sign={sign} value={rows[part]} className={className} /> : null,
  );
}

/** Each sign at its own place, so that a column of them reads as four. Null: not asked yet. */
export function ChangeColumns({ counts }: { readonly counts: ChangeCountsView | null }) {
  if (!counts) return null;
  if (counts.state === "pending") return <span className="block text-right text-ink-3">…</span>;
  if (counts.state === "failed") return <span className="block text-right text-ink-3">unknown</span>;
  if (isUnchanged(counts)) return <span className="block text-right text-ink-3">none</span>;
  return (
    <span role="img" aria-label={changesInWords(counts)} className="grid grid-cols-[1fr_1fr_1fr_24px] justify-items-end gap-x-1 text-2xs">
      {SIGNS.map(({ part, sign, place, className }) =>
        counts[part] > 0 ? <Signed key={part} sign={sign} value={counts[part]} className={cx(place, className)} /> : null,
      )}
      {counts.schemaChanges > 0 ? <Signed sign="§" value={counts.schemaChanges} className="col-start-4 text-sch" /> : null}
    </span>
  );
}

/** The most changed table by name, how many more there are, and the schema. */
export function ChangeLine({ counts }: { readonly counts: ChangeCountsView | null }) {
  if (!counts) return null;
  if (counts.state === "pending") return <span className="text-ink-3">…</span>;
  if (counts.state === "failed") return <span className="text-ink-3">unknown</span>;
  if (isUnchanged(counts)) return <span className="text-ink-3">none</span>;
  const [first] = counts.tables;
  const more = counts.tables.length - 1 + counts.moreTables;
  return (
    <span className="flex min-w-0 items-baseline gap-x-1.5">
      {first ? (
        <>
          <span className="name-cut">{first.name}</span>
          <span className="flex shrink-0 gap-x-1.5 text-2xs">
            <RowSigns rows={first} />
          </span>
        </>
      ) : null}
      {more > 0 ? <span className="shrink-0 text-ink-3 tabular-nums">{formatPlural(more, first ? "more table" : "table")}</span> : null}
      {counts.schemaChanges > 0 ? (
        <span className="shrink-0 text-2xs">
          <Signed sign="§" value={counts.schemaChanges} className="text-sch" />
        </span>
      ) : null}
      {counts.problem !== null && !first ? <span className="name-cut text-ink-3">not comparable</span> : null}
    </span>
  );
}

/** Beside the heading of a list of changes. */
export function OpenDiff({ onClick }: { readonly onClick: () => void }) {
  return (
    <button type="button" className="rounded-sm font-medium text-accent hover:underline" onClick={onClick}>
      Open diff
    </button>
  );
}

interface ChangeListProps {
  readonly counts: ChangeCountsView | null;
  /** Opens the comparison at a table; null: at the schema. */
  readonly onOpen: (table: string | null) => void;
}

/** A line for each table, as an inspector shows it; each opens the comparison there. */
export function ChangeList({ counts, onOpen }: ChangeListProps) {
  if (!counts || counts.state === "pending") return <p className="text-xs text-ink-3">Being counted…</p>;
  if (counts.state === "failed") return <p className="text-xs wrap-anywhere text-ink-2">{counts.problem}</p>;
  if (isUnchanged(counts)) return <p className="text-xs text-ink-3">No row differs, and the schema is the same.</p>;
  return (
    <>
      <ul>
        {counts.tables.map((table) => (
          <li key={table.name}>
            <button
              type="button"
              title={`${table.name}: ${rowsText(table)}`}
              aria-label={`${table.name}: ${rowsText(table)}. Open the comparison`}
              className={cx(LINE, "hover:bg-selected-quiet")}
              onClick={() => onOpen(table.name)}
            >
              <span className="name-cut text-left">{table.name}</span>
              {SIGNS.map(({ part, sign, className }) => (
                <span key={part} className="text-right">
                  {table[part] > 0 ? (
                    <Signed sign={sign} value={table[part]} className={className} whole />
                  ) : (
                    <span className="text-ink-3">–</span>
                  )}
                </span>
              ))}
            </button>
          </li>
        ))}
      </ul>
      {counts.moreTables > 0 ? <p className={cx(LINE, "text-ink-3")}>{formatPlural(counts.moreTables, "more table")}</p> : null}
      {counts.schemaChanges > 0 ? (
        <button type="button" className={cx(LINE, "hover:bg-selected-quiet")} onClick={() => onOpen(null)}>
          <span className="text-left">Schema</span>
          <span className="col-span-3 text-right">
            <Signed sign="§" value={counts.schemaChanges} className="text-sch" whole />
          </span>
        </button>
      ) : null}
      {counts.problem === null ? null : <p className="mt-1 text-xs wrap-anywhere text-warn">{counts.problem}</p>}
    </>
  );
}

const LINE = "-mx-1.5 grid h-6 w-[calc(100%+12px)] grid-cols-[minmax(0,1fr)_58px_54px_58px] items-center gap-x-1 rounded-sm px-1.5 text-xs";
