/** How the hostile inputs are made: by SQL, by damage to bytes, by clients that are killed or kept in the middle of things. */
import { appendFileSync, chmodSync, closeSync, copyFileSync, openSync, renameSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { ErrorCode } from "#shared/error-codes.ts";
import { runAndKill, runAndStay } from "./foreign-clients.ts";

export interface MadeInput {
  readonly path: string;
  /** Ends what keeps the input as it is: a live client, a read-only folder. */
  readonly release?: () => Promise<void> | void;
}
export interface HostileInput {
  readonly name: string;
  readonly expect: "imports" | ErrorCode;
  /** Takes seconds or hundreds of megabytes. */
  readonly slow?: true;
  /** A check and a part of what it found that the import report must hold. */
  readonly reports?: readonly [check: string, found: RegExp];
  readonly make: (folder: string) => MadeInput | Promise<MadeInput>;
}

type Build = (database: Database.Database) => void;

export function withDatabase(path: string, build: Build): string {
  const database = new Database(path);
  try {
    build(database);
  } finally {
    database.close();
  }
  return path;
}

/** An input that a script in SQL makes. */
export function bySql(name: string, sql: string, reports?: HostileInput["reports"]): HostileInput {
  return {
    name,
    expect: "imports",
    ...(reports ? { reports } : {}),
    make: (folder) => ({ path: withDatabase(join(folder, "data.db"), (database) => database.exec(sql)) }),
  };
}

/** An input made from a small ordinary database by damaging its bytes. */
export function byDamage(
  name: string,
  expect: HostileInput["expect"],
  damage: (path: string) => void,
  reports?: HostileInput["reports"],
): HostileInput {
  return { name, expect, ...(reports ? { reports } : {}), make: (folder) => damaged(join(folder, "data.db"), damage) };
}

function damaged(path: string, damage: (path: string) => void): MadeInput {
  withDatabase(path, (database) => database.exec(ORDINARY));
  damage(path);
  return { path };
}

export const ORDINARY = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, amount REAL, raw BLOB);
  CREATE INDEX t_name ON t(name);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO t SELECT i, 'name ' || i, i / 7.0, zeroblob(i % 90) FROM n;`;
/** For scripts of foreign clients. */
export const ORDINARY_SCRIPT = JSON.stringify(ORDINARY);

export function at(folder: string, put: (path: string) => void): MadeInput {
  const path = join(folder, "data.db");
  put(path);
  return { path };
}

export function killed(
  name: string,
  script: string,
  reports: HostileInput["reports"],
  after: (path: string) => void = () => {},
): HostileInput {
  const make = (folder: string): MadeInput => {
    const path = join(folder, "data.db");
    runAndKill(path, script);
    after(path);
    return { path };
  };
  return { name, expect: "imports", ...(reports ? { reports } : {}), make };
}

export function live(name: string, expect: HostileInput["expect"], script: string, reports?: HostileInput["reports"]): HostileInput {
  const make = async (folder: string): Promise<MadeInput> => {
    const path = join(folder, "data.db");
    const client = await runAndStay(path, script);
    return { path, release: client.stop };
  };
  return { name, expect, ...(reports ? { reports } : {}), make };
}

/** A hot journal that ends with the name of a super-journal, which is there or, once the transaction committed, not. */
export function twoFileJournal(name: string, unfinished: boolean, reports: HostileInput["reports"]): HostileInput {
  const make = (folder: string): MadeInput => {
    const path = join(folder, "data.db");
    withDatabase(path, (database) => database.exec(ORDINARY));
    runAndKill(path, `const db = new Database(path); db.pragma("cache_size = 2"); db.exec("BEGIN; UPDATE t SET raw = zeroblob(900)")`);
    if (!unfinished) withDatabase(join(folder, "committed.db"), (database) => database.exec(ORDINARY + "UPDATE t SET raw = zeroblob(900)"));
    if (!unfinished) renameSync(join(folder, "committed.db"), path);
    const superJournal = Buffer.from(`${path}-mj0A1B2C9D4`);
    if (unfinished) writeFileSync(superJournal.toString(), `${path}-journal\0${join(folder, "other.db")}-journal\0`);
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32BE(superJournal.length, 0);
    numbers.writeUInt32BE(
      superJournal.reduce((sum, byte) => sum + byte, 0),
      4,
    );
    appendFileSync(`${path}-journal`, Buffer.concat([Buffer.alloc(4), superJournal, numbers, Buffer.from("d9d505f920a163d7", "hex")]));
    return { path };
  };
  return { name, expect: "imports", ...(reports ? { reports } : {}), make };
}

/** The file as a stock client would see it, without a byte of the source being touched: for comparing dumps. */
export function copyForReference(path: string, into: string): string {
  for (const end of ["", "-wal", "-journal"]) {
    try {
      copyFileSync(path + end, into + end);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  for (const end of ["", "-wal", "-journal"]) if (statSync(into + end, { throwIfNoEntry: false })) chmodSync(into + end, 0o644);
  return into;
}

/**
 * CREATE TABLE reads the whole schema each time: 18,000 of them take a minute. So the schema's rows are written as such,
 * and the empty root page of each table behind them.
 */
export function writeManyTables(path: string, count: number): string {
  const pageSize = 4096;
  withDatabase(path, (database) => {
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 30000, 'CREATE TABLE t' || i || '(id INTEGER PRIMARY KEY, v)' FROM n`);
    const pages = Number(database.pragma("page_count", { simple: true }));
    // Both numbers take two bytes in a record, so no row moves.
    database.exec(`UPDATE sqlite_schema SET rootpage = ${pages} + rowid`);
  });
  const pages = statSync(path).size / pageSize + count;
  const root = Buffer.alloc(pageSize);
  root.set([0x0d, 0, 0, 0, 0, pageSize >> 8, 0]);
  appendFileSync(path, Buffer.concat(Array.from({ length: count }, () => root)));
  patch(path, 28, [0, pages >> 16, (pages >> 8) & 255, pages & 255]);
  return withDatabase(path, (database) => database.exec(`INSERT INTO t${count} VALUES (1, 2)`));
}

export function rewriteSchema(database: Database.Database, sql: string): void {
  database.unsafeMode(true);
  database.pragma("writable_schema = ON");
  database.exec(sql);
  database.pragma("writable_schema = OFF");
}

export function patch(path: string, position: number, bytes: readonly number[]): void {
  const file = openSync(path, "r+");
  writeSync(file, Buffer.from(bytes), 0, bytes.length, position);
  closeSync(file);
}

export function written(path: string, bytes: Buffer): string {
  writeFileSync(path, bytes);
  return path;
}

/** The same bytes each time, without a pattern (xorshift32). */
export function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 0x9e3779b9;
  for (let index = 0; index < length; index += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

export function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4096 - (bytes.length % 4096)) % 4096)]);
}
