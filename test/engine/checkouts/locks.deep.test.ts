import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DirectCheckoutFiles } from "#engine/checkouts/direct-checkout-files.ts";
import { EngineError } from "#engine/io/errors.ts";
import { collect, disk, makeDatabase, makePlace, native, onCleanup, openClient, openFiles, type Place } from "./support.ts";

const busy = { code: "SQLITE_BUSY" };
const withoutRangeLocks = { ...native, hasRangeLocks: false };

function openFilesWith(place: Place, locks: typeof native) {
  const files = new DirectCheckoutFiles({ disk, native: locks, temporary: place.temporary });
  onCleanup(() => files.close());
  return files;
}

function holdersOf(error: unknown): unknown {
  return error instanceof EngineError ? error.details.holders : null;
}

function listCheckouts(place: Place): string[] {
  return disk.list(`${place.folder}/checkouts`);
}

/** Takes both holds in another process; one line each. */
function runHolds(place: Place, user: { uid?: number; gid?: number } = {}): string {
  const script = `
    import { DirectCheckoutFiles } from "${import.meta.resolve("#engine/checkouts/direct-checkout-files.ts")}";
    import { nodeDisk } from "${import.meta.resolve("#engine/io/node-disk.ts")}";
    import { loadNative } from "${import.meta.resolve("#engine/io/load-native.ts")}";
    const files = new DirectCheckoutFiles({ disk: nodeDisk, native: loadNative(), temporary: ${JSON.stringify(place.temporary)} });
    for (const mode of ["write", "exclusive"]) {
      const code = await files.hold(${JSON.stringify(place.path)}, mode, 30).then((held) => held.release().then(() => "held"), (error) => error.code);
      console.log(code);
    }`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", ...user }).trim();
}

describe.each(["wal", "delete", "persist", "truncate", "memory"])("a write hold in %s mode", (journal) => {
  it("CHECKOUT-10: keeps stock clients from committing, and lets them read", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const client = await openClient(place.path, `journal_mode = ${journal}`);
    const held = await openFiles(place).hold(place.path, "write", 1000);
    await expect(client.exec("UPDATE item SET tag = 'x'")).rejects.toMatchObject(busy);
    expect(await client.all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
    const newcomer = await openClient(place.path);
    expect(await newcomer.all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
    await expect(newcomer.exec("BEGIN IMMEDIATE")).rejects.toMatchObject(busy);
    await held.release();
    await client.exec("UPDATE item SET tag = 'x'");
    await newcomer.exec("BEGIN IMMEDIATE");
  });

  it("CHECKOUT-12: waits for a client's transaction, then names the client", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const client = await openClient(place.path, `journal_mode = ${journal}`);
    // Whoever tries for the lock is a reader for a moment, for whom a COMMIT in these modes waits.
    await client.exec("PRAGMA busy_timeout = 2000");
    await client.exec("BEGIN IMMEDIATE");
    const files = openFiles(place);
    const error = await files.hold(place.path, "write", 60).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: "checkout-busy", retryable: true, untouched: `${place.path} is unchanged.` });
    expect(holdersOf(error)).toEqual([{ pid: client.pid, program: "node", access: "writing" }]);
    const waiting = files.hold(place.path, "write", 5000);
    await client.exec("COMMIT");
    await (await waiting).release();
  });
});

describe.each([
  ["range locks", native],
  ["SQLite's own locks", withoutRangeLocks],
])("an exclusive hold by %s", (_name, locks) => {
  it.each(["wal", "delete"] as const)("CHECKOUT-11: keeps everybody out of a file in %s mode", async (journal) => {
    const place = makePlace();
    makeDatabase(place.path, { journal });
    const files = openFilesWith(place, locks);
    const held = await files.hold(place.path, "exclusive", 1000);
    const client = await openClient(place.path);
    await expect(client.all("SELECT count(*) FROM item")).rejects.toMatchObject(busy);
    await expect(client.exec("BEGIN IMMEDIATE")).rejects.toMatchObject(busy);
    for (const mode of ["write", "exclusive"] as const)
      await expect(files.hold(place.path, mode, 20)).rejects.toMatchObject({ code: "checkout-busy" });
    await held.release();
    expect(await client.all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
  });

  it.each(["wal", "delete"] as const)("CHECKOUT-12: is refused while an idle client has a file in %s mode open", async (journal) => {
    const place = makePlace();
    makeDatabase(place.path, { journal });
    const client = await openClient(place.path);
    await client.all("SELECT count(*) FROM item");
    const before = disk.stat(place.path);
    const files = openFilesWith(place, locks);
    const error = await files.hold(place.path, "exclusive", 40).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "checkout-busy", retryable: true, details: { path: place.path } });
    expect(disk.stat(place.path)).toEqual(before);
    expect(files.holders(place.path).map((holder) => holder.pid)).toContain(client.pid);
    expect(String(error)).toContain(`pid ${client.pid}`);
    await client.close();
    await (await files.hold(place.path, "exclusive", 1000)).release();
  });

  it("CHECKOUT-13: folds in the WAL of a killed client first", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'kept'");
    await client.kill();
    expect(disk.stat(`${place.path}-wal`)?.size).toBeGreaterThan(0);
    const held = await openFilesWith(place, locks).hold(place.path, "exclusive", 1000);
    expect(disk.stat(`${place.path}-wal`)?.size ?? 0).toBe(0);
    await held.release();
    expect(listCheckouts(place)).toEqual(["main.db"]);
    const reader = await openClient(place.path);
    expect(await reader.all("SELECT DISTINCT tag FROM item")).toEqual([{ tag: "kept" }]);
  });

  it("CHECKOUT-13: rolls back the hot journal of a killed client first", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete", rows: 3000 });
    const client = await openClient(place.path, "cache_size = 5", "cache_spill = 1");
    await client.exec("BEGIN; UPDATE item SET tag = 'half'");
    await client.kill();
    expect(disk.stat(`${place.path}-journal`)?.size).toBeGreaterThan(0);
    const held = await openFilesWith(place, locks).hold(place.path, "exclusive", 1000);
    await held.release();
    expect(listCheckouts(place)).toEqual(["main.db"]);
    const reader = await openClient(place.path);
    expect(await reader.all("SELECT DISTINCT tag FROM item")).toEqual([{ tag: "first" }]);
  });

  it("CHECKOUT-8: is given on a file that is no database, so that it can be replaced", async () => {
    const place = makePlace();
    writeFileSync(place.path, "no database ".repeat(1000));
    const held = await openFilesWith(place, locks).hold(place.path, "exclusive", 100);
    await expect(held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) })).rejects.toMatchObject({
      code: "checkout-corrupt",
    });
    const finished = `${place.temporary}/finished`;
    makeDatabase(finished);
    await held.swap(finished);
    await held.release();
    expect(await (await openClient(place.path)).all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
  });
});

describe("holds", () => {
  it("CHECKOUT-11: of two processes exclude each other", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    for (const mode of ["write", "exclusive"] as const) {
      const held = await files.hold(place.path, mode, 1000);
      expect(runHolds(place)).toBe("checkout-busy\ncheckout-busy");
      await held.release();
    }
    expect(runHolds(place)).toBe("held\nheld");
  });

  it("CHECKOUT-11: of one process take turns", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openFiles(place);
    let active = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const held = await files.hold(place.path, index % 2 === 0 ? "write" : "exclusive", 10_000);
        active += 1;
        expect(active).toBe(1);
        await held.fingerprint();
        active -= 1;
        await held.release();
      }),
    );
  });

  it("CHECKOUT-15: leave nothing beside a quiet file", async () => {
    for (const journal of ["wal", "delete"] as const) {
      const place = makePlace();
      makeDatabase(place.path, { journal });
      const before = disk.stat(place.path);
      const files = openFiles(place);
      for (const mode of ["write", "exclusive"] as const) {
        const held = await files.hold(place.path, mode, 1000);
        await held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
        await held.release();
      }
      expect(listCheckouts(place)).toEqual(["main.db"]);
      expect(disk.stat(place.path)).toEqual(before);
      expect(disk.list(place.temporary)).toEqual([]);
    }
  });

  it.runIf(native.hasRangeLocks)("CHECKOUT-15: keep the WAL that a killed client left, and the fingerprint that speaks of it", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'kept'");
    await client.kill();
    const before = disk.readWhole(`${place.path}-wal`);
    const files = openFiles(place);
    const held = await files.hold(place.path, "write", 1000);
    const fingerprint = await held.fingerprint();
    await held.release();
    expect(Buffer.compare(disk.readWhole(`${place.path}-wal`), before)).toBe(0);
    expect(files.check(place.path, fingerprint)).toBe("same");
  });

  it.runIf(process.platform === "linux")(
    "CHECKOUT-12: are not exclusive while any program has the file open, reading without a lock or not",
    async () => {
      const place = makePlace();
      makeDatabase(place.path);
      const file = openSync(place.path, "r");
      const copier = spawn("sleep", ["60"], { stdio: [file, "ignore", "ignore"] });
      onCleanup(() => copier.kill());
      closeSync(file);
      const files = openFiles(place);
      await expect(files.hold(place.path, "exclusive", 20)).rejects.toMatchObject({
        code: "checkout-busy",
        details: { holders: [{ pid: copier.pid, access: "open" }] },
      });
      await (await files.hold(place.path, "write", 1000)).release();
      const ended = once(copier, "exit");
      copier.kill();
      await ended;
      await (await files.hold(place.path, "exclusive", 1000)).release();
    },
  );

  it("CHECKOUT-7: of a file behind a link read its own WAL, and give no fingerprint", async () => {
    const place = makePlace();
    const elsewhere = `${place.folder}/elsewhere.db`;
    makeDatabase(elsewhere);
    symlinkSync(elsewhere, place.path);
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'linked'");
    const files = openFiles(place);
    const held = await files.hold(place.path, "write", 1000);
    const changes = await held.changes({ fingerprint: null, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
    const pages = await collect(changes);
    expect(Buffer.concat([...pages.values()]).includes("linked")).toBe(true);
    expect(await held.fingerprint()).toBeNull();
    await held.release();
    expect(files.check(place.path, null)).toBe("unknown");
  });

  it("CHECKOUT-14: are not disturbed by copies taken in the same process", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const files = openFiles(place);
    const held = await files.hold(place.path, "write", 1000);
    const fingerprint = (await held.fingerprint()) ?? "";
    expect(await files.copy(place.path, fingerprint, `${place.temporary}/copy`, {})).toBe(null);
    await expect(files.copySource({ file: place.path, into: `${place.temporary}/copy`, waitMs: 20 }, {})).rejects.toMatchObject({
      code: "source-busy",
    });
    const client = await openClient(place.path);
    await expect(client.exec("BEGIN IMMEDIATE")).rejects.toMatchObject(busy);
    await held.release();
    expect(await files.copy(place.path, fingerprint, `${place.temporary}/copy`, {})).not.toBe(null);
    expect(Buffer.compare(disk.readWhole(`${place.temporary}/copy`), disk.readWhole(place.path))).toBe(0);
  });

  it("CHECKOUT-25: do not wait for a copy: it is given up, as is one that is cancelled, and leaves nothing", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 60_000 });
    const files = openFiles(place);
    const first = await files.hold(place.path, "write", 1000);
    const fingerprint = (await first.fingerprint()) ?? "";
    await first.release();
    const cancelled = new AbortController();
    const copies = ["a", "b"].map((name, index) =>
      files.copy(place.path, fingerprint, `${place.temporary}/${name}`, index === 0 ? {} : { signal: cancelled.signal }),
    );
    cancelled.abort();
    const held = files.hold(place.path, "write", 1000);
    const [given, stopped] = await Promise.allSettled(copies);
    expect(given).toEqual({ status: "fulfilled", value: null });
    expect(stopped).toMatchObject({ status: "rejected", reason: { code: "cancelled" } });
    await (await held).release();
    expect(disk.list(place.temporary)).toEqual([]);
    expect(await files.copy(place.path, fingerprint, `${place.temporary}/c`, {})).toBe("copied");
  });

  it.runIf(process.getuid?.() === 0)("CHECKOUT-8: of a file that this user may not write are refused", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    chmodSync(place.folder, 0o755);
    const output = runHolds(place, { uid: 65_534, gid: 65_534 });
    expect(output).toBe("permission-denied\npermission-denied");
    expect(listCheckouts(place)).toEqual(["main.db"]);
  });

  it("CHECKOUT-12: tell a missing file from a busy one, and a folder from a file", async () => {
    const place = makePlace();
    const files = openFiles(place);
    for (const mode of ["write", "exclusive"] as const) {
      await expect(files.hold(place.path, mode, 1000)).rejects.toMatchObject({ code: "file-not-found" });
      await expect(files.hold(place.folder, mode, 1000)).rejects.toBeInstanceOf(EngineError);
    }
    expect(listCheckouts(place)).toEqual([]);
  });
});
