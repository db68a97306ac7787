/**
 * Questions to many states whose results wait to be asked for. Those who ask slowly hold it up: no more than a bounded
 * amount waits.
 */
import type { RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { AcrossResultView } from "#shared/query-views.ts";
import { EngineError } from "../io/errors.ts";
import type { Work } from "../segments/page-source.ts";
import type { OnResult } from "./across.ts";

/** An answer comes after this long at most, with whatever was found. */
const ANSWER_AFTER_MS = 250;

interface Found {
  readonly result: AcrossResultView;
  readonly chars: number;
}

interface Question {
  readonly abort: AbortController;
  readonly found: Found[];
  heldChars: number;
  state: "running" | "done" | { readonly failed: unknown };
  /** Wakes both sides. */
  changed: () => void;
  change: Promise<void>;
  ended: Promise<void>;
}

export class OpenQuestions {
  readonly #open = new Map<string, Question>();

  /** The oldest one goes when there are too many. */
  start(id: string, ask: (onResult: OnResult, work: Work) => Promise<void>): void {
    const question: Question = {
      abort: new AbortController(),
      found: [],
      heldChars: 0,
      state: "running",
      changed: () => undefined,
      change: Promise.resolve(),
      ended: Promise.resolve(),
    };
    arm(question);
    const onResult: OnResult = async (results, chars) => {
      for (const result of results) question.found.push({ result, chars: chars / results.length });
      question.heldChars += chars;
      announce(question);
      while (question.heldChars > LIMITS.acrossHeldBytesMax && !question.abort.signal.aborted) await question.change;
    };
    question.ended = ask(onResult, { signal: question.abort.signal }).then(
      () => void (question.state = "done"),
      (error: unknown) => void (question.state = { failed: error }),
    );
    void question.ended.then(() => announce(question));
    this.#open.set(id, question);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= LIMITS.acrossOpenMax) break;
      void this.close(oldest);
    }
  }

  /** Waits a moment for the first result. Throws `bad-argument` for one that is not open, and what ended it. */
  async results(id: string, work: Work): Promise<RequestOutput<"query.results">> {
    const question = this.#open.get(id);
    if (!question) throw new EngineError("bad-argument", `There is no open question "${id.slice(0, 80)}"`);
    if (question.found.length === 0 && question.state === "running") await soon(question.change, work.signal);
    if (work.signal?.aborted) {
      await this.close(id);
      throw new EngineError("cancelled", "Cancelled", { untouched: "Nothing was changed." });
    }
    const results: AcrossResultView[] = [];
    let chars = 0;
    while (question.found[0] && (results.length === 0 || chars + question.found[0].chars <= LIMITS.queryAnswerBytesMax)) {
      const [next] = question.found.splice(0, 1);
      if (!next) break;
      results.push(next.result);
      chars += next.chars;
    }
    question.heldChars -= chars;
    announce(question);
    if (typeof question.state === "object") throw question.state.failed;
    return { results, isComplete: question.state === "done" && question.found.length === 0 };
  }

  /** Does nothing for one that is not open. */
  async close(id: string): Promise<void> {
    const question = this.#open.get(id);
    this.#open.delete(id);
    if (!question) return;
    question.abort.abort();
    announce(question);
    await question.ended;
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }
}

function arm(question: Question): void {
  question.change = new Promise((settle) => (question.changed = settle));
}

function announce(question: Question): void {
  const { changed } = question;
  arm(question);
  changed();
}

async function soon(change: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((settle) => {
    const timer = setTimeout(settle, ANSWER_AFTER_MS);
    const end = (): void => {
      clearTimeout(timer);
      settle();
    };
    signal?.addEventListener("abort", end, { once: true });
    void change.then(end);
  });
}
