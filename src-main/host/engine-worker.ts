/** Entry of the worker thread: one engine. */
import { parentPort } from "node:worker_threads";
import Database from "better-sqlite3";
import { assert } from "#shared/assert.ts";
import { buildDemo } from "#engine/demo/build-demo.ts";
import { createStore, openStore } from "#engine/store.ts";
import { diagnose } from "#engine/upkeep/doctor.ts";
import { inspectFile } from "./inspect-file.ts";
import { serveEngine } from "./serve-engine.ts";

/** As any program of the user would: the engine reads checkouts in its keeper, so a connection here disturbs no lock. */
function runSql(path: string, sql: string): void {
  const connection = new Database(path, { fileMustExist: true });
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

assert(parentPort, "the engine worker runs as a worker thread");
serveEngine(parentPort, { openStore, createStore, inspectFile, diagnose, fillDemo: (store) => buildDemo(store, runSql) });
