/**
 * Matches rows whose trees are in no common order: by a key, or as wholes with counts. Each row is 40 bytes in a table of
 * a private SQLite file, which keeps in memory what fits and writes the rest to a temporary file, and sorts it there.
 */
import { hash } from "node:crypto";
import Database from "better-sqlite3";
import { LIMITS } from "#shared/limits.ts";
import { InvalidText, type SqlValue } from "../format/record.ts";
import type { Disk } from "../io/disk.ts";
import type { CellPlace } from "./database-pages.ts";

export type Which = 0 | 1;

/** A row of one side, or of both when they are the same row with other values. */
export interface MatchedRows {
  readonly left: CellPlace | null;
  readonly right: CellPlace | null;
}

/** Rows of one key that are remembered to be paired; a key that more rows have is none. */
const ROWS_A_KEY_MAX = 1_000;
const HASH_BYTES = 16;

interface Entry {
  readonly key: Uint8Array;
  readonly row: Uint8Array;
  readonly side: Which;
  readonly place: number;
}

export class RowMatcher {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #insert: Database.Statement;
  #count = 0;

  /** `path`: where a temporary file may be made; "": where the system keeps those. */
  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
    this.#database = new Database(path);
    for (const pragma of ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = FILE"])
      this.#database.pragma(pragma);
    this.#database.pragma(`cache_size = -${LIMITS.diffMatchBytes / 1024}`);
    this.#database.exec("BEGIN; CREATE TABLE entries (key BLOB, row BLOB, side INTEGER, place INTEGER)");
    this.#insert = this.#database.prepare("INSERT INTO entries VALUES (?, ?, ?, ?)");
  }

  get count(): number {
    return this.#count;
  }

  /** `key`: null when the row is matched as a whole. */
  add(side: Which, place: CellPlace, key: readonly SqlValue[] | null, row: readonly SqlValue[]): void {
    const rowHash = hashValues("row", row);
    this.#insert.run(key ? hashValues("key", key) : rowHash, rowHash, side, place);
    this.#count += 1;
  }

  /** Rows that have no equal on the other side, once everything was added. */
  *matched(): Generator<MatchedRows, void> {
    const entries = this.#database
      .prepare("SELECT key, row, side, place FROM entries ORDER BY key, row, side")
      .iterate() as IterableIterator<Entry>;
    let group: KeyGroup | null = null;
    for (const entry of entries) {
      if (group && (!group.has(entry) || group.isFull)) {
        yield* group.finish();
        group = null;
      }
      group ??= new KeyGroup(entry.key);
      group.add(entry);
    }
    if (group) yield* group.finish();
  }

  close(): void {
    this.#database.close();
    if (this.#path !== "") this.#disk.remove(this.#path);
  }
}

/** Rows of one key: equal ones cancel each other, a pair left over is a changed row. */
class KeyGroup {
  readonly #key: Uint8Array;
  readonly #rows: { readonly row: Uint8Array; place: number; net: number; right: number }[] = [];

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  get isFull(): boolean {
    return this.#rows.length >= ROWS_A_KEY_MAX;
  }

  has({ key }: Entry): boolean {
    return Buffer.compare(key, this.#key) === 0;
  }

  /** Of equal rows any stands for all: one place of each side is kept, and how many more one side has. */
  add({ row, side, place }: Entry): void {
    let last = this.#rows.at(-1);
    if (!last || Buffer.compare(last.row, row) !== 0) {
      last = { row, place: -1, net: 0, right: -1 };
      this.#rows.push(last);
    }
    if (side === 0) last.place = place;
    else last.right = place;
    last.net += side === 0 ? 1 : -1;
  }

  *finish(): Generator<MatchedRows, void> {
    const lefts = this.#rows.filter(({ net }) => net > 0);
    const rights = this.#rows.filter(({ net }) => net < 0);
    const [left, right] = [lefts[0], rights[0]];
    if (left && right && lefts.length === 1 && rights.length === 1 && left.net === 1 && right.net === -1) {
      yield { left: left.place, right: right.right };
      return;
    }
    for (const { place, net } of lefts) for (let count = 0; count < net; count += 1) yield { left: place, right: null };
    for (const { right: place, net } of rights) for (let count = 0; count < -net; count += 1) yield { left: null, right: place };
  }
}

/** Bytes that most rows fit in: they are put together there instead of in memory of their own. */
const SCRATCH_BYTES = 64 * 1024;
const scratch = Buffer.alloc(SCRATCH_BYTES);
const HEAD_BYTES = 5;

/** 128 bits over values and their types: what is equal for a file is equal here, whatever its encoding. */
function hashValues(domain: "row" | "key", values: readonly SqlValue[]): Uint8Array {
  let bytesMax = 1;
  for (const value of values) bytesMax += HEAD_BYTES + bytesMaxOf(value);
  const target = bytesMax <= SCRATCH_BYTES ? scratch : Buffer.alloc(bytesMax);
  target.writeUInt8(domain === "row" ? 1 : 2, 0);
  let position = 1;
  for (const value of values) position = writeValue(target, position, value);
  return hash("sha256", target.subarray(0, position), "buffer").subarray(0, HASH_BYTES);
}

function bytesMaxOf(value: SqlValue): number {
  if (typeof value === "string") return 3 * value.length;
  if (value instanceof InvalidText) return value.bytes.length;
  return value instanceof Uint8Array ? value.length : 8;
}

/** A tag, the length, and the value; returns where the next one goes. */
function writeValue(target: Buffer, position: number, value: SqlValue): number {
  const start = position + HEAD_BYTES;
  let [tag, length] = ["n", 0];
  if (typeof value === "string") [tag, length] = ["t", target.write(value, start)];
  else if (typeof value === "bigint") [tag, length] = ["i", target.writeBigInt64LE(value, start) - start];
  // Minus zero is zero for SQL.
  else if (typeof value === "number") [tag, length] = ["r", target.writeDoubleLE(value === 0 ? 0 : value, start) - start];
  else if (value !== null) {
    const bytes = value instanceof InvalidText ? value.bytes : value;
    target.set(bytes, start);
    [tag, length] = [value instanceof InvalidText ? "u" : "b", bytes.length];
  }
  target.write(tag, position, "latin1");
  target.writeUInt32LE(length, position + 1);
  return start + length;
}

/** A key's values as its index compares them; null when one of them is NULL, which equals nothing. */
export function keyValues(
  values: readonly SqlValue[],
  parts: readonly { readonly column: number; readonly collation: string }[],
): SqlValue[] | null {
  const key: SqlValue[] = [];
  for (const { column, collation } of parts) {
    const value = values[column] ?? null;
    if (value === null) return null;
    key.push(normaliseKey(value, collation));
  }
  return key;
}

function normaliseKey(value: SqlValue, collation: string): SqlValue {
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 2 ** 63) return BigInt(value);
  if (typeof value !== "string") return value;
  if (collation === "NOCASE") return normaliseNocase(value);
  return collation === "RTRIM" ? value.replace(/ +$/, "") : value;
}

/** What is behind a NUL does not count, but its length does: see `compareNocase`. */
function normaliseNocase(text: string): string {
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const end = lower.indexOf("\0");
  return end < 0 ? lower : `${lower.slice(0, end)}\0${Buffer.byteLength(lower)}`;
}
