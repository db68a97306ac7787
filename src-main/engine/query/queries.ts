/** SQL and tables for the clients of a store. Nothing here opens a database: that is done by processes of their own. */
import type { RequestInput, RequestOutput } from "#shared/contract.ts";
import { LIMITS } from "#shared/limits.ts";
import type { AcrossResultView, AcrossTargetView, DataSourceView } from "#shared/query-views.ts";
import { splitSql, type SqlStatement } from "#shared/split-sql.ts";
import type { Parts } from "../branches/parts.ts";
import { findDatabase, guardProtected } from "../branches/resolve.ts";
import { EngineError } from "../io/errors.ts";
import type { PhasedWork } from "../transfer/long-work.ts";
import { askAcross, findTargets } from "./across.ts";
import { collectScript } from "./collect-script.ts";
import { exportQuery } from "./export-rows.ts";
import { OpenQuestions } from "./open-questions.ts";
import { QueryChildren, type OnEvent } from "./query-children.ts";
import type { Opening, ScriptOrder, ScriptOutcome } from "./query-protocol.ts";
import { prepareWriting, readSource, type QuerySource, type StateInput } from "./query-source.ts";
import { hasOwnTransactions, refuseForeignFiles } from "./script-rules.ts";

/** What a script is run with, apart from its text. */
type Bounds = Pick<ScriptOrder, "rowsMax" | "charsMax" | "valueBytesMax">;

/** A script that is ready to run. */
interface PreparedScript {
  readonly order: ScriptOrder;
  readonly source: DataSourceView;
  readonly before: number | null;
}

export interface RanScript {
  readonly source: DataSourceView;
  readonly before: number | null;
  readonly outcome: ScriptOutcome;
}

/** `targets` once, then `results` as they come. */
export interface AcrossReader {
  readonly targets: (targets: readonly AcrossTargetView[]) => void;
  readonly results: (results: readonly AcrossResultView[]) => void | Promise<void>;
}

export class Queries {
  readonly #parts: Parts;
  readonly #children = new QueryChildren();
  readonly #questions = new OpenQuestions();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async schema(input: RequestInput<"data.schema">, work: PhasedWork): Promise<RequestOutput<"data.schema">> {
    return this.#onState(input, work, async ({ view }, opening) => ({
      source: view,
      ...(await this.#children.run("schema", { ...opening, table: input.table ?? null }, work)),
    }));
  }

  async rows(input: RequestInput<"data.rows">, work: PhasedWork): Promise<RequestOutput<"data.rows">> {
    const { table, order, filters, after, before, last = false, limit } = input;
    if ([after !== undefined, before !== undefined, last].filter(Boolean).length > 1)
      throw new EngineError("bad-argument", "Rows are asked for after a place, before one, or at the end: one of these");
    const from = after ?? before;
    return this.#onState(input, work, async ({ view }, opening) => ({
      source: view,
      ...(await this.#children.run(
        "rows",
        {
          ...opening,
          table,
          filters: filters ?? [],
          order: order ? { column: order.column, descending: order.descending ?? false } : null,
          cursor: last ? "last" : from === undefined ? null : { from, direction: after === undefined ? "before" : "after" },
          limit: limit ?? LIMITS.queryRows,
        },
        work,
      )),
    }));
  }

  async count(input: RequestInput<"data.count">, work: PhasedWork): Promise<RequestOutput<"data.count">> {
    const { table, filters } = input;
    return this.#onState(input, work, (_, opening) => this.#children.run("count", { ...opening, table, filters: filters ?? [] }, work));
  }

  async value(input: RequestInput<"data.value">, work: PhasedWork): Promise<RequestOutput<"data.value">> {
    const { table, key, column, offset = 0, limit = LIMITS.dataSliceBytesMax } = input;
    return this.#onState(input, work, (_, opening) => this.#children.run("value", { ...opening, table, key, column, offset, limit }, work));
  }

  /** Runs a script and keeps its rows, within the bounds of an answer. */
  async run(input: RequestInput<"query.run">, work: PhasedWork): Promise<RequestOutput<"query.run">> {
    const bounds = {
      rowsMax: input.limit ?? LIMITS.queryRows,
      charsMax: LIMITS.queryAnswerBytesMax,
      valueBytesMax: LIMITS.queryValueBytesMax,
    };
    const { order, source, before } = await this.#prepare(input, bounds, work);
    const { statements, unlisted, outcome } = await this.#running(order, before, () => collectScript(this.#children, order, work));
    return {
      source,
      statements,
      unlisted,
      before,
      ...outcome,
    };
  }

  /** Runs a script and hands its rows out as they come, and whole; of each statement `rowsMax`, or all. */
  async stream(
    input: Omit<RequestInput<"query.run">, "limit">,
    rowsMax: number | null,
    onEvent: OnEvent,
    work: PhasedWork,
  ): Promise<RanScript> {
    const bounds = { rowsMax, charsMax: null, valueBytesMax: Number.MAX_SAFE_INTEGER };
    const { order, source, before } = await this.#prepare(input, bounds, work);
    const outcome = await this.#running(order, before, () => this.#children.run("script", order, work, onEvent));
    return { source, before, outcome };
  }

  /** To a file outside the store: all rows of one statement. */
  export(input: RequestInput<"query.export">, work: PhasedWork): Promise<RequestOutput<"query.export">> {
    const { database, branch, at, sql } = input;
    return exportQuery(this.#parts, input, (onEvent) => this.stream({ database, branch, at, sql }, null, onEvent, work));
  }

  /** Starts a question; its results wait until they are asked for. */
  across(input: RequestInput<"query.across">): RequestOutput<"query.across"> {
    const { targets, ask } = this.#question(input);
    const id = Buffer.from(this.#parts.randomness.bytes(8)).toString("hex");
    this.#questions.start(id, ask);
    return { id, targets };
  }

  results({ id }: RequestInput<"query.results">, work: PhasedWork): Promise<RequestOutput<"query.results">> {
    return this.#questions.results(id, work);
  }

  closeQuestion({ id }: RequestInput<"query.close">): Promise<void> {
    return this.#questions.close(id);
  }

  /** The same for a reader who waits. */
  async askAll(input: RequestInput<"query.across">, on: AcrossReader, work: PhasedWork): Promise<void> {
    const { targets, ask } = this.#question(input);
    on.targets(targets);
    await ask((results) => on.results(results), work);
  }

  async close(): Promise<void> {
    await this.#questions.closeAll();
    await this.#children.close();
  }

  #question(input: RequestInput<"query.across">) {
    const statements = splitSql(input.sql);
    if (statements.length !== 1)
      throw new EngineError("bad-argument", `One statement can be put to several states, not ${statements.length}`);
    refuseForeignFiles(input.sql, statements);
    const database = findDatabase(this.#parts, input.database);
    const targets = findTargets(this.#parts, database, input);
    const question = { sql: input.sql, rowsMax: input.limit ?? LIMITS.acrossRows };
    const ask = (onResult: Parameters<typeof askAcross>[3], work: PhasedWork): Promise<void> =>
      askAcross(this.#parts, this.#children, { database, targets, question }, onResult, work);
    return { targets: targets.map(({ view }) => view), ask };
  }

  /** A read-only file may be evicted between being made and being opened: then it is made once more. */
  async #onState<T>(input: StateInput, work: PhasedWork, act: (source: QuerySource, opening: Opening) => Promise<T>): Promise<T> {
    const source = await readSource(this.#parts, input, work);
    try {
      return await act(source, openingOf(source));
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "file-not-found") throw this.#withHolders(error, source.path);
      const again = await readSource(this.#parts, input, work);
      return act(again, openingOf(again));
    }
  }

  async #prepare(input: RequestInput<"query.run">, bounds: Bounds, work: PhasedWork): Promise<PreparedScript> {
    const { sql, plan } = input;
    const statements = splitSql(sql);
    if (statements.length === 0) throw new EngineError("bad-argument", "There is no statement to run");
    if (!plan) refuseForeignFiles(sql, statements);
    const expectChanges = input.expectChanges ?? null;
    if (expectChanges !== null) checkExpected(sql, statements, expectChanges);
    return this.#onState(input, work, async (source, opening) => {
      const asked = { ...opening, sql, ...bounds, expectChanges, withDigest: false, busyMs: input.waitMs ?? opening.busyMs };
      if (plan) return { order: { ...asked, mode: "plan" }, source: source.view, before: null };
      const { writes } = await this.#children.run("classify", asked, work);
      if (!writes) return { order: { ...asked, mode: "read" }, source: source.view, before: null };
      refuseWriting(input, source);
      const { path, before } = await prepareWriting(this.#parts, source.place, input.waitMs, work);
      const view: DataSourceView = { ...source.view, kind: "file" };
      return { order: { ...asked, path, isShared: true, mode: "write" }, source: view, before };
    });
  }

  /** What is still as it was, when a script could not be run or was stopped. */
  async #running<T>(order: ScriptOrder, before: number | null, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      const known = this.#withHolders(error, order.path);
      if (!(known instanceof EngineError) || before === null) throw known;
      throw known.with({ untouched: `What was not committed is not there. What the file held before is v${before}.` });
    }
  }

  #withHolders(error: unknown, path: string): unknown {
    if (!(error instanceof EngineError) || error.code !== "checkout-busy") return error;
    const ours = this.#children.pids;
    const holders = this.#parts.files.holders(path).filter(({ pid }) => !ours.includes(pid));
    return new EngineError("checkout-busy", `Another program is writing to ${path}`, {
      cause: error,
      retryable: true,
      hint: "Try again when it has finished",
      untouched: "No statement was run.",
      details: { path, holders },
    });
  }
}

function openingOf({ path, view }: QuerySource): Opening {
  return { path, isShared: view.kind === "file", busyMs: LIMITS.queryBusyWaitMs };
}

/** What is expected of a script can be kept only where all of it is one transaction. */
function checkExpected(sql: string, statements: readonly SqlStatement[], expected: readonly number[]): void {
  const untouched = "No statement was run.";
  if (expected.length !== statements.length)
    throw new EngineError("bad-argument", `Changes are expected of ${expected.length} statements, and there are ${statements.length}`, {
      untouched,
    });
  if (hasOwnTransactions(sql, statements))
    throw new EngineError("bad-argument", "A script with transactions of its own cannot be taken back as a whole", { untouched });
}

function refuseWriting(input: RequestInput<"query.run">, { place, view }: QuerySource): void {
  const untouched = "No statement was run.";
  if (!view.isWritable)
    throw new EngineError("read-only", `${view.label} is a state that cannot change: SQL that writes is refused`, {
      hint: "Fork it, and write to the fork",
      untouched,
      details: { name: view.label },
    });
  if (!input.write)
    throw new EngineError("read-only", `This SQL writes, and ${view.label} is open for reading only`, {
      hint: "Allow it to write: what the branch holds now is kept as a version first",
      untouched,
      details: { name: view.label },
    });
  guardProtected(place, "SQL that writes", input.force);
}
