/** What is printed where: results to stdout and nothing else there; warnings, progress and errors to stderr. */
import { createReadStream } from "node:fs";
import { constants } from "node:os";
import { stripVTControlCharacters, styleText } from "node:util";
import { ERROR_CODES, type ErrorView } from "#shared/error-codes.ts";
import type { Result } from "#shared/result.ts";
import { toErrorView } from "#engine/io/errors.ts";
import { stdout } from "./stdout.ts";

export interface Looks {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

export type Style = "dim" | "green" | "yellow" | "red" | "cyan" | "bold";

/** The progress line is drawn at most this often. */
const PROGRESS_EVERY_MS = 100;

export class Terminal {
  readonly looks: Looks;
  #progressAt = 0;
  #progressShown = false;

  constructor(looks: Looks) {
    this.looks = looks;
  }

  paint(style: Style, text: string): string {
    return this.looks.color && stdout.isTerminal ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Prints what was asked for: `text` for people, the whole result for programs. */
  result(result: unknown, text: string): void {
    this.endProgress();
    if (this.looks.json) stdout.write(`${JSON.stringify({ ok: true, result } satisfies Result<unknown>)}\n`);
    else if (text !== "") stdout.write(`${makeVisible(text)}\n`);
  }

  /** A line of a result that is printed as it is found. */
  line(text: string): void {
    this.endProgress();
    stdout.write(`${makeVisible(text)}\n`);
  }

  /** Text for programs, exactly, no faster than it is read. On a terminal it is text, too, never commands to it. */
  async write(text: string): Promise<void> {
    this.endProgress();
    const shown = stdout.isTerminal ? makeVisible(text.replaceAll("\r\n", "\n")) : text;
    if (!stdout.write(shown)) await stdout.drained();
  }

  /** The same from a file. */
  async copyOut(path: string): Promise<void> {
    for await (const chunk of createReadStream(path, "utf8")) await this.write(String(chunk));
  }

  /** A remark beside the result: what an empty list means, what was left out. */
  note(text: string): void {
    if (this.looks.quiet || this.looks.json) return;
    this.endProgress();
    process.stderr.write(`${makeVisible(text)}\n`);
  }

  warn(text: string): void {
    this.note(`coppice: warning: ${text}`);
  }

  /** One line that is drawn over; only where somebody is looking. */
  progress(text: string): void {
    if (this.looks.quiet || this.looks.json || !process.stderr.isTTY) return;
    const now = Date.now();
    if (now - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = now;
    this.#progressShown = true;
    process.stderr.write(`\r\u001B[K${makeVisible(text).slice(0, (process.stderr.columns || 80) - 1)}`);
  }

  endProgress(): void {
    if (!this.#progressShown) return;
    this.#progressShown = false;
    process.stderr.write("\r\u001B[K");
  }

  /** Prints an error and returns its exit code; work that a signal cancelled ends as if by that signal. */
  fail(error: unknown, interruptedBy: NodeJS.Signals | null): number {
    this.endProgress();
    const view = toErrorView(error);
    if (this.looks.json) stdout.write(`${JSON.stringify({ ok: false, error: view } satisfies Result<unknown>)}\n`);
    else process.stderr.write(`${makeVisible(describeError(view))}\n`);
    if (view.code === "cancelled" && interruptedBy) return exitCodeOf(interruptedBy);
    return ERROR_CODES[view.code].exit;
  }
}

/** What a terminal acts on, a whole colour code at once, and what turns the direction of text; but tab and new line. */
const ACTED_ON = /(?![\t\n])[\p{Cc}\p{Bidi_Control}](?:\[\d{1,2}m)?/gu;
/** Nothing of the kind, told without the tables of Unicode, which take a millisecond to make ready. */
const PLAIN = /^[\t\n -~]*$/;
/** Colours that `paint` makes. Whoever sends one of these colours text, no more. */
const PAINTED = new Set([1, 2, 22, 31, 32, 33, 36, 39].map((code) => `\u001B[${code}m`));

/** Messages, metadata, actors and paths come from anybody: on a terminal they are text, never commands to it. */
export function makeVisible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(ACTED_ON, (found) =>
    PAINTED.has(found) ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}${found.slice(1)}`,
  );
}

/** The message, then what is untouched, what to do, and who is in the way. */
export function describeError(error: ErrorView): string {
  const lines = [`coppice: ${error.message}`];
  if (error.untouched) lines.push(error.untouched);
  if (error.hint) lines.push(error.hint);
  for (const { pid, program, access } of error.details.holders ?? [])
    lines.push(`held by ${program ?? "a process"} (pid ${pid}, ${access})`);
  if (error.code !== "internal" && error.details.cause) lines.push(`cause: ${error.details.cause}`);
  return lines.join("\n");
}

/** As shells count it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** Columns a text takes, colours left out. */
export function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}
