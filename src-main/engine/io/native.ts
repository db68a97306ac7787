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
   * XOR over the pages of mix(page hash, page number), 16 bytes: the state checksum's contribution of pages
   * `firstPageNumber …` whose 16-byte hashes stand in `hashes`. Its own inverse. `native-fallback.ts` defines mix.
   */
  foldHashes(hashes: Uint8Array, firstPageNumber: number): Uint8Array;

  /** Reflink. False where the filesystem cannot; the caller then copies. */
  cloneFile(fromFile: number, toFile: number): boolean;
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
  /** Tells the kernel what will be read soon; does nothing where there is no such call. */
  willRead(file: number, start: number, length: number): void;
}
