import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { DataRowsView } from "#shared/query-views.ts";
import { createStore } from "#engine/store.ts";
import { HOSTILE_INPUTS } from "../../support/hostile-inputs.ts";
import { temporaryFolder } from "../../support/stores.ts";

function tryIt<T>(act: () => T): T | null {
  try {
    return act();
  } catch (error) {
    if (error instanceof Database.SqliteError) return null;
    throw error;
  }
}

/** Reads every value, as a page does. */
function countRows(stock: Database.Database, name: string): number {
  let count = 0;
  for (const _ of stock
    .prepare(`SELECT * FROM "${name.replaceAll('"', '""')}"`)
    .safeIntegers()
    .iterate())
    count += 1;
  return count;
}

const MAIN = { database: "input", branch: "main" } as const;

test.each(HOSTILE_INPUTS.filter((input) => input.expect === "imports"))(
  "DATA-7: $name: its schema is told, and the rows of its tables are as many as SQLite counts",
  async ({ make, slow }) => {
    const folder = temporaryFolder();
    const { path, release } = await make(folder);
    const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
    onTestFinished(() => store.close());
    await store.create({ database: "input", from: path });
    await release?.();
    const exported = join(folder, "exported.db");
    await store.export({ ...MAIN, file: exported });
    const stock = new Database(exported);
    onTestFinished(() => void stock.close());
    const names = tryIt(() => stock.prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").pluck().all());
    if (names === null)
      return expect(store.dataSchema(MAIN)).rejects.toMatchObject({ code: expect.stringMatching(/sql-failed|database-corrupt/) });
    const schema = await store.dataSchema(MAIN);
    expect(JSON.stringify(schema).length).toBeLessThan(8 * 1024 * 1024);
    expect(schema.tables.length + schema.unlisted).toBeGreaterThanOrEqual(names.length);
    for (const { name } of schema.tables.slice(0, slow ? 3 : 40)) {
      const count = tryIt(() => countRows(stock, name));
      const page = await store.dataRows({ ...MAIN, table: name, limit: 5000 }).catch((error: unknown) => error);
      // What SQLite cannot read, for want of a function or a table, cannot be read here.
      if (count === null) continue;
      const rows = page instanceof Error ? page : (page as DataRowsView).next === null ? (page as DataRowsView).rows.length : count;
      expect({ name, rows }).toEqual({ name, rows: count });
    }
  },
);
