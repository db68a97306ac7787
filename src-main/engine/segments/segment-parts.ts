import type { Randomness } from "../io/clock.ts";
import type { Disk } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import type { FrameCache } from "./frame-cache.ts";

/** What segments are written with and read from. */
export interface SegmentParts {
  readonly disk: Disk;
  readonly native: Native;
  readonly randomness: Randomness;
  readonly objects: ObjectStore;
  /** Decoded frames, shared by all chains of a store. */
  readonly frames: FrameCache;
  /** A folder of this process, on the filesystem of the store; made when something is put there. */
  readonly temporaryFolder: string;
  /** Large segments reach the disk piece by piece, for whoever may not stop for one long sync at the end. */
  readonly syncsAsItGoes?: boolean;
}

/** Name of part `part` of the segment whose record says `file`. */
export function partName(file: string, part: number): string {
  return `${file}-${part}.seg`;
}
