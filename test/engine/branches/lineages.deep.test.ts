import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { VersionNumber } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { Lineages } from "#engine/branches/lineages.ts";
import { Catalog } from "#engine/catalog/catalog.ts";
import { systemRandomness } from "#engine/io/clock.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { nodeDisk } from "#engine/io/node-disk.ts";
import { LocalObjectStore } from "#engine/objects/local-object-store.ts";
import type { ChainReader } from "#engine/segments/chain-reader.ts";
import { FrameCache } from "#engine/segments/frame-cache.ts";
import type { Store } from "#engine/store.ts";
import { execute, makeShop, SHOP } from "../../support/stores.ts";

function look(store: Store): { readonly catalog: Catalog; readonly lineages: Lineages; readonly opened: string[] } {
  const native = loadNative();
  const catalog = Catalog.open(join(store.path, "catalog.db"), { disk: nodeDisk, native });
  onTestFinished(() => catalog.close());
  const segments = {
    disk: nodeDisk,
    native,
    randomness: systemRandomness,
    objects: new LocalObjectStore(nodeDisk, join(store.path, "segments")),
    frames: new FrameCache(LIMITS.pageCacheBytes),
    temporaryFolder: join(store.path, "tmp/test"),
  };
  const lineages = new Lineages(catalog, segments);
  const opened: string[] = [];
  const open = lineages.openSegment.bind(lineages);
  lineages.openSegment = (record) => {
    opened.push(`${record.to}.${record.level}`);
    return open(record);
  };
  return { catalog, lineages, opened };
}

function pagesOf(chain: ChainReader): Uint8Array[] {
  return Array.from({ length: chain.pageCount }, (_, index) => {
    const page = new Uint8Array(chain.pageSize);
    chain.readPages(index + 1, page);
    return page;
  });
}

function differences(held: readonly Uint8Array[], wanted: readonly Uint8Array[]): number[] {
  return wanted.flatMap((page, index) => (Buffer.compare(page, held[index] ?? new Uint8Array(0)) === 0 ? [] : [index + 1]));
}

test("CHAIN-6: versions on both sides of a merged segment's end are compared along the steps between them", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 3 });
  execute(main, "INSERT INTO notes (text) SELECT hex(randomblob(1500)) FROM notes a, notes b LIMIT 1500");
  await store.checkpoint(SHOP);
  for (let turn = 0; turn < 28; turn += 1) {
    execute(main, `UPDATE notes SET text = hex(randomblob(1500)) WHERE id BETWEEN ${200 + turn * 40} AND ${225 + turn * 40}`);
    await store.checkpoint(SHOP);
  }
  await store.gc({ dryRun: false });
  const { catalog, lineages, opened } = look(store);
  const shop = catalog.databases.byName("shop");
  if (!shop) throw new Error("shop is there");
  const states = new Map<number, Uint8Array[]>();
  for (let version = 2; version <= 30; version += 1)
    states.set(version, pagesOf(await lineages.openDetached(shop.id, version as VersionNumber, new FrameCache(1_000_000))));
  for (const [held, wanted] of [
    [28, 29],
    [30, 28],
    [27, 30],
    [2, 30],
    [30, 2],
    [11, 12],
    [19, 5],
  ] as const) {
    const found = await lineages.differing(shop.id, held as VersionNumber, wanted as VersionNumber);
    expect([...found], `from ${held} to ${wanted}`).toEqual(differences(states.get(held) ?? [], states.get(wanted) ?? []));
  }
  // v29 is the end of three levels, which v28 has nothing of: the way is one step nevertheless.
  lineages.forget();
  await lineages.reader(shop.id, 28 as VersionNumber);
  await lineages.reader(shop.id, 29 as VersionNumber);
  opened.length = 0;
  await lineages.differing(shop.id, 28 as VersionNumber, 29 as VersionNumber);
  expect(opened).toEqual(["29.0"]);
}, 60_000);

test("CHAIN-7: a process finds what another one merged, while its own chains stay open", async () => {
  const { store, main } = await makeShop({}, { mergeFanIn: 1_000 });
  const { catalog, lineages } = look(store);
  const shop = catalog.databases.byName("shop");
  if (!shop) throw new Error("shop is there");
  let longest = 0;
  let merged = 0;
  for (let turn = 0; turn < 100; turn += 1) {
    execute(main, `UPDATE notes SET text = text || '.' WHERE id = ${1 + (turn % 9)}`);
    const { version } = await store.checkpoint(SHOP);
    if (turn % 20 === 19) merged += await mergeElsewhere(store);
    longest = Math.max(longest, (await lineages.reader(shop.id, version as VersionNumber)).segments.length);
  }
  expect(merged).toBe(5);
  // Twenty that are not merged yet, as many as an open chain may grow by, and what is left of the merged ones.
  expect(longest).toBeLessThan(75);
}, 60_000);

async function mergeElsewhere(store: Store): Promise<number> {
  const { openStore } = await import("#engine/store.ts");
  const other = await openStore(store.path, { ownProcess: true }, { mergeFanIn: 4 });
  await other.gc({ dryRun: false });
  await other.close();
  return 1;
}
