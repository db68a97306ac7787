/**
 * The child process of a benchmark: what it measures is disturbed by nobody else's work in the same process, and what it
 * does, up to its death, disturbs nobody.
 */
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import { makeOrder } from "#bench/runner/order.ts";
import { runSuite } from "#bench/runner/run.ts";
import type { Suite } from "#bench/suite.ts";
import type { BenchOrder, FromBench, ToBench } from "./bench-protocol.ts";

/** A host that died cannot stop us any more: after this we end by ourselves. */
const ORPHAN_WAIT_MS = 10_000;

/** Runs one order that comes over the channel, and ends. */
export function serveBench(loadSuite: (id: string) => Promise<Suite | null>): void {
  const abort = new AbortController();
  process.on("message", (message: ToBench) => {
    if ("stop" in message) abort.abort();
    // Ended, whatever a suite has left open: who waits for the run waits for this process.
    else void work(message.start, abort.signal, loadSuite).finally(() => process.exit());
  });
  process.on("disconnect", () => {
    abort.abort();
    setTimeout(() => process.exit(1), ORPHAN_WAIT_MS).unref();
  });
  // Ctrl-C in the terminal of the host reaches us too: the host decides.
  process.on("SIGINT", () => undefined);
}

async function work(
  { suite: id, size, options, folder }: BenchOrder,
  signal: AbortSignal,
  loadSuite: (id: string) => Promise<Suite | null>,
): Promise<void> {
  try {
    const suite = await loadSuite(id);
    if (!suite) throw new EngineError("bad-argument", `There is no suite "${id}"`);
    const run = await runSuite({
      suite,
      order: makeOrder(suite, { size, options }),
      folder,
      signal,
      onStart: (started) => send({ started }),
      onUpdate: (update) => send({ update }),
      onStep: (step) => send({ step }),
    });
    await sendAll({ ended: run });
  } catch (error) {
    await sendAll({ refused: toErrorView(error) });
  }
}

function send(message: FromBench): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

/** Resolves when the message is out: the process ends after it. */
function sendAll(message: FromBench): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send) process.send(message, undefined, {}, () => resolve());
    else resolve();
  });
}
