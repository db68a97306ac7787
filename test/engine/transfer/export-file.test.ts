import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { EngineError } from "#engine/io/errors.ts";
import { exportFile } from "#engine/transfer/export-file.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { snapshotFolder } from "../../support/folder-snapshot.ts";
import { runAndKill, runAndStay } from "../../support/foreign-clients.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { machine } from "./transfer-machine.ts";

const CONTENT = "the exported database";

interface Place {
  readonly store: string;
  readonly out: string;
}

function makePlace(): Place {
  const folder = makeTemporaryFolder();
  for (const name of ["store", "out"]) mkdirSync(join(folder, name));
  return { store: join(folder, "store"), out: join(folder, "out") };
}

function put(place: Place, file: string, overwrite = false, disk = machine.disk): Promise<{ path: string; bytes: number }> {
  return exportFile(disk, {
    file,
    overwrite,
    store: place.store,
    write: (path) => {
      const handle = disk.open(path, "wx+");
      try {
        disk.write(handle, Buffer.from(CONTENT), 0);
      } finally {
        disk.close(handle);
      }
      return Promise.resolve();
    },
  });
}

test("EXPORT-1: the file appears whole, alone, and its folders are made", async () => {
  const place = makePlace();
  const file = join(place.out, "new/deep/shop.db");
  expect(await put(place, file)).toEqual({ path: file, bytes: CONTENT.length });
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
  expect(readdirSync(join(place.out, "new/deep"))).toEqual(["shop.db"]);
});

test("EXPORT-2: an existing file is refused and untouched; with overwrite it is replaced", async () => {
  const place = makePlace();
  const file = join(place.out, "shop.db");
  writeFileSync(file, "old");
  const before = snapshotFolder(place.out);
  await expect(put(place, file)).rejects.toMatchObject({ code: "file-exists" });
  expect(snapshotFolder(place.out)).toEqual(before);
  await put(place, file, true);
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
});

test("EXPORT-2: a file that appears while the export is written is not replaced", async () => {
  const place = makePlace();
  const file = join(place.out, "shop.db");
  const attempt = exportFile(machine.disk, {
    file,
    overwrite: false,
    store: place.store,
    write: (path) => {
      writeFileSync(path, CONTENT);
      writeFileSync(file, "somebody else's");
      return Promise.resolve();
    },
  });
  await expect(attempt).rejects.toMatchObject({ code: "file-exists" });
  expect(readFileSync(file, "utf8")).toBe("somebody else's");
  expect(readdirSync(place.out)).toEqual(["shop.db"]);
});

test("EXPORT-3: nothing is exported into the store, not through a link either, nor onto a folder", async () => {
  const place = makePlace();
  symlinkSync(place.store, join(place.out, "link"));
  const files = [
    join(place.store, "shop.db"),
    join(place.store, "new/shop.db"),
    join(place.out, "link/shop.db"),
    join(place.out, "link/new/shop.db"),
    place.out,
  ];
  for (const file of files) await expect(put(place, file, true)).rejects.toMatchObject({ code: "bad-argument" });
  expect(readdirSync(place.store)).toEqual([]);
});

test("EXPORT-4: a link is followed and stays; one that leads nowhere is not written through", async () => {
  const place = makePlace();
  writeFileSync(join(place.out, "real.db"), "old");
  symlinkSync("real.db", join(place.out, "link.db"));
  await put(place, join(place.out, "link.db"), true);
  expect(readlinkSync(join(place.out, "link.db"))).toBe("real.db");
  expect(readFileSync(join(place.out, "real.db"), "utf8")).toBe(CONTENT);
  symlinkSync("nowhere.db", join(place.out, "dangling.db"));
  await expect(put(place, join(place.out, "dangling.db"))).rejects.toMatchObject({ code: "file-exists" });
  expect(existsSync(join(place.out, "nowhere.db"))).toBe(false);
});

test("EXPORT-5: side files of another database at the target are never left to meet the new file", async () => {
  const place = makePlace();
  const file = join(place.out, "shop.db");
  runAndKill(file, `const db = new Database(path); db.pragma("journal_mode = WAL"); db.exec("CREATE TABLE t(a)")`);
  const before = snapshotFolder(place.out);
  await expect(put(place, file, true)).rejects.toMatchObject({ code: "file-exists", details: { path: `${file}-wal` } });
  expect(snapshotFolder(place.out)).toEqual(before);
  new Database(file).pragma("user_version");
  const orphan = join(place.out, "orphan.db");
  writeFileSync(`${orphan}-journal`, "left");
  await expect(put(place, orphan)).rejects.toMatchObject({ code: "file-exists" });
  writeFileSync(`${orphan}-journal`, "");
  await put(place, orphan);
  expect(readdirSync(place.out).filter((name) => name.startsWith("orphan"))).toEqual(["orphan.db"]);
});

test("EXPORT-6: a file in use is not replaced, and its holder is named", async () => {
  const place = makePlace();
  const file = join(place.out, "shop.db");
  const client = await runAndStay(file, `const db = new Database(path); db.exec("CREATE TABLE t(a)")`);
  await expect(put(place, file, true)).rejects.toMatchObject({ code: "file-exists", details: { holders: [{ pid: client.pid }] } });
  await client.stop();
  await put(place, file, true);
  expect(readFileSync(file, "utf8")).toBe(CONTENT);
});

test("EXPORT-7: a failure at any step leaves the target as it was and no other file", async () => {
  for (const overwrite of [false, true]) {
    const place = makePlace();
    const file = join(place.out, "shop.db");
    if (overwrite) writeFileSync(file, "old");
    const before = snapshotFolder(place.out);
    const faulty = new FaultyDisk(machine.disk);
    for (const on of ["write", "sync", "rename"] as const) {
      faulty.fail({ on, from: 1, times: 1, code: "disk-full" });
      await expect(put(place, file, overwrite, faulty.disk)).rejects.toMatchObject({ code: "disk-full" });
      expect(snapshotFolder(place.out)).toEqual(before);
    }
  }
});

test("EXPORT-7: what the writer throws is passed on and leaves nothing", async () => {
  const place = makePlace();
  const attempt = exportFile(machine.disk, {
    file: join(place.out, "a.db"),
    overwrite: false,
    store: place.store,
    write: () => Promise.reject(new EngineError("cancelled", "Cancelled")),
  });
  await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
  expect(readdirSync(place.out)).toEqual([]);
});
