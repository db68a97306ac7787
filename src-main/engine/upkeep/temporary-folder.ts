import { join } from "node:path";
import { randomBytes } from "node:crypto";
import type { Disk } from "../io/disk.ts";
import type { Native } from "../io/native.ts";
import { ProcessLock } from "../io/process-lock.ts";

/**
 * A process's own folder for unfinished files inside a store. Its owner holds a lock beside it; whoever opens the store
 * removes folders whose lock nobody holds.
 */
export class TemporaryFolder {
  readonly path: string;
  readonly #disk: Disk;
  readonly #lock: ProcessLock;

  constructor(disk: Disk, native: Native, root: string) {
    this.#disk = disk;
    disk.makeDirectory(root);
    sweep(disk, native, root);
    this.path = join(root, randomBytes(8).toString("hex"));
    this.#lock = ProcessLock.open(`${this.path}.lock`, { disk, native });
    this.#lock.acquire(0);
    disk.makeDirectory(this.path);
  }

  remove(): void {
    this.#disk.removeTree(this.path);
    this.#lock.release();
    this.#lock.close();
    this.#disk.remove(this.#lock.path);
  }
}

function sweep(disk: Disk, native: Native, root: string): void {
  for (const name of disk.list(root)) {
    if (!name.endsWith(".lock")) continue;
    const lock = ProcessLock.open(join(root, name), { disk, native });
    if (lock.tryAcquire()) {
      disk.removeTree(join(root, name.slice(0, -".lock".length)));
      disk.remove(join(root, name));
      lock.release();
    }
    lock.close();
  }
}
