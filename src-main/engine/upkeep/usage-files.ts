/** The files of a store's folder: every one of them, so that what a store takes adds up to what is on the disk. */
import { join } from "node:path";
import type { Disk } from "../io/disk.ts";
import { breathe, type PhasedWork } from "../transfer/long-work.ts";

/** Files that are looked at before others may run. */
const FILES_PER_TURN = 500;

export interface FoundFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Bytes of its blocks on the disk. */
  readonly allocated: number;
}

/**
 * Calls `visit` with each file in a folder and below it. What vanishes meanwhile is left out; a link counts as what it
 * leads to. Throws `cancelled`, and what `disk.list` and `disk.stat` throw.
 */
export async function visitFiles(disk: Disk, folder: string, work: PhasedWork, visit: (file: FoundFile) => void): Promise<void> {
  const waiting = [folder];
  let seen = 0;
  for (let from = waiting.pop(); from !== undefined; from = waiting.pop()) {
    for (const name of disk.list(from)) {
      const path = join(from, name);
      const stat = disk.stat(path);
      if (stat?.kind === "directory") waiting.push(path);
      else if (stat) visit({ path, size: stat.size, allocated: stat.allocated });
      seen += 1;
      if (seen % FILES_PER_TURN !== 0) continue;
      work.progress?.(seen, 0);
      await breathe(work);
    }
  }
}
