import { expect, test } from "vitest";
import { loadNative } from "#engine/io/load-native.ts";
import type { Native } from "#engine/io/native.ts";
import { execute, makeShop, SHOP } from "../../support/stores.ts";

/** The machine's own, counting the pages that are hashed: a decoded page is. */
function countingNative(): { readonly native: Native; readonly counted: { pages: number } } {
  const counted = { pages: 0 };
  const native = new Proxy(loadNative(), {
    get: (target, name: keyof Native) => {
      const value: unknown = Reflect.get(target, name);
      if (name === "hashPages")
        return (pages: Uint8Array, pageSize: number) => {
          counted.pages += pages.length / pageSize;
          return target.hashPages(pages, pageSize);
        };
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { native, counted };
}

test("VERIFY-2: verifying decodes each stored page once, merged or not, however long the chain", async () => {
  for (const mergeFanIn of [3, 1_000]) {
    const { native, counted } = countingNative();
    const { store, main } = await makeShop({}, { native, mergeFanIn });
    // The same page over and over: a chain through which every version must be reached.
    for (let turn = 0; turn < 80; turn += 1) {
      execute(main, `UPDATE notes SET text = 'turn ${turn}' WHERE id = 7`);
      await store.checkpoint(SHOP);
    }
    await store.gc({ dryRun: false });
    counted.pages = 0;
    const report = await store.verify({});
    expect(report).toMatchObject({ ok: true, versions: 81, problems: [] });
    expect(report.segments).toBe(mergeFanIn === 3 ? 81 + 26 + 8 + 2 : 81);
    // As it is decoded, and as the version before has it.
    expect(counted.pages).toBeLessThanOrEqual(2 * report.pages);
    await store.close();
  }
}, 60_000);
