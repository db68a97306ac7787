/** All rows of a statement, as text in a file of the user's: written as they come, whole or not at all. */
import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import type { DataValue, SqlProblem } from "#shared/query-views.ts";
import { csvLine, isNumber, jsonRow, markdownHead, markdownRow, uniqueNames } from "#shared/row-text.ts";
import { splitSql } from "#shared/split-sql.ts";
import { quoteName } from "#shared/sql-literal.ts";
import type { Parts } from "../branches/parts.ts";
import { SqlLiterals } from "../diff/sql-literal.ts";
import { EngineError } from "../io/errors.ts";
import { exportFile } from "../transfer/export-file.ts";
import { bindValue } from "./bind-value.ts";
import type { OnEvent } from "./query-children.ts";
import type { ScriptOutcome } from "./query-protocol.ts";

type Rows = readonly (readonly DataValue[])[];
/** Runs the statement; its rows are whole. */
export type RunStatement = (onEvent: OnEvent) => Promise<{ readonly outcome: ScriptOutcome }>;

/**
 * Errors: those of a query and of an export; `bad-argument` for several statements and for one that returns no rows,
 * `read-only` for one that writes, `sql-failed`. The file is as it was then.
 */
export async function exportQuery(
  parts: Parts,
  input: RequestInput<"query.export">,
  run: RunStatement,
): Promise<RequestOutput<"query.export">> {
  const { disk, paths } = parts;
  const statements = splitSql(input.sql);
  if (statements.length > 1) throw new EngineError("bad-argument", `One statement is exported, not ${statements.length}`);
  let rows = 0;
  const written = await exportFile(disk, {
    file: input.file,
    overwrite: input.overwrite ?? false,
    store: paths.root,
    write: async (path) => {
      const file = disk.open(path, "wx+");
      const text = TEXTS[input.format](input.table ?? "result");
      let position = 0;
      const put = (piece: string): void => {
        const bytes = Buffer.from(piece);
        disk.write(file, bytes, position);
        position += bytes.length;
      };
      try {
        rows = await writeRows(run, text, put);
      } finally {
        text.close?.();
        disk.close(file);
      }
    },
  });
  return { ...written, rows };
}

async function writeRows(run: RunStatement, text: RowText, put: (piece: string) => void): Promise<number> {
  let count = 0;
  let problem: SqlProblem | null = null;
  let columns: readonly string[] | null = null;
  try {
    await run((event) => {
      if (event.kind === "statement") columns = event.columns;
      else if (event.kind === "end") problem = event.error;
      else {
        if (count === 0) put(text.head(columns ?? [], event.rows));
        put(event.rows.map((row, index) => text.row(row, count + index)).join(""));
        count += event.rows.length;
      }
    });
  } catch (error) {
    if (!(error instanceof EngineError) || error.code !== "read-only") throw error;
    throw new EngineError("read-only", "An export runs the statement once more, and this one writes", {
      hint: "Save the rows that are shown instead",
      untouched: "No statement was run, and no file was written.",
    });
  }
  failIfNothing(problem, columns);
  if (count === 0) put(text.head(columns ?? [], []));
  put(text.tail(count));
  return count;
}

/** Arguments, because what is assigned in a callback is not followed. */
function failIfNothing(problem: SqlProblem | null, columns: readonly string[] | null): void {
  if (problem !== null)
    throw new EngineError("sql-failed", problem.message, {
      untouched: "No file was written.",
      details: { found: problem.code ?? "refused" },
    });
  if (columns === null) throw new EngineError("bad-argument", "This statement returns no rows", { untouched: "No file was written." });
}

/** A format, for the rows of one statement. */
interface RowText {
  /** `first`: rows of the beginning, to see of what kind columns are. */
  readonly head: (columns: readonly string[], first: Rows) => string;
  readonly row: (values: readonly DataValue[], index: number) => string;
  readonly tail: (count: number) => string;
  readonly close?: () => void;
}

const TEXTS: Readonly<Record<RequestInput<"query.export">["format"], (table: string) => RowText>> = {
  csv: () => ({ head: (columns) => csvLine(columns), row: csvLine, tail: () => "" }),
  json: () => {
    let names: readonly string[] = [];
    return {
      head: (columns) => {
        names = uniqueNames(columns);
        return "[";
      },
      row: (values, index) => `${index > 0 ? ",\n" : "\n"}${jsonRow(names, values)}`,
      tail: (count) => (count > 0 ? "\n]\n" : "]\n"),
    };
  },
  markdown: () => ({
    head: (columns, first) =>
      markdownHead(
        columns,
        columns.map((_, at) => first.length > 0 && first.every((row) => isNumber(row[at] ?? null) || row[at] === null)),
      ),
    row: markdownRow,
    tail: () => "",
  }),
  sql: (table) => {
    const literals = new SqlLiterals("UTF-8");
    let into = "";
    return {
      head: (columns) => {
        into = `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(", ")}) VALUES `;
        return "";
      },
      row: (values) => `${into}(${values.map((value) => literal(value, literals)).join(", ")});\n`,
      tail: () => "",
      close: () => literals.close(),
    };
  },
};

function literal(value: DataValue, literals: SqlLiterals): string {
  // Whatever the encoding of the database is that reads it: a NUL would end the text, and bytes would be read in that encoding.
  if (typeof value === "string" && value.includes("\0"))
    return value
      .split("\0")
      .map((part) => literals.write(part))
      .join(" || char(0) || ");
  const { value: bound, sql } = bindValue(value);
  const text = literals.write(bound);
  return sql.startsWith("+") ? `CAST(${text} AS TEXT)` : text;
}
