import { buildDemo } from "#engine/demo/build-demo.ts";
import { runSql } from "#engine/demo/run-sql.ts";
import { createStore, openStore } from "#engine/store.ts";
import type { Store } from "#engine/store-api.ts";
import { openDemoStore } from "#host/demo-store.ts";

/**
 * The demo store that the app opens too; made when it is not there. The engine reads its files in a child process here,
 * because the demo's own SQL runs in this one.
 */
export function openDemo(): Promise<Store> {
  return openDemoStore({ createStore, openStore, fillDemo: (store, work) => buildDemo(store, runSql, work) }, {});
}
