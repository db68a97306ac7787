import { join } from "node:path";
import type { Disk, FileDescriptor } from "../io/disk.ts";
import { EngineError } from "../io/errors.ts";
import { reach } from "../io/faults.ts";
import type { Native } from "../io/native.ts";
import type { ObjectEntry, ObjectStore, StoredObject } from "./object-store.ts";

/** Files that stay open between reads: opening costs more than reading a frame. */
const OPEN_FILES_MAX = 64;

/** Objects as files of one folder, which must be on the filesystem of the temporary files that are put. */
export class LocalObjectStore implements ObjectStore {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #native: Pick<Native, "willRead"> | null;
  /** Least recently used first. */
  readonly #files = new Map<string, FileDescriptor>();

  constructor(disk: Disk, folder: string, native: Pick<Native, "willRead"> | null = null) {
    this.#disk = disk;
    this.#native = native;
    this.#folder = folder;
  }

  async put(name: string, temporary: string): Promise<void> {
    const path = join(this.#folder, name);
    if (this.#disk.stat(path)) throw new EngineError("file-exists", `Cannot store ${name}: ${path} exists`, { details: { path } });
    const file = this.#disk.open(temporary, "r+");
    try {
      this.#disk.sync(file);
    } finally {
      this.#disk.close(file);
    }
    reach("segment:synced");
    this.#disk.rename(temporary, path);
    this.#disk.syncDirectory(this.#folder);
    reach("segment:published");
  }

  open(name: string): StoredObject | null {
    const stat = this.#disk.stat(join(this.#folder, name));
    return (
      stat && {
        size: stat.size,
        read: (position, buffer) => this.#disk.read(this.#file(name), buffer, position),
        willRead: (position, length) => this.#native?.willRead(this.#file(name), position, length),
      }
    );
  }

  async remove(name: string): Promise<boolean> {
    this.#forget(name);
    return this.#disk.remove(join(this.#folder, name));
  }

  async list(): Promise<ObjectEntry[]> {
    const entries: ObjectEntry[] = [];
    for (const name of this.#disk.list(this.#folder)) {
      const stat = this.#disk.stat(join(this.#folder, name));
      // Gone between the two calls, because another process removed it; or a folder, which is not ours.
      if (stat?.kind === "file") entries.push({ name, size: stat.size, storedAt: Number(stat.mtimeNs / 1_000_000n) });
    }
    return entries;
  }

  close(): void {
    for (const name of this.#files.keys()) this.#forget(name);
  }

  #file(name: string): FileDescriptor {
    const open = this.#files.get(name);
    const file = open ?? this.#disk.open(join(this.#folder, name), "r");
    this.#files.delete(name);
    this.#files.set(name, file);
    if (this.#files.size > OPEN_FILES_MAX) {
      for (const oldest of this.#files.keys()) {
        this.#forget(oldest);
        break;
      }
    }
    return file;
  }

  #forget(name: string): void {
    const file = this.#files.get(name);
    if (file === undefined) return;
    this.#files.delete(name);
    this.#disk.close(file);
  }
}
