/** The engine's worker as it is, with the suites of the tests. */
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { EngineError } from "#engine/io/errors.ts";
import { createStore, openStore } from "#engine/store.ts";
import { serveEngine } from "#host/serve-engine.ts";
import { TEST_SUITES } from "./bench-suites.ts";

const notHere = () => Promise.reject(new EngineError("unsupported", "not in this test"));

if (parentPort) {
  serveEngine(
    parentPort,
    { openStore, createStore, repairStore: notHere, inspectFile: notHere, diagnose: notHere, fillDemo: notHere },
    { childFile: join(import.meta.dirname, "bench-child.ts"), loadSuites: () => Promise.resolve(TEST_SUITES) },
  );
}
