/**
 * The versions of one database as a tree, with what is stored for each, so that "how much do these few versions need
 * together, with all their ancestors" is answered in a few steps each, whatever the length of the history.
 *
 * Places are in preorder: a version and all that descend from it stand in one run. Ways up skip: beside its parent each
 * version knows one ancestor further up (Myers' skew-binary jump pointers), so that the last common ancestor of two is
 * found in O(log n).
 */
export class VersionTree {
  /** Stored bytes of each version's own segments, merged ones included, by number. */
  readonly bytes: Float64Array;
  /** Parent of each version, 0 for one that has none (or whose parent is not stored). */
  readonly parents: Int32Array;
  /** Numbers of stored versions, ascending: parents before children. */
  readonly numbers: readonly number[];
  readonly #reach: Float64Array;
  readonly #roots: Int32Array;
  readonly #depth: Int32Array;
  readonly #jump: Int32Array;
  readonly #place: Int32Array;
  readonly #size: Int32Array;

  /** `versions`: ascending by number. `bytes`: by number, at least as long as the greatest number plus one. */
  constructor(versions: readonly { readonly number: number; readonly parent: number | null }[], bytes: Float64Array) {
    const length = bytes.length;
    this.bytes = bytes;
    this.numbers = versions.map(({ number }) => number);
    this.parents = new Int32Array(length);
    this.#reach = new Float64Array(length);
    this.#roots = new Int32Array(length);
    this.#depth = new Int32Array(length);
    this.#jump = new Int32Array(length);
    this.#place = new Int32Array(length);
    this.#size = new Int32Array(length);
    for (const { number, parent } of versions) this.#hang(number, parent ?? 0);
    for (let index = versions.length - 1; index >= 0; index -= 1) this.#sumUp(this.numbers[index] ?? 0);
    this.#numberPlaces();
  }

  #hang(number: number, wanted: number): void {
    const parent = wanted > 0 && this.#roots[wanted] ? wanted : 0;
    this.parents[number] = parent;
    this.#reach[number] = this.#at(this.#reach, parent) + this.#at(this.bytes, number);
    this.#roots[number] = parent === 0 ? number : this.#at(this.#roots, parent);
    this.#depth[number] = this.#at(this.#depth, parent) + 1;
    this.#size[number] = 1;
    const [near, far] = [this.#at(this.#jump, parent), this.#at(this.#jump, this.#at(this.#jump, parent))];
    const isLevel =
      this.#at(this.#depth, parent) - this.#at(this.#depth, near) === this.#at(this.#depth, near) - this.#at(this.#depth, far);
    this.#jump[number] = isLevel ? far : parent;
  }

  #sumUp(number: number): void {
    const parent = this.#at(this.parents, number);
    if (parent > 0) this.#size[parent] = this.#at(this.#size, parent) + this.#at(this.#size, number);
  }

  /** `next` of a version: where its next child's run begins; of 0: the next root's. */
  #numberPlaces(): void {
    const next = new Int32Array(this.bytes.length);
    for (const number of this.numbers) {
      const parent = this.#at(this.parents, number);
      this.#place[number] = this.#at(next, parent);
      next[parent] = this.#at(next, parent) + this.#at(this.#size, number);
      next[number] = this.#at(this.#place, number) + 1;
    }
  }

  #at(values: Int32Array | Float64Array, index: number): number {
    return values[index] ?? 0;
  }

  isStored(number: number): boolean {
    return this.#at(this.#roots, number) > 0;
  }

  /** The oldest ancestor; 0 for a version that is not stored. */
  rootOf(number: number): number {
    return this.#at(this.#roots, number);
  }

  /** Bytes of a version and all its ancestors. */
  reachOf(number: number): number {
    return this.#at(this.#reach, number);
  }

  /** Bytes of these versions and all their ancestors, each version once. */
  unionBytes(numbers: readonly number[]): number {
    // Most branches stand on one version: the head that they were forked at.
    const [first] = numbers;
    if (first !== undefined && numbers.every((number) => number === first)) return this.reachOf(first);
    const sorted = numbers
      .filter((number) => this.isStored(number))
      .toSorted((a, b) => this.#at(this.#place, a) - this.#at(this.#place, b));
    let sum = 0;
    let previous = 0;
    for (const number of sorted) {
      sum += this.reachOf(number) - this.reachOf(this.#commonAncestor(previous, number));
      previous = number;
    }
    return sum;
  }

  /** The last version that both descend from, or are; 0 without one. */
  #commonAncestor(one: number, other: number): number {
    if (this.rootOf(one) !== this.rootOf(other)) return 0;
    let at = one;
    while (!this.#isAbove(at, other)) {
      const far = this.#at(this.#jump, at);
      at = far > 0 && !this.#isAbove(far, other) ? far : this.#at(this.parents, at);
    }
    return at;
  }

  #isAbove(ancestor: number, number: number): boolean {
    const from = this.#at(this.#place, ancestor);
    const place = this.#at(this.#place, number);
    return place >= from && place < from + this.#at(this.#size, ancestor);
  }
}
