import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert } from "#shared/assert.ts";
import { LIMITS } from "#shared/limits.ts";
import type { NewVersion } from "../catalog/records.ts";
import {
  encodeSegmentHeader,
  encodeSegmentIndex,
  PAGE_HASH_BYTES,
  SEGMENT_HEADER_BYTES,
  type SegmentKind,
} from "../format/segment-index.ts";
import type { FileDescriptor } from "../io/disk.ts";
import { reach } from "../io/faults.ts";
import { partName, type SegmentParts } from "./segment-parts.ts";

/** Frames kept in memory before they are written. */
const BUFFER_BYTES = 256 * 1024;

/** Where a written segment is: what its version's record says about it. */
export type StoredSegment = NewVersion["segment"];

/**
 * Writes one segment frame by frame. A small one ends up as bytes for the catalog and touches no file; a large one is
 * written to temporary files, which become objects when all are complete. Nothing is visible before `finish` returns.
 */
export class SegmentWriter {
  readonly #parts: SegmentParts;
  readonly #kind: SegmentKind;
  readonly #level: number;
  readonly #name: string;
  readonly #pages: PageList;
  readonly #frameBytes: number[] = [];
  readonly #frameCrcs: number[] = [];
  readonly #partFrames: number[] = [0];
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Stored bytes of the part being written, those pending included, and of all parts before. */
  #partBytes = 0;
  #bytesBefore = 0;
  #file: FileDescriptor | null = null;
  #written = 0;

  /** `pagesExpected`: how many pages will come, as far as known; saves growing. */
  constructor(parts: SegmentParts, kind: SegmentKind, level: number, pagesExpected: number) {
    this.#parts = parts;
    this.#kind = kind;
    this.#level = level;
    this.#name = Buffer.from(parts.randomness.bytes(16)).toString("hex");
    this.#pages = new PageList(pagesExpected);
    this.#append(encodeSegmentHeader(kind));
  }

  get pages(): number {
    return this.#pages.length;
  }

  /** Stored bytes so far. */
  get bytes(): number {
    return this.#bytesBefore + this.#partBytes;
  }

  /** Adds a frame: its stored form, its page numbers, their hashes (16 bytes each). */
  addFrame(stored: Uint8Array, numbers: ArrayLike<number>, hashes: Uint8Array): void {
    if (this.#partBytes + stored.length > LIMITS.basePartBytesMax) this.#startPart();
    this.#append(stored);
    this.#frameBytes.push(stored.length);
    this.#frameCrcs.push(crc32(stored));
    this.#partFrames.push((this.#partFrames.pop() ?? 0) + 1);
    this.#pages.add(numbers, hashes);
    if (this.#pendingBytes >= BUFFER_BYTES) this.#flush();
  }

  /** Completes the segment, durably unless it is small enough for the catalog. */
  async finish(shape: { readonly pageSize: number; readonly pageCount: number; readonly pagesPerFrame: number }): Promise<StoredSegment> {
    const index = encodeSegmentIndex({
      ...shape,
      kind: this.#kind,
      pageNumbers: this.#kind === "base" ? null : this.#pages.numbers(),
      pages: this.#pages.length,
      hashes: this.#pages.hashes(),
      frameBytes: Uint32Array.from(this.#frameBytes),
      frameCrcs: Uint32Array.from(this.#frameCrcs),
      partFrames: this.#partFrames,
    });
    for (const piece of index) this.#append(piece);
    if (this.#file === null && this.bytes <= LIMITS.inlineSegmentBytesMax) {
      return { level: this.#level, bytes: this.bytes, inline: Buffer.concat(this.#pending), file: null, parts: 0 };
    }
    this.#endPart();
    const parts = this.#partFrames.length;
    for (let part = 0; part < parts; part += 1) await this.#parts.objects.put(partName(this.#name, part), this.#temporary(part));
    return { level: this.#level, bytes: this.bytes, inline: null, file: this.#name, parts };
  }

  /** Leaves nothing behind. For a writer that failed or was given up. */
  async discard(): Promise<void> {
    if (this.#file !== null) this.#parts.disk.close(this.#file);
    this.#file = null;
    for (let part = 0; part < this.#partFrames.length; part += 1) {
      this.#parts.disk.remove(this.#temporary(part));
      await this.#parts.objects.remove(partName(this.#name, part));
    }
  }

  #temporary(part: number): string {
    return join(this.#parts.temporaryFolder, partName(this.#name, part));
  }

  #append(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#partBytes += bytes.length;
  }

  #flush(): void {
    this.#file ??= this.#create(this.#partFrames.length - 1);
    // One by one: joining them would make as much garbage again as the whole segment has bytes.
    for (const piece of this.#pending) {
      this.#parts.disk.write(this.#file, piece, this.#written);
      this.#written += piece.length;
    }
    if (this.#parts.syncsAsItGoes) this.#parts.disk.sync(this.#file);
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #create(part: number): FileDescriptor {
    this.#parts.disk.makeDirectory(this.#parts.temporaryFolder);
    return this.#parts.disk.open(this.#temporary(part), "wx+");
  }

  #endPart(): void {
    this.#flush();
    assert(this.#file !== null && this.#written === this.#partBytes, "a part is written as a whole");
    this.#parts.disk.close(this.#file);
    this.#file = null;
    this.#bytesBefore += this.#partBytes;
    this.#partBytes = 0;
    this.#written = 0;
    reach("segment:part-written");
  }

  #startPart(): void {
    assert(this.#partBytes > SEGMENT_HEADER_BYTES, "a part has a frame");
    this.#endPart();
    this.#partFrames.push(0);
    this.#append(encodeSegmentHeader(this.#kind));
  }
}

/** Page numbers and the low 64 bits of their hashes, 12 bytes a page. */
class PageList {
  length = 0;
  #numbers: Uint32Array;
  #hashes: Uint8Array;

  constructor(expected: number) {
    this.#numbers = new Uint32Array(expected);
    this.#hashes = new Uint8Array(expected * PAGE_HASH_BYTES);
  }

  add(numbers: ArrayLike<number>, hashes: Uint8Array): void {
    if (this.length + numbers.length > this.#numbers.length) this.#grow(this.length + numbers.length);
    this.#numbers.set(numbers, this.length);
    for (let index = 0; index < numbers.length; index += 1) {
      const from = index * 16 + 8;
      const to = (this.length + index) * PAGE_HASH_BYTES;
      // A view for each page would be a million of them in an import.
      for (let byte = 0; byte < PAGE_HASH_BYTES; byte += 1) this.#hashes[to + byte] = hashes[from + byte] ?? 0;
    }
    this.length += numbers.length;
  }

  numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.length);
  }

  hashes(): Uint8Array {
    return this.#hashes.subarray(0, this.length * PAGE_HASH_BYTES);
  }

  #grow(needed: number): void {
    const room = Math.max(needed, this.#numbers.length * 2, 64);
    const numbers = new Uint32Array(room);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const hashes = new Uint8Array(room * PAGE_HASH_BYTES);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
  }
}
