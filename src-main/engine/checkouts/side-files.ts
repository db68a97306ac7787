/** The files that SQLite keeps beside a database. No POSIX lock ever stands on -wal or -journal: reading them is safe anywhere. */
import type { Disk } from "../io/disk.ts";

export interface SidePaths {
  readonly wal: string;
  readonly shm: string;
  readonly journal: string;
}

export function sidePaths(path: string): SidePaths {
  return { wal: `${path}-wal`, shm: `${path}-shm`, journal: `${path}-journal` };
}

/**
 * True when a rollback journal could be hot. Journal modes TRUNCATE and PERSIST leave an empty or a zeroed one behind:
 * SQLite goes by the first byte, and so do we.
 */
export function hasJournalContent(disk: Disk, path: string): boolean {
  const journal = sidePaths(path).journal;
  if (disk.stat(journal) === null) return false;
  const file = disk.open(journal, "r");
  try {
    const first = new Uint8Array(1);
    return disk.read(file, first, 0) === 1 && first[0] !== 0;
  } finally {
    disk.close(file);
  }
}

export function walBytes(disk: Disk, path: string): number {
  return disk.stat(sidePaths(path).wal)?.size ?? 0;
}

export function hasSideFiles(disk: Disk, path: string): boolean {
  return Object.values(sidePaths(path)).some((side) => disk.stat(side) !== null);
}

/** The caller knows that nobody uses them and that nothing in them is needed. */
export function removeSideFiles(disk: Disk, path: string): void {
  for (const side of Object.values(sidePaths(path))) disk.remove(side);
}
