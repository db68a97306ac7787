import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import type { DiffTable } from "./database-diff.ts";
import type { Diff } from "./open-diff.ts";
import { sqlScript } from "./sql-script.ts";
import { changesetJson, csvLines, markdownLines, type OutputOptions } from "./text-outputs.ts";

export interface DiffFormat extends OutputOptions {
  readonly format: "sql" | "csv" | "json" | "markdown";
  /** Null for all that differ. */
  readonly tables: readonly string[] | null;
}

/**
 * The comparison as text, in pieces. Errors: `bad-argument` for a table that is not there, for CSV of more than one table,
 * and for a script of a part of the rows, which would turn left into neither.
 */
export async function* diffText(diff: Diff, { format, tables, filter, limit }: DiffFormat, work: Work): AsyncGenerator<string, void> {
  const chosen = chooseTables(diff, tables);
  const options = { filter, limit };
  switch (format) {
    case "sql":
      if (tables || filter.kinds || filter.columns || limit !== null)
        throw new EngineError("bad-argument", "A script turns one side into the other: it cannot leave tables, rows or columns out", {
          hint: "Leave out the filters",
        });
      yield* ended(sqlScript(diff, work), "\n");
      return;
    case "csv": {
      const [table] = chosen;
      if (!table && tables) return;
      if (!table || chosen.length > 1)
        throw new EngineError("bad-argument", `CSV holds the rows of one table, and ${chosen.length} differ`, {
          hint: "Name one table",
          details: { choices: chosen.slice(0, 20).map(({ view }) => view.name) },
        });
      yield* ended(csvLines(diff, table, options, work), "\r\n");
      return;
    }
    case "markdown":
      yield* ended(markdownLines(diff, chosen, options, work), "\n");
      return;
    case "json":
      yield* changesetJson(diff, chosen, options, work);
  }
}

/** Those named that differ; throws `bad-argument` for a name that no table has. */
export function chooseTables(diff: Diff, names: readonly string[] | null): readonly DiffTable[] {
  if (!names) return diff.tables;
  return names.flatMap((name) => diff.table(name) ?? []);
}

async function* ended(lines: AsyncIterable<string>, end: string): AsyncGenerator<string, void> {
  for await (const line of lines) if (line !== "" || end === "\n") yield line + end;
}
