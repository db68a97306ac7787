/** Stores and databases in temporary folders, and stock clients that write to checkouts. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { createStore, type OpenOptions, type Store, type StorePorts } from "#engine/store.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "coppice-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A client of its own: opens, runs, closes. Never open while the engine works in this process. */
export function withClient<T>(path: string, act: (database: Database.Database) => T): T {
  const database = new Database(path);
  try {
    return act(database);
  } finally {
    database.close();
  }
}

export function execute(path: string, sql: string): void {
  withClient(path, (database) => database.exec(sql));
}

export function query(path: string, sql: string): unknown[] {
  return withClient(path, (database) => database.prepare(sql).raw().all());
}

export function makeNotes(path: string, rows = 100): string {
  withClient(path, (database) => {
    database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
    const insert = database.prepare("INSERT INTO notes (text) VALUES (?)");
    database.transaction(() => {
      for (let row = 1; row <= rows; row += 1) insert.run(`note ${row}`);
    })();
  });
  return path;
}

/** A store with database `shop` (100 notes) and a checkout of main. */
export async function makeShop(options: OpenOptions = {}, ports: StorePorts = {}): Promise<{ store: Store; folder: string; main: string }> {
  const folder = temporaryFolder();
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true, ...options }, ports);
  onTestFinished(() => store.close());
  await store.create({ database: "shop", from: makeNotes(join(folder, "notes.db")) });
  const { path } = await store.checkout({ database: "shop", branch: "main" });
  return { store, folder, main: path };
}

export const SHOP = { database: "shop", branch: "main" } as const;
