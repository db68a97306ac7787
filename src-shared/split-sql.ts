/**
 * SQL as tokens and statements. A script is split where SQLite's own `sqlite3_complete` ends a statement (source:
 * complete.c): at a semicolon, of a trigger only after its END. Nothing is judged here: SQLite compiles each statement and
 * refuses what is none.
 */

export interface SqlToken {
  readonly kind: "word" | "quoted" | "other";
  /** Characters from the start of the text. */
  readonly start: number;
  readonly end: number;
}

export interface SqlStatement {
  readonly start: number;
  /** Before its semicolon. */
  readonly end: number;
  readonly text: string;
  readonly tokens: readonly SqlToken[];
}

const WORD = /[\p{L}\p{N}_$\u0080-\uFFFF]+/uy;
const SPACE = /(?:[ \t\n\f\r]+|--[^\n]*\n?|\/\*[\s\S]*?(?:\*\/|$))/y;
const CLOSERS: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "[": "]" };

/** White space and comments are left out. Whatever the text is, every token has at least one character. */
export function* sqlTokens(sql: string): Generator<SqlToken, void> {
  let position = 0;
  while (position < sql.length) {
    SPACE.lastIndex = position;
    if (SPACE.test(sql)) {
      position = SPACE.lastIndex;
      continue;
    }
    const start = position;
    const closer = CLOSERS[sql[start] ?? ""];
    WORD.lastIndex = start;
    if (closer !== undefined) position = endOfQuoted(sql, start + 1, closer);
    else if (WORD.test(sql)) position = WORD.lastIndex;
    else position += 1;
    yield { kind: closer !== undefined ? "quoted" : WORD.lastIndex === position ? "word" : "other", start, end: position };
  }
}

/** A doubled quote stands for itself, except in brackets. */
function endOfQuoted(sql: string, from: number, closer: string): number {
  for (let position = from; ; position += 2) {
    position = sql.indexOf(closer, position);
    if (position < 0) return sql.length;
    if (closer === "]" || sql[position + 1] !== closer) return position + 1;
  }
}

type State = "start" | "normal" | "explain" | "create" | "trigger" | "semicolon" | "end";
type Input = "semicolon" | "other" | "explain" | "create" | "temp" | "trigger" | "end";

/** What follows a state; what is not named leads to "normal", inside a trigger back to "trigger". */
const NEXT: Readonly<Record<State, Partial<Record<Input, State>>>> = {
  start: { semicolon: "start", explain: "explain", create: "create" },
  normal: { semicolon: "start" },
  explain: { semicolon: "start", other: "explain", create: "create" },
  create: { semicolon: "start", temp: "create", trigger: "trigger" },
  trigger: { semicolon: "semicolon" },
  semicolon: { semicolon: "semicolon", end: "end" },
  end: { semicolon: "start" },
};

function inputOf(word: string): Input {
  const lower = word.toLowerCase();
  if (lower === "temporary") return "temp";
  return lower === "explain" || lower === "create" || lower === "temp" || lower === "trigger" || lower === "end" ? lower : "other";
}

/** Empty statements are left out; the last one needs no semicolon. */
export function splitSql(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = [];
  let state: State = "start";
  let tokens: SqlToken[] = [];
  const finish = (): void => {
    const [first, last] = [tokens[0], tokens.at(-1)];
    if (first && last) statements.push({ start: first.start, end: last.end, text: sql.slice(first.start, last.end), tokens });
    tokens = [];
  };
  for (const token of sqlTokens(sql)) {
    const text = sql.slice(token.start, token.end);
    const input = text === ";" ? "semicolon" : token.kind === "word" ? inputOf(text) : "other";
    const inTrigger: boolean = state === "trigger" || state === "semicolon" || state === "end";
    state = NEXT[state][input] ?? (inTrigger ? "trigger" : "normal");
    if (state === "start") finish();
    else tokens.push(token);
  }
  finish();
  return statements;
}

/** The words that a statement begins with, in upper case, as far as they are unquoted words. */
export function leadingWords(sql: string, statement: SqlStatement, count: number): string[] {
  const words: string[] = [];
  for (const token of statement.tokens) {
    if (token.kind !== "word" || words.length === count) break;
    words.push(sql.slice(token.start, token.end).toUpperCase());
  }
  return words;
}
