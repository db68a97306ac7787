import { closeSync, copyFileSync, existsSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { findHolders, findLockHolders, readProgram } from "#engine/io/holders.ts";
import { loadNative } from "#engine/io/load-native.ts";
import { runAndStay, type LiveClient } from "../../support/foreign-clients.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";

const native = loadNative();
const isLinux = existsSync("/proc/self/fd");

function makeDatabase(journal: "wal" | "delete"): { path: string; files: string[] } {
  const path = join(makeTemporaryFolder(), "data.db");
  const database = new Database(path);
  database.pragma(`journal_mode = ${journal}`);
  database.exec("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO item (name) VALUES ('one'), ('two')");
  database.close();
  return { path, files: [path, `${path}-wal`, `${path}-shm`, `${path}-journal`] };
}

async function startClient(path: string, script: string): Promise<LiveClient> {
  const client = await runAndStay(path, `const db = new Database(path); ${script}`);
  onTestFinished(client.stop);
  return client;
}

describe.runIf(isLinux)("holders", () => {
  const CASES: readonly (readonly [journal: "wal" | "delete", does: string, script: string, access: string])[] = [
    ["wal", "is open", "db.prepare('SELECT * FROM item').all()", "open"],
    ["wal", "reads", "db.exec('BEGIN'); db.prepare('SELECT * FROM item').all()", "reading"],
    ["wal", "writes", "db.exec('BEGIN IMMEDIATE')", "writing"],
    ["wal", "has it for itself", "db.pragma('locking_mode = EXCLUSIVE'); db.exec(\"INSERT INTO item (name) VALUES ('x')\")", "writing"],
    ["delete", "is open", "db.prepare('SELECT * FROM item').all()", "open"],
    ["delete", "reads", "db.exec('BEGIN'); db.prepare('SELECT * FROM item').all()", "reading"],
    ["delete", "writes", "db.exec('BEGIN IMMEDIATE')", "writing"],
    ["delete", "has it for itself", "db.exec('BEGIN EXCLUSIVE')", "writing"],
  ];

  test.each(CASES)("HOLDER-1: in %s mode, a client that %s is found with its access", async (journal, _does, script, access) => {
    const { path, files } = makeDatabase(journal);
    expect(findHolders(files)).toEqual([]);
    const client = await startClient(path, script);
    expect(findHolders(files)).toEqual([{ pid: client.pid, program: "node", access }]);
    await client.stop();
    expect(findHolders(files)).toEqual([]);
  });

  test("HOLDER-2: several holders come in order of pid, our own process among them", async () => {
    const { path, files } = makeDatabase("wal");
    const clients = [
      await startClient(path, "db.exec('BEGIN IMMEDIATE')"),
      await startClient(path, "db.prepare('SELECT * FROM item').all()"),
    ];
    const file = openSync(path, "r");
    const found = findHolders(files).map(({ pid }) => pid);
    closeSync(file);
    expect(found).toEqual([process.pid, ...clients.map(({ pid }) => pid)].toSorted((a, b) => a - b));
  });

  test("HOLDER-3: the file counts, not its name: a copy is another, a link is the same", async () => {
    const { path } = makeDatabase("delete");
    const client = await startClient(path, "db.prepare('SELECT * FROM item').all()");
    copyFileSync(path, `${path}.copy`);
    expect(findHolders([`${path}.copy`])).toEqual([]);
    const link = `${path}.link`;
    const { linkSync } = await import("node:fs");
    linkSync(path, link);
    expect(findHolders([link])).toMatchObject([{ pid: client.pid }]);
  });

  test("HOLDER-4: files that are missing, and folders, are held by nobody", () => {
    const folder = makeTemporaryFolder();
    writeFileSync(join(folder, "file"), "");
    expect(findHolders([join(folder, "missing"), join(folder, "file")])).toEqual([]);
    expect(findHolders([])).toEqual([]);
    expect(findHolders([join(folder, "file", "below"), "\0"])).toEqual([]);
    expect(findLockHolders(join(folder, "missing"))).toEqual([]);
  });

  test("HOLDER-5: a process that has ended has no program", async () => {
    const { path } = makeDatabase("delete");
    const client = await startClient(path, "");
    expect(readProgram(client.pid)).toBe("node");
    await client.stop();
    expect(readProgram(client.pid)).toBeNull();
  });

  test.runIf(native.hasRangeLocks)("HOLDER-6: locks of open files are seen, exclusive or shared", () => {
    const path = join(makeTemporaryFolder(), "file");
    const file = openSync(path, "w+");
    onTestFinished(() => closeSync(file));
    expect(findLockHolders(path)).toEqual([]);
    native.lockRange(file, 0x40000002, 510, "shared");
    expect(findLockHolders(path)).toMatchObject([{ pid: process.pid, access: "reading" }]);
    native.lockRange(file, 0x40000000, 1, "exclusive");
    expect(findLockHolders(path)).toMatchObject([{ pid: process.pid, access: "writing" }]);
  });
});

describe.runIf(native.hasRangeLocks)("sole opener", () => {
  test("HOLDER-7: a file that only one descriptor has open is known to be so, and nothing is left behind", async () => {
    const { path } = makeDatabase("wal");
    const file = openSync(path, "r+");
    onTestFinished(() => closeSync(file));
    for (let round = 0; round < 3; round += 1) expect(native.isSoleOpener(file)).toBe(true);
    const client = await startClient(path, "db.prepare('SELECT * FROM item').all()");
    expect(native.isSoleOpener(file)).toBe(false);
    await client.stop();
    expect(native.isSoleOpener(file)).toBe(true);
    const again = openSync(path, "r");
    expect(native.isSoleOpener(file)).toBe(false);
    closeSync(again);
  });

  test("HOLDER-8: asking while others open and close the file hurts nobody", async () => {
    const { path } = makeDatabase("delete");
    const client = await runAndStay(
      path,
      "const fs = require('node:fs'); setInterval(() => { for (let n = 0; n < 200; n += 1) fs.closeSync(fs.openSync(path, 'r+')); }, 0)",
    );
    onTestFinished(client.stop);
    const file = openSync(path, "r+");
    onTestFinished(() => closeSync(file));
    const seen = new Set<boolean>();
    const end = performance.now() + 1500;
    while (performance.now() < end) seen.add(native.isSoleOpener(file));
    expect(seen.has(true)).toBe(true);
    await client.stop();
    expect(native.isSoleOpener(file)).toBe(true);
  });
});
