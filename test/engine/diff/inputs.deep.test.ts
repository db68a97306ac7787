import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { DiffSideInput, TableCounts } from "#shared/diff-views.ts";
import { createStore, type Store } from "#engine/store.ts";
import { HOSTILE_INPUTS } from "../../support/hostile-inputs.ts";
import { REAL_DATABASES, requireRealDatabase } from "../../support/real-databases.ts";
import { temporaryFolder } from "../../support/stores.ts";

/** What a comparison says: its kind, the schema's changes, and the counts of tables with any. */
async function compare(
  store: Store,
  left: DiffSideInput,
  right: DiffSideInput,
): Promise<{ schema: unknown[]; counts: TableCounts[]; same: boolean }> {
  const diff = await store.diff({ left, right });
  try {
    const counts: TableCounts[] = [];
    for await (const each of diff.summary()) if (each.isComplete && each.inserted + each.deleted + each.updated > 0) counts.push(each);
    const damaged = diff.view.tables.filter(({ notComparable }) => notComparable !== null);
    return { schema: [...diff.view.schema], counts, same: damaged.length > 0 || (await diff.isSame()) };
  } finally {
    diff.close();
  }
}

/** The same rows on other pages: every byte of the file differs. */
function vacuumInto(from: string, to: string): boolean {
  const database = new Database(from, { readonly: true });
  try {
    database.prepare("VACUUM INTO ?").run(to);
    return true;
  } catch (error) {
    if (error instanceof Database.SqliteError) return false;
    throw error;
  } finally {
    database.close();
  }
}

const EQUAL = { asIs: { schema: [], counts: [], same: true }, moved: [] };

/** `movesPages`: also against the same rows on other pages; SQLite takes minutes to write thousands of tables anew. */
async function tryInput(path: string, movesPages: boolean): Promise<unknown> {
  const folder = temporaryFolder();
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
  onTestFinished(() => store.close());
  await store.create({ database: "input", from: path });
  const head: DiffSideInput = { kind: "state", database: "input", branch: "main" };
  const asIs = await compare(store, { kind: "file", path }, head);
  const none = { asIs, moved: [] };
  if (!movesPages) return none;
  const exported = join(folder, "exported.db");
  await store.export({ database: "input", branch: "main", file: exported });
  const moved = join(folder, "moved.db");
  if (!vacuumInto(exported, moved)) return none;
  // What VACUUM INTO changes in the header is told; no row is.
  return { asIs, moved: (await compare(store, head, { kind: "file", path: moved })).counts };
}

for (const input of HOSTILE_INPUTS.filter(({ expect: outcome }) => outcome === "imports")) {
  test(`DIFF-21: equals itself on other pages: ${input.name}`, { timeout: 300_000 }, async () => {
    const source = join(temporaryFolder(), "source");
    mkdirSync(source);
    const made = await input.make(source);
    try {
      expect(await tryInput(made.path, !input.slow)).toEqual(EQUAL);
    } finally {
      await made.release?.();
    }
  });
}

for (const input of HOSTILE_INPUTS.filter(({ expect: outcome }) => outcome !== "imports")) {
  test(`DIFF-21: is refused as an import of it is: ${input.name}`, async () => {
    const folder = temporaryFolder();
    const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
    onTestFinished(() => store.close());
    mkdirSync(join(folder, "source"));
    const made = await input.make(join(folder, "source"));
    try {
      const file: DiffSideInput = { kind: "file", path: made.path };
      await expect(store.openDiff({ left: file, right: file })).rejects.toMatchObject({ code: input.expect });
    } finally {
      await made.release?.();
    }
  });
}

for (const real of REAL_DATABASES) {
  test(`DIFF-21: equals itself on other pages: ${real.name}`, { timeout: 300_000 }, async (context) => {
    requireRealDatabase(real, context);
    const copy = join(temporaryFolder(), "copy.db");
    copyFileSync(real.path, copy);
    expect(await tryInput(copy, false)).toEqual(EQUAL);
  });
}
