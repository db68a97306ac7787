import { describe, expect, test } from "vitest";
import type { Catalog } from "#engine/catalog/catalog.ts";
import { shopCatalog } from "./fixture.ts";

/** The file's bytes once the WAL is folded in, without pages that are free to be used again. */
function fileBytes(catalog: Catalog): number {
  catalog.connection.pragma("wal_checkpoint(TRUNCATE)");
  const pages = Number(catalog.connection.pragma("page_count")) - Number(catalog.connection.pragma("freelist_count"));
  return pages * Number(catalog.connection.pragma("page_size"));
}

describe("size", () => {
  test.each(["at head", "at a checkpoint, with a TTL"])(
    "SIZE-1: a fork %s adds at most 130 bytes, its branch, name and operation included",
    async (where) => {
      const { catalog, drafts, branch, checkpoint } = await shopCatalog();
      if (where !== "at head") await checkpoint("main", "before");
      const main = branch("main");
      const rest = where === "at head" ? {} : { ttlMs: 3_600_000 };
      const limit = where === "at head" ? 130 : 160;
      const before = fileBytes(catalog);
      const names = Array.from({ length: 1000 }, (_, index) => `attempt-${String(index).padStart(4, "0")}`);
      for (const name of names) await catalog.commit(drafts.fork(main, [name], rest));
      expect((fileBytes(catalog) - before) / names.length).toBeLessThanOrEqual(limit);
    },
  );

  test.each([8, 20, 1000])("SIZE-2: %i checkpoints with a segment of 100 bytes add at most 250 bytes each", async (count) => {
    const { catalog, drafts, branch } = await shopCatalog();
    // Pages are 4 KiB: few checkpoints are measured on top of many.
    const lead = 300;
    const step = async (times: number): Promise<void> => {
      for (let index = 0; index < times; index += 1) {
        const main = branch("main");
        const fact = { base: { new: 0 }, content: { new: 0 }, fingerprint: "f".repeat(80) };
        await catalog.commit({ ...drafts.checkpoint(main), facts: [{ branch: main.id, fact }] });
      }
    };
    await step(lead);
    const payload = (): number =>
      catalog.connection.get<{ bytes: number }>("SELECT sum(payload + 8 * ncell) AS bytes FROM dbstat")?.bytes ?? 0;
    const [before, payloadBefore] = [fileBytes(catalog), payload()];
    await step(count);
    expect((payload() - payloadBefore) / count).toBeLessThanOrEqual(250);
    const wholePages = count === 1000 ? 0 : 4 * 4096;
    expect((fileBytes(catalog) - before - wholePages) / count).toBeLessThanOrEqual(250);
  });

  test("SIZE-3: a purge gives its space back to the disk", async () => {
    const { catalog, drafts, branch, shop } = await shopCatalog();
    const main = branch("main");
    await catalog.commit(drafts.fork(main, ["a"]));
    for (let index = 0; index < 50; index += 1) await catalog.commit(drafts.checkpoint(branch("a"), undefined, { bytes: 16_000 }));
    const full = fileBytes(catalog);
    const a = branch("a");
    const destroyed = await catalog.commit(drafts.destroy(a));
    const numbers = catalog.versions.madeBy(a.id, null, 99).map(({ number }) => number);
    await catalog.commit(
      drafts.draft({
        kind: "purge",
        purge: { plannedAt: destroyed.id, branches: [a.id], databases: [], versions: [{ database: shop.id, numbers }], strands: [] },
      }),
    );
    const given = catalog.shrink();
    expect(given).toBeGreaterThan(50 * 16_000);
    expect(fileBytes(catalog)).toBeLessThan(full - 50 * 16_000);
    expect(catalog.connection.pragma("freelist_count")).toBe(0);
    expect(catalog.databases.byName("shop")?.storedBytes).toBe(5000);
  });
});
