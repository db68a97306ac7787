/** Every awkward input, and three databases nobody here made, through the whole engine: in, forked, out, equal. */
import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStore, EngineError } from "#engine/store.ts";
import { dumpDatabase } from "../../support/dump.ts";
import { copyForReference } from "../../support/hostile-builders.ts";
import { HOSTILE_INPUTS } from "../../support/hostile-inputs.ts";
import { REAL_DATABASES, requireRealDatabase } from "../../support/real-databases.ts";
import { temporaryFolder } from "../../support/stores.ts";

async function roundTrip(source: string, folder: string): Promise<{ exported: string; checkout: string }> {
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
  try {
    await store.create({ database: "in", from: source });
    await store.fork({ database: "in", branch: "main", newBranch: "copy" });
    const { path } = await store.checkout({ database: "in", branch: "copy" });
    const checkout = join(folder, "checkout.db");
    const exported = join(folder, "out.db");
    await store.export({ database: "in", branch: "copy", file: exported });
    await store.export({ database: "in", branch: "main", at: "v1", file: checkout });
    expect((await store.verify({})).problems).toEqual([]);
    return { exported, checkout: path };
  } finally {
    await store.close();
  }
}

for (const input of HOSTILE_INPUTS) {
  test(`INPUT-1: ${input.name}`, { timeout: 120_000 }, async () => {
    const folder = temporaryFolder();
    const sources = join(folder, "sources");
    mkdirSync(sources);
    const made = await input.make(sources);
    const source = made.path;
    try {
      if (input.expect !== "imports") {
        const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess: true });
        const error: unknown = await store.create({ database: "in", from: source }).catch((caught: unknown) => caught);
        expect(error instanceof EngineError ? error.code : error).toBe(input.expect);
        expect(await store.databases({})).toEqual([]);
        expect(readdirSync(join(store.path, "segments"))).toEqual([]);
        await store.close();
        return;
      }
      const { exported, checkout } = await roundTrip(source, folder);
      const dump = dumpDatabase(copyForReference(realpathSync(source), join(folder, "reference.db")));
      expect(dumpDatabase(exported)).toEqual(dump);
      expect(dumpDatabase(checkout)).toEqual(dump);
    } finally {
      await made.release?.();
    }
  });
}

for (const real of REAL_DATABASES) {
  test(`INPUT-2: ${real.name}, a database nobody here made, comes out as it went in`, { timeout: 120_000 }, async (context) => {
    requireRealDatabase(real, context);
    const folder = temporaryFolder();
    const { exported, checkout } = await roundTrip(real.path, folder);
    const dump = dumpDatabase(real.path);
    expect(dumpDatabase(exported)).toEqual(dump);
    expect(dumpDatabase(checkout)).toEqual(dump);
  });
}
