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
  /** Versions of which maker and time are kept in memory. */
  versionsRemembered: 20_000,
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
  /** Segments of one level that a merged segment of the next covers. */
  mergeFanIn: 16,
  /** Merging holds the thread for this long at a time. */
  mergeSliceMs: 3,
  /** Background work gives way to verbs until none has ended for so long, at most for so long. */
  quietMs: 10,
  giveWayMs: 50,
  /** What is still merged when a store is closed: stored bytes, segments of the chain, and how many merges. */
  mergeAtCloseBytesMax: 256 * 1024,
  mergeAtCloseChainMax: 128,
  mergesAtCloseMax: 8,
  /** Pages of a merge kept in memory, once as they were and once as they are; more go to temporary files. */
  mergeMemoryBytes: 8 * 1024 * 1024,
  /** Decoded pages kept in memory while segments are merged, or verified. */
  mergeCacheBytes: 16 * 1024 * 1024,
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
  /** A checkout up to this size has no shadow while it is in memory: a second hashes some ten gigabytes of memory. */
  hashedFileBytesMax: 64 * 1024 * 1024,
  /** A checkout, or a shadow, of more extents is too slow to compare. */
  shadowExtentsMax: 8_192,
  /** Pages that a shadow does not vouch for. */
  shadowLoosePagesMax: 1_024,
  /** A first shadow forces the checkout to the disk: not while more than this is still to be written. */
  shadowDirtyBytesMax: 16 * 1024 * 1024,
  /** Files kept ready to become checkouts: at most so many bytes, and this share of what is free, unless the store says otherwise. */
  readyBytesMax: 2 * 1024 ** 3,
  readyFreeShare: 1 / 10,
  /** The budget that a user may set. */
  readyBudgetMax: 1024 ** 5,
  /** Files are made ready only as long as so much stays free. */
  readyFloorBytes: 256 * 1024 * 1024,
  /** Ready files of one database, for a burst of forks; and versions that they are looked for in. */
  readyCopies: 3,
  readyConsideredMax: 8,
  /** A ready file serves versions that differ in up to this share of its pages; further away, a new one is made. */
  readyNearShare: 1 / 16,
  /** Making files ready starts so long after what asked for it, in milliseconds. */
  readyDelayMs: 20,
  /** Up to this size a copy, whose pages are in memory, is better than a clone, whose pages are not. */
  warmCopyBytesMax: 1024 * 1024,
  /** A file in smaller pieces, on the average, is not cloned. */
  clonedPieceBytesMin: 32 * 1024,
  /** Decoded pages kept in memory by the segment reader. */
  pageCacheBytes: 32 * 1024 * 1024,
  /** Pages of each side of a comparison kept in memory, and objects of a schema that are read. */
  diffPageCacheBytes: 48 * 1024 * 1024,
  diffSchemaObjectsMax: 1_000_000,
  /** Comparisons that one store keeps open; bytes of a value that a page of rows shows. */
  diffsOpenMax: 8,
  diffValueBytesMax: 64 * 1024,
  /** Memory for matching rows without a key; what does not fit goes to a temporary file. */
  diffMatchBytes: 32 * 1024 * 1024,
  /** Characters of a table's or column's name in a request. */
  diffNameCharsMax: 65_536,
  /** Pairs of versions whose changes are counted for one answer, and tables that one of them names. */
  changePairsMax: 256,
  changeTablesMax: 16,
  /** What is kept of such counts: of one pair in memory and in the cache, pairs in memory, and bytes of the cache's file. */
  changeEntryBytesMax: 16 * 1024,
  changeEntriesInMemory: 4_096,
  changeCacheBytesMax: 64 * 1024 * 1024,
  /** Counting goes on for so long after somebody asked for it last, and holds the thread for so long at a time. */
  changeLeaseMs: 3_000,
  changeSliceMs: 5,
  /** Branches whose going is looked at together. */
  usageSelectionMax: 100_000,
  /** Versions that the history of one row goes back. */
  rowHistoryVersionsMax: 100_000,
  /** Characters of an SQL script that the app runs; statements of it that are listed with their results. */
  querySqlCharsMax: 2 * 1024 * 1024,
  queryStatementsMax: 1_000,
  /** Rows of a statement when nobody says how many, and bytes of all rows of an answer. */
  queryRows: 1_000,
  queryAnswerBytesMax: 4 * 1024 * 1024,
  /** Bytes of a text or blob that a grid shows, and of one slice of a whole value. */
  queryValueBytesMax: 64 * 1024,
  dataSliceBytesMax: 1024 * 1024,
  dataFiltersMax: 64,
  /** Rows that can be counted off in a table without a key. */
  dataOffsetMax: 1_000_000,
  /** Characters of a schema that is listed: columns and SQL of tables are left out first, then indexes and triggers, then tables. */
  dataSchemaCharsMax: 3 * 1024 * 1024,
  /** Processes that run SQL, besides one for each processor; one that has been idle for so long ends. */
  queryChildrenExtra: 1,
  queryChildIdleMs: 10_000,
  /** Rows of one message of such a process, their bytes, and what it takes to fill it. */
  queryBatchRows: 512,
  queryBatchBytes: 256 * 1024,
  queryBatchMs: 100,
  /** Waiting for another program's write transaction, unless told otherwise. */
  queryBusyWaitMs: 5_000,
  /** States that one query is put to, rows of each unless told otherwise, and bytes of results that wait to be asked for. */
  acrossTargetsMax: 20_000,
  acrossRows: 100,
  acrossHeldBytesMax: 16 * 1024 * 1024,
  acrossOpenMax: 4,
  /** One message between host and renderer. */
  messageBytesMax: 8 * 1024 * 1024,
} as const;
