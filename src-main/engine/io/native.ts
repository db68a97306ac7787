/**
 * The native port: what the operating system can do that Node does not offer, and page hashing. `load-native.ts` is the
 * only place that loads the addon; without it every function here works on a slower path, and `doctor` says which.
 */
export interface Native {
  readonly kind: "addon" | "fallback";
  /** Why the addon was not loaded; null when it was. */
  readonly problem: string | null;
  /** What each facility uses, for `doctor`: e.g. { name: "page hash", using: "addon, 2 threads" }. */
  facilities(): { name: string; using: string }[];

  /**
   * XXH3-128 of each page of `pages` (length a multiple of `pageSize`, which is at least 512), 16 bytes a page, in order.
   * Source: the XXH3 specification (xxHash 0.8); canonical big-endian form.
   */
  hashPages(pages: Uint8Array, pageSize: number): Uint8Array;
  /**
   * Decodes zstd frames without dictionary into `pages`, and hashes these into `hashes` as `hashPages` does, on threads of
   * libuv. False when a frame does not decode to exactly what it should. Until the promise settles, the arrays must not be
   * transferred or written to. Null where the program does not lend us its zstd: `format/segment-frame.ts` then uses zlib,
   * which takes a detour through JavaScript with every frame.
   */
  readonly decodeFrames: ((frames: StoredFrames, pages: Uint8Array, hashes: Uint8Array) => Promise<boolean>) | null;
  /**
   * Compresses one frame, without its magic bytes, on a thread of libuv; no dictionary has 0 bytes. Null when zstd refuses.
   * Until the promise settles, the arrays must not be transferred or written to. Null where the program does not lend us its zstd.
   */
  readonly encodeFrame: ((pages: Uint8Array, dictionary: Uint8Array, level: number) => Promise<Uint8Array | null>) | null;
  /**
   * XOR over the pages of mix(page hash, page number), 16 bytes: the state checksum's contribution of pages
   * `firstPageNumber …` whose 16-byte hashes stand in `hashes`. Its own inverse. `native-fallback.ts` defines mix.
   */
  foldHashes(hashes: Uint8Array, firstPageNumber: number): Uint8Array;

  /**
   * The next three read pages of an open file, numbered from 1, `count` of them (up to 1 GiB a call), on two threads that
   * overlap reading and working. What lies beyond the file's end reads as zeros. Errors: those of reading.
   *
   * As `hashPages`.
   */
  hashFilePages(file: number, firstPageNumber: number, count: number, pageSize: number): Uint8Array;
  /**
   * Numbers, ascending, of the pages whose hash does not end with the 8 bytes that `expectedLow` has for them, the first
   * one's first; those that it has nothing for are all among them.
   */
  differingPages(file: number, firstPageNumber: number, count: number, pageSize: number, expectedLow: Uint8Array): Uint32Array;
  /** Numbers, ascending, of the pages whose bytes differ between two files. */
  compareFilePages(file: number, otherFile: number, firstPageNumber: number, count: number, pageSize: number): Uint32Array;

  /**
   * Reflinks: blocks are shared until one side is written. False where the filesystem, or this pair of files, cannot; the
   * caller then copies.
   */
  cloneFile(fromFile: number, toFile: number): boolean;
  /** Into a file that does not exist (`file-exists` otherwise); nothing stays there when the answer is false. */
  cloneToPath(fromFile: number, path: string): boolean;
  /** A part of a file. Positions and length in bytes, whole blocks of the filesystem, except at the end of the source. */
  cloneRange(fromFile: number, fromStart: number, toFile: number, toStart: number, length: number): boolean;
  /**
   * Where a range of a file lies, in order of the file: four numbers an extent, see `EXTENT`. Holes are left out. At most
   * some thousand extents a call: go on behind the last one until one has the flag `EXTENT.last`, or none is left. `sync`
   * writes back first what is dirty. Null where nobody tells.
   */
  extents(file: number, start: number, length: number, sync: boolean): Float64Array | null;
  /** How many extents the file has; null where nobody tells. What is not written back yet may not be counted. */
  extentCount(file: number): number | null;
  /** The filesystem's magic number, `f_type` of fstatfs; 0 where there is no such thing. */
  filesystemType(file: number): number;
  /**
   * Open-file-description lock on a byte range. Unlike POSIX locks, it belongs to the descriptor, and conflicts with
   * SQLite's locks of every process, our own included. False when somebody else holds it.
   */
  lockRange(file: number, start: number, length: number, mode: "shared" | "exclusive"): boolean;
  unlockRange(file: number, start: number, length: number): void;
  /** False where locks of this kind do not exist: the lock functions then throw `unsupported`. */
  readonly hasRangeLocks: boolean;
  /**
   * True when no other descriptor of any process has this file open: a proof in microseconds, where looking through all
   * processes takes milliseconds. False when somebody has it open, or the system does not tell.
   */
  isSoleOpener(file: number): boolean;
  /** About how many bytes of a range the system holds in memory, so that reading them costs next to nothing; null when it does not tell. */
  cachedBytes(file: number, start: number, length: number): number | null;
  /** Tells the kernel what will be read soon; does nothing where there is no such call. */
  willRead(file: number, start: number, length: number): void;
  /** Tells the kernel that what it holds of this range in memory will not be read again. */
  wontRead(file: number, start: number, length: number): void;
}

/** Layout and flags of what `extents` returns. Source: linux/fiemap.h. */
export const EXTENT = {
  numbers: 4,
  /** Indices of the four numbers, in bytes but for the flags. */
  logical: 0,
  physical: 1,
  length: 2,
  flags: 3,
  /** The last one of the file. */
  last: 0x1,
  /** Other files use the same blocks. */
  shared: 0x2000,
  /** The filesystem put several of its own together. */
  merged: 0x1000,
  /** In memory only, not on the disk yet. */
  delayed: 0x4,
} as const;

/** For the magic bytes of one frame. */
export const FRAME_ROOM_BYTES = 4;

/**
 * `FRAME_ROOM_BYTES` of room, then frames that stand one behind another without their magic bytes, each of `frameRawBytes`
 * when decoded, the last one perhaps fewer. Decoding writes over `stored`.
 */
export interface StoredFrames {
  readonly stored: Uint8Array;
  readonly frameBytes: Uint32Array;
  readonly frameRawBytes: number;
  readonly pageSize: number;
}
