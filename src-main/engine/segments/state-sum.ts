import { assert } from "#shared/assert.ts";
import type { Native } from "../io/native.ts";

/** A state checksum being carried along: pages are toggled in and out, in any order. */
export class StateSum {
  readonly #native: Native;
  readonly #sum: Uint8Array;

  /** `start`: 16 bytes; the checksum of an empty database is zero. */
  constructor(native: Native, start: Uint8Array = new Uint8Array(16)) {
    assert(start.length === 16, "a state checksum has 16 bytes");
    this.#native = native;
    this.#sum = Uint8Array.from(start);
  }

  /** Adds pages that are not in the state, removes those that are. `hashes`: 16 bytes a page; the lock page must not be among them. */
  toggle(hashes: Uint8Array, numbers: ArrayLike<number>): void {
    let from = 0;
    for (let index = 1; index <= numbers.length; index += 1) {
      if (index < numbers.length && numbers[index] === (numbers[index - 1] ?? 0) + 1) continue;
      const fold = this.#native.foldHashes(hashes.subarray(from * 16, index * 16), numbers[from] ?? 0);
      for (let byte = 0; byte < 16; byte += 1) this.#sum[byte] = (this.#sum[byte] ?? 0) ^ (fold[byte] ?? 0);
      from = index;
    }
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#sum);
  }
}
