/**
 * Comparisons that clients of the contract have open. Their streams are asked for in pieces: counts as far as they have
 * come, and pages of rows, each page continuing where the last one ended.
 */
import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import type { DiffSummaryView, DiffView, RowChangeView, TableCounts } from "#shared/diff-views.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Parts } from "../branches/parts.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import { exportFile } from "../transfer/export-file.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import type { DiffTable } from "./database-diff.ts";
import { openDiff, positionOf, viewChange, type Diff, type RowFilter } from "./open-diff.ts";
import type { RowChange } from "./table-comparison.ts";
import { diffText, type DiffFormat } from "./diff-text.ts";

/** Streams of rows that one comparison keeps at their place. */
const STREAMS_MAX = 4;
/** An answer about counts comes after this long at most, however far they have come. */
const ANSWER_AFTER_MS = 150;

interface RowStream {
  readonly rows: AsyncGenerator<RowChange, void>;
  /** What the stream looks at while a page is read: each page is work of its own. */
  readonly work: { signal: AbortSignal | undefined };
  position: number;
}

interface OpenDiff {
  readonly diff: Diff;
  summary: { readonly counts: AsyncGenerator<TableCounts, void>; readonly work: RowStream["work"] } | null;
  readonly streams: Map<string, RowStream>;
}

export class OpenDiffs {
  readonly #parts: Parts;
  readonly #open = new Map<string, OpenDiff>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** For a caller who closes it. */
  diff(input: RequestInput<"diff.open">, work: PhasedWork): Promise<Diff> {
    return openDiff(this.#parts, this.#newId(), input, work);
  }

  /** The one that was used least lately goes when there are too many. */
  async open(input: RequestInput<"diff.open">, work: PhasedWork): Promise<DiffView> {
    const diff = await this.diff(input, work);
    this.#open.set(diff.view.id, { diff, summary: null, streams: new Map() });
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= LIMITS.diffsOpenMax) break;
      this.close(oldest);
    }
    return diff.view;
  }

  async summary({ id }: RequestInput<"diff.summary">, work: Work): Promise<DiffSummaryView> {
    const open = this.#find(id);
    if (!open.summary) {
      const signal = { signal: work.signal };
      open.summary = { counts: open.diff.summary(signal), work: signal };
    }
    const { summary } = open;
    summary.work.signal = work.signal;
    const tables = new Map<string, TableCounts>();
    const deadline = performance.now() + ANSWER_AFTER_MS;
    try {
      while (performance.now() < deadline && tables.size < LIMITS.pageRowsMax) {
        const next = await summary.counts.next();
        if (next.done) return { tables: [...tables.values()], isComplete: true };
        tables.set(next.value.name, next.value);
      }
      return { tables: [...tables.values()], isComplete: false };
    } catch (error) {
      // A stream that failed has ended: the next answer begins anew.
      open.summary = null;
      throw error;
    }
  }

  async rows(input: RequestInput<"diff.rows">, work: Work): Promise<RequestOutput<"diff.rows">> {
    const open = this.#find(input.id);
    const table = open.diff.table(input.table);
    if (!table) return { columns: [], rows: [], next: null };
    const filter: RowFilter = { kinds: input.kinds, columns: input.columns };
    for (const name of filter.columns ?? []) positionOf(table.view.columns, table.view.name, name);
    const key = JSON.stringify([table.view.name, filter]);
    const from = positionAfter(input.after);
    const stream = await this.#streamAt(open, table, filter, key, from, work);
    const rows: RowChangeView[] = [];
    let bytes = 0;
    try {
      while (rows.length < (input.limit ?? LIMITS.pageRowsMax) && bytes < LIMITS.messageBytesMax / 4) {
        const next = await stream.rows.next();
        if (next.done) {
          open.streams.delete(key);
          return { columns: table.view.columns, rows, next: null };
        }
        stream.position += 1;
        const row = viewChange(next.value, LIMITS.diffValueBytesMax);
        bytes += JSON.stringify(row).length;
        rows.push(row);
      }
      return { columns: table.view.columns, rows, next: String(stream.position) };
    } catch (error) {
      open.streams.delete(key);
      throw error;
    }
  }

  /** A stream that stands at a row: the one that ended there, or a new one that is brought there. */
  async #streamAt(open: OpenDiff, table: DiffTable, filter: RowFilter, key: string, from: number, work: Work): Promise<RowStream> {
    let stream = open.streams.get(key);
    if (!stream || stream.position > from) {
      await stream?.rows.return();
      const signal = { signal: work.signal };
      stream = { rows: open.diff.changes(table, filter, signal), work: signal, position: 0 };
    }
    open.streams.delete(key);
    stream.work.signal = work.signal;
    while (stream.position < from && !(await stream.rows.next()).done) stream.position += 1;
    open.streams.set(key, stream);
    for (const [oldest, other] of open.streams) {
      if (open.streams.size <= STREAMS_MAX) break;
      open.streams.delete(oldest);
      await other.rows.return();
    }
    return stream;
  }

  /** Writes the comparison to a file outside the store, whole or not at all. Errors: also those of an export. */
  async export(input: RequestInput<"diff.export">, work: Work): Promise<RequestOutput<"diff.export">> {
    const { diff } = this.#find(input.id);
    const { disk, paths } = this.#parts;
    const filter: RowFilter = { kinds: input.kinds, columns: input.columns };
    const format: DiffFormat = { format: input.format, tables: input.tables ?? null, filter, limit: null };
    return exportFile(disk, {
      file: input.file,
      overwrite: input.overwrite ?? false,
      store: paths.root,
      write: async (path) => {
        const file = disk.open(path, "wx+");
        try {
          let position = 0;
          for await (const piece of diffText(diff, format, work)) {
            const bytes = Buffer.from(piece);
            disk.write(file, bytes, position);
            position += bytes.length;
          }
        } finally {
          disk.close(file);
        }
      },
    });
  }

  close(id: string): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.diff.close();
  }

  closeAll(): void {
    for (const id of this.#open.keys()) this.close(id);
  }

  #find(id: string): OpenDiff {
    const open = this.#open.get(id);
    if (!open)
      throw new EngineError("bad-argument", `There is no open comparison "${id.slice(0, 80)}"`, {
        hint: "It was closed, or the store was opened anew: compare again",
        untouched: "Nothing was changed.",
      });
    this.#open.delete(id);
    this.#open.set(id, open);
    return open;
  }

  #newId(): string {
    return Buffer.from(this.#parts.randomness.bytes(8)).toString("hex");
  }
}

/** Throws `bad-argument` for what is no `next` of an answer. */
function positionAfter(after: string | undefined): number {
  if (after === undefined) return 0;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new EngineError("bad-argument", `"${after.slice(0, 80)}" is not where a page of rows ended`);
}
