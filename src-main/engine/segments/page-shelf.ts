import { join } from "node:path";
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import type { FileDescriptor } from "../io/disk.ts";
import type { SegmentParts } from "./segment-parts.ts";
import { lowerBound } from "./segment-reader.ts";

/** Pages of a known set, put and taken in any order: in memory while they are few, else in a temporary file. */
export class PageShelf {
  readonly #parts: SegmentParts;
  readonly #numbers: Uint32Array;
  readonly #pageSize: number;
  readonly #isThere: Uint8Array;
  readonly #memory: Uint8Array | null;
  #file: { readonly path: string; readonly descriptor: FileDescriptor } | null = null;

  /** `numbers`: of the pages that may be put here, ascending. */
  constructor(parts: SegmentParts, numbers: Uint32Array, pageSize: number) {
    this.#parts = parts;
    this.#numbers = numbers;
    this.#pageSize = pageSize;
    this.#isThere = new Uint8Array(numbers.length);
    const bytes = numbers.length * pageSize;
    this.#memory = bytes <= LIMITS.mergeMemoryBytes ? new Uint8Array(bytes) : null;
  }

  put(pageNumber: number, page: Uint8Array): void {
    const ordinal = this.#ordinalOf(pageNumber);
    assert(ordinal >= 0, `page ${pageNumber} has a place`);
    this.#isThere[ordinal] = 1;
    if (this.#memory) this.#memory.set(page, ordinal * this.#pageSize);
    else this.#parts.disk.write(this.#descriptor(), page, ordinal * this.#pageSize);
  }

  /** False when the page was never put. */
  take(pageNumber: number, target: Uint8Array): boolean {
    const ordinal = this.#ordinalOf(pageNumber);
    if (ordinal < 0 || !this.#isThere[ordinal]) return false;
    const position = ordinal * this.#pageSize;
    if (this.#memory) target.set(this.#memory.subarray(position, position + this.#pageSize));
    else {
      const read = this.#parts.disk.read(this.#descriptor(), target, position);
      assert(read === this.#pageSize, "the temporary file holds what was put there");
    }
    return true;
  }

  close(): void {
    if (!this.#file) return;
    this.#parts.disk.close(this.#file.descriptor);
    this.#parts.disk.remove(this.#file.path);
    this.#file = null;
  }

  #ordinalOf(pageNumber: number): number {
    const at = lowerBound(this.#numbers, pageNumber);
    return this.#numbers[at] === pageNumber ? at : -1;
  }

  #descriptor(): FileDescriptor {
    if (this.#file) return this.#file.descriptor;
    const { disk, temporaryFolder, randomness } = this.#parts;
    disk.makeDirectory(temporaryFolder);
    const path = join(temporaryFolder, `${Buffer.from(randomness.bytes(16)).toString("hex")}.pages`);
    this.#file = { path, descriptor: disk.open(path, "wx+") };
    return this.#file.descriptor;
  }
}
