import { join } from "node:path";
import { systemRandomness } from "../io/clock.ts";
import type { Disk } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import { ProcessLock } from "../io/process-lock.ts";

const LOCK_ENDING = ".lock";

/**
 * A process's own folder for unfinished files inside a store, made when something is to be put there: looking at a store
 * and freeing space in it work on a full disk. Its owner holds a lock beside it; whoever opens the store removes folders
 * whose lock nobody holds.
 */
export class TemporaryFolder {
  readonly path: string;
  readonly #disk: Disk;
  readonly #lock: ProcessLock;

  constructor(disk: Disk, native: Native, root: string) {
    this.#disk = disk;
    disk.makeDirectory(root);
    sweep(disk, native, root);
    this.#lock = lockFreshName(disk, native, root);
    this.path = this.#lock.path.slice(0, -LOCK_ENDING.length);
  }

  remove(): void {
    this.#disk.removeTree(this.path);
    this.#lock.release();
    this.#lock.close();
    this.#disk.remove(this.#lock.path);
  }
}

/** Between making a lock's file and taking the lock, another process may sweep it away: then another name is tried. */
function lockFreshName(disk: Disk, native: Native, root: string): ProcessLock {
  for (;;) {
    const lock = ProcessLock.open(join(root, `${Buffer.from(systemRandomness.bytes(8)).toString("hex")}${LOCK_ENDING}`), { disk, native });
    if (lock.tryAcquire() && disk.stat(lock.path) !== null) return lock;
    lock.close();
  }
}

function sweep(disk: Disk, native: Native, root: string): void {
  for (const name of disk.list(root)) {
    if (!name.endsWith(LOCK_ENDING)) continue;
    const lock = ProcessLock.open(join(root, name), { disk, native });
    if (lock.tryAcquire()) {
      disk.removeTree(join(root, name.slice(0, -LOCK_ENDING.length)));
      disk.remove(join(root, name));
      lock.release();
    }
    lock.close();
  }
}
