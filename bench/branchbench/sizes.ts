/** How much a folder takes while others write in it. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface FolderSize {
  /** Sum of the lengths of its files. */
  readonly logical: number;
  /** Blocks that the filesystem gave them. Blocks shared by reflinks count for each file. */
  readonly allocated: number;
}

const BLOCK_BYTES = 512;

/** Files and folders that vanish meanwhile count nothing. */
export function measureFolder(folder: string): FolderSize {
  let logical = 0;
  let allocated = 0;
  for (const entry of list(folder)) {
    const path = join(folder, entry.name);
    const size = entry.isDirectory() ? measureFolder(path) : measureFile(path);
    logical += size.logical;
    allocated += size.allocated;
  }
  return { logical, allocated };
}

/** Looks every `everyMs`, and whenever asked; keeps the largest. */
export class SizeWatch {
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  peak: FolderSize = { logical: 0, allocated: 0 };

  constructor(folder: string, everyMs: number) {
    this.#folder = folder;
    this.#timer = setInterval(() => void this.look(), everyMs);
    this.#timer.unref();
  }

  look(): FolderSize {
    const now = measureFolder(this.#folder);
    this.peak = { logical: Math.max(this.peak.logical, now.logical), allocated: Math.max(this.peak.allocated, now.allocated) };
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

function measureFile(path: string): FolderSize {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found ? { logical: found.size, allocated: found.blocks * BLOCK_BYTES } : { logical: 0, allocated: 0 };
}
