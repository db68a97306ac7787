/** What the driver asks of a process that runs SQL on checkouts. */
import type { Caller } from "./calls.ts";
import type { StepIdentity, Evaluation, Statement } from "./statements.ts";
import type { Parameters } from "./parameters.ts";

export type SqlRequest =
  /** Opens the file and runs the step's statements, each in a transaction of its own. */
  | { readonly act: "work"; readonly path: string; readonly step: StepIdentity; readonly parameters: Parameters }
  /** The step's queries, on a connection of their own. `again`: then once more, for the time of a warm read. */
  | {
      readonly act: "evaluate";
      readonly path: string;
      readonly step: StepIdentity;
      readonly parameters: Parameters;
      readonly evaluation: Evaluation;
      readonly again: boolean;
    }
  /** One query on a file opened read-only; its first value comes back. */
  | { readonly act: "read"; readonly path: string; readonly query: Statement };

export interface SqlAnswer {
  /** Milliseconds, the opening and closing of the file included. */
  readonly ms: number;
  /** Of each statement or query, in order. */
  readonly each: readonly number[];
  /** Of the queries a second time. */
  readonly again: readonly number[];
  readonly value: number;
}

export type SqlProcess = Caller<SqlRequest, SqlAnswer>;
