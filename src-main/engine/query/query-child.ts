/**
 * A process that runs SQL for a program, one job at a time. A running statement cannot be interrupted from outside, but
 * this process can be killed: for SQLite that is a crash, so what was not committed is not there.
 *
 * While a statement runs, nothing else does in this thread. So a second thread sees to it that the process does not
 * outlive its program.
 */
import { Worker } from "node:worker_threads";
import { assert } from "#shared/assert.ts";
import { toErrorView } from "../io/errors.ts";
import type { QueryCall, QueryJobName, QueryJobs, QueryMessage, QueryReply, ScriptEvent } from "./query-protocol.ts";
import { readSchema } from "./read-schema.ts";
import { countRows, readPage, readValue } from "./read-table.ts";
import { classify, runScript } from "./run-script.ts";

/** An orphan has another parent than the program, which says who it is: it may be gone before this thread has started. */
const WATCH = `
  const { workerData } = require("node:worker_threads");
  const look = () => { if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL"); };
  look();
  setInterval(look, 500);
`;

/** Events without rows that go out before the reader is waited for. */
const EVENTS_AHEAD = 256;

let more: (() => void) | null = null;
let ahead = 0;

function reply(message: QueryReply): void {
  process.send?.(message);
}

async function emit(event: ScriptEvent): Promise<void> {
  ahead += 1;
  const asks = event.kind === "rows" || ahead >= EVENTS_AHEAD;
  if (!asks) return reply({ event, asks });
  ahead = 0;
  const asked = new Promise<void>((settle) => (more = settle));
  reply({ event, asks });
  await asked;
}

function perform(call: QueryCall): Promise<QueryJobs[QueryJobName]["output"]> {
  switch (call.job) {
    case "classify":
      return classify(call.input);
    case "script":
      return runScript(call.input, emit);
    case "schema":
      return readSchema(call.input);
    case "rows":
      return readPage(call.input);
    case "count":
      return countRows(call.input);
    case "value":
      return readValue(call.input);
  }
}

function start(program: string | undefined): void {
  assert(process.send && program, "it is started by a program, which names itself");
  new Worker(WATCH, { eval: true, workerData: Number(program) }).unref();
  process.on("message", (message: QueryMessage) => {
    if ("more" in message) {
      more?.();
      return;
    }
    perform(message).then(
      (output) => reply({ ok: true, output }),
      (error: unknown) => reply({ ok: false, error: toErrorView(error) }),
    );
  });
  // Ctrl-C goes to every process of the terminal: the program decides.
  process.on("SIGINT", () => undefined);
  process.on("disconnect", () => process.exit(0));
}

start(process.argv[2]);
