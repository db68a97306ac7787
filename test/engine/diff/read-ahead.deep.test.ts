/** Comparisons that are large enough to be read ahead, through a store, against a plain comparison of the files. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { createStore, openStore, type Store } from "#engine/store.ts";
import type { DiffSideInput } from "#shared/diff-views.ts";
import { runAndStay } from "../../support/foreign-clients.ts";
import { execute, temporaryFolder, withClient } from "../../support/stores.ts";
import { WorkCounter } from "../../support/work-counter.ts";
import { referenceRows, show } from "./support.ts";

const ROWS = 9_000;
const at = (branch: string, state?: string): DiffSideInput => ({ kind: "state", database: "big", branch, ...(state ? { at: state } : {}) });

/** Some 20 MB in three kinds of tables. */
function makeBig(path: string): string {
  execute(
    path,
    `CREATE TABLE rows (id INTEGER PRIMARY KEY, note TEXT);
     CREATE TABLE keyed (a TEXT, b INTEGER, note TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
     CREATE TABLE plain (note TEXT, number REAL);
     WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
       INSERT INTO rows SELECT i, hex(randomblob(800)) FROM n;
     INSERT INTO keyed SELECT 'k' || (id % 97), id, hex(randomblob(120)) FROM rows;
     INSERT INTO plain SELECT hex(randomblob(100)), id / 2.0 FROM rows`,
  );
  return path;
}

/** Scattered over every table: more pages than are decoded one by one. */
const CHANGES = `
  UPDATE rows SET note = 'changed ' || id || note WHERE id % 45 = 0; DELETE FROM rows WHERE id % 1009 = 0;
  INSERT INTO rows (note) SELECT 'new ' || note FROM rows WHERE id < 50;
  UPDATE keyed SET note = 'changed' WHERE b % 31 = 0; DELETE FROM keyed WHERE b % 499 = 0;
  UPDATE plain SET number = number + 1 WHERE rowid % 41 = 0; DELETE FROM plain WHERE rowid % 977 = 0;
  CREATE TABLE added AS SELECT * FROM rows WHERE id % 2 = 0`;

interface Big {
  readonly store: Store;
  readonly main: string;
  readonly other: string;
  readonly left: string;
  readonly right: string;
}

/** A store with `main` and a changed branch `other`; `left` and `right` are the same two states as files. */
async function makeBigStore(ownProcess = true): Promise<Big> {
  const folder = temporaryFolder();
  const left = makeBig(join(folder, "left.db"));
  const store = await createStore(join(folder, "store"), { actor: "anna", ownProcess });
  onTestFinished(() => store.close());
  await store.create({ database: "big", from: left });
  const { path: main } = await store.checkout({ database: "big", branch: "main" });
  await store.fork({ database: "big", branch: "main", newBranch: "other" });
  const { path: other } = await store.checkout({ database: "big", branch: "other" });
  execute(other, CHANGES);
  await store.checkpoint({ database: "big", branch: "other" });
  const right = join(folder, "right.db");
  await store.export({ database: "big", branch: "other", file: right });
  return { store, main, other, left, right };
}

/** Table → rows, as `referenceRows` says them. */
async function rowsOf(store: Store, left: DiffSideInput, right: DiffSideInput): Promise<Record<string, string[]>> {
  const diff = await store.diff({ left, right });
  const found: Record<string, string[]> = {};
  for (const table of diff.tables) {
    const lines: string[] = [];
    for await (const { kind, old, new: current } of diff.changes(table))
      lines.push(`${kind} ${old ? show(old) : ""}${old && current ? " → " : ""}${current ? show(current) : ""}`);
    found[table.view.name] = lines.toSorted();
  }
  diff.close();
  return found;
}

function expected({ left, right }: Pick<Big, "left" | "right">): Record<string, string[]> {
  return {
    added: withClient(right, (database) =>
      database
        .prepare("SELECT id, note FROM added")
        .safeIntegers()
        .raw()
        .all()
        .map((row) => `insert ${show(row as never)}`)
        .toSorted(),
    ),
    keyed: referenceRows(left, right, "keyed", ["a", "b"]),
    plain: referenceRows(left, right, "plain", []),
    rows: referenceRows(left, right, "rows", ["id"]),
  };
}

test(
  "DIFF-22: many scattered rows of stored versions, of unsaved work and of files are those of a plain comparison",
  { timeout: 120_000 },
  async () => {
    const { store, other, left, right } = await makeBigStore();
    const rows = expected({ left, right });
    expect(Object.values(rows).map((lines) => lines.length > 50)).toEqual([true, true, true, true]);
    expect(await rowsOf(store, at("main"), at("other"))).toEqual(rows);
    expect(await rowsOf(store, { kind: "file", path: left }, at("other"))).toEqual(rows);
    execute(other, "UPDATE rows SET note = 'unsaved' WHERE id % 23 = 0; DELETE FROM keyed WHERE b % 101 = 0; DROP TABLE added");
    copyFileSync(other, right);
    withClient(other, (database) => database.pragma("wal_checkpoint(TRUNCATE)"));
    copyFileSync(other, right);
    const { added: _, ...unsaved } = expected({ left, right: withAdded(right) });
    expect(await rowsOf(store, at("main"), { kind: "unsaved", database: "big", branch: "other" })).toEqual(unsaved);
  },
);

/** `expected` asks for the table. */
function withAdded(path: string): string {
  execute(path, "CREATE TABLE added (id, note)");
  return path;
}

test(
  "DIFF-23: files of the database save decoding; without them, and whatever is in them, the answer is the same",
  { timeout: 120_000 },
  async () => {
    const { store, main, other, left, right } = await makeBigStore();
    const rows = expected({ left, right });
    const { path } = store;
    await store.close();
    const counter = new WorkCounter();
    // Opened anew, so that no frame is in memory.
    const look = async () => {
      const fresh = await openStore(path, { ownProcess: true }, counter.ports);
      try {
        const work = await counter.of(async () => expect(await rowsOf(fresh, at("main"), at("other"))).toEqual(rows));
        return work.framesDecoded;
      } finally {
        await fresh.close();
      }
    };
    const withFiles = await look();
    const sound = readFileSync(main);
    writeFileSync(main, sound.subarray(0, sound.length / 2));
    await look();
    writeFileSync(main, "no database");
    writeFileSync(other, Buffer.alloc(sound.length));
    await look();
    rmSync(main);
    rmSync(other);
    expect(await look()).toBeGreaterThan(withFiles + 100);
  },
);

test("DIFF-23: clients of the file that is read keep their locks, also those in this process", { timeout: 120_000 }, async () => {
  const { store, main, left, right } = await makeBigStore(false);
  const client = new Database(main);
  onTestFinished(() => void client.close());
  client.exec("BEGIN IMMEDIATE; DELETE FROM rows WHERE id = 5");
  expect(await rowsOf(store, at("main"), at("other"))).toEqual(expected({ left, right }));
  const probe = await runAndStay(
    main,
    "const database = new Database(path, { timeout: 0 }); try { database.exec('BEGIN IMMEDIATE'); process.stderr.write('not kept out'); process.exit(1) } catch (error) { if (error.code !== 'SQLITE_BUSY') throw error }",
  );
  await probe.stop();
  client.exec("COMMIT");
  expect(withClient(main, (database) => database.pragma("integrity_check", { simple: true }))).toBe("ok");
});

test(
  "DIFF-19: a large database of which next to nothing stayed is compared in full, with the same answer",
  { timeout: 120_000 },
  async () => {
    const { store, other, left, right } = await makeBigStore();
    execute(other, "UPDATE rows SET note = note || 'x'; UPDATE keyed SET note = note || 'x'; UPDATE plain SET number = number + 1");
    await store.checkpoint({ database: "big", branch: "other" });
    await store.export({ database: "big", branch: "other", file: right, overwrite: true });
    const diff = await store.diff({ left: at("main"), right: at("other") });
    expect(diff.view).toMatchObject({ comparison: "full", changedPages: null });
    diff.close();
    expect(await rowsOf(store, at("main"), at("other"))).toEqual(expected({ left, right }));
  },
);
