/** A seeded generator (mulberry32): the demo is the same on every machine, byte for byte. */
export class Random {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 ≤ result < 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  pick<const C extends readonly [unknown, ...unknown[]]>(choices: C): C[number] {
    return choices[this.whole(0, choices.length - 1)];
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Bytes without a pattern. */
  bytes(length: number): Uint8Array {
    const words = new Uint32Array(Math.ceil(length / 4));
    for (let index = 0; index < words.length; index += 1) words[index] = this.fraction() * 4_294_967_296;
    return new Uint8Array(words.buffer, 0, length);
  }
}
