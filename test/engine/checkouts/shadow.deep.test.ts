import { appendFileSync, copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createCheckoutFiles } from "#engine/checkouts/keeper-client.ts";
import { differingRanges, readExtents } from "#engine/checkouts/extent-ranges.ts";
import type { Disk } from "#engine/io/disk.ts";
import { EXTENT, type Native } from "#engine/io/native.ts";
import { EngineError } from "#engine/io/errors.ts";
import { createStore } from "#engine/store.ts";
import { LIMITS } from "#shared/limits.ts";
import { batchesBetween, differingPages, disk, makeDatabase, native, onCleanup, openClient, readDatabase } from "./support.ts";
import {
  COLD,
  listShadows,
  look,
  makeShadowPlace,
  NO_HASHES,
  openShadowFiles,
  withHold,
  type Content,
  type ShadowPlace,
} from "./shadow-support.ts";

const KINDS = ["xfs", "btrfs"] as const;
const ROWS = 12_000;

/** A checkout of some megabytes with its shadow, and a client that writes it and closes it. */
async function makeShadowed(place: ShadowPlace, ports: Parameters<typeof openShadowFiles>[1] = {}) {
  makeDatabase(place.path, { rows: ROWS });
  const files = openShadowFiles(place, ports);
  const content: Content = readDatabase(place.path);
  const fingerprint = await withHold(files, place, "write", (held) => held.fingerprint());
  const change = async (sql: string): Promise<Content> => {
    const client = await openClient(place.path);
    await client.exec(sql);
    await client.close();
    return readDatabase(place.path);
  };
  return { files, content, fingerprint, change };
}

function fail(): never {
  throw new EngineError("io-failed", "as the test wants");
}

/** It is not in memory any more. */
function forgetFile(path: string): void {
  const file = disk.open(path, "r+");
  disk.sync(file);
  native.wontRead(file, 0, disk.statFile(file).size);
  disk.close(file);
}

/** Most of a file of some megabytes, by FIEMAP_EXTENT_ENCODED. */
const compressed = (): Float64Array => Float64Array.of(0, 4096, 1024 * 1024, 0x8 | EXTENT.last);

/** More than may be forced to the disk. */
const delayed = (): Float64Array => Float64Array.of(0, 0, LIMITS.shadowDirtyBytesMax + 1, EXTENT.delayed);

const foundPages = (found: { pages: Map<number, Uint8Array> }): number[] => [...found.pages.keys()];

afterEach(() => {
  delete process.env["COPPICE_NO_FIEMAP"];
});

describe.each(KINDS)("a shadow on %s", (kind) => {
  it("SHADOW-1: names exactly the pages that were written, and follows them", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    expect(listShadows(place)).toEqual(["known", "shadow"]);
    expect(files.check(place.path, fingerprint)).toBe("same");
    let known = { content, fingerprint };
    for (const sql of ["UPDATE item SET tag = 'other' WHERE id % 3000 = 0", "UPDATE item SET tag = tag || 'x' WHERE id = 7000", "VACUUM"]) {
      const after = await change(sql);
      const found = await look(files, place, { ...known, hashes: sql === "VACUUM" ? undefined : NO_HASHES });
      expect(foundPages(found)).toEqual(differingPages(known.content, after));
      if (sql !== "VACUUM") expect(found.proof).toBe("extents");
      expect(files.check(place.path, found.fingerprint)).toBe("same");
      known = { content: after, fingerprint: found.fingerprint };
    }
  });

  it("SHADOW-1: tells that pages were written with the same bytes", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    await change("UPDATE item SET tag = 'there' WHERE id < 500");
    await change("UPDATE item SET tag = 'first' WHERE id < 500");
    const found = await look(files, place, { content, fingerprint, hashes: NO_HASHES });
    expect(found).toMatchObject({ proof: "extents" });
    expect(foundPages(found)).toEqual([]);
  });

  it("SHADOW-3: is not trusted with another fingerprint, file, boot or record", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    const after = await change("UPDATE item SET tag = 'other' WHERE id = 1");
    const [known = "", shadow = ""] = disk.list(place.shadows).map((name) => join(place.shadows, name));
    const record = readFileSync(known, "latin1");
    const kept = join(place.folder, "kept");
    copyFileSync(shadow, kept);
    const ask = async (text: string | null) => look(files, place, { content, fingerprint: text }, false);
    expect((await ask(fingerprint)).proof).toBe("extents");
    // A fingerprint of an earlier boot, in the catalog and in the record alike.
    const earlier = fingerprint?.replace(/^1\.[^.]+/, "1.another-boot") ?? "";
    const strange: readonly [what: string, text: string | null, act: () => void][] = [
      ["no fingerprint", null, () => undefined],
      ["another fingerprint", fingerprint?.replace(/\.[^.]+\.-$/, ".1.-") ?? "", () => undefined],
      ["another boot", earlier, () => writeFileSync(known, record.replace(fingerprint ?? "", earlier))],
      ["a record cut short", fingerprint, () => writeFileSync(known, record.slice(0, -2))],
      ["a record with something behind", fingerprint, () => writeFileSync(known, `${record}x`)],
      ["no record", fingerprint, () => disk.remove(known)],
      ["another file in its place", fingerprint, () => renameSync(kept, shadow)],
      ["no shadow", fingerprint, () => disk.remove(shadow)],
    ];
    for (const [what, text, act] of strange) {
      writeFileSync(known, record);
      act();
      const found = await ask(text);
      expect(found.proof, what).toBe("scan");
      expect(foundPages(found), what).toEqual(differingPages(content, after));
    }
  });

  it("SHADOW-3: that somebody wrote to is not trusted", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    await change("UPDATE item SET tag = 'other' WHERE id = 1");
    appendFileSync(join(place.shadows, disk.list(place.shadows)[1] ?? ""), "x");
    expect((await look(files, place, { content, fingerprint })).proof).toBe("scan");
  });

  it("SHADOW-4: does not vouch for pages that a patch brought, wherever their blocks lie", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    const other = await change("UPDATE item SET tag = 'other' WHERE id = 6000");
    const back = await withHold(files, place, "exclusive", async (held) => {
      const changes = await held.changes({ fingerprint, pageSize: 4096, pageHashes: NO_HASHES });
      expect(changes.proof).toBe("extents");
      await held.fingerprint();
      return held.patch({ pageSize: 4096, pageCount: content.pageCount, batches: batchesBetween(other, content) });
    });
    expect(files.check(place.path, back)).toBe("same");
    // The client does what the shadow has already, and a deduplicating program lays both on the same blocks.
    const again = await change("UPDATE item SET tag = 'other' WHERE id = 6000");
    const [page = 0] = differingPages(content, again).filter((number) => number > 1);
    const shadow = disk.open(join(place.shadows, disk.list(place.shadows)[1] ?? ""), "r");
    const main = disk.open(place.path, "r+");
    const start = (page - 1) * 4096;
    expect(native.cloneRange(shadow, start, main, start, 4096)).toBe(true);
    const extents = [main, shadow].map((file) => readExtents(native, file, content.pages.length, 9_000, true));
    expect(differingRanges(extents[0]!, extents[1]!, content.pages.length).some((range) => range.start <= start && range.end > start)).toBe(
      false,
    );
    disk.close(main);
    disk.close(shadow);
    const found = await look(files, place, { content, fingerprint: back, hashes: NO_HASHES });
    expect(found.proof).toBe("extents");
    expect(foundPages(found)).toContain(page);
  });

  it("SHADOW-4: asks for the hashes of loose pages when there are many", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    const other = await change("UPDATE item SET tag = 'other' WHERE id < 3000");
    expect(differingPages(content, other).length).toBeGreaterThan(64);
    const saved = await look(files, place, { content, fingerprint, hashes: NO_HASHES });
    const back = await withHold(files, place, "exclusive", async (held) => {
      expect((await held.changes({ fingerprint: saved.fingerprint, pageSize: 4096, pageHashes: NO_HASHES })).proof).toBe("fingerprint");
      return held.patch({ pageSize: 4096, pageCount: content.pageCount, batches: batchesBetween(other, content) });
    });
    const after = await change("UPDATE item SET tag = 'third' WHERE id = 11000 OR id = 5");
    const found = await look(files, place, { content, fingerprint: back });
    expect(found.proof).toBe("extents");
    expect(foundPages(found)).toEqual(differingPages(content, after));
  });

  it("SHADOW-4: does not vouch for a file whose patch failed half-way", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    let writesLeft = Infinity;
    const failing: Disk = {
      ...disk,
      write: (file, bytes, position) => {
        writesLeft -= 1;
        if (writesLeft < 0) fail();
        disk.write(file, bytes, position);
      },
    };
    const { files, content, fingerprint, change } = await makeShadowed(place, { disk: failing });
    const other = await change("UPDATE item SET tag = 'other' WHERE id % 1000 = 0");
    const saved = await look(files, place, { content, fingerprint, hashes: NO_HASHES });
    const half = await withHold(files, place, "exclusive", async (held) => {
      await held.changes({ fingerprint: saved.fingerprint, pageSize: 4096, pageHashes: NO_HASHES });
      const patch = held.patch({
        pageSize: 4096,
        pageCount: content.pageCount,
        batches: (async function* () {
          yield* batchesBetween(other, content);
          // Behind the last frame of the patch, a few pages of the file itself.
          writesLeft = 6;
        })(),
      });
      await expect(patch).rejects.toThrow("as the test wants");
      writesLeft = Infinity;
      return held.fingerprint();
    });
    const after = await change("UPDATE item SET tag = 'other' WHERE id = 2000");
    const found = await look(files, place, { content, fingerprint: half });
    for (const page of differingPages(content, after)) expect(foundPages(found)).toContain(page);
    expect(differingPages(other, after).length).toBeGreaterThan(1);
  });

  it("SHADOW-5: goes with its checkout, and is made with a file that is put in place", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files } = await makeShadowed(place);
    const finished = join(place.temporary, "finished");
    disk.clone(place.path, finished);
    const first = disk.list(place.shadows);
    const swapped = await withHold(files, place, "exclusive", (held) => held.swap(finished));
    expect(files.check(place.path, swapped)).toBe("same");
    expect(listShadows(place)).toEqual(["known", "shadow"]);
    expect(disk.list(place.shadows)).not.toEqual(first);
    await withHold(files, place, "exclusive", async (held) => {
      await held.moveTo(join(place.folder, "checkouts", "moved.db"));
      await held.remove();
    });
    expect(disk.list(place.shadows)).toEqual([]);
    makeDatabase(finished, { rows: ROWS });
    const placed = await files.place(finished, place.path);
    expect(files.check(place.path, placed)).toBe("same");
    expect(listShadows(place)).toEqual(["known", "shadow"]);
  });

  it("SHADOW-6: that fails in any way is removed, and a scan does its work", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const broken: Partial<Native> = { compareFilePages: fail, cloneRange: fail };
    const failing: { -readonly [K in keyof Native]: Native[K] } = { ...COLD };
    const { files, content, fingerprint, change } = await makeShadowed(place, { native: failing });
    const after = await change("UPDATE item SET tag = 'other' WHERE id = 1");
    Object.assign(failing, broken);
    const found = await look(files, place, { content, fingerprint });
    expect(found.proof).toBe("scan");
    expect(foundPages(found)).toEqual(differingPages(content, after));
    expect(found.fingerprint).not.toBeNull();
    expect(disk.list(place.shadows)).toEqual([]);
    // Where there can be no folder of shadows, there are none.
    disk.removeTree(place.shadows);
    writeFileSync(place.shadows, "in the way");
    expect((await look(openShadowFiles(place), place, { content: after, fingerprint: found.fingerprint })).fingerprint).not.toBeNull();
  });

  it("SHADOW-7: is not kept of a file in too many pieces, of a small one, of one in memory, or of one not written back", async ({
    skip,
  }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    makeDatabase(place.path, { rows: 100 });
    await withHold(openShadowFiles(place), place, "write", (held) => held.fingerprint());
    expect(disk.list(place.shadows)).toEqual([]);
    for (const wrapped of [
      { ...COLD, extents: () => new Float64Array(EXTENT.numbers * (LIMITS.shadowExtentsMax + 1)).fill(1) },
      { ...COLD, extents: delayed },
      { ...COLD, extents: compressed },
      { ...COLD, extentCount: (file: number) => Math.ceil(disk.statFile(file).size / LIMITS.clonedPieceBytesMin) + 1 },
      { ...COLD, cachedBytes: (file: number) => disk.statFile(file).size },
    ]) {
      const other = { ...place, path: join(place.folder, "checkouts", "other.db") };
      makeDatabase(other.path, { rows: ROWS });
      await withHold(openShadowFiles(place, { native: wrapped }), other, "write", (held) => held.fingerprint());
      expect(disk.list(place.shadows)).toEqual([]);
      disk.remove(other.path);
    }
    const { files, content, fingerprint, change } = await makeShadowed({ ...place, path: join(place.folder, "checkouts", "third.db") });
    await change("UPDATE item SET tag = 'other' WHERE id = 1");
    const many = { ...COLD, extents: (): Float64Array => new Float64Array(4 * (LIMITS.shadowExtentsMax + 1)).fill(1) };
    const third = { ...place, path: join(place.folder, "checkouts", "third.db") };
    expect((await look(openShadowFiles(place, { native: many }), third, { content, fingerprint })).proof).toBe("scan");
    expect(files.check(third.path, fingerprint)).toBe("unknown");
    expect(disk.list(place.shadows)).toEqual([]);
  });

  it("SHADOW-8: is not used when it is switched off", async ({ skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    const { files, content, fingerprint, change } = await makeShadowed(place);
    const after = await change("UPDATE item SET tag = 'other' WHERE id = 1");
    process.env["COPPICE_NO_FIEMAP"] = "1";
    const found = await look(files, place, { content, fingerprint }, false);
    expect(found.proof).toBe("scan");
    expect(foundPages(found)).toEqual(differingPages(content, after));
  });
});

it("SHADOW-8: there is none on ext4", async ({ skip }) => {
  const place = makeShadowPlace("ext4");
  if (typeof place === "string") return skip(place);
  const { files, content, fingerprint, change } = await makeShadowed(place);
  expect(disk.list(place.shadows)).toEqual([]);
  await change("UPDATE item SET tag = 'other' WHERE id = 1");
  expect((await look(files, place, { content, fingerprint })).proof).toBe("scan");
});

it.for(KINDS)(
  "SHADOW-1: in a store on %s, a checkpoint reads only what was written; gc removes strange shadows",
  async (kind, { skip }) => {
    const place = makeShadowPlace(kind);
    if (typeof place === "string") return skip(place);
    let scanned = 0;
    const counting: Native = {
      ...COLD,
      differingPages: (...input) => {
        scanned += 1;
        return native.differingPages(...input);
      },
    };
    const store = await createStore(join(place.folder, "store"), { ownProcess: true }, { native: counting });
    onCleanup(() => store.close());
    const main = { database: "shop", branch: "main" };
    makeDatabase(place.path, { rows: ROWS });
    await store.create({ database: "shop", from: place.path });
    const { path } = await store.checkout(main);
    const write = async (sql: string): Promise<void> => {
      const client = await openClient(path);
      await client.exec(sql);
      await client.close();
    };
    const proven: number[] = [];
    for (const [id, pages] of [
      [1, 1],
      [5_000, 2],
    ] as const) {
      await write(`UPDATE item SET tag = 'other' WHERE id = ${id} OR id = ${pages === 2 ? 9_000 : id}`);
      const saved = await store.checkpoint(main);
      proven.push(saved.changedPages);
    }
    expect(proven).toEqual([1, 2]);
    // A file that was decoded may have had to be scanned once.
    expect(scanned).toBeLessThanOrEqual(1);
    const before = scanned;
    await store.rollback({ ...main, to: "v1" });
    await write("UPDATE item SET tag = 'third' WHERE id = 11000");
    expect((await store.checkpoint(main)).changedPages).toBe(1);
    expect(scanned).toBe(before);
    const shadows = join(place.folder, "store", "cache", "shadows");
    const own = disk.list(shadows);
    expect(own).toHaveLength(2);
    writeFileSync(join(shadows, "1-2.shadow"), "stray");
    await store.gc({ dryRun: false });
    expect(disk.list(shadows)).toEqual(own);
    expect((await store.verify({})).problems).toEqual([]);
  },
);

it.for(KINDS)("KEEPER-1: the keeper makes, uses and removes shadows on %s", async (kind, { skip }) => {
  const place = makeShadowPlace(kind);
  if (typeof place === "string") return skip(place);
  makeDatabase(place.path, { rows: ROWS });
  const files = createCheckoutFiles({ ownProcess: false, disk, native, temporary: place.temporary, shadows: place.shadows });
  onCleanup(() => files.close());
  const content: Content = readDatabase(place.path);
  forgetFile(place.path);
  const fingerprint = await withHold(files, place, "write", (held) => held.fingerprint());
  expect(listShadows(place)).toEqual(["known", "shadow"]);
  const client = await openClient(place.path);
  await client.exec("UPDATE item SET tag = 'other' WHERE id % 4000 = 0");
  await client.close();
  const after = readDatabase(place.path);
  const found = await look(files, place, { content, fingerprint, hashes: NO_HASHES });
  expect(found.proof).toBe("extents");
  expect(foundPages(found)).toEqual(differingPages(content, after));
  await withHold(files, place, "exclusive", (held) => held.remove());
  expect(listShadows(place)).toEqual([]);
});
