/** Entry of the worker thread: one engine. */
import { parentPort } from "node:worker_threads";
import { assert } from "#shared/assert.ts";
import { buildDemo } from "#engine/demo/build-demo.ts";
import { runSql } from "#engine/demo/run-sql.ts";
import { createStore, openStore, repairStore } from "#engine/store.ts";
import { diagnose } from "#engine/upkeep/doctor.ts";
import { inspectFile } from "./inspect-file.ts";
import { serveEngine } from "./serve-engine.ts";

assert(parentPort, "the engine worker runs as a worker thread");
serveEngine(parentPort, {
  openStore,
  createStore,
  repairStore: (spec, work) => repairStore(spec, {}, work),
  inspectFile,
  diagnose,
  // The engine reads checkouts in its keeper, so that the demo's connections disturb no lock.
  fillDemo: (store, work) => buildDemo(store, runSql, work),
});
