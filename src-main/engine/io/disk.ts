/**
 * The disk port: every file access of the engine goes through one of these, so that a test can fail any of them, and
 * kill the process between any two. Implementations: `node-disk.ts`; tests wrap it (`test/support/faulty-disk.ts`).
 *
 * Calls are synchronous, but for `copy`: the engine runs off the UI thread, and long work yields between chunks. Failures are thrown as
 * `EngineError` (`disk-full`, `permission-denied`, `store-read-only`, `file-not-found`, `io-failed`) naming operation
 * and path.
 */

/** An open file; only the disk that returned it may use it. */
export type FileDescriptor = number;

export interface FileStat {
  readonly device: bigint;
  readonly inode: bigint;
  readonly kind: "file" | "directory" | "other";
  /** Bytes. */
  readonly size: number;
  /** Bytes that the file's blocks take on the disk, holes excluded. */
  readonly allocated: number;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly mode: number;
  readonly links: number;
}

export interface Disk {
  /** "r" read, "r+" read and write an existing file, "w+" create or empty, "wx+" create or fail with `file-exists`. */
  open(path: string, flags: "r" | "r+" | "w+" | "wx+", mode?: number): FileDescriptor;
  close(file: FileDescriptor): void;
  /** Reads until `buffer` is full or the file ends; returns the bytes read. */
  read(file: FileDescriptor, buffer: Uint8Array, position: number): number;
  /** Writes all of `buffer`, or throws. */
  write(file: FileDescriptor, buffer: Uint8Array, position: number): void;
  truncate(file: FileDescriptor, size: number): void;
  /** Data and size reach the device (fdatasync). */
  sync(file: FileDescriptor): void;
  /** A rename or creation in this folder reaches the device. */
  syncDirectory(path: string): void;
  statFile(file: FileDescriptor): FileStat;
  /** Null when nothing is there. Follows symbolic links. */
  stat(path: string): FileStat | null;
  readWhole(path: string): Uint8Array;
  rename(from: string, to: string): void;
  /** Hard link; `file-exists` when `to` exists. */
  link(from: string, to: string): void;
  /** Returns false when nothing was there. */
  remove(path: string): boolean;
  removeTree(path: string): void;
  makeDirectory(path: string): void;
  /** Names in a folder, sorted; empty when the folder does not exist. */
  list(path: string): string[];
  /** Sets the modification time of an open file; access time is left alone. */
  setModified(file: FileDescriptor, mtimeNs: bigint): void;
  setMode(path: string, mode: number): void;
  /** A file that shares its blocks with another; false, with nothing at `to`, where the filesystem cannot. `to` must not exist. */
  clone(from: string, to: string): boolean;
  /**
   * A file with blocks of its own, written off this thread. `to` must not exist, and is gone when this fails. `between` is
   * awaited between stretches, and may throw.
   */
  copy(from: string, to: string, between?: () => Promise<void>): Promise<void>;
  realPath(path: string): string;
  /** Free bytes on the filesystem that holds `path`. */
  freeBytes(path: string): number;
}
