/** Physical bytes where file systems share blocks, against what the file system itself says is used. */
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "#shared/limits.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { createStore, type OpenOptions, type Store, type StorePorts } from "#engine/store.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";
import { execute, makeNotes, makeShop, SHOP, temporaryFolder, withClient } from "../../support/stores.ts";
import { walkFolder } from "../../support/usage-model.ts";

/** So large that a clone is made of it and no copy. */
const DATABASE_BYTES = 12 * LIMITS.warmCopyBytesMax;

function usedBytes(folder: string): number {
  spawnSync("sync", ["-f", folder]);
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}

/** A database of which clones are worth making, in a store with its files cloned. */
async function makeClones(folder: string, options: OpenOptions = {}, ports: StorePorts = {}): Promise<Store> {
  const source = makeNotes(join(temporaryFolder(), "notes.db"));
  withClient(source, (database) => {
    database.exec("CREATE TABLE filler (bytes BLOB)");
    const insert = database.prepare("INSERT INTO filler VALUES (randomblob(100000))");
    database.transaction(() => {
      for (let bytes = 0; bytes < DATABASE_BYTES; bytes += 100_000) insert.run();
    })();
  });
  const store = await createStore(join(folder, "store"), { actor: "anna", ...options }, ports);
  onTestFinished(() => store.close());
  await store.create({ database: "shop", from: source });
  await store.checkout(SHOP);
  await store.fork({ ...SHOP, newBranch: "a", count: 4 });
  for (let number = 1; number <= 4; number += 1) {
    const { path } = await store.checkout({ database: "shop", branch: `a-${number}` });
    execute(path, `UPDATE notes SET text = '${number}' WHERE id = ${number}`);
  }
  await store.openCheckpoint({ ...SHOP, at: "v1" });
  return store;
}

test.for(["xfs", "btrfs"] as const)(
  "USAGE-2: on %s a block that several files have counts once",
  { timeout: 120_000 },
  async (kind, { skip }) => {
    const mounted = mountLoopFilesystem(kind, 600);
    if ("missing" in mounted) return skip(mounted.missing);
    const before = usedBytes(mounted.folder);
    const store = await makeClones(mounted.folder);
    // A ready file is made in the background: it grows until it is there.
    await expect.poll(async () => (await store.cache({})).caches[0]?.files, { timeout: 30_000, interval: 100 }).toBe(1);
    const view = await store.usage({});
    const { bytes, allocated } = walkFolder(store.path);
    expect(view.storedBytes).toBe(bytes);
    // The clones are there, and were counted.
    expect(allocated - (view.physicalBytes ?? NaN)).toBeGreaterThan(DATABASE_BYTES * 4);
    // What the file system needs for itself is not in it. Blocks of files that were removed come back a moment later.
    const physical = view.physicalBytes ?? NaN;
    await expect.poll(() => Math.abs(physical - (usedBytes(mounted.folder) - before)), { timeout: 10_000 }).toBeLessThan(physical / 50);
    const [files, caches] = ["files", "caches"].map((name) => view.parts.find((part) => part.name === name));
    expect(files?.physicalBytes).toBeLessThan((files?.storedBytes ?? NaN) / 2);
    expect(caches?.physicalBytes).toBeLessThan((caches?.storedBytes ?? NaN) / 2);
    execute(store.checkoutPath("shop", "a-1"), "UPDATE filler SET bytes = randomblob(100000)");
    const again = await store.usage({ database: "shop" });
    expect(again.parts.find(({ name }) => name === "files")?.physicalBytes).toBeGreaterThan(
      (files?.physicalBytes ?? NaN) + DATABASE_BYTES / 2,
    );
  },
);

test("USAGE-2: where nobody tells what is shared, physical bytes are unknown", { timeout: 120_000 }, async ({ skip }) => {
  const mounted = mountLoopFilesystem("xfs", 400);
  if ("missing" in mounted) return skip(mounted.missing);
  const store = await makeClones(mounted.folder, { ownProcess: true }, { native: { ...loadNative(), extents: () => null } });
  const view = await store.usage({});
  expect(view.physicalBytes).toBeNull();
  expect(view.parts.filter(({ physicalBytes }) => physicalBytes === null).map(({ name }) => name)).toEqual([
    "files",
    "caches",
    "temporary",
  ]);
  expect(view.storedBytes).toBe(walkFolder(store.path).bytes);
});

test("USAGE-2: elsewhere blocks are counted as the system counts them, block for block", async () => {
  const { store, main } = await makeShop();
  execute(main, "UPDATE notes SET text = 'x' WHERE id = 3");
  const view = await store.usage({});
  expect(view.physicalBytes).toBe(walkFolder(store.path).allocated);
});
