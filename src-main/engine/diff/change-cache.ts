/**
 * What was counted between two versions, kept in memory and in a SQLite file of its own. Entries are found by what the
 * versions hold (both state checksums), so that none of them can grow stale, whatever is done to the store. Each proves
 * itself by a hash. Everything about the file may fail: what is damaged is dropped and counted anew.
 *
 * Several processes share the file. It has no journal on the disk, because whoever finds it damaged, or clears caches,
 * removes it under the others, and a journal that stayed behind would be played into the next one.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import Database from "better-sqlite3";
import * as v from "valibot";
import { LIMITS } from "#shared/limits.ts";
import type { Disk } from "../io/disk.ts";

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const countedSchema = v.strictObject({
  tables: v.array(v.strictObject({ name: v.string(), inserted: count, deleted: count, updated: count })),
  moreTables: count,
  inserted: count,
  deleted: count,
  updated: count,
  schemaChanges: count,
  problem: v.nullable(v.string()),
});

/** What differs between two versions, as `ChangeCountsView` tells it. */
export type CountedChanges = v.InferOutput<typeof countedSchema>;

/** Raised when the same versions are counted in another way: what is there of another format is dropped. */
const FORMAT = 1;
const FILE_NAME = "counts.sqlite";
const PAGE_BYTES = 4096;
/** Waiting for another process that writes. It holds this thread: an entry that is not kept is only counted once more. */
const BUSY_WAIT_MS = 50;
/** Files that turned out to be damaged, before this process does without. */
const DROPS_MAX = 3;
const HASH_BYTES = 16;

export class ChangeCache {
  readonly #disk: Pick<Disk, "makeDirectory" | "removeTree" | "stat">;
  readonly #folder: string;
  /** Least recently used first. */
  readonly #memory = new Map<string, CountedChanges>();
  #database: Database.Database | null = null;
  #reading: Database.Statement<[Uint8Array], EntryRow> | null = null;
  #isFileUsed: boolean;
  #drops = 0;

  /** `isFileUsed`: false where nothing can be written. Opens nothing yet. */
  constructor(disk: Pick<Disk, "makeDirectory" | "removeTree" | "stat">, folder: string, isFileUsed: boolean) {
    this.#disk = disk;
    this.#folder = folder;
    this.#isFileUsed = isFileUsed;
  }

  /** Never throws. */
  get(key: Uint8Array): CountedChanges | null {
    const name = Buffer.from(key).toString("hex");
    const known = this.#memory.get(name) ?? this.#tryFile((database) => read((this.#reading ??= database.prepare(SELECT)), key));
    if (known) this.#remember(name, known);
    return known;
  }

  /** Never throws. */
  put(key: Uint8Array, counted: CountedChanges): void {
    this.#remember(Buffer.from(key).toString("hex"), counted);
    // Somebody cleared the caches: what goes into a file without a name is lost.
    if (this.#database && !this.#disk.stat(this.#path)) this.close();
    this.#tryFile((database) => write(database, key, counted));
  }

  close(): void {
    this.#database?.close();
    this.#database = null;
    this.#reading = null;
  }

  get #path(): string {
    return join(this.#folder, FILE_NAME);
  }

  #remember(name: string, counted: CountedChanges): void {
    this.#memory.delete(name);
    this.#memory.set(name, counted);
    if (this.#memory.size <= LIMITS.changeEntriesInMemory) return;
    const [oldest] = this.#memory.keys();
    if (oldest !== undefined) this.#memory.delete(oldest);
  }

  /** Null when the file does not help: it is busy, or was damaged and is gone now. */
  #tryFile<T>(act: (database: Database.Database) => T | null): T | null {
    if (!this.#isFileUsed) return null;
    try {
      this.#database ??= open(this.#disk, this.#folder, this.#path);
      return act(this.#database);
    } catch (error) {
      if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return null;
      this.#drop();
      return null;
    }
  }

  #drop(): void {
    this.#drops += 1;
    if (this.#drops >= DROPS_MAX) this.#isFileUsed = false;
    this.close();
    try {
      this.#disk.removeTree(this.#folder);
    } catch {
      // Neither of use nor to be removed: this process remembers in memory alone.
      this.#isFileUsed = false;
    }
  }
}

/** Throws what SQLite and the disk throw, and an error for a file of another format. */
function open(disk: Pick<Disk, "makeDirectory">, folder: string, path: string): Database.Database {
  disk.makeDirectory(folder);
  const database = new Database(path, { timeout: BUSY_WAIT_MS });
  try {
    for (const pragma of ["journal_mode = MEMORY", "synchronous = OFF", `max_page_count = ${LIMITS.changeCacheBytesMax / PAGE_BYTES}`])
      database.pragma(pragma);
    const format = database.pragma("user_version", { simple: true });
    if (format === FORMAT) {
      checkSchema(database);
      return database;
    }
    if (format !== 0) throw new Error(`Counts of format ${String(format)}`);
    database.exec(`BEGIN IMMEDIATE;
      CREATE TABLE IF NOT EXISTS ${TABLE};
      PRAGMA user_version = ${FORMAT};
      COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A view in place of the table, or a trigger on it, could keep this thread for ever. */
function checkSchema(database: Database.Database): void {
  const found = database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL LIMIT 2").pluck().all();
  if (found.length !== 1 || found[0] !== `CREATE TABLE ${TABLE}`) throw new Error("Counts in another shape");
}

const TABLE = "counts (id INTEGER PRIMARY KEY, key BLOB UNIQUE NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT";
const SELECT = "SELECT body, hash FROM counts WHERE key = ?";

interface EntryRow {
  readonly body: string;
  readonly hash: Uint8Array;
}

function read(statement: Database.Statement<[Uint8Array], EntryRow>, key: Uint8Array): CountedChanges | null {
  const row = statement.get(key);
  if (!row || Buffer.compare(row.hash, hashOf(key, row.body)) !== 0) return null;
  const parsed = v.safeParse(countedSchema, JSON.parse(row.body));
  return parsed.success ? parsed.output : null;
}

function write(database: Database.Database, key: Uint8Array, counted: CountedChanges): null {
  const body = JSON.stringify(counted);
  const insert = () =>
    database.prepare("INSERT OR REPLACE INTO counts (key, body, hash) VALUES (?, ?, ?)").run(key, body, hashOf(key, body));
  try {
    insert();
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || error.code !== "SQLITE_FULL") throw error;
    // The file is as large as it may be, or the disk is full: the older half makes room.
    database.exec("DELETE FROM counts WHERE id <= (SELECT id FROM counts ORDER BY id LIMIT 1 OFFSET (SELECT count(*) / 2 FROM counts))");
    insert();
  }
  return null;
}

function hashOf(key: Uint8Array, body: string): Uint8Array {
  return hash("sha256", Buffer.concat([key, Buffer.from(body)]), "buffer").subarray(0, HASH_BYTES);
}
