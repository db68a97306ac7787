/** Seeded numbers: xoshiro128** (Blackman and Vigna, 2018), its state filled by splitmix32. Not for secrets. */
export class Random {
  readonly #state: Uint32Array;

  /** Streams of one seed are independent: one for each worker, table or size. */
  constructor(seed: number, stream = 0) {
    let mixed = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0;
    this.#state = Uint32Array.from({ length: 4 }, () => {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let word = mixed;
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      return (word ^ (word >>> 15)) >>> 0;
    });
  }

  /** 32 random bits, as a whole number ≥ 0. */
  next(): number {
    const state = this.#state;
    const a = state[0] ?? 0;
    const b = state[1] ?? 0;
    const third = (state[2] ?? 0) ^ a;
    const fourth = (state[3] ?? 0) ^ b;
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    state[1] = b ^ third;
    state[0] = a ^ fourth;
    state[2] = third ^ (b << 9);
    state[3] = (fourth << 11) | (fourth >>> 21);
    return result;
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit);
  }

  /** From 0 up to, not including, 1. */
  unit(): number {
    return this.next() / 2 ** 32;
  }

  /** Fills `bytes`. */
  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += 4) {
      const word = this.next();
      bytes[at] = word;
      if (at + 1 < bytes.length) bytes[at + 1] = word >>> 8;
      if (at + 2 < bytes.length) bytes[at + 2] = word >>> 16;
      if (at + 3 < bytes.length) bytes[at + 3] = word >>> 24;
    }
  }
}
