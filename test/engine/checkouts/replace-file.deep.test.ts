import { spawn } from "node:child_process";
import { closeSync, copyFileSync, openSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import type { Disk } from "#engine/io/disk.ts";
import { EngineError } from "#engine/io/errors.ts";
import { setFaultHandler } from "#engine/io/faults.ts";
import { mountLoopFilesystem } from "../../support/loop-filesystem.ts";
import {
  batchesBetween,
  differingPages,
  disk,
  knownAs,
  makeDatabase,
  makePlace,
  native,
  onCleanup,
  openClient,
  openFiles,
  readDatabase,
  type Place,
} from "./support.ts";

const EMPTY = { pages: new Uint8Array(0), pageSize: 4096, pageCount: 0 };

/** Two states of one database: the file at the place holds the first. */
function makeTwoStates(
  place: Place,
  sql = "UPDATE item SET tag = 'later' WHERE id % 50 = 0; INSERT INTO item SELECT id + 10000, 'new', text FROM item WHERE id < 100",
): { first: ReturnType<typeof readDatabase>; second: ReturnType<typeof readDatabase> } {
  const other = `${place.folder}/other.db`;
  copyFileSync(place.path, other);
  const database = new Database(other);
  database.exec(sql);
  database.close();
  return { first: readDatabase(place.path), second: readDatabase(other) };
}

function checkDatabase(path: string): unknown {
  const database = new Database(path);
  try {
    return [database.pragma("integrity_check", { simple: true }), database.pragma("journal_mode", { simple: true })];
  } finally {
    database.close();
  }
}

async function patchTo(
  place: Place,
  from: ReturnType<typeof readDatabase>,
  to: ReturnType<typeof readDatabase>,
  files = openFiles(place),
): Promise<void> {
  const held = await files.hold(place.path, "exclusive", 1000);
  try {
    await held.patch({ pageSize: to.pageSize, pageCount: to.pageCount, batches: batchesBetween(from, to) });
  } finally {
    await held.release();
  }
}

describe.each([
  ["range locks", native],
  ["SQLite's own locks", { ...native, hasRangeLocks: false }],
])("a patch under %s", (_name, locks) => {
  it.each([
    [4096, "wal"],
    [512, "delete"],
    [65_536, "wal"],
  ] as const)("CHECKOUT-16: turns a file of %i-byte pages in %s mode into another version, and back", async (pageSize, journal) => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000, pageSize, journal });
    const { first, second } = makeTwoStates(place);
    const files = new DirectCheckoutFiles({ disk, native: locks, temporary: place.temporary });
    for (const [from, to] of [
      [first, second],
      [second, first],
    ] as const) {
      await patchTo(place, from, to, files);
      expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
      expect(disk.list(place.temporary)).toEqual([]);
      expect(disk.stat(place.path)?.size).toBe(to.pageCount * pageSize);
      expect(readDatabase(place.path)).toEqual(to);
      expect(checkDatabase(place.path)).toEqual(["ok", "wal"]);
    }
  });

  it("CHECKOUT-16: gives the fingerprint of what it wrote", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const { first, second } = makeTwoStates(place);
    const files = new DirectCheckoutFiles({ disk, native: locks, temporary: place.temporary });
    const held = await files.hold(place.path, "exclusive", 1000);
    await held.patch({ ...second, batches: batchesBetween(first, second) });
    const changes = await held.changes(knownAs(second, null));
    expect(changes).toMatchObject({ proof: "scan", candidates: 0, pageCount: second.pageCount });
    const fingerprint = await held.fingerprint();
    await held.release();
    expect(files.check(place.path, fingerprint)).toBe("same");
  });

  it("CHECKOUT-20: on a disk that fails at any write leaves the old content or the new", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const { first, second } = makeTwoStates(place);
    const outcomes = new Set<string>();
    for (let failAt = 0; ; failAt += 1) {
      let calls = 0;
      const count =
        <A extends unknown[], R>(call: (...args: A) => R) =>
        (...args: A): R => {
          calls += 1;
          if (calls === failAt + 1) throw new EngineError("disk-full", "no space");
          return call(...args);
        };
      const full: Disk = { ...disk, write: count(disk.write), truncate: count(disk.truncate), rename: count(disk.rename) };
      const files = new DirectCheckoutFiles({ disk: full, native: locks, temporary: place.temporary });
      const failure = await patchTo(place, first, second, files).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure === null || (failure instanceof EngineError && failure.code === "disk-full")).toBe(true);
      expect(disk.list(place.temporary)).toEqual([]);
      const now = readDatabase(place.path);
      outcomes.add(differingPages(first, now).length === 0 && now.pageCount === first.pageCount ? "old" : "new");
      expect(now).toEqual(now.pageCount === first.pageCount ? first : second);
      expect(checkDatabase(place.path)).toEqual(["ok", expect.any(String)]);
      if (failure === null) break;
      await patchTo(place, now, first);
    }
    expect([...outcomes].toSorted()).toEqual(["new", "old"]);
  });
});

describe("a patch", () => {
  it("CHECKOUT-16: without a page still gives size and a fresh change counter", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const first = readDatabase(place.path);
    const counter = (): number => Buffer.from(disk.readWhole(place.path)).readUInt32BE(24);
    const before = counter();
    await patchTo(place, first, first);
    expect(counter()).toBe(before + 1);
    expect(readDatabase(place.path)).toEqual(first);
  });

  it("CHECKOUT-16: shrinks and grows, to and from nothing", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const { first, second } = makeTwoStates(place, "DELETE FROM item WHERE id > 20; VACUUM");
    expect(second.pageCount).toBeLessThan(first.pageCount);
    let current = first;
    for (const next of [second, first, EMPTY, second, EMPTY, first]) {
      await patchTo(place, current, next);
      expect(disk.stat(place.path)?.size).toBe(next.pageCount * 4096);
      expect(next.pageCount === 0 ? EMPTY : readDatabase(place.path)).toEqual(next);
      expect(checkDatabase(place.path)).toEqual(["ok", next.pageCount === 0 ? "delete" : "wal"]);
      expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
      current = next;
    }
  });

  it("CHECKOUT-16: to another page size takes every page", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const { first, second } = makeTwoStates(place, "PRAGMA page_size = 1024; VACUUM");
    await patchTo(place, first, second);
    expect(readDatabase(place.path)).toEqual(second);
    expect(checkDatabase(place.path)).toEqual(["ok", "wal"]);
  });

  it("CHECKOUT-16: does not write into the caller's pages", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const first = readDatabase(place.path);
    const held = await openFiles(place).hold(place.path, "exclusive", 1000);
    const bytes = first.pages.slice(0, 4096);
    await held.patch({
      ...first,
      batches: (async function* () {
        yield { numbers: Uint32Array.of(1), bytes };
      })(),
    });
    await held.release();
    expect(bytes).toEqual(first.pages.slice(0, 4096));
  });

  it("CHECKOUT-20: whose batches fail leaves the old content", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 2000 });
    const { first, second } = makeTwoStates(place);
    const held = await openFiles(place).hold(place.path, "exclusive", 1000);
    const failing = (async function* () {
      for await (const batch of batchesBetween(first, second)) {
        yield batch;
        throw new EngineError("segment-corrupt", "a page that cannot be read");
      }
    })();
    await expect(held.patch({ ...second, batches: failing })).rejects.toMatchObject({ code: "segment-corrupt" });
    await held.release();
    expect(readDatabase(place.path)).toEqual(first);
    expect(disk.list(place.temporary)).toEqual([]);
  });
});

describe("a copy of a checkout", () => {
  it.for(["xfs", "btrfs"] as const)(
    "CHECKOUT-23: on %s shares its blocks, unless it is small or in too many pieces",
    async (kind, { skip }) => {
      const mounted = mountLoopFilesystem(kind, 320);
      if ("missing" in mounted) return skip(mounted.missing);
      const place = { folder: mounted.folder, temporary: `${mounted.folder}/tmp`, path: `${mounted.folder}/main.db` };
      disk.makeDirectory(place.temporary);
      for (const [rows, extents, how] of [
        [12_000, null, "cloned"],
        [12_000, 1_000, "copied"],
        [20, null, "copied"],
      ] as const) {
        makeDatabase(place.path, { rows });
        const locks = extents === null ? native : { ...native, extentCount: () => extents };
        const files = new DirectCheckoutFiles({ disk, native: locks, temporary: place.temporary });
        const held = await files.hold(place.path, "write", 1000);
        const fingerprint = (await held.fingerprint()) ?? "";
        await held.release();
        const to = `${place.temporary}/copy`;
        expect(await files.copy(place.path, fingerprint, to, {})).toBe(native.kind === "addon" ? how : "copied");
        expect(readDatabase(to)).toEqual(readDatabase(place.path));
        disk.remove(to);
        disk.remove(place.path);
      }
    },
  );
});

describe("a finished file", () => {
  it("CHECKOUT-18: is swapped in, without side files of the old one, and stays locked", async () => {
    for (const locks of [native, { ...native, hasRangeLocks: false }]) {
      const place = makePlace();
      makeDatabase(place.path, { journal: "delete" });
      const old = await openClient(place.path, "journal_mode = PERSIST");
      await old.exec("UPDATE item SET tag = 'x'");
      await old.kill();
      const finished = `${place.temporary}/finished`;
      makeDatabase(finished, { rows: 77 });
      const files = new DirectCheckoutFiles({ disk, native: locks, temporary: place.temporary });
      const held = await files.hold(place.path, "exclusive", 1000);
      await held.swap(finished);
      expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
      expect(disk.list(place.temporary)).toEqual([]);
      const client = await openClient(place.path);
      const read = await client.all("SELECT 1 FROM item").then(
        () => "read",
        () => "locked",
      );
      await client.kill();
      expect(read).toBe(locks.hasRangeLocks ? "locked" : "read");
      const fingerprint = await held.fingerprint();
      await held.release();
      expect(files.check(place.path, fingerprint)).toBe("same");
      expect(await (await openClient(place.path)).all("SELECT count(*) AS n FROM item")).toEqual([{ n: 77 }]);
    }
  });

  it("CHECKOUT-18: is refused when a client opened the old one during the hold", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const finished = `${place.temporary}/finished`;
    makeDatabase(finished, { rows: 3 });
    const held = await openFiles(place).hold(place.path, "exclusive", 1000);
    const late = await openClient(place.path);
    await expect(late.all("SELECT * FROM item")).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    await expect(held.swap(finished)).rejects.toMatchObject({ code: "checkout-busy" });
    await expect(held.remove()).rejects.toMatchObject({ code: "checkout-busy" });
    await held.release();
    await late.exec("UPDATE item SET tag = 'late'");
    expect(disk.list(place.temporary)).toEqual(["finished"]);
  });

  it.runIf(process.platform === "linux")(
    "CHECKOUT-18: gives way to a client that opened the old one between the last look and the rename",
    async () => {
      const place = makePlace();
      makeDatabase(place.path);
      const finished = `${place.temporary}/finished`;
      makeDatabase(finished, { rows: 3 });
      const inode = disk.stat(place.path)?.inode;
      const held = await openFiles(place).hold(place.path, "exclusive", 1000);
      let holder = 0;
      setFaultHandler((point) => {
        if (point !== "materialise:written") return;
        const file = openSync(place.path, "r");
        const child = spawn("sleep", ["60"], { stdio: [file, "ignore", "ignore"] });
        closeSync(file);
        onCleanup(() => child.kill());
        holder = child.pid ?? 0;
      });
      onCleanup(() => setFaultHandler(null));
      await expect(held.swap(finished)).rejects.toMatchObject({ code: "checkout-busy" });
      expect(holder).toBeGreaterThan(0);
      await held.release();
      expect(disk.stat(place.path)?.inode).toBe(inode);
      expect(disk.list(place.temporary)).toEqual([]);
      expect(await (await openClient(place.path)).all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
    },
  );

  it("CHECKOUT-19: is placed where nothing is, with its fingerprint, and refused where something is", async () => {
    const place = makePlace();
    const finished = `${place.temporary}/finished`;
    makeDatabase(finished);
    const files = openFiles(place);
    // Left by a file that somebody deleted.
    writeFileSync(`${place.path}-wal`, "old");
    writeFileSync(`${place.path}-journal`, "old");
    const fingerprint = await files.place(finished, place.path);
    expect(files.check(place.path, fingerprint)).toBe("same");
    expect(disk.list(`${place.folder}/checkouts`)).toEqual(["main.db"]);
    expect(disk.list(place.temporary)).toEqual([]);
    expect(files.sizes(place.path)).toEqual({ fileBytes: disk.stat(place.path)?.size, walBytes: 0 });
    makeDatabase(finished, { rows: 3 });
    await expect(files.place(finished, place.path)).rejects.toMatchObject({ code: "file-exists" });
    expect(disk.list(place.temporary)).toEqual(["finished"]);
    expect(files.check(place.path, fingerprint)).toBe("same");
    expect(await (await openClient(place.path)).all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
    const deeper = `${place.folder}/checkouts/fix/refunds.db`;
    await files.place(finished, deeper);
    expect(disk.stat(deeper)).not.toBeNull();
  });
});

describe("a checkout", () => {
  it("CHECKOUT-22: is moved with its content, and removed whole", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    const held = await files.hold(place.path, "exclusive", 1000);
    const to = `${place.folder}/checkouts/team/renamed.db`;
    makeDatabase(`${place.folder}/checkouts/taken.db`, { rows: 1 });
    await expect(held.moveTo(`${place.folder}/checkouts/taken.db`)).rejects.toMatchObject({ code: "file-exists" });
    await held.moveTo(to);
    expect(held.path).toBe(to);
    const fingerprint = await held.fingerprint();
    expect(files.check(to, fingerprint)).toBe("same");
    expect(files.check(place.path, fingerprint)).toBe("missing");
    await held.remove();
    await held.release();
    expect(disk.list(`${place.folder}/checkouts/team`)).toEqual([]);
    await (await files.hold(`${place.folder}/checkouts/taken.db`, "exclusive", 100)).release();
  });
});
