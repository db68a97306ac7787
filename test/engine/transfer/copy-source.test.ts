import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Disk } from "#engine/io/disk.ts";
import { EngineError } from "#engine/io/errors.ts";
import { copySource, type SourceCopy } from "#engine/transfer/copy-source.ts";
import { inspectSource, prepareImport } from "#engine/transfer/prepare-import.ts";
import { recoverCopy } from "#engine/transfer/recover-copy.ts";
import type { TransferIo } from "#engine/transfer/source-files.ts";
import { dumpDatabase } from "../../support/dump.ts";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import { snapshotFolder } from "../../support/folder-snapshot.ts";
import { runAndKill, runAndStay } from "../../support/foreign-clients.ts";
import { makeTemporaryFolder } from "../../support/temporary-folder.ts";
import { machine } from "./transfer-machine.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
const WATCHED: TransferIo = { disk: machine.disk, native: { ...machine.native, hasRangeLocks: false } };

interface Place {
  readonly folder: string;
  readonly file: string;
  readonly into: string;
}

function makePlace(): Place {
  const folder = makeTemporaryFolder();
  for (const name of ["source", "work"]) machine.disk.makeDirectory(join(folder, name));
  return { folder, file: join(folder, "source/data.db"), into: join(folder, "work/copy.db") };
}

function makeAccounts(file: string, journal: "wal" | "delete", fillerBytes = 0): void {
  const database = new Database(file);
  database.pragma(`journal_mode = ${journal}`);
  database.exec(
    "CREATE TABLE a(id INTEGER PRIMARY KEY, n); CREATE TABLE b(id INTEGER PRIMARY KEY, n); INSERT INTO a VALUES (1, 1000); INSERT INTO b VALUES (1, 0); CREATE TABLE filler(x)",
  );
  if (fillerBytes > 0) database.prepare("INSERT INTO filler VALUES (zeroblob(?))").run(fillerBytes);
  database.close();
}

/** Calls `act` with the number of the attempt when the main file's first bytes have been copied. */
function actDuringCopy(into: string, act: (attempt: number) => void): TransferIo {
  const files = new Map<number, string>();
  let attempts = 0;
  const disk: Disk = {
    ...machine.disk,
    open: (path, flags, mode) => {
      const file = machine.disk.open(path, flags, mode);
      files.set(file, path);
      return file;
    },
    write: (file, buffer, position) => {
      machine.disk.write(file, buffer, position);
      if (files.get(file) !== into || position !== 0) return;
      attempts += 1;
      act(attempts);
    },
  };
  return { ...machine, disk };
}

/** What a stock client meets that runs `sql` now: rows, or SQLite's error code. */
function askClient(file: string, sql: string): string {
  const script = `const Database = require("better-sqlite3"); const db = new Database(process.argv[1], { timeout: 0 });
    try { console.log(JSON.stringify(db.prepare(process.argv[2]).raw().all())); } catch (error) { console.log(error.code); }`;
  return spawnSync(process.execPath, ["-e", script, file, sql], { cwd: REPOSITORY, encoding: "utf8" }).stdout.trim();
}

function copy(io: TransferIo, place: Place, work = {}): Promise<SourceCopy> {
  return copySource(io, { file: place.file, into: place.into, waitMs: 100 }, work);
}

/** Without locks a busy writer can win every time: then the refusal is the right answer. */
async function copyOrRefuse(io: TransferIo, place: Place): Promise<boolean> {
  try {
    await copySource(io, { file: place.file, into: place.into, waitMs: 10_000 }, {});
    return true;
  } catch (error) {
    if (io === WATCHED && error instanceof EngineError && error.code === "source-changed") return false;
    throw error;
  }
}

describe("a source that others use meanwhile", () => {
  test("IMPORT-3: WAL writers go on during the copy, nobody moves their WAL into the file, and the copy is a committed state", async () => {
    const place = makePlace();
    makeAccounts(place.file, "wal");
    const client = await runAndStay(place.file, `const db = new Database(path); db.prepare("SELECT * FROM a").get()`);
    const answers: string[] = [];
    const io = actDuringCopy(place.into, () => {
      answers.push(
        askClient(place.file, "INSERT INTO a VALUES (2, 5) RETURNING id"),
        askClient(place.file, "PRAGMA wal_checkpoint(TRUNCATE)"),
      );
    });
    await copy(io, place);
    expect(answers).toEqual(["[[2]]", expect.stringMatching(/^\[\[1,/)]);
    recoverCopy(machine.disk, place.into, place.file);
    expect(dumpDatabase(place.into).filter((line) => line.startsWith('row "a"'))).toHaveLength(2);
    expect(askClient(place.file, "PRAGMA wal_checkpoint(TRUNCATE)")).toBe("[[0,0,0]]");
    await client.stop();
  });

  test("IMPORT-3: a rollback-journal writer cannot commit during the copy, and can afterwards", async () => {
    const place = makePlace();
    makeAccounts(place.file, "delete");
    let during = "";
    await copy(
      actDuringCopy(place.into, () => (during = askClient(place.file, "INSERT INTO a VALUES (2, 5) RETURNING id"))),
      place,
    );
    expect(during).toBe("SQLITE_BUSY");
    expect(askClient(place.file, "INSERT INTO a VALUES (2, 5) RETURNING id")).toBe("[[2]]");
  });

  test("IMPORT-4: another client never reads half a transaction because of our locks on a source with a hot journal", async () => {
    const place = makePlace();
    makeAccounts(place.file, "delete", 200_000);
    runAndKill(
      place.file,
      `const db = new Database(path); db.pragma("cache_size = 2"); db.exec("BEGIN; UPDATE a SET n = 0; UPDATE filler SET x = zeroblob(300000)")`,
    );
    expect(statSync(`${place.file}-journal`).size).toBeGreaterThan(0);
    let during = "";
    await copy(
      actDuringCopy(place.into, () => (during = askClient(place.file, "SELECT n FROM a"))),
      place,
    );
    expect(during).toMatch(/^SQLITE_BUSY/);
    expect(askClient(place.file, "SELECT n FROM a")).toBe("[[1000]]");
  });

  for (const [name, io] of [
    ["under locks", machine],
    ["watched only", WATCHED],
  ] as const) {
    for (const journal of ["wal", "delete"] as const) {
      test(`IMPORT-1: copies of a database that a client keeps changing are committed states (${journal}, ${name})`, async () => {
        const place = makePlace();
        makeAccounts(place.file, journal, 3_000_000);
        const client = await runAndStay(
          place.file,
          `const db = new Database(path, { timeout: 5000 }); db.pragma("wal_autocheckpoint = 20"); const a = db.prepare("UPDATE a SET n = n - 1"), b = db.prepare("UPDATE b SET n = n + 1");
           setInterval(() => { try { db.transaction(() => { a.run(); b.run(); })(); } catch (error) { if (!String(error.code).startsWith("SQLITE_BUSY")) throw error; } }, ${name === "under locks" ? 1 : 60})`,
        );
        const seen = new Set<number>();
        for (let round = 0; round < 6; round += 1) {
          if (!(await copyOrRefuse(io, place))) continue;
          recoverCopy(machine.disk, place.into, place.file);
          const database = new Database(place.into);
          const [sum, moved] = database.prepare("SELECT (SELECT n FROM a) + (SELECT n FROM b), (SELECT n FROM b)").raw().get() as [
            number,
            number,
          ];
          expect(sum).toBe(1000);
          expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
          seen.add(moved);
          database.close();
          rmSync(place.into);
        }
        await client.stop();
        expect(seen.size).toBeGreaterThan(io === machine ? 1 : -1);
      });
    }
  }
});

describe("a source that changes under the copy", () => {
  test("IMPORT-5: one change, and the copy is taken again", async () => {
    const place = makePlace();
    makeAccounts(place.file, "delete");
    const io = actDuringCopy(place.into, (attempt) => {
      if (attempt === 1) appendFileSync(place.file, Buffer.alloc(4096));
    });
    const result = await copy(io, place);
    expect(result.bytes).toBe(statSync(place.file).size);
    expect(readFileSync(place.into)).toEqual(readFileSync(place.file));
  });

  const changes: readonly [string, (file: string, attempt: number) => void][] = [
    ["bytes change in place, with the old size and time", changeInPlace],
    ["it grows", (file) => appendFileSync(file, "x")],
    ["another file takes its place", (file, attempt) => replaceFile(file, attempt)],
  ];
  for (const [name, change] of changes) {
    test(`IMPORT-5: ${name} at every attempt → source-changed, nothing left behind`, async () => {
      const place = makePlace();
      makeAccounts(place.file, "delete");
      await expect(
        copy(
          actDuringCopy(place.into, (attempt) => change(place.file, attempt)),
          place,
        ),
      ).rejects.toMatchObject({ code: "source-changed", retryable: true });
      expect(readdirSync(join(place.folder, "work"))).toEqual([]);
    });
  }

  test("IMPORT-5: it is deleted → nothing is left behind", async () => {
    const place = makePlace();
    makeAccounts(place.file, "delete");
    await expect(
      copy(
        actDuringCopy(place.into, () => rmSync(place.file)),
        place,
      ),
    ).rejects.toMatchObject({ code: "file-not-found" });
    expect(readdirSync(join(place.folder, "work"))).toEqual([]);
  });
});

describe("an import that fails", () => {
  test("IMPORT-6: a full disk at any write leaves nothing and names the cause", async () => {
    const place = makePlace();
    makeAccounts(place.file, "wal", 3_000_000);
    runAndKill(place.file, `const db = new Database(path); db.exec("INSERT INTO a VALUES (9, 9)")`);
    const faulty = new FaultyDisk(machine.disk);
    const counting = await copySource({ ...machine, disk: faulty.disk }, { file: place.file, into: place.into, waitMs: 100 }, {});
    expect(counting.wal?.transactions).toBe(1);
    const writes = faulty.counts.get("space") ?? 0;
    expect(writes).toBeGreaterThan(5);
    for (const path of [place.into, `${place.into}-wal`]) rmSync(path);
    const before = snapshotFolder(join(place.folder, "source"));
    for (let from = 1; from <= writes; from += 1) {
      faulty.fail({ on: "space", from, code: "disk-full" });
      await expect(
        copySource({ ...machine, disk: faulty.disk }, { file: place.file, into: place.into, waitMs: 100 }, {}),
      ).rejects.toMatchObject({ code: "disk-full" });
      expect(readdirSync(join(place.folder, "work"))).toEqual([]);
    }
    expect(snapshotFolder(join(place.folder, "source"))).toEqual(before);
  });

  test("IMPORT-7: a cancelled import leaves nothing", async () => {
    const place = makePlace();
    makeAccounts(place.file, "delete", 9_000_000);
    for (const phase of ["Copying", "Checking"]) {
      const controller = new AbortController();
      let current = "";
      const work = {
        signal: controller.signal,
        phase: (name: string) => {
          current = name;
          if (name === phase) controller.abort();
        },
      };
      const attempt = prepareImport(
        machine.disk,
        (request, copyWork) => copySource(machine, request, copyWork),
        { file: place.file, into: place.into, waitMs: 100 },
        work,
      );
      await expect(attempt).rejects.toMatchObject({ code: "cancelled" });
      expect(current).toBe(phase);
      expect(readdirSync(join(place.folder, "work"))).toEqual([]);
    }
  });

  test("IMPORT-8: without range locks the copy is compared before and after, and the report says so", async () => {
    const place = makePlace();
    makeAccounts(place.file, "wal", 100_000);
    const report = await inspectSource(
      machine.disk,
      (request, work) => copySource(WATCHED, request, work),
      { file: place.file, into: place.into, waitMs: 100 },
      {},
    );
    expect(report.checks.find((check) => check.check === "Locks")).toMatchObject({ severity: "note" });
    expect(readdirSync(join(place.folder, "work"))).toEqual([]);
  });

  test("IMPORT-9: a busy source names who holds it", async () => {
    const place = makePlace();
    const client = await runAndStay(place.file, `const db = new Database(path); db.exec("CREATE TABLE t(a); BEGIN EXCLUSIVE")`);
    await expect(copy(machine, place)).rejects.toMatchObject({
      code: "source-busy",
      retryable: true,
      details: { holders: [{ pid: client.pid, program: expect.any(String), access: "writing" }] },
    });
    await client.stop();
  });
});

test("IMPORT-10: a page count that does not hold is set right in the copy, so that a fresh change counter cannot make it count", async () => {
  const place = makePlace();
  makeAccounts(place.file, "delete", 50_000);
  const bytes = readFileSync(place.file);
  bytes.writeUInt32BE(2, 28);
  bytes.writeUInt32BE(bytes.readUInt32BE(24) - 1, 92);
  writeFileSync(place.file, bytes);
  await copy(machine, place);
  const recovered = recoverCopy(machine.disk, place.into, place.file);
  expect(recovered).toMatchObject({ countRepaired: true, pageCount: bytes.length / 4096 });
  expect(readFileSync(place.into).readUInt32BE(28)).toBe(bytes.length / 4096);
});

function changeInPlace(file: string, attempt: number): void {
  const { atime, mtime } = statSync(file);
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = attempt;
  writeFileSync(file, bytes);
  utimesSync(file, atime, mtime);
}

function replaceFile(file: string, attempt: number): void {
  writeFileSync(`${file}.${attempt}`, readFileSync(file));
  renameSync(`${file}.${attempt}`, file);
}
