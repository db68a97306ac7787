/**
 * The catalog's tables. Everything that a fork or a checkpoint adds is counted in bytes (docs/spec/catalog.md), so:
 *
 * - Keys are row numbers. A version's key is `database << 28 | number`, a segment's is `version key << 4 | level`.
 * - Time and actor of a version, branch or checkpoint are those of the operation that made it, and are stored once.
 * - Columns that are almost always empty stand last or are NULL, which costs one byte.
 * - `operations.uid` has no index: it is only looked up among the operations since a known one.
 * - Rows of branches and databases outlive their purge as tombstones (state 2), so that ids are never used again and old
 *   operations keep their names.
 *
 * The segment of a version stands in `segments.data`: a BLOB is the segment itself, a TEXT the name of its files.
 */

/** "Copp", in the header of the catalog's file: tells it from any other SQLite database. */
export const APPLICATION_ID = 0x436f7070;
export const FORMAT_VERSION = 1;

/** Bits of a version's number inside its key, and of the level inside a segment's. */
const NUMBER_SPAN = 2 ** 28;
const LEVEL_SPAN = 16;
/** Bounds that keep every segment key an exact number in JavaScript. */
export const VERSION_NUMBER_MAX = NUMBER_SPAN - 1;
export const DATABASE_ID_MAX = 2 ** 21 - 1;

export function versionKey(database: number, number: number): number {
  return database * NUMBER_SPAN + number;
}
export function versionOfKey(key: number): { database: number; number: number } {
  return { database: Math.floor(key / NUMBER_SPAN), number: key % NUMBER_SPAN };
}
export function segmentKey(version: number, level: number): number {
  return version * LEVEL_SPAN + level;
}
export function segmentOfKey(key: number): { version: number; level: number } {
  return { version: Math.floor(key / LEVEL_SPAN), level: key % LEVEL_SPAN };
}

export const STATE = { live: 0, trashed: 1, purged: 2 } as const;

export const SCHEMA = `
CREATE TABLE meta (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  format INTEGER NOT NULL,
  uid BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  fence INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE actors (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE operations (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL,
  kind INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor INTEGER NOT NULL,
  database INTEGER,
  branch INTEGER,
  state INTEGER NOT NULL DEFAULT 0,
  detail BLOB
);
CREATE TABLE databases (
  id INTEGER PRIMARY KEY,
  uid BLOB NOT NULL,
  name TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  created_by INTEGER NOT NULL,
  last_version INTEGER NOT NULL DEFAULT 0,
  stored_bytes INTEGER NOT NULL DEFAULT 0,
  journal INTEGER NOT NULL,
  source TEXT,
  trashed_by INTEGER,
  purge_at INTEGER
);
CREATE UNIQUE INDEX database_names ON databases (name) WHERE state = 0;
CREATE TABLE branches (
  id INTEGER PRIMARY KEY,
  database INTEGER NOT NULL,
  name TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  head INTEGER NOT NULL,
  fork_version INTEGER,
  parent INTEGER,
  created_by INTEGER NOT NULL,
  touched_at INTEGER,
  ttl INTEGER,
  protected INTEGER NOT NULL DEFAULT 0,
  meta TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  trashed_by INTEGER,
  purge_at INTEGER
);
CREATE UNIQUE INDEX branch_names ON branches (database, name) WHERE state = 0;
CREATE INDEX branch_children ON branches (parent) WHERE parent IS NOT NULL;
CREATE INDEX branch_expiries ON branches (touched_at + ttl) WHERE ttl IS NOT NULL AND state = 0;
CREATE INDEX branch_purges ON branches (purge_at) WHERE state = 1;
CREATE TABLE former_names (owner INTEGER NOT NULL, until INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (owner, until)) WITHOUT ROWID;
CREATE TABLE versions (
  key INTEGER PRIMARY KEY,
  parent INTEGER,
  kind INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  branch INTEGER NOT NULL,
  page_size INTEGER NOT NULL,
  page_count INTEGER NOT NULL,
  checksum BLOB NOT NULL,
  changed_pages INTEGER NOT NULL,
  message TEXT,
  meta TEXT
);
CREATE INDEX version_branches ON versions (branch);
CREATE TABLE segments (key INTEGER PRIMARY KEY, from_version INTEGER, bytes INTEGER, parts INTEGER NOT NULL DEFAULT 0, data);
CREATE TABLE checkpoints (
  branch INTEGER NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  operation INTEGER NOT NULL,
  PRIMARY KEY (branch, name)
) WITHOUT ROWID;
CREATE INDEX checkpoint_versions ON checkpoints (version);
CREATE TABLE facts (branch INTEGER PRIMARY KEY, base INTEGER NOT NULL, content INTEGER NOT NULL, fingerprint TEXT);
`;
