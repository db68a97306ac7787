/**
 * All frames of a base in order, decoded ahead of the reader on other threads while this one writes what is there: frames
 * of a base need no others. Memory: the runs in flight, each once as stored and once as pages, in buffers that take turns:
 * made anew for each run they would cost their size in page faults, and pile up until they are collected.
 */
import { assert } from "#shared/assert.ts";
import { FRAME_ROOM_BYTES } from "../io/native.ts";
import type { DecodedFrame, SegmentReader } from "./segment-reader.ts";

/** Enough for two cores to be busy while one run is written. */
const RUNS_IN_FLIGHT = 4;
/** Of pages. A call costs as much as decoding some ten kilobytes, so frames are decoded by the dozen. */
const RUN_BYTES = 1024 * 1024;
const HASH_BYTES = 16;

/** Frames that were decoded together; `first` is the ordinal of their first page. */
export interface DecodedRun extends DecodedFrame {
  readonly first: number;
}

/** What is yielded is good until the next one is asked for. Throws `segment-corrupt`. Whoever stops early waits for what is in flight. */
export async function* decodeBase(segment: SegmentReader): AsyncGenerator<DecodedRun> {
  const frames = segment.index.frameBytes.length;
  const free: RunBuffers[] = [];
  const inFlight: { readonly buffers: RunBuffers; readonly run: Promise<DecodedRun> }[] = [];
  try {
    for (let frame = 0; frame < frames || inFlight.length > 0;) {
      while (frame < frames && inFlight.length < RUNS_IN_FLIGHT) {
        const end = segment.runEnd(frame, RUN_BYTES);
        const buffers = free.pop() ?? new RunBuffers();
        const run = decodeRun(segment, range(frame, end), buffers);
        // A failure is met when its turn comes; until then it is not an unhandled one.
        run.catch(() => undefined);
        inFlight.push({ buffers, run });
        frame = end;
      }
      const oldest = inFlight.shift();
      assert(oldest, "a run is in flight");
      yield await oldest.run;
      free.push(oldest.buffers);
    }
  } finally {
    await Promise.allSettled(inFlight.map(({ run }) => run));
  }
}

function range(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, index) => first + index);
}

async function decodeRun(segment: SegmentReader, frames: readonly number[], buffers: RunBuffers): Promise<DecodedRun> {
  const decoded = await segment.decodeRun(frames, buffers.take(segment, frames));
  return { ...decoded, first: segment.frameRange(frames[0] ?? 0).first };
}

/** Space for one run after another: made anew for each it would cost its size in page faults. */
export class RunBuffers {
  readonly #stored = new Space();
  readonly #pages = new Space();
  readonly #hashes = new Space();

  take(segment: SegmentReader, frames: readonly number[]): DecodedFrame & { readonly stored: Uint8Array } {
    const bytes = segment.framesBytes(frames);
    return {
      stored: this.#stored.take(FRAME_ROOM_BYTES + bytes.stored),
      pages: this.#pages.take(bytes.raw),
      hashes: this.#hashes.take((bytes.raw / segment.index.pageSize) * HASH_BYTES),
    };
  }
}

/** Grows to what is asked for. */
class Space {
  #bytes = new Uint8Array(0);

  take(length: number): Uint8Array {
    if (this.#bytes.length < length) this.#bytes = new Uint8Array(length);
    return this.#bytes.subarray(0, length);
  }
}
