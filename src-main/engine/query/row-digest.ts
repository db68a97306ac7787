import { createHash } from "node:crypto";
import { InvalidText, type SqlValue } from "../format/record.ts";

/** Equal for equal columns and rows, in every type and byte; rows in their order. */
export class RowDigest {
  readonly #hash = createHash("sha256");

  constructor(columns: readonly string[]) {
    this.#hash.update(JSON.stringify(columns));
  }

  add(row: readonly SqlValue[]): void {
    for (const value of row) {
      if (value === null) this.#hash.update("n");
      else if (typeof value === "bigint") this.#hash.update(`i${value};`);
      else if (typeof value === "number") this.#hash.update(Object.is(value, -0) ? "r-0;" : `r${value};`);
      else if (typeof value === "string") this.#addBytes("t", Buffer.from(value));
      else if (value instanceof InvalidText) this.#addBytes("x", value.bytes);
      else this.#addBytes("b", value);
    }
    this.#hash.update("\n");
  }

  finish(truncated: boolean): string {
    return this.#hash.update(truncated ? "…" : ".").digest("hex");
  }

  #addBytes(type: string, bytes: Uint8Array): void {
    this.#hash.update(`${type}${bytes.length};`).update(bytes);
  }
}
