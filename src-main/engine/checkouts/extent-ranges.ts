/**
 * Where two files may differ, told by the blocks that they use. Two ranges that lie on the same blocks of a filesystem
 * that writes shared blocks elsewhere hold the same bytes. Everything else (other blocks, blocks that are not on the disk
 * yet, compressed, encrypted or inside an inode) says nothing, and is compared byte by byte by whoever asks.
 */
import { EXTENT, type Native } from "../io/native.ts";

/** Bytes `start` up to `end`, ascending and apart from each other. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Flags that leave the position of an extent's bytes to be what it says. */
const PLAIN_FLAGS = EXTENT.last | EXTENT.shared | EXTENT.merged;

/**
 * Every extent of the first `bytes` of a file; `sync`: what is dirty is written back first. Null where nobody tells, where
 * there are more than `extentsMax`, and where they are in no order.
 */
export function readExtents(native: Native, file: number, bytes: number, extentsMax: number, sync: boolean): Float64Array | null {
  const parts: Float64Array[] = [];
  let count = 0;
  for (let start = 0; start < bytes;) {
    const part = native.extents(file, start, bytes - start, sync);
    if (part === null) return null;
    if (part.length === 0) break;
    parts.push(part);
    count += part.length / EXTENT.numbers;
    const last = part.length - EXTENT.numbers;
    const next = (part[last + EXTENT.logical] ?? 0) + (part[last + EXTENT.length] ?? 0);
    if (count > extentsMax || next <= start) return null;
    if (((part[last + EXTENT.flags] ?? 0) & EXTENT.last) !== 0) break;
    start = next;
  }
  const extents = joinExtents(parts);
  return isAscending(extents) ? extents : null;
}

/** Bytes that are not written back yet, as far as the filesystem shows them, and bytes whose blocks say nothing. */
export function surveyExtents(extents: Float64Array): { readonly delayed: number; readonly opaque: number } {
  let [delayed, opaque] = [0, 0];
  for (let at = 0; at < extents.length; at += EXTENT.numbers) {
    const flags = extents[at + EXTENT.flags] ?? 0;
    const length = extents[at + EXTENT.length] ?? 0;
    if ((flags & EXTENT.delayed) !== 0) delayed += length;
    else if ((flags & ~PLAIN_FLAGS) !== 0) opaque += length;
  }
  return { delayed, opaque };
}

/**
 * Where the blocks are that other files may use too: pairs of a place on the disk and a length, bytes. Null where such a
 * place says nothing: blocks that are compressed or not written back.
 */
export function sharedPlaces(extents: Float64Array): Float64Array | null {
  const places: number[] = [];
  for (let at = 0; at < extents.length; at += EXTENT.numbers) {
    const flags = extents[at + EXTENT.flags] ?? 0;
    if ((flags & EXTENT.shared) === 0) continue;
    if ((flags & ~PLAIN_FLAGS) !== 0) return null;
    places.push(extents[at + EXTENT.physical] ?? 0, extents[at + EXTENT.length] ?? 0);
  }
  return Float64Array.from(places);
}

/** The ranges of the first `bytes` of two files that do not provably lie on the same blocks. */
export function differingRanges(one: Float64Array, two: Float64Array, bytes: number): ByteRange[] {
  const ranges: { start: number; end: number }[] = [];
  const [a, b] = [new ExtentCursor(one), new ExtentCursor(two)];
  for (let at = 0; at < bytes;) {
    const [here, there] = [a.seek(at), b.seek(at)];
    const end = Math.min(here.end, there.end, bytes);
    if (here.place === null || here.place !== there.place) {
      const previous = ranges.at(-1);
      if (previous && previous.end === at) previous.end = end;
      else ranges.push({ start: at, end });
    }
    at = end;
  }
  return ranges;
}

class ExtentCursor {
  readonly #extents: Float64Array;
  #index = 0;

  constructor(extents: Float64Array) {
    this.#extents = extents;
  }

  /** What is at `position`, which only grows, and where that ends. `place`: "hole", the block's address, or null: unknown. */
  seek(position: number): { readonly place: number | "hole" | null; readonly end: number } {
    const extents = this.#extents;
    while (this.#index < extents.length && position >= this.#start() + this.#length()) this.#index += EXTENT.numbers;
    if (this.#index >= extents.length) return { place: "hole", end: Infinity };
    const start = this.#start();
    if (position < start) return { place: "hole", end: start };
    const isPlain = ((extents[this.#index + EXTENT.flags] ?? 0) & ~PLAIN_FLAGS) === 0;
    const physical = extents[this.#index + EXTENT.physical] ?? 0;
    return { place: isPlain && physical > 0 ? physical + (position - start) : null, end: start + this.#length() };
  }

  #start(): number {
    return this.#extents[this.#index + EXTENT.logical] ?? 0;
  }

  #length(): number {
    return this.#extents[this.#index + EXTENT.length] ?? 0;
  }
}

function joinExtents(parts: readonly Float64Array[]): Float64Array {
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function isAscending(extents: Float64Array): boolean {
  let end = 0;
  for (let at = 0; at < extents.length; at += EXTENT.numbers) {
    const start = extents[at + EXTENT.logical] ?? 0;
    const length = extents[at + EXTENT.length] ?? 0;
    if (start < end || length <= 0) return false;
    end = start + length;
  }
  return true;
}
