/** Every bound of the product in one place. Sizes in bytes, times in milliseconds unless the name says otherwise. */
export const LIMITS = {
  /** Characters of a database, branch or checkpoint name. */
  nameCharsMax: 128,
  metaKeysMax: 32,
  metaKeyBytesMax: 64,
  metaValueBytesMax: 512,
  messageCharsMax: 4096,
  /** One `fork --count N`. */
  forkCountMax: 100_000,
  /** Rows of one page of any listing. */
  pageRowsMax: 5_000,
  /** A segment up to this size is stored inside the catalog. */
  inlineSegmentBytesMax: 16 * 1024,
  /** Changed pages that share one delta frame, and their bytes. */
  framePagesMax: 32,
  frameBytesMax: 512 * 1024,
  /** Raw bytes of one block of a base segment, and stored bytes of one of its part files. */
  baseBlockBytes: 64 * 1024,
  basePartBytesMax: 256 * 1024 * 1024,
  /** Operations that share one catalog commit. */
  groupCommitOperationsMax: 512,
  /** Waiting for another process's catalog transaction before naming its holder. */
  catalogLockWaitMs: 10_000,
  /** Waiting for gc, or for gc waiting for writers of segment files. */
  writersWaitMs: 60_000,
  /** Waiting for a client's write transaction on a checkout. */
  checkoutBusyWaitMs: 3_000,
  /** Undo reaches back this far; the trash keeps entries this long. */
  undoWindowMs: 7 * 24 * 3_600_000,
  trashKeepMs: 7 * 24 * 3_600_000,
  /** A jump of the clock beyond this postpones reaping and purging by as much. */
  clockJumpMs: 24 * 3_600_000,
  ttlMsMin: 1_000,
  ttlMsMax: 10 * 365 * 24 * 3_600_000,
  /** A file dropped into the web host. */
  uploadBytesMax: 64 * 1024 * 1024 * 1024,
  /** Read-only files of versions kept for reuse. */
  readonlyBytesMax: 4 * 1024 ** 3,
  /** Decoded pages kept in memory by the segment reader. */
  pageCacheBytes: 32 * 1024 * 1024,
  /** One message between host and renderer. */
  messageBytesMax: 8 * 1024 * 1024,
} as const;
