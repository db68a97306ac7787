import type { MessagePort } from "node:worker_threads";
import type { HostEvent } from "#shared/contract.ts";
import type { Result } from "#shared/result.ts";
import { EngineError, toErrorView } from "#engine/io/errors.ts";
import { BenchService, type BenchParts } from "./bench-service.ts";
import type { EngineEntry } from "./engine-entry.ts";
import type { FromEngine, ToEngine } from "./engine-protocol.ts";
import { handle, type HandlerParts } from "./handlers.ts";
import { JobRegistry } from "./jobs.ts";
import { OpenedStore } from "./opened-store.ts";
import { parseRequest } from "#engine/parse-request.ts";

/** How long running work may take to stop when the host ends; the operation log is safe whenever it dies. */
const SHUTDOWN_WAIT_MS = 4_000;

/** Serves one engine to the thread at the other end of `port` until told to shut down. */
export function serveEngine(port: MessagePort, entry: EngineEntry, own: Pick<BenchParts, "childFile" | "loadSuites"> = {}): void {
  const emit = (event: HostEvent) => port.postMessage({ event } satisfies FromEngine);
  const jobs = new JobRegistry((job) => emit({ type: "job", job }));
  const opened = new OpenedStore(jobs, emit);
  const bench = new BenchService({ ...own, jobs, emit, storePath: () => opened.store?.path ?? null });
  opened.beforeClose = () => bench.close();
  const parts: HandlerParts = { entry, jobs, opened, bench };
  port.on("message", (message: ToEngine) => {
    if ("shutdown" in message) void shutDown(parts).finally(() => port.close());
    else void answer(parts, message).then((result) => port.postMessage({ id: message.id, result } satisfies FromEngine));
  });
}

async function answer(parts: HandlerParts, message: { readonly name: string; readonly input: unknown }): Promise<Result<unknown>> {
  try {
    const request = parseRequest(message.name, message.input);
    if (isAppRequest(request.name)) throw new EngineError("internal", `${request.name} does not belong to the engine`);
    const result = await handle(parts, request.name, request.input);
    parts.opened.look();
    return { ok: true, result };
  } catch (error) {
    return { ok: false, error: toErrorView(error) };
  }
}

function isAppRequest(name: string): name is `app.${string}` {
  return name.startsWith("app.");
}

async function shutDown({ jobs, opened }: HandlerParts): Promise<void> {
  jobs.cancelAll();
  const deadline = Date.now() + SHUTDOWN_WAIT_MS;
  while (jobs.running > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  if (jobs.running === 0) await opened.close();
}
