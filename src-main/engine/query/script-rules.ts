/** What of an SQL script can be told from its words, before it is compiled. */
import { leadingWords, type SqlStatement } from "#shared/split-sql.ts";
import { EngineError } from "../io/errors.ts";

const TRANSACTION_WORDS = new Set(["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "VACUUM"]);
/** PRAGMAs that do nothing, or fail, inside a transaction. */
const OUTSIDE_TRANSACTIONS = new Set(["FOREIGN_KEYS", "JOURNAL_MODE", "SYNCHRONOUS", "WAL_CHECKPOINT", "TEMP_STORE", "LOCKING_MODE"]);
const FILE_PRAGMAS = new Set(["TEMP_STORE_DIRECTORY", "DATA_STORE_DIRECTORY"]);

/**
 * Refuses what would read or write files other than the branch's: `unsupported`. SQLite can do that by ATTACH and VACUUM
 * INTO, and by nothing else here: extensions are not loaded, and none of the functions and modules that are there open
 * files. A trigger or a view cannot contain either.
 */
export function refuseForeignFiles(sql: string, statements: readonly SqlStatement[]): void {
  for (const statement of statements) {
    const [first = ""] = leadingWords(sql, statement, 1);
    const what =
      first === "ATTACH" || first === "DETACH"
        ? first
        : first === "VACUUM" && hasWord(sql, statement, "INTO")
          ? "VACUUM INTO"
          : first === "PRAGMA" && FILE_PRAGMAS.has(pragmaName(sql, statement))
            ? `PRAGMA ${pragmaName(sql, statement).toLowerCase()}`
            : null;
    if (what === null) continue;
    throw new EngineError("unsupported", `${what} is refused: SQL that runs here reaches the branch's own file only`, {
      hint: "Export the branch, or open its file in a program of your own",
      untouched: "No statement was run.",
      details: { found: what, expected: `character ${statement.start}` },
    });
  }
}

/** True when the script handles transactions itself, so that it cannot run inside one of ours. */
export function hasOwnTransactions(sql: string, statements: readonly SqlStatement[]): boolean {
  return statements.some((statement) => {
    const [first = ""] = leadingWords(sql, statement, 1);
    return TRANSACTION_WORDS.has(first) || (first === "PRAGMA" && OUTSIDE_TRANSACTIONS.has(pragmaName(sql, statement)));
  });
}

/** SQLite counts some PRAGMAs as writing that only tell what is set. On a connection that cannot write, that is all they do. */
export function isQuestion(sql: string, statement: SqlStatement): boolean {
  const [first = ""] = leadingWords(sql, statement, 1);
  if (first !== "PRAGMA") return false;
  return ["JOURNAL_MODE", "LOCKING_MODE"].includes(pragmaName(sql, statement)) && !/[=(]/.test(statement.text);
}

/** `PRAGMA name`, `PRAGMA schema.name`. */
function pragmaName(sql: string, { tokens }: SqlStatement): string {
  const text = (index: number): string => {
    const token = tokens[index];
    return token
      ? sql
          .slice(token.start, token.end)
          .replace(/^["'`[](.*)["'`\]]$/, "$1")
          .toUpperCase()
      : "";
  };
  return text(2) === "." ? text(3) : text(1);
}

function hasWord(sql: string, { tokens }: SqlStatement, word: string): boolean {
  return tokens.some(({ kind, start, end }) => kind === "word" && sql.slice(start, end).toUpperCase() === word);
}
