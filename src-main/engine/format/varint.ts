/** Unsigned LEB128: seven bits a byte, lowest first, the top bit set on all bytes but the last. At most 32 bits. */
import { assert } from "#shared/assert.ts";

const UINT32_MAX = 0xffff_ffff;

/** Collects bytes whose number is not known beforehand. */
export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  varint(value: number): void {
    assert(Number.isInteger(value) && value >= 0 && value <= UINT32_MAX, `${value} fits 32 bits`);
    const bytes = this.#room(5);
    let rest = value;
    while (rest > 0x7f) {
      bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    bytes[this.#length++] = rest;
  }

  uint32(value: number): void {
    const bytes = this.#room(4);
    new DataView(bytes.buffer).setUint32(this.#length, value, true);
    this.#length += 4;
  }

  put(bytes: Uint8Array): void {
    this.#room(bytes.length).set(bytes, this.#length);
    this.#length += bytes.length;
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(count: number): Uint8Array {
    if (this.#length + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}

/** Reads what `ByteWriter` wrote. `fail` is called, and must throw, when the bytes run out or make no sense. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #fail: (found: string) => never;
  #position = 0;

  constructor(bytes: Uint8Array, fail: (found: string) => never) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  get left(): number {
    return this.#bytes.length - this.#position;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 5; shift += 1) {
      const byte = this.#bytes[this.#position] ?? this.#fail("a number that ends too early");
      this.#position += 1;
      value += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte <= 0x7f) return value <= UINT32_MAX ? value : this.#fail(`the number ${value}`);
    }
    return this.#fail("a number of more than 32 bits");
  }

  /** A view, not a copy. */
  take(count: number): Uint8Array {
    if (count > this.left) this.#fail(`${this.left} bytes where ${count} should be`);
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }
}
