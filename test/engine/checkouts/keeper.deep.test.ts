import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { createCheckoutFiles } from "#engine/checkouts/keeper-client.ts";
import type { CheckoutFiles } from "#engine/checkouts/checkout-files.ts";
import { EngineError } from "#engine/io/errors.ts";
import {
  batchesBetween,
  collect,
  differingPages,
  disk,
  knownAs,
  makeDatabase,
  makePlace,
  native,
  onCleanup,
  openClient,
  readDatabase,
  type Place,
} from "./support.ts";

const run = promisify(execFile);

function openKeeper(place: Place): CheckoutFiles {
  const files = createCheckoutFiles({ ownProcess: false, disk, native, temporary: place.temporary });
  onCleanup(() => files.close());
  return files;
}

/** Runs `body` in a program of its own, with `files` (keeper mode), `Database`, `path` and `disk` at hand. */
async function runProgram(place: Place, body: string): Promise<string> {
  const script = `
    import Database from "better-sqlite3";
    import fs from "node:fs";
    import { createCheckoutFiles } from "${import.meta.resolve("#engine/checkouts/keeper-client.ts")}";
    import { nodeDisk as disk } from "${import.meta.resolve("#engine/io/node-disk.ts")}";
    import { loadNative } from "${import.meta.resolve("#engine/io/load-native.ts")}";
    const path = ${JSON.stringify(place.path)};
    const files = createCheckoutFiles({ ownProcess: false, disk, native: loadNative(), temporary: ${JSON.stringify(place.temporary)} });
    ${body}`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: process.cwd(), timeout: 20_000 });
  return stdout.trim();
}

describe("the keeper", () => {
  it("KEEPER-1: finds changes, patches, swaps, places, moves and removes", async () => {
    const place = makePlace();
    const finished = `${place.temporary}/finished`;
    makeDatabase(finished, { rows: 3000 });
    const files = openKeeper(place);
    let fingerprint = await files.place(finished, place.path);
    expect(files.check(place.path, fingerprint)).toBe("same");
    const before = readDatabase(place.path);
    const client = await openClient(place.path);
    await client.exec("UPDATE item SET tag = 'x' WHERE id % 7 = 0");
    await client.close();
    const after = readDatabase(place.path);
    let held = await files.hold(place.path, "write", 1000);
    const changes = await held.changes(knownAs(before, fingerprint));
    for (let twice = 0; twice < 2; twice += 1) expect([...(await collect(changes)).keys()]).toEqual(differingPages(before, after));
    fingerprint = await held.fingerprint();
    expect((await held.changes(knownAs(after, fingerprint))).proof).toBe("fingerprint");
    await held.release();
    held = await files.hold(place.path, "exclusive", 1000);
    await held.patch({ ...before, batches: batchesBetween(after, before) });
    expect((await held.changes(knownAs(before, null))).candidates).toBe(0);
    makeDatabase(finished, { rows: 9 });
    await held.swap(finished);
    const to = `${place.folder}/checkouts/moved.db`;
    await held.moveTo(to);
    expect(held.path).toBe(to);
    await held.release();
    expect(await (await openClient(to)).all("SELECT count(*) AS n FROM item")).toEqual([{ n: 9 }]);
  });

  it("KEEPER-1: hands on the errors of both sides", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 3000 });
    const files = openKeeper(place);
    await expect(files.hold(`${place.path}.none`, "write", 0)).rejects.toMatchObject({ code: "file-not-found" });
    const client = await openClient(place.path);
    await client.exec("BEGIN IMMEDIATE");
    const error = await files.hold(place.path, "write", 30).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code: "checkout-busy", retryable: true });
    await client.close();
    const before = readDatabase(place.path);
    const held = await files.hold(place.path, "exclusive", 1000);
    const failing = (async function* () {
      yield { numbers: Uint32Array.of(1), bytes: new Uint8Array(4096) };
      throw new EngineError("segment-corrupt", "a page that cannot be read");
    })();
    await expect(held.patch({ ...before, batches: failing })).rejects.toMatchObject({ code: "segment-corrupt" });
    await expect(held.swap(`${place.temporary}/none`)).rejects.toMatchObject({ code: "file-not-found" });
    await held.release();
    expect(readDatabase(place.path)).toEqual(before);
  });

  it("KEEPER-4: brings few changes with the hold, and takes a patch that is written already, in three messages", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 3000 });
    const files = openKeeper(place);
    const first = readDatabase(place.path);
    const client = await openClient(place.path);
    await client.exec("UPDATE item SET tag = 'x' WHERE id % 70 = 0");
    await client.close();
    const second = readDatabase(place.path);
    let held = await files.hold(place.path, "exclusive", 1000);
    const fingerprint = await held.fingerprint();
    await held.release();
    const replies = countReplies();
    held = await files.hold(place.path, "exclusive", 1000, { fingerprint, pageSize: 4096 });
    expect(await held.changes(knownAs(second, fingerprint))).toMatchObject({ proof: "fingerprint", candidates: 0 });
    const patched = await held.patch({ ...first, batches: batchesBetween(second, first) });
    await held.release();
    expect(replies()).toBe(3);
    expect(files.check(place.path, patched)).toBe("same");
    expect(readDatabase(place.path)).toEqual(first);
    expect(disk.list(place.temporary)).toEqual([]);
  });

  it("KEEPER-4: what came with a hold is no longer true once the file is replaced", async () => {
    const place = makePlace();
    makeDatabase(place.path, { rows: 3000 });
    const files = openKeeper(place);
    const first = readDatabase(place.path);
    let held = await files.hold(place.path, "exclusive", 1000);
    const fingerprint = await held.fingerprint();
    await held.release();
    const client = await openClient(place.path, "wal_autocheckpoint = 0");
    await client.exec("UPDATE item SET tag = 'x' WHERE id < 30");
    const replies = countReplies();
    held = await files.hold(place.path, "write", 1000, { fingerprint, pageSize: 4096 });
    const changes = await held.changes(knownAs(first, fingerprint));
    expect(changes.proof).toBe("wal");
    for (let twice = 0; twice < 2; twice += 1) expect((await collect(changes)).size).toBe(changes.candidates);
    const taken = await held.fingerprint();
    expect(replies()).toBe(1);
    await held.release();
    expect(files.check(place.path, taken)).toBe("same");
    await client.close();
    const second = readDatabase(place.path);
    held = await files.hold(place.path, "exclusive", 1000, { fingerprint: taken, pageSize: 4096 });
    for (const [from, to] of [
      [second, first],
      [first, second],
      [second, first],
    ] as const)
      expect(await held.patch({ ...to, batches: batchesBetween(from, to) })).not.toBe(taken);
    expect(await held.changes(knownAs(second, null))).toMatchObject({ proof: "scan", candidates: differingPages(second, first).length });
    await held.release();
  });

  it("KEEPER-2: that dies fails its callers, lets go of its locks, and is started anew", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    const files = openKeeper(place);
    const held = await files.hold(place.path, "exclusive", 1000);
    const client = await openClient(place.path);
    await expect(client.all("SELECT 1 FROM item")).rejects.toMatchObject({ code: "SQLITE_BUSY" });
    for (const pid of keepersOf(process.pid)) process.kill(pid, "SIGKILL");
    await expect(held.fingerprint()).rejects.toMatchObject({ code: "worker-died", retryable: true });
    await held.release();
    expect(await client.all("SELECT count(*) AS n FROM item")).toEqual([{ n: 500 }]);
    await client.close();
    await (await files.hold(place.path, "exclusive", 1000)).release();
  });

  it("KEEPER-3: does not keep its program alive, and ends with it", async () => {
    const place = makePlace();
    makeDatabase(place.path);
    // The hold is not even released: the program ends, and the file is free.
    const pids = await runProgram(
      place,
      `await files.hold(path, "exclusive", 1000); console.log(fs.readFileSync("/proc/self/task/" + process.pid + "/children", "utf8"));`,
    );
    const pid = Number(pids.split(" ")[0]);
    expect(pid).toBeGreaterThan(0);
    for (let tries = 0; tries < 200 && isRunning(pid); tries += 1) await new Promise((settle) => setTimeout(settle, 10));
    expect(isRunning(pid)).toBe(false);
    const client = await openClient(place.path);
    await client.exec("UPDATE item SET tag = 'x'");
  });
});

describe("the POSIX lock trap", () => {
  const defineOther = `
    const { execFileSync } = await import("node:child_process");
    const other = "const D = require('better-sqlite3'); const d = new D(process.argv[1], { timeout: 0 }); try { d.exec('BEGIN IMMEDIATE'); console.log('dropped') } catch (error) { console.log(error.code) }";
    const tryOther = () => console.log(execFileSync(process.execPath, ["-e", other, path], { encoding: "utf8" }).trim());`;
  const transaction = `${defineOther}
    const connection = new Database(path); connection.exec("BEGIN IMMEDIATE; UPDATE item SET tag = 'mine'");`;

  it.each(["wal", "delete"] as const)(
    "CHECKOUT-14: a program's transaction on a %s database survives our looking at the file",
    async (journal) => {
      const place = makePlace();
      makeDatabase(place.path, { journal });
      const printed = await runProgram(
        place,
        `const first = await files.hold(path, "write", 1000);
       const fingerprint = await first.fingerprint();
       await first.release();
       ${transaction}
       console.log(await files.hold(path, "write", 50).then(() => "held", (error) => error.code + " " + error.details.holders.some((holder) => holder.pid === process.pid)));
       console.log(await files.hold(path, "exclusive", 50).then(() => "held", (error) => error.code));
       files.check(path, fingerprint); files.sizes(path); files.holders(path);
       await files.sharedPlaces([path]);
       tryOther();
       connection.exec("COMMIT");
       const held = await files.hold(path, "write", 1000);
       const changes = await held.changes({ fingerprint, pageSize: 4096, pageHashes: async () => new Uint8Array(0) });
       for await (const batch of changes.batches) batch;
       await held.fingerprint();
       console.log(changes.candidates > 0);
       await held.release();
       connection.exec("BEGIN IMMEDIATE");
       tryOther();
       await files.close();`,
      );
      expect(printed.split("\n")).toEqual(["checkout-busy true", "checkout-busy", "SQLITE_BUSY", "true", "SQLITE_BUSY"]);
    },
  );

  it("CHECKOUT-14: would not survive a descriptor opened and closed in the program itself", async () => {
    const place = makePlace();
    makeDatabase(place.path, { journal: "delete" });
    const printed = await runProgram(place, `${transaction} fs.closeSync(fs.openSync(path, "r")); tryOther();`);
    expect(printed).toBe("dropped");
  });
});

/** Counts the keeper's answers from here on. */
function countReplies(): () => number {
  const spy = vi.spyOn(EventEmitter.prototype, "emit");
  onCleanup(() => spy.mockRestore());
  return () => spy.mock.calls.filter(([event, message]) => event === "message" && Object.hasOwn(message as object, "ok")).length;
}

function keepersOf(parent: number): number[] {
  const children = readFileSync(`/proc/self/task/${parent}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("keeper"));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
