/** A set of page numbers: one bit a page. */
export class PageSet {
  readonly #bits: Uint8Array;
  #size = 0;

  constructor(pageCount: number) {
    this.#bits = new Uint8Array(Math.floor(pageCount / 8) + 1);
  }

  get size(): number {
    return this.#size;
  }

  has(pageNumber: number): boolean {
    return ((this.#bits[pageNumber >>> 3] ?? 0) & (1 << (pageNumber & 7))) !== 0;
  }

  /** False when it was there already. Numbers beyond the end are left out. */
  add(pageNumber: number): boolean {
    if (this.has(pageNumber) || pageNumber >>> 3 >= this.#bits.length) return false;
    this.#bits[pageNumber >>> 3] = (this.#bits[pageNumber >>> 3] ?? 0) | (1 << (pageNumber & 7));
    this.#size += 1;
    return true;
  }

  delete(pageNumber: number): void {
    if (!this.has(pageNumber)) return;
    this.#bits[pageNumber >>> 3] = (this.#bits[pageNumber >>> 3] ?? 0) & ~(1 << (pageNumber & 7));
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<number, void> {
    for (const [index, byte] of this.#bits.entries()) {
      for (let bit = 0; byte >>> bit > 0; bit += 1) if ((byte & (1 << bit)) !== 0) yield index * 8 + bit;
    }
  }
}
