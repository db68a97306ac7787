import Database from "better-sqlite3";
import { buildDemo } from "#engine/demo/build-demo.ts";
import { createStore, openStore } from "#engine/store.ts";
import type { Store } from "#engine/store-api.ts";
import { openDemoStore } from "#host/demo-store.ts";

/**
 * The demo store that the app opens too; made when it is not there. The engine reads its files in a child process here,
 * because the demo's own SQL runs in this one.
 */
export function openDemo(): Promise<Store> {
  return openDemoStore({ createStore, openStore, fillDemo: (store) => buildDemo(store, runSql) });
}

function runSql(path: string, sql: string): void {
  const connection = new Database(path, { fileMustExist: true });
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}
