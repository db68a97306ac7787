import Database from "better-sqlite3";
import { InvalidText, type SqlValue } from "../format/record.ts";
import type { TextEncoding } from "../format/sqlite-header.ts";
import { textBytes } from "./key-order.ts";
import { realText } from "./value-view.ts";

/** Writes values so that SQLite reads exactly them. */
export class SqlLiterals {
  readonly #encoding: TextEncoding;
  readonly #database: Database.Database;
  readonly #read: Database.Statement;

  /** `encoding`: of the database that the script is for. */
  constructor(encoding: TextEncoding) {
    this.#encoding = encoding;
    this.#database = new Database(":memory:");
    this.#read = this.#database.prepare("SELECT CAST(? AS REAL)").pluck();
  }

  write(value: SqlValue): string {
    if (value === null) return "NULL";
    if (typeof value === "bigint") return value === -(2n ** 63n) ? "(-9223372036854775807 - 1)" : value.toString();
    if (typeof value === "number") return this.#real(value);
    if (value instanceof InvalidText) return `CAST(${blob(value.bytes)} AS TEXT)`;
    if (value instanceof Uint8Array) return blob(value);
    // A NUL would end the text, and often the script.
    return value.includes("\0") ? `CAST(${blob(textBytes(value, this.#encoding))} AS TEXT)` : `'${value.replaceAll("'", "''")}'`;
  }

  /** The shortest text that SQLite's own reading turns into this number: it does not round exactly everywhere. */
  #real(value: number): string {
    if (!Number.isFinite(value)) return value > 0 ? "9e999" : "-9e999";
    const texts = [realText(value), value.toPrecision(17), value.toExponential(20), value.toPrecision(21)];
    return texts.find((text) => Object.is(this.#read.get(text), value)) ?? realText(value);
  }

  close(): void {
    this.#database.close();
  }
}

function blob(bytes: Uint8Array): string {
  return `x'${Buffer.from(bytes).toString("hex")}'`;
}
