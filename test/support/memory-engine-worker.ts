/**
 * An engine worker over a store that holds nothing: for what the host must do whatever the engine does (die, hang, take
 * long, be cancelled). Everything else is tested with the real engine.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import type { StoreView } from "#shared/views.ts";
import { EngineError } from "#engine/io/errors.ts";
import type { Store } from "#engine/store-api.ts";
import type { JobWork } from "#host/jobs.ts";
import { serveEngine } from "#host/serve-engine.ts";

let operations = 0;

function openMemoryStore(spec: string): Promise<Store> {
  if (spec === "missing") return Promise.reject(new EngineError("store-not-found", `There is no store at ${spec}`));
  const status: StoreView = {
    spec,
    // The store "once" opens, but not again.
    path: spec === "once" ? "missing" : `/memory/${spec.replace("/memory/", "")}`,
    uid: "00",
    formatVersion: 1,
    createdAt: 0,
    databases: 0,
    branches: 0,
    trashed: 0,
    lastOperation: 0,
    durableAt: null,
    warnings: [],
  };
  const verbs = {
    path: status.path,
    status: () => Promise.resolve(status),
    databases: () => Promise.resolve([]),
    lastOperation: () => operations,
    unsavedBranches: () => [],
    close: () => Promise.resolve(),
    // `drop` ends the worker, `protect` never answers, `setMeta` is an operation.
    drop: () => process.exit(7),
    protect: () => new Promise(() => undefined),
    setMeta: () => {
      operations += 1;
      return Promise.resolve({ operation: null, branch: null, warnings: [] });
    },
    verify: async (_input: object, work: JobWork) => {
      for (let done = 0; done < 500; done += 1) {
        if (work.signal.aborted) throw new EngineError("cancelled", "Verify was cancelled");
        work.progress(done, 500);
        await sleep(10);
      }
      return { ok: true };
    },
  };
  return Promise.resolve(verbs as unknown as Store);
}

if (parentPort) {
  serveEngine(parentPort, {
    openStore: openMemoryStore,
    createStore: openMemoryStore,
    inspectFile: ({ file }) => Promise.reject(new EngineError("file-not-found", `Inspect ${file}: there is no such file`)),
    repairStore: () => Promise.reject(new EngineError("unsupported", "no repair here")),
    diagnose: () => Promise.reject(new EngineError("unsupported", "no doctor here")),
    fillDemo: () => Promise.resolve(),
  });
}
