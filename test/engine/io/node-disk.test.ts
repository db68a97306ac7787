import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { nodeDisk as disk } from "#engine/io/node-disk.ts";
import { toEngineError } from "#engine/io/os-error.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

async function giveUp(): Promise<void> {
  throw new EngineError("cancelled", "that is enough");
}

function errorOf(act: () => unknown): EngineError {
  try {
    act();
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 7 + 1) % 251);

const drift = (a: bigint, b: bigint): number => Math.abs(Number(a - b));

describe("disk", () => {
  test("DISK-1: what is written is read, at any position; a read ends with the file", () => {
    const path = join(makeTemporaryFolder(), "file");
    const file = disk.open(path, "wx+");
    disk.write(file, bytes(1000), 0);
    disk.write(file, bytes(10), 5000);
    const buffer = new Uint8Array(6000);
    expect(disk.read(file, buffer, 0)).toBe(5010);
    expect(buffer.subarray(0, 1000)).toEqual(bytes(1000));
    expect(buffer.subarray(1000, 5000).every((byte) => byte === 0)).toBe(true);
    expect(disk.read(file, new Uint8Array(8), 5010)).toBe(0);
    disk.truncate(file, 17);
    disk.sync(file);
    expect(disk.statFile(file)).toMatchObject({ size: 17, kind: "file", links: 1 });
    disk.close(file);
    expect([...disk.readWhole(path)]).toEqual([...bytes(17)]);
  });

  test("DISK-2: positions beyond 4 GiB and the holes before them cost no space", () => {
    const path = join(makeTemporaryFolder(), "large");
    const file = disk.open(path, "w+");
    disk.write(file, bytes(16), 5 * 2 ** 30);
    const buffer = new Uint8Array(16);
    expect(disk.read(file, buffer, 5 * 2 ** 30)).toBe(16);
    expect(buffer).toEqual(bytes(16));
    expect(disk.statFile(file).size).toBe(5 * 2 ** 30 + 16);
    expect(disk.statFile(file).allocated).toBeLessThan(2 ** 20);
    disk.close(file);
  });

  test("DISK-3: failures are engine errors that name operation and path", () => {
    const folder = makeTemporaryFolder();
    const [missing, present] = [join(folder, "missing"), join(folder, "present")];
    writeFileSync(present, "here");
    const cases: readonly (readonly [act: () => unknown, code: string, path: string])[] = [
      [() => disk.open(missing, "r"), "file-not-found", missing],
      [() => disk.open(join(missing, "below"), "wx+"), "file-not-found", missing],
      [() => disk.open(present, "wx+"), "file-exists", present],
      [() => disk.readWhole(missing), "file-not-found", missing],
      [() => disk.rename(missing, present), "file-not-found", missing],
      [() => disk.link(present, present), "file-exists", present],
      [() => disk.realPath(missing), "file-not-found", missing],
      [() => disk.freeBytes(missing), "file-not-found", missing],
      [() => disk.clone(missing, present), "file-not-found", missing],
      [() => disk.clone(present, present), "file-exists", present],
      [() => disk.setMode(missing, 0o444), "file-not-found", missing],
      [() => disk.makeDirectory(join(present, "below")), "io-failed", present],
      [() => disk.remove(folder), "io-failed", folder],
    ];
    for (const [act, code, path] of cases) {
      const error = errorOf(act);
      expect(error, error.message).toMatchObject({ code });
      expect(error.message).toContain(path);
    }
    expect(readFileSync(present, "utf8")).toBe("here");
  });

  test("DISK-3: failures on an open file name its path, too", () => {
    const path = join(makeTemporaryFolder(), "file");
    writeFileSync(path, "text");
    const file = disk.open(path, "r");
    expect(errorOf(() => disk.write(file, bytes(4), 0)).message).toContain(path);
    expect(errorOf(() => disk.truncate(file, 0)).message).toContain(path);
    disk.close(file);
    expect(errorOf(() => disk.close(file))).toMatchObject({ code: "io-failed" });
  });

  test("DISK-4: each answer of the system has its code", () => {
    const expected = {
      ENOSPC: "disk-full",
      EDQUOT: "disk-full",
      EROFS: "store-read-only",
      EACCES: "permission-denied",
      EPERM: "permission-denied",
      ENOENT: "file-not-found",
      EEXIST: "file-exists",
      EIO: "io-failed",
      EMFILE: "io-failed",
    };
    for (const [name, code] of Object.entries(expected)) {
      const error = toEngineError("write", "/a/b", Object.assign(new Error(`${name}: words`), { code: name }));
      expect(error).toMatchObject({ code, details: { path: "/a/b", cause: name } });
    }
    expect(toEngineError("lock", "file 3", Object.assign(new Error("lock"), { errno: -28 }))).toMatchObject({ code: "disk-full" });
    const bug = new TypeError("no function");
    expect(toEngineError("write", "/a", bug)).toBe(bug);
    const known = new EngineError("cancelled", "stop");
    expect(toEngineError("write", "/a", known)).toBe(known);
    const misuse = Object.assign(new TypeError("bad"), { code: "ERR_INVALID_ARG_TYPE" });
    expect(toEngineError("write", "/a", misuse)).toBe(misuse);
  });

  test("DISK-5: a full device is a full disk", ({ skip }) => {
    if (!existsSync("/dev/full")) skip();
    const file = disk.open("/dev/full", "r+");
    expect(errorOf(() => disk.write(file, bytes(8), 0))).toMatchObject({
      code: "disk-full",
      hint: expect.stringContaining("space") as string,
    });
    disk.close(file);
  });

  test("DISK-6: what is not there is null, false or empty, not an error", () => {
    const folder = makeTemporaryFolder();
    writeFileSync(join(folder, "file"), "");
    expect(disk.stat(join(folder, "missing"))).toBeNull();
    expect(disk.stat(join(folder, "file", "below"))).toBeNull();
    expect(disk.remove(join(folder, "missing"))).toBe(false);
    expect(disk.list(join(folder, "missing"))).toEqual([]);
    disk.removeTree(join(folder, "missing"));
  });

  test("DISK-7: folders are made whole, listed in order and removed whole", () => {
    const folder = makeTemporaryFolder();
    const deep = join(folder, "a", "b", "c");
    disk.makeDirectory(deep);
    disk.makeDirectory(deep);
    for (const name of ["z", "B", "a", "10", "9"]) writeFileSync(join(deep, name), name);
    expect(disk.list(deep)).toEqual(["10", "9", "B", "a", "z"]);
    disk.syncDirectory(deep);
    expect(disk.stat(deep)?.kind).toBe("directory");
    expect(disk.remove(join(deep, "z"))).toBe(true);
    disk.removeTree(join(folder, "a"));
    expect(disk.list(folder)).toEqual([]);
  });

  test("DISK-7: where no folder can be made, that is an error, also below a folder that is there", () => {
    const folder = makeTemporaryFolder();
    writeFileSync(join(folder, "file"), "");
    symlinkSync(join(folder, "nowhere"), join(folder, "link"));
    expect(errorOf(() => disk.makeDirectory(join(folder, "file", "a"))).code).toBe("io-failed");
    expect(errorOf(() => disk.makeDirectory(join(folder, "link", "a"))).code).toBe("file-exists");
    if (existsSync("/proc/self")) expect(errorOf(() => disk.makeDirectory("/proc/coppice/a")).code).toBe("file-not-found");
  });

  test("DISK-8: stat follows links, counts them and tells identity", () => {
    const folder = makeTemporaryFolder();
    const path = join(folder, "file");
    writeFileSync(path, "x".repeat(5000), { mode: 0o640 });
    linkSync(path, join(folder, "hard"));
    symlinkSync(path, join(folder, "soft"));
    const stat = disk.stat(join(folder, "soft"));
    expect(stat).toMatchObject({ kind: "file", size: 5000, links: 2 });
    expect(stat).toEqual(disk.stat(join(folder, "hard")));
    expect(disk.realPath(join(folder, "soft"))).toBe(disk.realPath(path));
    disk.setMode(path, 0o444);
    expect(disk.stat(path)?.mode).toBe(0o444);
  });

  test("DISK-9: the modification time moves, the time of access stays", () => {
    const path = join(makeTemporaryFolder(), "file");
    writeFileSync(path, "x");
    const before = statSync(path, { bigint: true });
    const file = disk.open(path, "r+");
    const wanted = before.mtimeNs - 50_000_000n;
    disk.setModified(file, wanted);
    const after = disk.statFile(file);
    disk.close(file);
    expect(drift(after.mtimeNs, wanted)).toBeLessThan(1000);
    expect(drift(statSync(path, { bigint: true }).atimeNs, before.atimeNs)).toBeLessThan(1000);
  });

  test("DISK-10: a copy has the same bytes, keeps holes, and stands alone", async () => {
    const folder = makeTemporaryFolder();
    const from = join(folder, "from");
    const to = join(folder, "to");
    const file = openSync(from, "wx");
    writeSync(file, bytes(3000), 0, 3000, 0);
    writeSync(file, bytes(3_000_000), 0, 3_000_000, 8 * 2 ** 20 + 13);
    writeSync(file, bytes(1), 0, 1, 16 * 2 ** 20);
    closeSync(file);
    let pauses = 0;
    await disk.copy(from, to, async () => void (pauses += 1));
    expect(pauses).toBeGreaterThan(4);
    expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
    expect(disk.stat(to)?.allocated).toBeLessThan(12 * 2 ** 20);
    const target = disk.open(to, "r+");
    disk.write(target, new Uint8Array([255]), 0);
    disk.close(target);
    expect(readFileSync(from)[0]).toBe(1);
  });

  test("DISK-11: files that end in zeros, or are nothing else, are copied at their size", async () => {
    const folder = makeTemporaryFolder();
    for (const size of [0, 1, 4096, 2 ** 20, 2 ** 21, 2 ** 21 + 1, 3 * 2 ** 20]) {
      const from = join(folder, `zeros-${size}`);
      writeFileSync(from, new Uint8Array(size));
      await disk.copy(from, `${from}-copy`);
      expect(readFileSync(`${from}-copy`).equals(readFileSync(from))).toBe(true);
    }
  });

  test("DISK-12: a copy or a clone that fails or is given up leaves nothing behind, nor takes what is there", async () => {
    const folder = makeTemporaryFolder();
    const [from, to, present] = [join(folder, "from"), join(folder, "to"), join(folder, "present")];
    mkdirSync(from);
    await expect(disk.copy(from, to)).rejects.toMatchObject({ code: "io-failed" });
    await expect(disk.copy(join(folder, "missing"), to)).rejects.toMatchObject({ code: "file-not-found" });
    writeFileSync(present, new Uint8Array(5 * 2 ** 20).fill(1));
    await expect(disk.copy(present, present)).rejects.toMatchObject({ code: "file-exists" });
    await expect(disk.copy(present, to, giveUp)).rejects.toMatchObject({ code: "cancelled", message: "that is enough" });
    errorOf(() => disk.clone(from, to));
    expect(disk.list(folder)).toEqual(["from", "present"]);
    expect(statSync(present).size).toBe(5 * 2 ** 20);
  });

  test("DISK-13: the thread is free while a file is copied", async () => {
    const folder = makeTemporaryFolder();
    const from = join(folder, "from");
    writeFileSync(from, new Uint8Array(24 * 2 ** 20).fill(7));
    const copies = ["a", "b", "c"].map((name) => disk.copy(from, join(folder, name)));
    const done = new AbortController();
    let turns = 0;
    const counting = (async () => {
      for (; !done.signal.aborted; turns += 1) await nextTurn();
    })();
    await Promise.all(copies);
    done.abort();
    await counting;
    // Every stretch is at least two turns of the loop.
    expect(turns).toBeGreaterThan(24);
    for (const name of ["a", "b", "c"]) expect(readFileSync(join(folder, name)).equals(readFileSync(from))).toBe(true);
  });
});
