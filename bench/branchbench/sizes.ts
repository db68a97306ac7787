/** How much a store takes while others write in it. */
import { lstatSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";

export interface StoreSize {
  /** Sum of the lengths of its files. */
  readonly logical: number;
  /** Bytes by which the disk's free space has gone down, whoever wrote: blocks that files share count once. */
  readonly disk: number;
}

/** Sum of the lengths of a folder's files. Files and folders that vanish meanwhile count nothing. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of list(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? folderBytes(path) : (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0);
  }
  return bytes;
}

/** Of the disk that holds a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Looks every `everyMs`, and whenever asked; keeps the largest. Begins when it is made. */
export class SizeWatch {
  readonly #folder: string;
  readonly #freeBefore: number;
  readonly #timer: NodeJS.Timeout;
  peak: StoreSize = { logical: 0, disk: 0 };

  constructor(folder: string, everyMs: number) {
    this.#folder = folder;
    this.#freeBefore = freeBytes(folder);
    this.#timer = setInterval(() => void this.look(), everyMs);
    this.#timer.unref();
  }

  look(): StoreSize {
    const now = { logical: folderBytes(this.#folder), disk: this.#freeBefore - freeBytes(this.#folder) };
    this.peak = { logical: Math.max(this.peak.logical, now.logical), disk: Math.max(this.peak.disk, now.disk) };
    return now;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
